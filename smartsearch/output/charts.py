"""The pictures of the page as inline SVG: hits over time, one ranker against the other, the cut, bars."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import PurePath

from smartsearch.output.bars import Scale, scale
from smartsearch.output.cut import HIDDEN, SHOWN, Ranked
from smartsearch.output.markup import Markup, join, tag
from smartsearch.output.plain import one_line
from smartsearch.types import Hit

WIDE, HIGH = 400.0, 260.0
"""Units of a picture: about a phone's pixels, so that its words can be read there."""
LEFT, RIGHT, TOP, BOTTOM = 44.0, 12.0, 22.0, 38.0
LANES = 10
"""Conversations with a lane of their own in the timeline."""
LANE, MIDDLE = 58.0, 37.0
"""Height of a lane, and of its line in it."""
CLOSE = 9.0
"""Nearer than this, two marks of the timeline cover each other."""
ASIDE = (0.0, -9.0, 9.0, -18.0, 18.0)
"""Places beside the line of a lane."""
NAMED = 3
"""Ranks written beside their marks where one ranker stands against the other."""
MOST_POINTS = 600
"""Turns drawn in one picture, best first."""
TOLD = 80
"""Characters of a turn in the words that a pointer over its mark calls up."""
EDGE = 1e-5
"""How near to 0 and 1 a score is drawn."""
DECADES = (0.00001, 0.0001, 0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999)
BETWEEN = (0.00002, 0.00005, 0.0002, 0.0005, 0.002, 0.005, 0.02, 0.05, 0.2, 0.3, 0.7, 0.8, 0.95, 0.98, 0.995)


@dataclass(frozen=True)
class Picture:
    """An SVG with its heading, and what it shows in words for who cannot see it."""

    key: str
    title: str
    svg: Markup
    caption: str


