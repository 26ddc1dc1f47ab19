"""The paper's negative controls of retrieval: date-aware search (A2) and lemma expansion (seeds 1.2, 1.3).

A2 reads the dates of a question, normalises them and greps them in the turns' `time` (seeds 1.5). Why own
patterns and no `dateparser`: tried on questions, its `search_dates` takes the verb "may", the name April and
"a second" for dates, and fills in what "in 2022" leaves open without saying so, while matching needs to know
whether a day, a month or a year was meant. English only, as the paper.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import partial
from weakref import WeakKeyDictionary

from smartsearch.bench.lemmas import lemma
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence
from smartsearch.transcripts.times import find_date
from smartsearch.types import Candidate, Corpus, HopTrace, Query, Term, fold

DATE_WEIGHT = 1.0
"""Weight of a date term: an entity that is no noun (seeds 1.5)."""

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)(?!\w)\.?"
)
_DAY = r"(?P<day>\d{1,2})(?P<nth>st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d{2})(?!\d)"
_BEFORE_MONTH = (
    r"(?:in|during|since|until|till|throughout|early|late|mid|last|this|next"
    r"|(?:beginning|start|middle|end|week|month) of)"
)
_NUMERIC = re.compile(
    r"(?<![\d.])(?:\d{4}([-/.])\d{1,2}\1\d{1,2}|\d{1,2}([-/.])\d{1,2}\2(?:\d{4}|\d{2}))(?![\d.]\d|\d)"
)
_CALENDAR = (
    re.compile(r"(?<![\d-])(?P<year>(?:19|20)\d{2})-(?P<number>0[1-9]|1[0-2])(?![\d-])"),
    re.compile(rf"(?<![\d:]){_DAY}(?:\s+of)?[\s-]+{_MONTH}(?:,?[\s-]+{_YEAR})?", re.I),
    re.compile(rf"\b{_MONTH}[\s-]+(?:the\s+)?{_DAY}(?![\d:])(?:,?[\s-]+{_YEAR})?", re.I),
    re.compile(rf"\b{_MONTH}(?:\s+of)?,?[\s-]+{_YEAR}", re.I),
    re.compile(rf"\b{_BEFORE_MONTH}[\s-]+{_MONTH}", re.I),
    re.compile(rf"(?<![\w$€£#.,:/-]){_YEAR}(?![\w%]|[.,:/-]\d)"),
)
"""Dates that name a calendar day, month or year, the most specific first."""

_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_COUNTS = {name: number for number, name in enumerate(_NUMBERS, start=1)} | {
    "a": 1,
    "an": 1,
    "a couple of": 2,
}
_COUNT = rf"\d{{1,3}}|{'|'.join(sorted(_COUNTS, key=len, reverse=True))}"
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_RELATIVE = re.compile(
    rf"\b(?:(?P<two>day before yesterday)|(?P<one>yesterday|last night)"
    rf"|(?P<zero>today|tonight|this (?:morning|afternoon|evening))"
    rf"|(?P<count>{_COUNT}) (?P<ago>day|week|month|year)s? ago"
    rf"|(?:past|last) (?P<recent>{_COUNT}) (?P<rolling>day|week|month|year)s?"
    rf"|(?:past|(?:in|over|during|within) the last) (?P<past>week|month|year)"
    rf"|(?P<which>last|previous|this) (?P<period>weekend|week|month|year)"
    rf"|(?:last|this past) (?P<weekday>{'|'.join(_WEEKDAYS)}))\b",
    re.I,
)


@dataclass(frozen=True)
class When:
    """A date a question names: the question's words, the normalised ISO form, and which days it holds.

    `name` is `2023-05-08`, `2023-05` or `2023`; `--05-08` or `--05` where no year is given; and
    `2023-05-01/2023-05-07` for a span, both days included.
    """

    said: str
    name: str
    holds: Callable[[date], bool]


def find(question: str, asked: str = "") -> tuple[When, ...]:
    """The dates in a question in order of appearance, each once.

    Relative ones ("yesterday", "two weeks ago", "last Monday") are read only where `asked`, the ISO day
    the question is asked on, is given. Weeks begin on Monday; "N weeks ago" is the seven days around
    that day, "N months ago" the calendar month, "the past week" the seven days up to the question.
    """
    readers: list[tuple[re.Pattern[str], Callable[[re.Match[str]], When | None]]]
    readers = [(_NUMERIC, _from_numeric), *((pattern, _from_calendar) for pattern in _CALENDAR)]
    day = _day(find_date(asked))
    if day is not None:
        readers.append((_RELATIVE, partial(_from_relative, day)))
    found: list[tuple[int, When]] = []
    rest = question
    for pattern, meaning in readers:
        for match in pattern.finditer(rest):
            when = meaning(match)
            if when is not None:
                found.append((match.start(), when))
                rest = f"{rest[: match.start()]}{'|' * len(match[0])}{rest[match.end() :]}"
    return tuple({when.name: when for _, when in sorted(found, key=lambda pair: pair[0])}.values())


def dated(question: str, corpus: Corpus, asked: str = "") -> dict[int, float]:
    """Turns whose `time` lies in a date of the question, by index: 1.0 for each date that holds them."""
    return {index: DATE_WEIGHT * len(terms) for index, terms in _found(question, corpus, asked).items()}


def with_dates(evidence: Evidence, question: str, corpus: Corpus, asked: str = "") -> Evidence:
    """A2: `evidence` with the turns of the question's dates; a date adds its weight like any term."""
    found = _found(question, corpus, asked)
    if not found:
        return evidence
    held = {candidate.index: candidate for candidate in evidence.candidates}
    fresh = len(found.keys() - held.keys())
    for index, terms in found.items():
        before = held.get(index, Candidate(index, (), 0.0, 1))
        weight = before.weight + sum(term.weight for term in terms)
        held[index] = replace(before, terms=before.terms + terms, weight=weight)
    terms = tuple({term.text: term for found_terms in found.values() for term in found_terms}.values())
    trace = HopTrace(1, "date", terms, fresh, len(held))
    ordered = sorted(held.values(), key=lambda c: (-c.weight, c.index))
    return Evidence(tuple(ordered), (*evidence.hops, trace))


