"""Dates as people write them: those a question names, and the bounds of `--since` and `--until`. English.

Why own patterns and no `dateparser`: tried on questions, its `search_dates` takes the verb "may", the name
April and "a second" for dates, and fills in what "in 2022" leaves open without saying so, while matching
needs to know whether a day, a month or a year was meant.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import partial

from smartsearch.errors import UsageError
from smartsearch.text.times import find_date, to_iso

UNDERSTOOD = (
    "2023, 2023-05, 2023-05-08, 2023-05-08T13:00, 2023-05-08T13:00+02:00, 7d, 3w, 2m, 1y, 2 weeks ago, "
    "today, yesterday, last week, this month, last monday, last summer, may, may 2023, 8 may"
)

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
_SEASONS = {"spring": (3, 5), "summer": (6, 8), "autumn": (9, 11), "fall": (9, 11), "winter": (12, 2)}
"""First and last month, of the northern half of the world."""
_SEASON = rf"(?P<season>{'|'.join(_SEASONS)})"
_CALENDAR = (
    re.compile(rf"\b{_SEASON}(?:\s+of)?,?\s+{_YEAR}", re.I),
    re.compile(rf"\b(?:in|during|over|throughout)\s+the\s+(?:(?:early|late)\s+)?{_SEASON}\b", re.I),
    re.compile(r"(?<![\d-])(?P<year>(?:19|20)\d{2})-(?P<number>0[1-9]|1[0-2])(?![\d-])"),
    re.compile(rf"(?<![\d:]){_DAY}(?:\s+of)?[\s-]+{_MONTH}(?:,?[\s-]+{_YEAR})?", re.I),
    re.compile(rf"\b{_MONTH}[\s-]+(?:the\s+)?{_DAY}(?![\d:])(?:,?[\s-]+{_YEAR})?", re.I),
    re.compile(rf"\b{_MONTH}(?:\s+of)?,?[\s-]+{_YEAR}", re.I),
    re.compile(rf"\b{_BEFORE_MONTH}[\s-]+{_MONTH}", re.I),
    re.compile(rf"(?<![\w$€£#.,:/-]){_YEAR}(?![\w%]|[.,:/-]\d)"),
)
"""Dates that name a calendar day, month, season or year, the most specific first."""

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
    rf"|(?P<which>last|previous|this) (?:(?P<period>weekend|week|month|year)|{_SEASON})"
    rf"|(?P<named>last|this) {_MONTH}(?!\s+\d)"
    rf"|(?:last|this past) (?P<weekday>{'|'.join(_WEEKDAYS)}))\b",
    re.I,
)

_ISO_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d):(\d\d)(?::(\d\d)(?:\.\d+)?)?)?\s*(Z|[+-]\d\d:?\d\d)?", re.I
)
_SHORT = re.compile(r"(\d{1,4})\s*([dwmy])", re.I)
_ONE_YEAR = re.compile(r"(?:19|20)\d{2}")
_DAY_OR_MONTH_FIRST = re.compile(r"\d{1,2}[-/.]")
"""A date such as 8/5/2023, whose month nobody can tell."""
_DAY_OF_MONTH = (re.compile(rf"{_DAY}(?:\s+of)?\s+{_MONTH}", re.I), re.compile(rf"{_MONTH}\s+{_DAY}", re.I))

Days = tuple[date, date]
"""First and last day, both included."""


@dataclass(frozen=True)
class When:
    """A date a question names: the question's words, the normalised ISO form, and its first and last day.

    `name` is `2023-05-08`, `2023-05` or `2023`; `--05-08` or `--05` where no year is given; and
    `2023-05-01/2023-05-07` for a span. `first` and `last` are ISO days, without their year where it is that
    of any year (`05-08`). `relative` says whether it depends on the day of the question.
    """

    said: str
    name: str
    first: str
    last: str
    relative: bool = False

    def holds(self, day: str) -> bool:
        """Whether an ISO day is inside."""
        seen = day[-len(self.first) :]
        if self.first > self.last:  # a winter of any year
            return seen >= self.first or seen <= self.last
        return self.first <= seen <= self.last

    @property
    def days(self) -> int:
        """How many days it has, of one year where it is of any."""
        of_any = len(self.first) < len("2023-05-08")
        year = "2024-" if of_any else ""
        first, last = (date.fromisoformat(f"{year}{end}") for end in (self.first, self.last))
        return (last - first).days % 366 + 1 if of_any else (last - first).days + 1


def today(now: str = "") -> date:
    """The day that relative dates count from: that of `now`, ISO 8601, else the clock's."""
    return date.fromisoformat(now[:10]) if now else date.today()


def day_of(text: str) -> str:
    """The ISO day of a date or time as written. Raises UsageError for anything else."""
    day = "" if _DAY_OR_MONTH_FIRST.match(text) else to_iso(text)
    if not day:
        raise UsageError(f"--now is {text!r}", hint="a date, such as 2023-05-08")
    return day[:10]


def since(text: str, day: date) -> str:
    """The beginning of what `text` names, said on `day`: ISO 8601 with this machine's offset at that time.

    Raises UsageError for what is not understood.
    """
    return _bound("--since", text, day)[0].isoformat()


