"""One answer as one HTML page: no script, nothing from the network, light and dark, for phone and paper."""

from __future__ import annotations

import dataclasses
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from smartsearch import __version__
from smartsearch.config import Config
from smartsearch.output.explain import Facts, facts
from smartsearch.output.marking import hop_class, marked
from smartsearch.output.markup import Markup, join, tag
from smartsearch.output.plain import clipped, counted, told, where
from smartsearch.types import Hit, Nearby, Result, Scores, Term, Turn

NAME = 200
"""Characters shown of a name or an id."""
NOTE = 400
"""Characters shown of a path, a warning or a reason."""
NEAR = 400
"""Characters shown of a turn that is there only as context."""
QUIET = ("threads", "timeout", "offline", "cache", "cache_size", "daemon")
"""Settings that do not change an answer."""
DIGITS = {"ce": 4, "colbert": 2, "fused": 3, "rrf": 5, "match": 2}
"""Decimal places of each score."""
Range = tuple[float, float]
NAMES = {"ce": "cross-encoder", "colbert": "ColBERT", "fused": "fused", "rrf": "rrf", "match": "match weight"}


def page(answer: Result, around: Sequence[Nearby], config: Config) -> str:
    """The page; only its times differ between runs. `around` has one entry per hit, or is empty."""
    made = (_hits(answer, around), _explained(answer, config), _skipped(answer))
    sections = [section for section in made if section is not None]
    body = tag("body", _header(answer, sections), tag("main", *map(_drawn, sections)), _footer())
    return f"<!doctype html>\n{tag('html', _head(answer), body, lang='en')}\n"


@lru_cache(maxsize=1)
def _style() -> str:
    return Path(__file__).with_name("page.css").read_text(encoding="utf-8")


def policy() -> str:
    """What a browser may load or run for this page: its own style and nothing else."""
    digest = b64encode(sha256(_style().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"


def _head(answer: Result) -> Markup:
    return tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy()),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="generator", content=f"smartsearch {__version__}"),
        tag("title", f"smartsearch: {clipped(answer.query, 100)}"),
        tag("style", Markup(_style())),
    )


class _Section:
    """A part of the page under a heading of its own; `key` is its id."""

    def __init__(self, key: str, title: str, *parts: str) -> None:
        self.key, self.title, self.parts = key, title, parts


def _drawn(section: _Section) -> Markup:
    name = f"{section.key}-name"
    heading = tag("h2", section.title, id=name)
    made = tag("section", heading, *section.parts, id=section.key, aria_labelledby=name)
    return join([Markup("\n"), made])


def _header(answer: Result, sections: Sequence[_Section]) -> Markup:
    cut, conversations = answer.budget, {hit.turn.place for hit in answer.hits}
    facts = [
        f"{counted(len(answer.hits), 'turn')} of {counted(answer.trace.candidates, 'candidate')}",
        f"{counted(len(conversations), 'session')}",
        f"{cut.used_words:,} words, {cut.used_tokens:,} tokens",
        _duration(answer.trace.timing_ms.get("total", 0.0)),
    ]
    links = [tag("a", section.title, href=f"#{section.key}") for section in sections]
    notes = [tag("li", clipped(note, NOTE)) for note in told(answer)]
    return tag(
        "header",
        tag("p", "smartsearch", class_="brand"),
        tag("h1", clipped(answer.query, 10 * NOTE), dir="auto"),
        tag("p", join((tag("span", fact) for fact in facts), " "), class_="facts"),
        tag("nav", join(links, " "), aria_label="Sections"),
        tag("ul", *notes, class_="notes", aria_label="Notes") if notes else "",
    )


def _duration(milliseconds: float) -> str:
    """`5.78 s`, `224 ms`, `0.4 ms`."""
    if milliseconds >= 1000.0:
        return f"{milliseconds / 1000.0:.2f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10.0 else f"{milliseconds:.1f} ms"


def _footer() -> Markup:
    said = f"Made by smartsearch {__version__}. The page holds all it shows and asks the network for nothing."
    return tag("footer", tag("p", said))


def _hits(answer: Result, around: Sequence[Nearby]) -> _Section:
    if not answer.hits:
        return _Section("answer", "Nothing was found", tag("p", "No turn answers the question."))
    ranges = _ranges(answer)
    at = {hit.index: hit.rank for hit in answer.hits if hit.index >= 0}
    shown = [
        _hit(hit, around[n] if around else Nearby(hit.index), ranges, at) for n, hit in enumerate(answer.hits)
    ]
    hops = sorted({term.hop for hit in answer.hits for term in hit.terms})
    legend = [tag("mark", f"hop {hop}", class_=hop_class(hop)) for hop in hops]
    said = tag("p", "Words that found a turn: ", join(legend, " "), class_="legend") if legend else ""
    items = [tag("li", one) for one in shown]
    return _Section("answer", "Answer", said, tag("ol", *items, class_="hits"))