def _found(question: str, corpus: Corpus, asked: str) -> dict[int, tuple[Term, ...]]:
    """Turn index to the date terms that hold it, in corpus order."""
    whens = find(question, asked)
    if not whens:
        return {}
    terms = [Term(when.name, "ENT", DATE_WEIGHT, source=when.said) for when in whens]
    by_date: dict[str, tuple[Term, ...]] = {}
    for written in {turn.date for turn in corpus.turns}:
        day = _day(written)
        if day is not None:
            by_date[written] = tuple(term for term, when in zip(terms, whens) if when.holds(day))
    inside = ((index, by_date.get(turn.date, ())) for index, turn in enumerate(corpus.turns))
    return {index: held for index, held in inside if held}


def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


def _from_numeric(match: re.Match[str]) -> When | None:
    day = _day(find_date(match[0]))
    return _span(match[0], day, day) if day is not None else None


def _from_calendar(match: re.Match[str]) -> When | None:
    """What a pattern of `_CALENDAR` found; None where "may" or "march" is a verb."""
    parts = match.groupdict()
    name = parts.get("month") or ""
    year, day = int(parts.get("year") or 0), int(parts.get("day") or 0)
    month = _MONTHS.index(name[:3].lower()) + 1 if name else int(parts.get("number") or 0)
    if name in ("may", "march", "mar") and not year and not _surely_month(match, day):
        return None

    def holds(other: date) -> bool:
        return (
            (not year or other.year == year)
            and (not month or other.month == month)
            and (not day or other.day == day)
        )

    written = [f"{year:04}" if year else "-", f"{month:02}" if month else "", f"{day:02}" if day else ""]
    return When(match[0], "-".join(part for part in written if part), holds)


def _surely_month(match: re.Match[str], day: int) -> bool:
    """Whether a lone "may" or "march" is a month: "may 8th" and "in may" are, "8 may" and "this may" not."""
    if day:
        return bool(match["nth"]) and match.start("month") < match.start("day")
    return not re.match(r"(?:this|last|next|early|late)\b", match[0], re.I)


