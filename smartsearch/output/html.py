"""One answer as one HTML page: no script, nothing from the network, light and dark, for phone and paper."""

from __future__ import annotations

import dataclasses
from base64 import b64encode
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from smartsearch import __version__
from smartsearch.config import Config
from smartsearch.output import charts
from smartsearch.output.bars import Scale, scale
from smartsearch.output.cut import FELL, HIDDEN, Ranked, ceiling, decided, duration, ranked, rule, stages
from smartsearch.output.marking import hop_class, marked
from smartsearch.output.markup import Markup, join, tag
from smartsearch.output.plain import where
from smartsearch.types import Hit, HopTrace, Nearby, Result, Scores, Term, Turn

NAME = 200
"""Characters shown of a name or an id."""
NOTE = 400
"""Characters shown of a path, a warning or a reason."""
NEAR = 400
"""Characters shown of a turn that is there only as context."""
LISTED = 20
"""Turns listed of those that one rule dropped."""
QUIET = ("threads", "timeout", "offline", "cache", "cache_size", "daemon")
"""Settings that do not change an answer."""
NAMES = {"ce": "cross-encoder", "colbert": "ColBERT", "fused": "fused", "rrf": "rrf", "match": "match weight"}
DIGITS = {"ce": 4, "colbert": 2, "fused": 3, "rrf": 5, "match": 2}


def page(answer: Result, around: Sequence[Nearby], config: Config) -> str:
    """The page, the same for the same answer but for the times; `around` has one entry a hit, or none."""
    rows = ranked(answer)
    made = (
        _hits(answer, around, rows),
        _pictures(answer, rows),
        _hops(answer),
        _cut(answer, config, rows),
        _skipped(answer),
        _run(answer, config),
    )
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
        tag("title", f"smartsearch: {_clipped(answer.query, 100)}"),
        tag("style", Markup(_style())),
    )


@dataclass(frozen=True)
class _Section:
    """A part of the page under a heading of its own; `key` is its id."""

    key: str
    title: str
    parts: tuple[str, ...]


def _section(key: str, title: str, *parts: str) -> _Section:
    return _Section(key, title, parts)


def _drawn(section: _Section) -> Markup:
    name = f"{section.key}-name"
    heading = tag("h2", section.title, id=name)
    made = tag("section", heading, *section.parts, id=section.key, aria_labelledby=name)
    return join([Markup("\n"), made])


def _header(answer: Result, sections: Sequence[_Section]) -> Markup:
    cut, conversations = answer.budget, {hit.turn.place for hit in answer.hits}
    facts = [
        f"{_count(len(answer.hits), 'turn')} of {_count(answer.trace.candidates, 'candidate')}",
        f"{_count(len(conversations), 'session')}",
        f"{cut.used_words:,} words, {cut.used_tokens:,} tokens",
        duration(answer.trace.timing_ms.get("total", 0.0)),
    ]
    links = [tag("a", section.title, href=f"#{section.key}") for section in sections]
    notes = [tag("li", _clipped(note, NOTE)) for note in (*answer.warnings, *answer.trace.degraded)]
    return tag(
        "header",
        tag("p", "smartsearch", class_="brand"),
        tag("h1", _clipped(answer.query, 10 * NOTE), dir="auto"),
        tag("p", join((tag("span", fact) for fact in facts), " "), class_="facts"),
        tag("nav", join(links, " "), aria_label="Sections"),
        tag("ul", *notes, class_="notes", aria_label="Notes") if notes else "",
    )


def _footer() -> Markup:
    said = f"Made by smartsearch {__version__}. The page holds all it shows and asks the network for nothing."
    return tag("footer", tag("p", said))


def _hits(answer: Result, around: Sequence[Nearby], rows: Sequence[Ranked]) -> _Section:
    if not answer.hits:
        return _section("answer", "Nothing was found", tag("p", "No turn answers the question."))
    columns = _columns(rows)
    at = {hit.index: hit.rank for hit in answer.hits if hit.index >= 0}
    shown = [
        _hit(hit, around[n] if around else Nearby(hit.index), columns, at)
        for n, hit in enumerate(answer.hits)
    ]
    hops = sorted({term.hop for hit in answer.hits for term in hit.terms})
    legend = [tag("mark", f"hop {hop}", class_=hop_class(hop)) for hop in hops]
    said = tag("p", "Words that found a turn: ", join(legend, " "), class_="legend") if legend else ""
    items = [tag("li", one) for one in shown]
    return _section("answer", "Answer", said, tag("ol", *items, class_="hits"))