def until(text: str, day: date) -> str:
    """The last second of what `text` names, as `since` has its first. Raises UsageError."""
    return _bound("--until", text, day)[1].isoformat()


def bounds(first: str | None, last: str | None, day: date) -> tuple[str, str]:
    """First and last second of --since and --until as `Scope` has them, empty for none. Raises UsageError."""
    begin = "" if first is None else since(first, day)
    end = "" if last is None else until(last, day)
    if begin and end and later(begin, end):
        raise UsageError(f"--since {first} begins after --until {last} ends", hint="an earlier --since")
    return begin, end


def later(one: str, other: str) -> bool:
    """Whether the time `one` is after `other`, both as `since` gives them."""
    return datetime.fromisoformat(one) > datetime.fromisoformat(other)


def _bound(option: str, text: str, day: date) -> tuple[datetime, datetime]:
    words = " ".join(text.split())
    try:
        found = _instants(words) or _whole_days(_days(words, day))
    except (ValueError, OverflowError, OSError):  # no such day, or one before the calendar begins
        found = None
    if found is None:
        raise UsageError(f"{option} {text!r} is no date that is understood", hint=f"such as {UNDERSTOOD}")
    return found


def _instants(words: str) -> tuple[datetime, datetime] | None:
    """First and last second of a time of day, in this machine's time."""
    found = _ISO_TIME.fullmatch(words)
    if not found or not (found[2] or found[5]):
        return None
    offset = (found[5] or "").upper().replace("Z", "+00:00")
    offset = offset if not offset or ":" in offset else f"{offset[:3]}:{offset[3:]}"
    clock = f"{found[2] or '00'}:{found[3] or '00'}:{found[4] or '00'}"
    first = datetime.fromisoformat(f"{found[1]}T{clock}{offset}")
    seconds = 0 if found[4] else 59 if found[2] else 24 * 3600 - 1
    return first.astimezone(), (first + timedelta(seconds=seconds)).astimezone()


def _whole_days(days: Days | None) -> tuple[datetime, datetime] | None:
    if days is None:
        return None
    first, last = days
    return (
        datetime.combine(first, time()).astimezone(),
        datetime.combine(last, time(23, 59, 59)).astimezone(),
    )


def _days(words: str, day: date) -> Days | None:
    """The days that `words` alone name, said on `day`; a month without a year is the latest not to come."""
    if found := _SHORT.fullmatch(words):
        unit = {"d": "day", "w": "week", "m": "month", "y": "year"}[found[2].lower()]
        back = _back(int(found[1]), unit, day)
        return back, back
    found = _RELATIVE.fullmatch(words)
    if found and found["ago"]:
        back = _back(_number(found["count"].lower()), found["ago"].lower(), day)
        return back, back
    if found:
        return _relative(found, day)
    if _ONE_YEAR.fullmatch(words):
        return date(int(words), 1, 1), date(int(words), 12, 31)
    if found := next((found for pattern in _DAY_OF_MONTH if (found := pattern.fullmatch(words))), None):
        return _latest(_month(found["month"]), day, int(found["day"]))
    if found := re.fullmatch(_MONTH, words, re.I):
        return _latest(_month(found["month"]), day)
    written = () if _DAY_OR_MONTH_FIRST.match(words) else find(words)
    whens = [when for when in written if when.said == words and len(when.first) == len("2023-05-08")]
    return (date.fromisoformat(whens[0].first), date.fromisoformat(whens[0].last)) if whens else None


def _back(count: int, unit: str, day: date) -> date:
    """So many days, weeks, months or years before `day`; where a month is too short, its last day."""
    if unit in ("day", "week"):
        return day - timedelta(count * (7 if unit == "week" else 1))
    year, month = divmod(day.year * 12 + day.month - 1 - count * (12 if unit == "year" else 1), 12)
    return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))


def _latest(month: int, day: date, of_month: int = 0) -> Days:
    """The latest such month, or day of it, that has begun by `day`. Raises ValueError where none is."""
    for year in range(day.year, day.year - 9, -1):  # 29 February
        last = monthrange(year, month)[1]
        if of_month <= last and date(year, month, of_month or 1) <= day:
            return date(year, month, of_month or 1), date(year, month, of_month or last)
    raise ValueError(of_month)


def find(question: str, asked: date | None = None) -> tuple[When, ...]:
    """The dates in a question in order of appearance, each once.

    Relative ones ("yesterday", "two weeks ago", "last Monday", "last summer") are read only where `asked`,
    the day of the question, is given. Weeks begin on Monday; "N weeks ago" is the seven days around that day,
    "N months ago" the calendar month, "the past week" the seven days up to the question.
    """
    readers: list[tuple[re.Pattern[str], Callable[[re.Match[str]], When | None]]]
    readers = [(_NUMERIC, _from_numeric)]
    if asked is not None:
        readers.append((_RELATIVE, partial(_from_relative, asked)))
    readers += [(pattern, _from_calendar) for pattern in _CALENDAR]
    found: list[tuple[int, When]] = []
    rest = question
    for pattern, meaning in readers:
        for match in pattern.finditer(rest):
            when = meaning(match)
            if when is not None:
                found.append((match.start(), when))
                rest = f"{rest[: match.start()]}{'|' * len(match[0])}{rest[match.end() :]}"
    return tuple({when.name: when for _, when in sorted(found, key=lambda pair: pair[0])}.values())


