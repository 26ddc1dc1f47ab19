"""The plots of a result as inline SVG, with title, caption and a text that says what is to be seen.

Colours and ink are CSS variables of the page (`INK`, `PALETTE`), so that a plot follows light and dark.
The palette is Okabe and Ito's, and no line is told apart by colour alone.
"""

from __future__ import annotations

import io
import math
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from smartsearch.bench.measures import TOP
from smartsearch.bench.tables import Json, micro, number, percent, ranking, reference, share
from smartsearch.errors import CacheError, SmartsearchError
from smartsearch.runtime import private

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8
MOST_ROWS = 32
"""Lines in a plot, and rows in that of confidence intervals."""

INK = {"#1b1b1f": "ink", "#8a8a93": "faint", "#dcdce2": "grid"}
PALETTE = {
    "#0072b2": "s0",
    "#d55e00": "s1",
    "#009e73": "s2",
    "#b8578f": "s3",
    "#a87900": "s4",
    "#3a9fd6": "s5",
    "#5b5b66": "s6",
    "#8c4bc4": "s7",
}
"""Light colours by the CSS variable that stands for each; the page has their dark ones."""
_TEXT, _FAINT, _GRID = INK
_COLOURS = tuple(PALETTE)
_MARKERS = "osD^vPX*"
_DASHES = ("-", "--", "-.", ":")
_WIDTH, _HEIGHT = 5.0, 3.7  # inches: small, so that the type is still large enough on a phone


@dataclass(frozen=True)
class Plot:
    """A drawn plot. `caption` says how to read it; the SVG's label says what it shows, for the blind."""

    title: str
    svg: str
    caption: str


def plots(result: Json, prefix: str = "") -> list[Plot]:
    """The plots that the result has figures for; `prefix` keeps SVG ids apart in one page.

    Raises SmartsearchError (kind "package") without matplotlib.
    """
    drawn = (make(result, f"{prefix}{make.__name__}") for make in _PLOTS)
    return [plot for plot in drawn if plot is not None]


def recall_over_budget(result: Json, key: str) -> Plot | None:
    """Micro recall against the word budget, a line a ranking."""
    shown, left_out = _chosen_curves(result, "recall")
    if not shown:
        return None

    def draw(axes: Axes) -> None:
        for place, curve in enumerate(shown):
            axes.plot(curve["budgets"], curve["recall"], label=curve["ranking"], **_style(place))
        axes.set_xlabel("budget, words")
        axes.set_ylabel("recall of gold turns (micro)")
        axes.xaxis.set_major_formatter(_thousands)
        _legend_below(axes, len(shown))

    ends = "; ".join(
        f"{curve['ranking']} from {share(curve['recall'][0])} to {share(curve['recall'][-1])}"
        for curve in shown
    )
    budgets = shown[0]["budgets"]
    alt = f"Lines of micro recall from {budgets[0]:,} to {budgets[-1]:,} words: {ends}."
    return Plot(
        "Recall over budget",
        _svg(draw, key, _below(len(shown)), alt),
        "Higher and further left is better: the share of all gold turns that are within a budget of so many "
        f"words, when ranked turns are taken in order until one does not fit.{left_out}",
    )


def first_gold_rank(result: Json, key: str) -> Plot | None:
    """Share of questions whose first gold turn is within a rank, a line a ranking."""
    shown, left_out = _chosen_curves(result, "first_within")
    if not shown:
        return None
    depths = [int(depth) for depth in shown[0]["first_within"]]

    def draw(axes: Axes) -> None:
        for place, curve in enumerate(shown):
            values = [curve["first_within"][str(depth)] for depth in depths]
            axes.plot(depths, values, label=curve["ranking"], **_style(place))
        axes.set_xscale("log")
        axes.set_xticks(depths, [str(depth) for depth in depths])
        axes.minorticks_off()
        axes.set_xlabel("rank, log scale")
        axes.set_ylabel("share of questions")
        axes.set_ylim(top=1.02)
        _legend_below(axes, len(shown))

    firsts = "; ".join(
        f"{curve['ranking']} {share(curve['first_within'][str(depths[0])])} at rank {depths[0]}, "
        f"{share(curve['first_within'][str(depths[-1])])} within {depths[-1]}"
        for curve in shown
    )
    alt = f"Cumulative shares of questions: {firsts}."
    return Plot(
        "Rank of the first gold turn",
        _svg(draw, key, _below(len(shown)), alt),
        "Higher is better: of the questions for which the ranking has any gold turn, the share whose first "
        f"one is at this rank or above it.{left_out}",
    )