def _hit(hit: Hit, around: Nearby, columns: Mapping[str, Scale], at: Mapping[int, int]) -> Markup:
    turn, name = hit.turn, f"hit-{hit.rank}-name"
    first = around.index - len(around.before)
    before = [_near(other, at.get(first + n)) for n, other in enumerate(around.before)]
    after = [_near(other, at.get(around.index + 1 + n)) for n, other in enumerate(around.after)]
    title = tag(
        "h3",
        tag("span", str(hit.rank), class_="rank"),
        " ",
        tag("bdi", _clipped(turn.speaker or turn.role or "turn", NAME), class_="speaker"),
        " ",
        _when(turn),
        id=name,
    )
    said = tag("div", tag("p", _text(turn, hit.terms), class_="said", dir="auto"), class_="own")
    talk = tag("div", *before, said, *after, class_="talk")
    facts = tag("div", _bars(hit.scores, columns), _why(hit), class_="why")
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
    """A turn of context, with a way to it where it is a hit itself."""
    link = [" ", tag("a", f"→ hit {rank}", href=f"#hit-{rank}", class_="also")] if rank else []
    who = [tag("bdi", _clipped(turn.speaker, NAME), class_="speaker"), " "] if turn.speaker else []
    return tag("p", *who, marked(turn.said, (), NEAR), *link, class_="near", dir="auto")


def _when(turn: Turn) -> Markup | str:
    if not turn.time:
        return ""
    clock = turn.time[11:16]
    return tag("time", f"{turn.date} {clock}".strip(), datetime=turn.time[:NAME])


def _place(turn: Turn) -> Markup:
    names = [turn.title or turn.conversation, turn.session, turn.turn]
    ids = [tag("bdi", _clipped(name, NAME)) for name in names if name]
    return tag(
        "p",
        tag("code", _clipped(where(turn), NOTE)),
        *(part for one in ids for part in (" · ", one)),
        class_="place",
    )


def _columns(rows: Sequence[Ranked]) -> dict[str, Scale]:
    """The scores that are shown, each with the range it has over all ranked turns."""
    names = ("ce", "colbert", decided(rows), "match")
    return {name: scale(getattr(row.scores, name) for row in rows) for name in names}


def _bars(scores: Scores, columns: Mapping[str, Scale]) -> Markup:
    rows = []
    for name, over in columns.items():
        value: float | None = getattr(scores, name)
        shown = "not read" if value is None else f"{value:.{DIGITS[name]}f}"
        drawn = "" if value is None else charts.bar(over.share(value), f"fill {name}")
        rows.append(tag("div", tag("dt", NAMES[name]), tag("dd", tag("span", shown), drawn)))
    return tag("dl", *rows, class_="scores")


def _why(hit: Hit) -> Markup:
    if not hit.terms:
        return tag("p", "found by meaning, no term in it", class_="terms")
    terms = {(term.text, term.kind): term for term in hit.terms}.values()
    return tag("p", join((_term(term) for term in terms), " "), class_="terms")


def _term(term: Term) -> Markup:
    said = f"hop {term.hop}, {term.kind}, weight {term.weight:.2f}"
    return tag("span", tag("bdi", _clipped(term.text, 60)), class_=f"term {hop_class(term.hop)}", title=said)


def _pictures(answer: Result, rows: Sequence[Ranked]) -> _Section | None:
    cut = answer.budget
    made = (
        charts.timeline(rows, answer.hits),
        charts.rankers(rows, cut.tau),
        charts.cutting(rows, cut.tau, cut.top_k),
    )
    drawn = [_picture(one) for one in made if one is not None]
    if not drawn:
        return None
    present = {row.fate for row in rows}
    key = [tag("li", charts.sample(fate), said) for fate, said in charts.LEGEND.items() if fate in present]
    return _section(
        "pictures",
        "Pictures",
        tag("div", *drawn, class_="pictures"),
        tag("ul", *key, class_="key", aria_label="Marks"),
    )


def _picture(one: charts.Picture) -> Markup:
    return tag("figure", tag("h3", one.title), one.svg, tag("figcaption", one.caption))


def _hops(answer: Result) -> _Section:
    trace = answer.trace
    weights = Scale(0.0, max((term.weight for term in trace.terms), default=1.0))
    held = Counter((term.text, term.kind) for hit in answer.hits for term in hit.terms)
    steps = [_step(step, weights, held) for step in trace.hops]
    fallback = tag("p", _clipped(trace.fallback, NOTE), class_="notes") if trace.fallback else ""
    return _section("hops", "How it was found", fallback, tag("ol", *steps, class_="tree"))


def _step(step: HopTrace, weights: Scale, held: Mapping[tuple[str, str], int]) -> Markup:
    found = f" {_count(step.found, 'new turn')}, {step.total:,} in all"
    head = [
        tag("span", f"hop {step.hop}", class_=f"term {hop_class(step.hop)}"),
        " ",
        tag("b", step.kind),
        found,
    ]
    if not step.terms:
        how = "by meaning, without a term" if step.kind == "semantic" else "no new term"
        return tag("li", tag("p", *head), tag("p", how, class_="quiet"))
    rows = []
    for term in step.terms:
        source = [" for ", tag("bdi", _clipped(term.source, NAME))] if term.source else []
        name = tag("th", _term(term), *source, scope="row")
        weight = tag(
            "td",
            tag("span", f"{term.weight:.2f}"),
            charts.bar(weights.share(term.weight), f"fill {hop_class(term.hop)}"),
        )
        rows.append(
            tag("tr", name, tag("td", term.kind), weight, tag("td", str(held.get((term.text, term.kind), 0))))
        )
    titles = tag("tr", *(tag("th", name, scope="col") for name in ("term", "kind", "weight", "hits")))
    return tag(
        "li",
        tag("p", *head),
        _table(tag("thead", titles), tag("tbody", *rows), f"Terms of hop {step.hop}, {step.kind}"),
    )


