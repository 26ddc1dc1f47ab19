"""The pictures of the page as inline SVG: a mark a ranked turn on two axes, and bars beside numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from smartsearch.output.cut import FELL, HIDDEN, SHOWN, Ranked
from smartsearch.output.markup import Markup, join, tag
from smartsearch.output.plain import clipped, one_line

WIDE, HIGH = 400.0, 240.0
"""Units of a picture: about a phone's pixels, so that its words can be read there."""
LEFT, RIGHT, TOP, BOTTOM = 48.0, 12.0, 22.0, 38.0
MOST_POINTS = 600
"""Turns drawn in one picture, best first."""
TOLD = 80
"""Characters of a turn in the words that a pointer over its mark calls up."""
FATES = {
    SHOWN: "shown",
    HIDDEN: "stayed, not shown",
    "tau": "fell by tau",
    "budget": "no room in the budget",
    "top_k": "behind top_k",
}
"""What the marks stand for."""


@dataclass(frozen=True)
class Scale:
    """The range of a column of numbers."""

    low: float
    high: float

    def share(self, value: float) -> float:
        """Where `value` lies, from 0 (lowest) to 1; 1 where all values are the same."""
        if self.high <= self.low:
            return 1.0
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)


def scale(values: Iterable[float | None]) -> Scale:
    """The range of those values that are numbers."""
    numbers = [value for value in values if value is not None and math.isfinite(value)]
    return Scale(min(numbers), max(numbers)) if numbers else Scale(0.0, 0.0)


@dataclass(frozen=True)
class Picture:
    """An SVG with its heading, and what it shows in words for who cannot see it."""

    title: str
    svg: Markup
    caption: str


@dataclass(frozen=True)
class Axis:
    """The name of an axis, the values on it, and how one of them is written."""

    name: str
    scale: Scale
    write: Callable[[float], str]
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Where a value lies; in the middle where there is one value only."""
        share = self.scale.share(value) if self.scale.high > self.scale.low else 0.5
        return self.start + share * (self.end - self.start)

    def ticks(self) -> list[tuple[float, str]]:
        """The first, the middle and the last value with their places."""
        low, high = self.scale.low, self.scale.high
        values = [low, (low + high) / 2, high] if high > low else [low]
        return [(self(value), self.write(value)) for value in values]


def across(name: str, values: Scale, write: Callable[[float], str]) -> Axis:
    """An axis from left to right."""
    return Axis(name, values, write, LEFT + 8, WIDE - RIGHT - 8)


def upwards(name: str, values: Scale, write: Callable[[float], str]) -> Axis:
    """An axis from below to the top."""
    return Axis(name, values, write, HIGH - BOTTOM - 8, TOP + 8)


def bar(share: float, kind: str = "fill") -> Markup:
    """A bar beside a number that says the same; it stretches to its room."""
    return tag(
        "svg",
        tag("rect", class_="track", width=100, height=8),
        tag("rect", class_=kind, width=max(share, 0.01) * 100, height=8),
        class_="bar",
        viewBox="0 0 100 8",
        preserveAspectRatio="none",
        aria_hidden="true",
    )


def sample(fate: str) -> Markup:
    """A fate's mark for the legend."""
    return tag("svg", _mark(fate, 7.0, 7.0), class_="picture", viewBox="0 0 14 14", aria_hidden="true")


def timeline(rows: Sequence[Ranked]) -> Picture | None:
    """When the ranked turns were said, the best at the top; None without a date among those shown."""
    dated = [(row, when) for row in rows if (when := _moment(row.turn.time)) is not None]
    if not any(row.fate == SHOWN for row, _ in dated):
        return None
    drawn = [(row, when, -float(row.rank)) for row, when in dated[:MOST_POINTS]]
    untold = sum(row.fate == SHOWN for row in rows) - sum(row.fate == SHOWN for row, _ in dated)
    caption = "Ranked turns by date, the best at the top"
    caption += f"; {untold:,} without a date left out" if untold else ""
    return _scatter(
        "Hits over time",
        drawn,
        across("date", scale(when for _, when, _ in drawn), _date),
        upwards("rank", scale(rank for *_, rank in drawn), lambda rank: f"{-rank:.0f}"),
        caption + _capped(len(dated)),
    )