def recall_at_the_cut(result: Json, key: str) -> Plot | None:
    """Recall after the cut of each row with its confidence interval."""
    measured = [row for row in result["rows"] if micro(row, "kept") is not None]
    cut = [row for row in measured if row["cut"] != "B0"] or measured
    base = reference(result)
    shown = _chosen(cut, base, lambda row: row["name"], lambda row: row["retrieval"], MOST_ROWS)
    if not shown:
        return None

    def draw(axes: Axes) -> None:
        for place, row in enumerate(shown):
            kept = row["recall"]["kept"]
            value, low, high = (kept.get(name) for name in ("micro", "low", "high"))
            mine = base is not None and row["name"] == base["name"]
            colour = _COLOURS[1] if mine else _COLOURS[0]
            if low is not None and high is not None:
                axes.plot([low, high], [place, place], color=colour, linewidth=2, solid_capstyle="butt")
            axes.plot([value], [place], "D" if mine else "o", color=colour, markersize=5)
        if base is not None and micro(base, "kept") is not None:
            axes.axvline(float(micro(base, "kept") or 0.0), color=_FAINT, linewidth=0.8, linestyle=":")
        axes.set_yticks(range(len(shown)), [row["name"] for row in shown])
        axes.set_ylim(len(shown) - 0.5, -0.5)
        axes.set_xlabel("recall of gold turns after the cut (micro)")
        axes.grid(visible=False, axis="y")

    values = "; ".join(f"{row['name']} {share(micro(row, 'kept'))}" for row in shown)
    alt = f"Points with bars, a row each: {values}."
    return Plot(
        "Recall at the cut",
        _svg(draw, key, 0.9 + 0.22 * max(3, len(shown)), alt),
        "Further right is better: gold turns left after the cut, as a share of all, with the 95% bootstrap "
        "interval over questions as a bar. The diamond and the dotted line are the reference row. Bars that "
        "overlap may still differ: the tests in the table compare rows question by question."
        f"{_left_out(len(measured) - len(shown), 'row')}",
    )


def latency_by_stage(result: Json, key: str) -> Plot | None:
    """Median and 95th percentile of each stage of a warm query."""
    found = result.get("latency") or {}
    stages: dict[str, dict[str, float]] = found.get("stages") or {}
    if not stages:
        return None

    def draw(axes: Axes) -> None:
        middle = [spent["p50"] for spent in stages.values()]
        late = [spent["p95"] for spent in stages.values()]
        places = range(len(stages))
        axes.barh(places, middle, color=_COLOURS[0], height=0.6)
        for place, p50, p95 in zip(places, middle, late, strict=True):
            axes.plot([p50, p95], [place, place], color=_TEXT, linewidth=1)
            axes.plot([p95], [place], "|", color=_TEXT, markersize=8)
            said = f"{_milliseconds(p50)} / {_milliseconds(p95)}"
            axes.annotate(said, (max(p50, p95), place), (6, 0), textcoords="offset points", va="center")
        axes.set_xlim(0, max(*late, *middle, 1e-3) * 1.3)
        axes.set_yticks(places, list(stages))
        axes.set_ylim(len(stages) - 0.5, -0.5)
        axes.set_xlabel("milliseconds a query")
        axes.xaxis.set_major_formatter(_thousands)
        axes.grid(visible=False, axis="y")

    values = "; ".join(
        f"{stage} {number(spent['p50'], 1)} and {number(spent['p95'], 1)}" for stage, spent in stages.items()
    )
    alt = f"Bars of median and 95th percentile in milliseconds: {values}."
    return Plot(
        "Latency by stage",
        _svg(draw, key, 0.9 + 0.3 * len(stages), alt),
        "Shorter is better: the bar is the median, the whisker ends at the 95th percentile, and both are "
        f"written beside it. {number(found['questions'])} warm queries, {number(found.get('candidates'))} "
        "candidates a question on average; rank holds both scorers and their fusion.",
    )