def _hit(hit: Hit, around: Nearby, ranges: Mapping[str, Range], at: Mapping[int, int]) -> Markup:
    turn, name = hit.shown, f"hit-{hit.rank}-name"
    first = around.index - len(around.before)
    before = [_near(other, at.get(first + n)) for n, other in enumerate(around.before)]
    behind = dict(enumerate(around.after, around.index + 1))
    if hit.reply and not behind:
        behind = {hit.reply.index: hit.reply.shown}
    after = [_near(other, at.get(index)) for index, other in behind.items()]
    title = tag(
        "h3",
        tag("span", str(hit.rank), class_="rank"),
        " ",
        tag("bdi", clipped(turn.speaker or turn.role or "turn", NAME), class_="speaker"),
        " ",
        _when(turn),
        id=name,
    )
    said = tag("div", tag("p", _text(turn, hit.terms), class_="said", dir="auto"), class_="own")
    talk = tag("div", *before, said, *after, class_="talk")
    facts = tag("div", _scores(hit.scores, ranges), _why(hit), class_="why")
    return tag(
        "article",
        title,
        _place(turn),
        tag("div", talk, facts, class_="pair"),
        id=f"hit-{hit.rank}",
        aria_labelledby=name,
    )


def _text(turn: Turn, terms: Sequence[Term]) -> Markup:
    """What was said, and in brackets what an image shows, terms marked."""
    said = marked(turn.text, terms)
    if not turn.caption:
        return said
    return join([said, tag("span", "(", marked(turn.caption, terms), ")", class_="caption")], " ")


def _near(turn: Turn, rank: int | None) -> Markup:
    """A turn of context, with a link to its hit if it is one."""
    link = [" ", tag("a", f"→ hit {rank}", href=f"#hit-{rank}", class_="also")] if rank else []
    who = [tag("bdi", clipped(turn.speaker, NAME), class_="speaker"), " "] if turn.speaker else []
    return tag("p", *who, marked(turn.said, (), NEAR), *link, class_="near", dir="auto")


def _when(turn: Turn) -> Markup | str:
    if not turn.time:
        return ""
    clock = turn.time[11:16]
    return tag("time", f"{turn.date} {clock}".strip(), datetime=turn.time[:NAME])


def _place(turn: Turn) -> Markup:
    names = [turn.title or turn.conversation, turn.session, turn.turn]
    ids = [tag("bdi", clipped(name, NAME)) for name in names if name]
    return tag(
        "p",
        tag("code", clipped(where(turn), NOTE)),
        *(part for one in ids for part in (" · ", one)),
        class_="place",
    )


def _ranges(answer: Result) -> dict[str, Range]:
    """The scores that are shown, each with its lowest and highest value over all ranked turns."""
    every = [hit.scores for hit in (*answer.hits, *answer.budget.hidden)]
    every += [dropped.scores for dropped in answer.budget.dropped]
    order = "fused" if any(one.fused is not None for one in every) else "rrf"
    made = {}
    for name in ("ce", "colbert", order, "match"):
        values = [value for one in every if (value := getattr(one, name)) is not None]
        made[name] = (min(values, default=0.0), max(values, default=0.0))
    return made


def _scores(scores: Scores, ranges: Mapping[str, Range]) -> Markup:
    """Each score as a number and as a meter over its range."""
    rows = []
    for name, (low, high) in ranges.items():
        value: float | None = getattr(scores, name)
        shown = "not read" if value is None else f"{value:.{DIGITS[name]}f}"
        share = 1.0 if value is None or high <= low else (value - low) / (high - low)
        meter = "" if value is None else tag("meter", value=share, aria_hidden="true")
        rows.append(tag("div", tag("dt", NAMES[name]), tag("dd", tag("span", shown), meter)))
    return tag("dl", *rows, class_="scores")


def _why(hit: Hit) -> Markup:
    if not hit.terms:
        return tag("p", "found by meaning, no term in it", class_="terms")
    terms = {(term.text, term.kind): term for term in hit.terms}.values()
    return tag("p", join((_term(term) for term in terms), " "), class_="terms")


def _term(term: Term) -> Markup:
    said = f"hop {term.hop}, {term.kind}, weight {term.weight:.2f}"
    return tag("span", tag("bdi", clipped(term.text, 60)), class_=f"term {hop_class(term.hop)}", title=said)


def _explained(answer: Result, config: Config) -> _Section:
    """The facts of `--explain` without the scores, which stand beside the hits; then the settings."""
    parts = [_facts(one) for one in facts(answer, config) if one.title != "scores"]
    given = [
        tag("li", tag("code", f"{field.name} = {getattr(config, field.name)!r}"))
        for field in dataclasses.fields(config)
        if field.name not in QUIET and getattr(config, field.name) != field.default
    ]
    if given:
        parts += [tag("h3", "Settings other than the defaults"), tag("ul", *given)]
    return _Section("explained", "How it was found", *parts)


def _facts(one: Facts) -> Markup:
    """A named line, or a table that scrolls if it is too wide."""
    if one.said:
        return tag("p", tag("strong", f"{one.title}: "), clipped(one.said, NOTE))
    rows = [
        tag("tr", *(tag("th" if one.headed and not n else "td", clipped(cell, NOTE)) for cell in row))
        for n, row in enumerate(one.rows)
    ]
    table = tag("table", tag("tbody", *rows))
    room = tag("div", table, class_="table", tabindex=0, role="region", aria_label=one.title)
    return join([tag("h3", one.title), room])


def _skipped(answer: Result) -> _Section | None:
    if not answer.skipped:
        return None
    items = [
        tag("li", tag("code", clipped(one.path, NOTE)), f": {clipped(one.reason, NOTE)}")
        for one in answer.skipped[:200]
    ]
    more = len(answer.skipped) - len(items)
    rest = tag("p", f"and {more:,} more", class_="quiet") if more else ""
    return _Section("skipped", "Left out", tag("p", "These could not be read:"), tag("ul", *items), rest)