def rankers(rows: Sequence[Ranked], tau: float) -> Picture | None:
    """The cross-encoder against ColBERT: turns that both like stand at the top right."""
    read = [
        (row, row.scores.ce, row.scores.colbert)
        for row in rows
        if row.scores.ce is not None and row.scores.colbert is not None
    ]
    if not read:
        return None
    drawn = read[:MOST_POINTS]
    return _scatter(
        "The rankers against each other",
        drawn,
        across("cross-encoder", scale([tau, *(ce for _, ce, _ in drawn)]), _number),
        upwards("ColBERT", scale(colbert for *_, colbert in drawn), _number),
        "Turns that both have read: the cross-encoder to the right, ColBERT upwards" + _capped(len(read)),
        tau_at=tau,
    )


def cutting(rows: Sequence[Ranked], tau: float) -> Picture | None:
    """The cross-encoder's score by rank, tau across it."""
    read = [(row, float(row.rank), row.scores.ce) for row in rows if row.scores.ce is not None]
    if not read:
        return None
    drawn = read[:MOST_POINTS]
    caption = "Cross-encoder scores by rank"
    caption += "; what lies under the dashed line fell by tau" if tau > 0 else ""
    return _scatter(
        "What the cut let through",
        drawn,
        across("rank", scale(rank for _, rank, _ in drawn), lambda rank: f"{rank:.0f}"),
        upwards("cross-encoder", scale([tau, *(ce for *_, ce in drawn)]), _number),
        caption + _capped(len(read)),
        tau_over=tau,
    )


def _scatter(
    title: str,
    points: Sequence[tuple[Ranked, float, float]],
    x: Axis,
    y: Axis,
    caption: str,
    *,
    tau_at: float = 0.0,
    tau_over: float = 0.0,
) -> Picture:
    """A mark a point, with a dashed line at tau on either axis, where it is above 0."""
    parts = [
        _words(x.name, WIDE - RIGHT, HIGH - 6, class_="name", text_anchor="end"),
        _words(y.name, 2, 10, class_="name"),
    ]
    for at, said in x.ticks():
        parts.append(tag("line", class_="grid", x1=at, x2=at, y1=TOP, y2=HIGH - BOTTOM))
        parts.append(_words(said, at, HIGH - BOTTOM + 14, text_anchor="middle"))
    for at, said in y.ticks():
        parts.append(tag("line", class_="grid", x1=LEFT, x2=WIDE - RIGHT, y1=at, y2=at))
        parts.append(_words(said, LEFT - 4, at + 4, text_anchor="end"))
    if tau_at > 0:
        parts.append(tag("line", class_="tau", x1=x(tau_at), x2=x(tau_at), y1=TOP, y2=HIGH - BOTTOM))
    if tau_over > 0:
        parts.append(tag("line", class_="tau", x1=LEFT, x2=WIDE - RIGHT, y1=y(tau_over), y2=y(tau_over)))
    for row, right, up in reversed(points):
        mark = _mark(row.fate, x(right), y(up), tag("title", _told(row)))
        if row.fate == SHOWN:
            mark = tag("a", mark, href=f"#hit-{row.rank}", tabindex=-1)
        parts.append(mark)
    label = f"{title}: {caption}."
    box = f"0 0 {WIDE:g} {HIGH:g}"
    svg = tag("svg", join(parts), class_="picture", viewBox=box, role="img", aria_label=label)
    return Picture(title, svg, f"{caption}.")


def _mark(fate: str, x: float, y: float, *inside: Markup) -> Markup:
    """The mark of a turn: by its class it shows what became of the turn."""
    radius = 5 if fate == SHOWN else 2 if fate == FELL[-1] else 3.5
    return tag("circle", *inside, class_=f"fate-{fate}", cx=x, cy=y, r=radius)


def _told(row: Ranked) -> str:
    fate = "" if row.fate == SHOWN else f" ({row.fate})"
    who = ", ".join(part[:TOLD] for part in (row.turn.speaker, row.turn.date) if part)
    return clipped(one_line(f"{row.rank}{fate}. {who}: {row.turn.text[:TOLD]}"), TOLD)


def _words(said: str, x: float, y: float, **attributes: str) -> Markup:
    return tag("text", said, x=x, y=y, **attributes)


def _capped(count: int) -> str:
    return f"; the best {MOST_POINTS} of {count:,} are drawn" if count > MOST_POINTS else ""


def _number(value: float) -> str:
    return f"{value:.3g}"


def _moment(time: str) -> float | None:
    """Days since year 1, fractions for the clock; a zone's offset is left out, as where dates are shown."""
    try:
        when = datetime.fromisoformat(time[:19])
    except ValueError:
        return None
    return when.toordinal() + (when.hour * 60 + when.minute) / 1440.0


def _date(moment: float) -> str:
    when = datetime.fromordinal(int(moment))
    return f"{when.year:04}-{when.month:02}-{when.day:02}"