def scorers(result: Json, key: str) -> Plot | None:
    """Rank of gold turns by the cross-encoder against that by ColBERT, as counts in log-spaced cells."""
    ranks = np.array((result.get("agreement") or {}).get("gold_ranks") or [], dtype=np.float64)
    if not len(ranks):
        return None
    edges = _edges(ranks.max())
    counts, *_ = np.histogram2d(ranks[:, 1], ranks[:, 0], bins=[edges, edges])
    steps = _steps(int(counts.max()))

    def draw(axes: Axes) -> None:
        from matplotlib.patches import Rectangle

        for x, y in np.argwhere(counts):
            level = sum(counts[x, y] >= step for step in steps)
            corner, size = (edges[x], edges[y]), (edges[x + 1] - edges[x], edges[y + 1] - edges[y])
            axes.add_patch(Rectangle(corner, *size, color=_COLOURS[0], alpha=level / len(steps), linewidth=0))
        for line in (axes.axvline, axes.axhline):
            line(TOP + 0.5, color=_COLOURS[1], linewidth=1, linestyle="--")
        ticks = [rank for rank in (1, 3, 10, 30, 100, 300, 1000, 3000) if rank < edges[-1]]
        axes.set(xscale="log", yscale="log")
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_ticks(ticks, labels=[str(tick) for tick in ticks])
        axes.minorticks_off()
        axes.grid(visible=False)
        axes.set_xlim(edges[0], edges[-1])
        axes.set_ylim(edges[0], edges[-1])
        axes.set_aspect("equal")
        axes.set_xlabel("rank by ColBERT, log scale")
        axes.set_ylabel("rank by the cross-encoder, log scale")
        patches = [
            Rectangle((0, 0), 1, 1, color=_COLOURS[0], alpha=(n + 1) / len(steps), linewidth=0)
            for n in range(len(steps))
        ]
        tops = [*(step - 1 for step in steps[1:]), int(counts.max())]
        names = [str(a) if a == b else f"{a}-{b}" for a, b in zip(steps, tops, strict=True)]
        axes.legend(patches, names, title="gold turns", loc="upper left", bbox_to_anchor=(1.02, 1.0))

    ce, colbert = ranks[:, 0] <= TOP, ranks[:, 1] <= TOP
    both, one, other = (float(np.mean(where)) for where in (ce & colbert, ce & ~colbert, colbert & ~ce))
    shares = (
        f"{percent(both)} of the {len(ranks):,} gold turns shown are in the top {TOP} of both, "
        f"{percent(one)} of the cross-encoder alone, {percent(other)} of ColBERT alone"
    )
    alt = f"Counts of gold turns by rank of either scorer: {shares}."
    return Plot(
        "Cross-encoder against ColBERT",
        _svg(draw, key, _HEIGHT, alt),
        "Each gold turn that both scorers read stands at its rank by one and by the other; darker cells hold "
        "more. On the diagonal the two agree; below it the cross-encoder ranks the turn better. The dashed "
        f"lines are rank {TOP}, about 2,000 words: {shares}.",
    )


_PLOTS: tuple[Callable[[Json, str], Plot | None], ...] = (
    recall_over_budget,
    first_gold_rank,
    recall_at_the_cut,
    latency_by_stage,
    scorers,
)