def _from_relative(asked: date, match: re.Match[str]) -> When | None:
    try:
        first, last = _relative(match, asked)
    except (ValueError, OverflowError):  # before the first day of the calendar
        return None
    return _span(match[0], first, last)


def _relative(match: re.Match[str], asked: date) -> tuple[date, date]:
    """First and last day of what a pattern of `_RELATIVE` found."""
    parts = {name: value.lower() for name, value in match.groupdict().items() if value}
    for name, ago in (("zero", 0), ("one", 1), ("two", 2)):
        if name in parts:
            return (asked - timedelta(ago),) * 2
    if "ago" in parts:
        return _ago(_number(parts["count"]), parts["ago"], asked)
    if "rolling" in parts or "past" in parts:
        count = _number(parts["recent"]) if "recent" in parts else 1
        days = {"day": 1, "week": 7, "month": 30, "year": 365}[parts.get("rolling") or parts["past"]]
        return asked - timedelta(count * days), asked
    if "weekday" in parts:
        back = (asked.weekday() - _WEEKDAYS.index(parts["weekday"]) - 1) % 7 + 1
        return (asked - timedelta(back),) * 2
    return _period(parts["period"], 0 if parts["which"] == "this" else 1, asked)


def _ago(count: int, unit: str, asked: date) -> tuple[date, date]:
    if unit == "day":
        return (asked - timedelta(count),) * 2
    if unit == "week":
        middle = asked - timedelta(7 * count)
        return middle - timedelta(3), middle + timedelta(3)
    return _period(unit, count, asked)


def _period(unit: str, back: int, asked: date) -> tuple[date, date]:
    """The calendar week, weekend, month or year that lies `back` before that of `asked`."""
    if unit in ("week", "weekend"):
        monday = asked - timedelta(asked.weekday() + 7 * back)
        return monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(6)
    if unit == "year":
        return date(asked.year - back, 1, 1), date(asked.year - back, 12, 31)
    year, month = divmod(asked.year * 12 + asked.month - 1 - back, 12)
    after, following = divmod(year * 12 + month + 1, 12)
    return date(year, month + 1, 1), date(after, following + 1, 1) - timedelta(1)


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS[word]


def _span(said: str, first: date, last: date) -> When:
    name = first.isoformat() if first == last else f"{first.isoformat()}/{last.isoformat()}"
    return When(said, name, lambda day: first <= day <= last)


_LEMMAS: WeakKeyDictionary[Haystack, dict[str, list[str]]] = WeakKeyDictionary()


def with_lemmas(query: Query, haystack: Haystack) -> Query:
    """Morphology expansion: each one-word term also as the corpus words of its lemma, same kind and weight.

    A form in which the term or a shorter form stands is left out: substring match finds its turns already,
    and a turn should not count one word twice. Raises SmartsearchError where `simplemma` is missing.
    """
    by_lemma = _by_lemma(haystack)
    known = {fold(term.text) for term in query.terms}
    terms: list[Term] = []
    for term in query.terms:
        terms.append(term)
        if not any(c.isspace() for c in term.text):
            family = by_lemma.get(lemma(fold(term.text)), [])
            for word in _not_found_yet(fold(term.text), family):
                if word not in known:
                    known.add(word)
                    terms.append(replace(term, text=word, source=term.text))
    return replace(query, terms=tuple(terms))


def _not_found_yet(word: str, family: list[str]) -> Iterator[str]:
    """The words of `family` that contain neither `word` nor one given before, shortest first."""
    found = [word]
    for other in sorted(family, key=lambda w: (len(w), w)):
        if not any(form in other for form in found):
            found.append(other)
            yield other


def _by_lemma(haystack: Haystack) -> dict[str, list[str]]:
    """The words of a corpus by lemma, made once a haystack."""
    table = _LEMMAS.get(haystack)
    if table is None:
        table = {}
        for word in haystack.words() or ():
            table.setdefault(lemma(word), []).append(word)
        _LEMMAS[haystack] = table
    return table