def bar(share: float, kind: str = "fill") -> Markup:
    """A bar beside a number that says the same; it stretches to its room."""
    return _svg(
        tag("rect", class_="track", width=100, height=8),
        tag("rect", class_=kind, width=max(share, 0.01) * 100, height=8),
        class_="bar",
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def stacked(values: Sequence[float], said: str) -> Markup:
    """One bar parted as `values` are."""
    total, at, parts = sum(values) or 1.0, 0.0, []
    for n, value in enumerate(values):
        width = max(value, 0.0) / total * 100
        parts.append(tag("rect", class_=f"s{n}", x=at, width=width, height=8))
        at += width
    return _svg(
        *parts,
        class_="bar stack",
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        role="img",
        aria_label=said,
    )


LEGEND = {
    SHOWN: "shown",
    HIDDEN: "stayed, not shown",
    "tau": "fell by tau",
    "budget": "no room in the budget",
    "top_k": "behind top_k",
}
"""What the marks stand for."""


def sample(fate: str) -> Markup:
    """A fate's mark for the legend."""
    if fate == SHOWN:
        drawn = tag("g", tag("circle", cx=7, cy=7, r=5), class_=SHOWN)
    else:
        drawn = _mark_of(fate, 7.0, 7.0, Markup(""))
    return _svg(drawn, viewBox="0 0 14 14", aria_hidden="true")


def timeline(rows: Sequence[Ranked], hits: Sequence[Hit]) -> Picture | None:
    """Where the hits lie: a lane a conversation, time to the right; without dates their order."""
    moments = {row.rank: when for row in rows if (when := _moment(row.turn.time)) is not None}
    dated = any(row.rank in moments for row in rows if row.fate == SHOWN)
    if dated:
        placed = [(row, moments[row.rank]) for row in rows if row.rank in moments]
    else:
        index = {hit.rank: float(hit.index) for hit in hits}
        placed = [(row, index[row.rank]) for row in rows if row.rank in index]
    if not any(row.fate == SHOWN for row, _ in placed):
        return None
    drawn = placed[:MOST_POINTS]
    lanes = _lanes([row for row, _ in drawn])
    names = list(dict.fromkeys(lanes.values()))
    high = LANE * len(names) + BOTTOM
    across = _Axis(scale(at for _, at in drawn), 14.0, WIDE - 14.0)
    parts: list[Markup] = []
    for n, name in enumerate(names):
        y = LANE * n
        parts.append(_words(name, 4, y + 12, class_="lane"))
        parts.append(tag("line", class_="grid", x1=0, x2=WIDE, y1=y + MIDDLE, y2=y + MIDDLE))
    spots: list[tuple[int, float, float]] = []
    for row, at in drawn:
        lane, x = names.index(lanes[row.rank]), across(at)
        spots.append((lane, x, _aside(lane, x, spots)))
    for (row, _), (lane, x, aside) in reversed(list(zip(drawn, spots, strict=True))):
        parts.append(_mark(row, x, LANE * lane + MIDDLE + aside, numbered=True))
    if dated:
        parts += _dates(across, high)
        untold = sum(row.fate == SHOWN and row.rank not in moments for row in rows)
    else:
        parts.append(_words("from first to last, by order: there are no dates", 14, high - 12, class_="tick"))
        untold = 0
    caption = f"{_count(sum(row.fate == SHOWN for row, _ in drawn), 'hit')} by rank"
    others = sum(row.fate != SHOWN for row, _ in drawn)
    caption += f"; small marks are {_count(others, 'other candidate')}" if others else ""
    caption += f"; {_count(untold, 'hit')} without a date left out" if untold else ""
    caption += _capped(len(placed))
    title = "Hits over time" if dated else "Hits in order"
    picture = _figure(title, high, parts, caption)
    return Picture("timeline", title, picture, f"{caption}.")


def _aside(lane: int, x: float, taken: Sequence[tuple[int, float, float]]) -> float:
    """How far from its lane's middle a mark stands, so that it covers as few better ones as can be."""
    near = [y for other, at, y in taken if other == lane and abs(at - x) < CLOSE]
    return min(ASIDE, key=lambda y: (sum(abs(y - other) < CLOSE for other in near), abs(y)))


def _dates(across: _Axis, high: float) -> list[Markup]:
    """The first, the middle and the last moment."""
    low, top = across.scale.low, across.scale.high
    clock = top - low < 2.0
    ends = [(low, "start"), ((low + top) / 2, "middle"), (top, "end")] if top > low else [(low, "middle")]
    return [
        _words(_date(at, clock=clock), across(at), high - 12, class_="tick", anchor=anchor)
        for at, anchor in ends
    ]


def _lanes(rows: Sequence[Ranked]) -> dict[int, str]:
    """Each rank's lane, by the conversation; the best have their own."""
    names = {row.rank: _conversation(row) for row in rows}
    own = list(dict.fromkeys(names.values()))
    if len(own) <= LANES:
        return names
    rest = f"{len(own) - LANES + 1:,} other conversations"
    kept = set(own[: LANES - 1])
    return {rank: name if name in kept else rest for rank, name in names.items()}


def _conversation(row: Ranked) -> str:
    turn = row.turn
    return _short(turn.title or turn.conversation or PurePath(turn.path).name or "transcript", 48)


def rankers(rows: Sequence[Ranked], tau: float) -> Picture | None:
    """The cross-encoder against ColBERT: turns that both like stand at the top right."""
    drawn = [row for row in rows if row.scores.colbert is not None][:MOST_POINTS]
    if not any(row.scores.ce is not None for row in drawn):
        return None
    strip = 26.0 if any(row.scores.ce is None for row in drawn) else 0.0
    scores = [_logit(row.scores.ce) for row in drawn if row.scores.ce is not None]
    across = _Axis(scale([*scores, _logit(tau)] if tau > 0 else scores), LEFT + strip + 8, WIDE - RIGHT)
    up = _Axis(scale(row.scores.colbert for row in drawn), HIGH - BOTTOM, TOP)
    parts = [*_ticks_across(across, high=HIGH), *_ticks_up(up, up.round_values(), str_number)]
    if strip:
        x = LEFT + strip
        parts.append(tag("line", class_="axis", x1=x, x2=x, y1=TOP, y2=HIGH - BOTTOM))
        parts.append(
            _words("unread", LEFT + strip / 2 - 1, HIGH - BOTTOM + 14, class_="tick", anchor="middle")
        )
    if tau > 0:
        x = across(_logit(tau))
        parts.append(tag("line", class_="tau", x1=x, x2=x, y1=TOP, y2=HIGH - BOTTOM))
        parts.append(_words("tau", x + 3, TOP + 9, class_="tau-name"))
    parts.append(_words("cross-encoder, 0 to 1", WIDE - RIGHT, HIGH - 6, class_="name", anchor="end"))
    parts.append(_words("ColBERT", 2, 10, class_="name"))
    for row in reversed(drawn):
        assert row.scores.colbert is not None
        ce = row.scores.ce
        x = LEFT + strip / 2 if ce is None else across(_logit(ce))
        y = up(row.scores.colbert)
        parts.append(_mark(row, x, y))
        if row.rank <= NAMED:
            edge = x > WIDE - 30
            parts.append(
                _words(
                    str(row.rank),
                    x - 7 if edge else x + 7,
                    y + 4,
                    class_="lane",
                    anchor="end" if edge else None,
                )
            )
    unread = sum(row.scores.ce is None for row in drawn)
    caption = f"{_count(len(drawn), 'turn')}: ColBERT upwards, the cross-encoder to the right (log-odds)"
    caption += f"; at the left {_count(unread, 'turn')} that the cross-encoder did not read" if unread else ""
    caption += "; left of the dashed line the score is below tau" if tau > 0 else ""
    caption += _capped(sum(row.scores.colbert is not None for row in rows))
    return Picture(
        "rankers",
        "The rankers against each other",
        _figure("The rankers", HIGH, parts, caption),
        f"{caption}.",
    )


def cutting(rows: Sequence[Ranked], tau: float, top_k: int) -> Picture | None:
    """The cross-encoder's score by rank, tau across it."""
    last = max((row.rank for row in rows if row.stayed), default=1)
    drawn = [row for row in rows if row.rank <= max(top_k, last) * 1.15 + 3][:MOST_POINTS]
    scores = [_logit(row.scores.ce) for row in drawn if row.scores.ce is not None]
    if not scores:
        return None
    across = _Axis(Scale(1.0, float(max(drawn[-1].rank, 2))), LEFT + 8, WIDE - RIGHT)
    up = _Axis(scale([*scores, _logit(tau)] if tau > 0 else scores), HIGH - BOTTOM, TOP)
    parts = _ticks_up(up, [_logit(value) for value in _scores(up)], lambda at: f"{_unlogit(at):.5g}")
    for rank in _ranks(drawn[-1].rank):
        parts.append(_words(str(rank), across(rank), HIGH - BOTTOM + 14, class_="tick", anchor="middle"))
    parts.append(_words("rank", WIDE - RIGHT, HIGH - 6, class_="name", anchor="end"))
    parts.append(_words("cross-encoder", 2, 10, class_="name"))
    if tau > 0:
        y = up(_logit(tau))
        parts.append(tag("line", class_="tau", x1=LEFT, x2=WIDE - RIGHT, y1=y, y2=y))
        parts.append(_words("tau", WIDE - RIGHT, y - 4, class_="tau-name", anchor="end"))
    if 0 < top_k < drawn[-1].rank:
        x = across(top_k + 0.5)
        parts.append(tag("line", class_="limit", x1=x, x2=x, y1=TOP, y2=HIGH - BOTTOM))
        parts.append(_words("top_k", x - 3, TOP + 9, class_="tick", anchor="end"))
    for row in reversed(drawn):
        if row.scores.ce is not None:
            parts.append(_mark(row, across(row.rank), up(_logit(row.scores.ce))))
    caption = f"Ranks 1 to {drawn[-1].rank} and their cross-encoder scores (log-odds)"
    caption += "; what lies under the dashed line fell by tau" if tau > 0 else ""
    return Picture(
        "cutting", "What the cut let through", _figure("The cut", HIGH, parts, caption), f"{caption}."
    )


@dataclass(frozen=True)
class _Axis:
    """Values of `scale` laid from `start` to `end`; where there is one value only, halfway."""

    scale: Scale
    start: float
    end: float

    def __call__(self, value: float) -> float:
        share = self.scale.share(value) if self.scale.high > self.scale.low else 0.5
        return self.start + share * (self.end - self.start)

    def round_values(self, about: int = 4) -> list[float]:
        """Round numbers within the scale."""
        span = self.scale.high - self.scale.low
        if span <= 0:
            return [self.scale.low]
        step = 10.0 ** math.floor(math.log10(span / about))
        step *= next((factor for factor in (1, 2, 5) if span / (step * factor) <= about), 10)
        first = math.ceil(self.scale.low / step)
        return [n * step for n in range(first, math.floor(self.scale.high / step) + 1)]


def str_number(value: float) -> str:
    """`20`, `0.5`."""
    return f"{value:.4g}"


def _ticks_up(axis: _Axis, values: Iterable[float], name: Callable[[float], str]) -> list[Markup]:
    parts = []
    for value in values:
        y = axis(value)
        parts.append(tag("line", class_="grid", x1=LEFT, x2=WIDE - RIGHT, y1=y, y2=y))
        parts.append(_words(name(value), LEFT - 4, y + 4, class_="tick", anchor="end"))
    return parts


def _ticks_across(axis: _Axis, high: float) -> list[Markup]:
    parts, before = [], axis.start - 8.0
    for value in _scores(axis):
        x = axis(_logit(value))
        parts.append(tag("line", class_="grid", x1=x, x2=x, y1=TOP, y2=high - BOTTOM))
        if x - before > 36:
            parts.append(_words(f"{value:.5g}", x, high - BOTTOM + 14, class_="tick", anchor="middle"))
            before = x
    return parts


def _scores(axis: _Axis) -> list[float]:
    """Scores to name on an axis of log-odds: a few at least."""
    inside = [value for value in DECADES if axis.scale.low <= _logit(value) <= axis.scale.high]
    if len(inside) >= 3:
        return inside
    every = sorted((*DECADES, *BETWEEN))
    return [value for value in every if axis.scale.low <= _logit(value) <= axis.scale.high]


def _ranks(last: int) -> list[int]:
    step = next(
        step for step in (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000) if last / step <= 7 or step == 1000
    )
    return [1, *range(step if step > 1 else 2, last + 1, step)]


def _mark(row: Ranked, x: float, y: float, *, numbered: bool = False) -> Markup:
    """A turn in a picture: its shape tells its fate; a hit leads to where it is shown."""
    said = tag("title", _told(row))
    if row.fate == SHOWN:
        radius = max(8.0 - 0.4 * (row.rank - 1), 4.0) if numbered else 4.5
        parts = [tag("circle", cx=x, cy=y, r=radius)]
        if numbered and row.rank <= 9:
            parts.append(_words(str(row.rank), x, y + 3.5, class_="number", anchor="middle"))
        return tag("a", said, *parts, href=f"#hit-{row.rank}", tabindex=-1, class_=SHOWN)
    return _mark_of(row.fate, x, y, said)


def _mark_of(fate: str, x: float, y: float, said: Markup) -> Markup:
    """The mark of a turn that is not shown."""
    if fate == HIDDEN:
        return tag("circle", said, class_=HIDDEN, cx=x, cy=y, r=3.5)
    if fate == "tau":
        return tag("path", said, class_="tau-fell", d=f"M{x - 3:.1f} {y - 3:.1f}l6 6m0 -6l-6 6")
    if fate == "budget":
        return tag("rect", said, class_="budget", x=x - 3, y=y - 3, width=6, height=6)
    return tag("circle", said, class_="top_k", cx=x, cy=y, r=2)


def _told(row: Ranked) -> str:
    turn, s = row.turn, row.scores
    head = ", ".join(part for part in (turn.speaker, turn.date) if part)
    scores = [f"ce {s.ce:.4f}"] if s.ce is not None else []
    scores += [f"ColBERT {s.colbert:.2f}"] if s.colbert is not None else []
    fate = "" if row.fate == SHOWN else f" ({row.fate})"
    return (
        _short(f"{row.rank}{fate}. {head}: {one_line(turn.text[: TOLD * 2])}", TOLD)
        + f" | {', '.join(scores)}"
    )


def _figure(title: str, high: float, parts: Iterable[Markup], said: str) -> Markup:
    return _svg(
        *parts,
        class_="picture",
        viewBox=f"0 0 {WIDE:g} {high:g}",
        role="img",
        aria_label=f"{title}: {said}.",
    )


def _svg(*parts: Markup, **attributes: str) -> Markup:
    return tag("svg", join(parts), **attributes)


def _words(said: str, x: float, y: float, *, class_: str, anchor: str | None = None) -> Markup:
    return tag("text", said, x=x, y=y, class_=class_, text_anchor=anchor)


def _short(text: str, most: int) -> str:
    flat = " ".join(text[: most * 4].split())
    return flat if len(flat) <= most else flat[: most - 1] + "…"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _capped(count: int) -> str:
    return f"; the best {MOST_POINTS} of {count:,} are drawn" if count > MOST_POINTS else ""


def _logit(score: float) -> float:
    inside = min(max(score, EDGE), 1.0 - EDGE)
    return math.log(inside / (1.0 - inside))


def _unlogit(value: float) -> float:
    return 1.0 / (1.0 + math.exp(-value))


def _moment(time: str) -> float | None:
    """Days since year 1, fractions for the clock; a zone's offset is left out, as where dates are shown."""
    try:
        when = datetime.fromisoformat(time[:19])
    except ValueError:
        return None
    return when.toordinal() + (when.hour * 3600 + when.minute * 60 + when.second) / 86400.0


def _date(moment: float, *, clock: bool) -> str:
    when = datetime.fromordinal(int(moment)) + timedelta(days=moment % 1)
    return when.strftime("%Y-%m-%d %H:%M") if clock else f"{when.year:04}-{when.month:02}-{when.day:02}"