def _chosen(
    things: Sequence[Json],
    base: Json | None,
    name: Callable[[Json], str],
    retrieval: Callable[[Json], str],
    most: int,
) -> list[Json]:
    """At most `most` of them: the reference first, then what shares its retrieval, then the rest.

    Half of the places are kept for the rest, rivals (which need no retrieval) before other retrievals.
    """
    if base is None:
        return list(things[:most])
    own = (base["name"], ranking(base))
    mine = sorted((t for t in things if retrieval(t) == base["retrieval"]), key=lambda t: name(t) not in own)
    rest = sorted((t for t in things if retrieval(t) != base["retrieval"]), key=lambda t: retrieval(t) != "")
    rest = rest[: max(most // 2, most - len(mine))]
    return [*mine[: most - len(rest)], *rest]


def _chosen_curves(result: Json, field: str) -> tuple[list[Json], str]:
    """The curves that are drawn, of those with a `field`, and a sentence on those left out."""
    ways = {ranking(row): row["retrieval"] for row in result["rows"]}
    curves = [
        curve
        for curve in result["curves"]
        if curve["ranking"] in ways and curve[field] and None not in curve[field]
    ]
    shown = _chosen(
        curves,
        reference(result),
        lambda curve: str(curve["ranking"]),
        lambda curve: ways[curve["ranking"]],
        MOST_LINES,
    )
    return shown, _left_out(len(curves) - len(shown), "ranking")


def _left_out(count: int, what: str) -> str:
    if not count:
        return ""
    return f" {count} more {what}{'s are' if count > 1 else ' is'} left out here; the JSON has all."


def _style(place: int) -> dict[str, Any]:
    return {
        "color": _COLOURS[place % len(_COLOURS)],
        "marker": _MARKERS[place % len(_MARKERS)],
        "linestyle": _DASHES[place % len(_DASHES)],
        "markersize": 4.5,
        "linewidth": 1.6,
    }


def _thousands(value: float, _place: float) -> str:
    return f"{value:,.10g}"


def _milliseconds(value: float) -> str:
    return f"{value:,.0f}" if value >= 10 else f"{value:.1f}"


def _edges(largest: float) -> Any:
    """Cell borders between whole ranks, about evenly spaced on a log scale, TOP being one of them."""
    last = max(float(TOP) * 2, largest)
    steps = {round(1.35**n) for n in range(1 + math.ceil(math.log(last, 1.35)))}
    apart = {step for step in steps if not TOP * 0.87 < step < TOP * 1.15}
    return np.array(sorted({0, *apart, TOP, math.ceil(last)})) + 0.5


def _steps(largest: int) -> list[int]:
    """Lowest counts of the shades of a cell, at most five."""
    return [step for step in (1, 3, 10, 30, 100) if step <= max(1, largest)]


def _below(lines: int) -> float:
    """The height of a plot with a legend of so many lines under it."""
    return _HEIGHT + 0.2 * math.ceil(lines / 2)


def _legend_below(axes: Axes, lines: int) -> None:
    axes.legend(loc="upper left", bbox_to_anchor=(-0.14, -0.15), ncols=2 if lines > 1 else 1)


def _keep_fonts_with_ours() -> None:
    """Have matplotlib keep its list of fonts in our cache, and make no folder of its own in the home."""
    with suppress(CacheError, OSError):
        folder = private.home("matplotlib")
        private.make(folder)
        os.environ.setdefault("MPLCONFIGDIR", str(folder))


def _svg(draw: Callable[[Axes], None], key: str, height: float, alt: str) -> str:
    """What `draw` draws, as an SVG element without script, address or date; the same for the same data."""
    _keep_fonts_with_ours()
    try:
        import matplotlib as mpl
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        raise SmartsearchError(
            "the HTML page needs the package matplotlib",
            hint="pip install 'smartsearch[bench]'",
            kind="package",
        ) from None
    settings: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": key,
        "font.family": "sans-serif",
        "font.size": 9.5,
        "legend.fontsize": 8.5,
        "legend.frameon": False,
        "text.parse_math": False,
        "text.color": _TEXT,
        "axes.labelcolor": _TEXT,
        "axes.edgecolor": _FAINT,
        "xtick.color": _TEXT,
        "ytick.color": _TEXT,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "grid.color": _GRID,
        "grid.linewidth": 0.7,
    }
    with mpl.rc_context(settings):
        figure = Figure(figsize=(_WIDTH, height))
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        written = io.StringIO()
        unnamed = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(
            written, format="svg", transparent=True, bbox_inches="tight", pad_inches=0.06, metadata=unnamed
        )
    return _inlined(written.getvalue(), key, alt)


def _inlined(svg: str, key: str, alt: str) -> str:
    """The element alone, ids led by `key`, colours as the page's variables, as wide as there is room."""
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r' xmlns(:\w+)?="[^"]*"', "", svg)
    svg = re.sub(r'\b(id="|href="#|url\(#)', rf"\1{key}-", svg)
    for colour, name in (INK | PALETTE).items():
        svg = svg.replace(colour, f"var(--{name})")
    opening, _, rest = svg.partition(">")
    opening = re.sub(r' (width|height|version)="[^"]*"', "", opening)
    return f'{opening} role="img" aria-label="{escape(alt)}">{rest}'.strip()