def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


def _from_numeric(match: re.Match[str]) -> When | None:
    day = _day(find_date(match[0]))
    return _span(match[0], day, day) if day is not None else None


def _from_calendar(match: re.Match[str]) -> When | None:
    """What a pattern of `_CALENDAR` found; None where "may" or "march" is a verb, or there is no such day."""
    parts = match.groupdict()
    year, day = int(parts.get("year") or 0), int(parts.get("day") or 0)
    if parts.get("season"):
        return _season(match[0], parts["season"].lower(), year)
    name = parts.get("month") or ""
    month = _month(name) if name else int(parts.get("number") or 0)
    if name in ("may", "march", "mar") and not year and not _surely_month(match, day):
        return None
    if month and day > monthrange(year or 2024, month)[1]:
        return None
    written = [f"{year:04}" if year else "-", f"{month:02}" if month else "", f"{day:02}" if day else ""]
    of_any = "" if not year else f"{year:04}-"
    last = day or (monthrange(year or 2024, month)[1] if month else 31)
    return When(
        match[0],
        "-".join(part for part in written if part),
        f"{of_any}{month or 1:02}-{day or 1:02}",
        f"{of_any}{month or 12:02}-{last:02}",
    )


def _season(said: str, season: str, year: int) -> When:
    """A season, of any year without one; a winter belongs to the year in which it begins."""
    if year:
        return _span(said, *_season_of(season, year))
    first, last = _SEASONS[season]
    ends = f"{first:02}-01", f"{last:02}-{monthrange(2024, last)[1]}"
    return When(said, f"--{ends[0]}/--{ends[1]}", *ends)


def _season_of(season: str, year: int) -> Days:
    first, last = _SEASONS[season]
    end = year + (last < first)
    return date(year, first, 1), date(end, last, monthrange(end, last)[1])


def _surely_month(match: re.Match[str], day: int) -> bool:
    """Whether a lone "may" or "march" is a month: "may 8th" and "in may" are, "8 may" and "this may" not."""
    if day:
        return bool(match["nth"]) and match.start("month") < match.start("day")
    return not re.match(r"(?:this|last|next|early|late)\b", match[0], re.I)


def _from_relative(asked: date, match: re.Match[str]) -> When | None:
    if match["named"] and match["month"] in ("may", "march", "mar"):
        return None
    try:
        first, last = _relative(match, asked)
    except (ValueError, OverflowError):  # before the first day of the calendar
        return None
    return _span(match[0], first, last, relative=True)


def _relative(match: re.Match[str], asked: date) -> Days:
    """First and last day of what `_RELATIVE` found."""
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
    if "named" in parts:
        month = _month(parts["month"])
        spans = [
            (date(year, month, 1), date(year, month, monthrange(year, month)[1]))
            for year in (asked.year, asked.year - 1)
        ]
        return spans[0] if parts["named"] == "this" else _over(spans, asked)
    if "season" in parts:
        winter = parts["season"] == "winter" and asked.month <= _SEASONS["winter"][1]
        years = (asked.year - winter, asked.year - 1, asked.year - 2)
        spans = [_season_of(parts["season"], year) for year in years]
        return spans[0] if parts["which"] == "this" else _over(spans, asked)
    return _period(parts["period"], 0 if parts["which"] == "this" else 1, asked)


def _over(spans: list[Days], asked: date) -> Days:
    """The first of `spans`, latest first, that is over on the day `asked`."""
    return next((first, last) for first, last in spans if last < asked)


def _ago(count: int, unit: str, asked: date) -> Days:
    if unit == "day":
        return (asked - timedelta(count),) * 2
    if unit == "week":
        middle = asked - timedelta(7 * count)
        return middle - timedelta(3), middle + timedelta(3)
    return _period(unit, count, asked)


def _period(unit: str, back: int, asked: date) -> Days:
    """The calendar week, weekend, month or year that lies `back` before that of `asked`."""
    if unit in ("week", "weekend"):
        monday = asked - timedelta(asked.weekday() + 7 * back)
        return monday + timedelta(5 if unit == "weekend" else 0), monday + timedelta(6)
    if unit == "year":
        return date(asked.year - back, 1, 1), date(asked.year - back, 12, 31)
    year, month = divmod(asked.year * 12 + asked.month - 1 - back, 12)
    return date(year, month + 1, 1), date(year, month + 1, monthrange(year, month + 1)[1])


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _number(word: str) -> int:
    return int(word) if word.isdigit() else _COUNTS[word]


def _span(said: str, first: date, last: date, *, relative: bool = False) -> When:
    ends = first.isoformat(), last.isoformat()
    return When(said, ends[0] if first == last else "/".join(ends), *ends, relative)