def _table(head: Markup, body: Markup, label: str) -> Markup:
    """A table that scrolls where it is wider than its room, by keyboard too."""
    return tag("div", tag("table", head, body), class_="table", tabindex=0, role="region", aria_label=label)


def _cut(answer: Result, config: Config, rows: Sequence[Ranked]) -> _Section:
    cut, stayed = answer.budget, sum(row.stayed for row in rows)
    limits = [f"top_k {cut.top_k}", f"alpha {cut.alpha:g}", f"tau {cut.tau:.4f}"] if cut.top_k else []
    facts = [cut.truncate, *limits, ceiling(answer, config), f"fill {config.fill}"]
    used = f"{cut.used_words:,} words, {cut.used_tokens:,} tokens ({cut.tokenizer}) are shown."
    lead = f"{stayed:,} of {_count(len(rows), 'ranked turn')} stay: {', '.join(facts)}. {used}"
    return _section("cut", "The cut", tag("p", lead), *_fallen(answer, config, rows))


def _fallen(answer: Result, config: Config, rows: Sequence[Ranked]) -> Iterator[Markup]:
    """The first turns that each rule dropped, folded."""
    for fate in (HIDDEN, *FELL):
        members = [row for row in rows if row.fate == fate]
        if not members:
            continue
        names = [name for name in _columns(rows) if name != "match"]
        head = tag(
            "tr", *(tag("th", name, scope="col") for name in ("rank", *(NAMES[n] for n in names), "turn"))
        )
        body = [_fell(row, names) for row in members[:LISTED]]
        said = f"{rule(fate, answer, config)}: {_count(len(members), 'turn')}"
        more = (
            tag("p", f"and {len(members) - LISTED:,} more", class_="quiet") if len(members) > LISTED else ""
        )
        table = _table(tag("thead", head), tag("tbody", *body), said)
        yield tag("details", tag("summary", said), table, more)


def _fell(row: Ranked, names: Sequence[str]) -> Markup:
    values = [getattr(row.scores, name) for name in names]
    shown = [
        "-" if value is None else f"{value:.{DIGITS[name]}f}"
        for name, value in zip(names, values, strict=True)
    ]
    turn = tag(
        "td",
        tag("bdi", _clipped(row.turn.speaker, NAME), class_="speaker"),
        " ",
        marked(row.turn.said, (), 160),
        class_="words",
        dir="auto",
    )
    return tag("tr", tag("th", str(row.rank), scope="row"), *(tag("td", value) for value in shown), turn)


def _skipped(answer: Result) -> _Section | None:
    if not answer.skipped:
        return None
    items = [
        tag("li", tag("code", _clipped(one.path, NOTE)), f": {_clipped(one.reason, NOTE)}")
        for one in answer.skipped[:200]
    ]
    more = len(answer.skipped) - len(items)
    rest = tag("p", f"and {more:,} more", class_="quiet") if more else ""
    return _section("skipped", "Left out", tag("p", "These could not be read:"), tag("ul", *items), rest)


def _run(answer: Result, config: Config) -> _Section:
    spent = stages(answer.trace.timing_ms)
    total = answer.trace.timing_ms.get("total", 0.0)
    longest = Scale(0.0, max((ms for _, ms in spent), default=0.0))
    rows = [
        tag(
            "tr",
            tag("th", name, scope="row"),
            tag("td", tag("span", duration(ms)), charts.bar(longest.share(ms), f"fill s{n}")),
        )
        for n, (name, ms) in enumerate(spent)
    ]
    told = ", ".join(f"{name} {duration(ms)}" for name, ms in spent)
    models = [
        tag("li", f"{model.role}: ", tag("code", model.id), f" {model.revision} {model.precision}")
        for model in answer.trace.models
    ]
    given = [
        tag("li", tag("code", f"{field.name} = {getattr(config, field.name)!r}"))
        for field in dataclasses.fields(config)
        if field.name not in QUIET and getattr(config, field.name) != field.default
    ]
    return _section(
        "run",
        "Run",
        tag("h3", "Time"),
        tag("p", f"{duration(total)} on {_count(answer.threads, 'thread')}"),
        charts.stacked([ms for _, ms in spent], f"Time by stage: {told}"),
        _table(Markup(""), tag("tbody", *rows), "Time by stage"),
        tag("h3", "Models"),
        tag("p", f"profile {_clipped(answer.profile, NAME)}"),
        tag("ul", *models),
        *([tag("h3", "Settings other than the defaults"), tag("ul", *given)] if given else []),
    )


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"
