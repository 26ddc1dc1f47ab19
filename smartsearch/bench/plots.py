"""The plots of a result as SVG, with title, caption and a text that says what is to be seen.

The palette is Okabe and Ito's, and no line is told apart by colour alone.
"""

from __future__ import annotations

import io
import os
from base64 import b64encode
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from smartsearch.bench.measures import TOP
from smartsearch.bench.tables import Json, micro, percent, ranking, reference, share
from smartsearch.errors import CacheError
from smartsearch.runtime import private

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8
MOST_ROWS = 32
"""Lines in a plot, and rows in that of confidence intervals."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#b8578f", "#a87900", "#3a9fd6", "#5b5b66", "#8c4bc4")
_MARKERS = "osD^vPX*"
_DASHES = ("-", "--", "-.", ":")
_WIDTH, _HEIGHT = 5.0, 3.7  # inches: small, so that the type is still large enough on a phone
_SETTINGS: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "bench",
    "font.size": 9.5,
    "legend.fontsize": 8.5,
    "legend.frameon": False,
    "text.parse_math": False,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#dcdce2",
}


@dataclass(frozen=True)
class Plot:
    """A drawn plot. `caption` says how to read it, `alt` what it shows, for the blind; `uri` has the SVG."""

    title: str
    uri: str
    caption: str
    alt: str


def plots(result: Json) -> list[Plot]:
    """The plots that the result has figures for. Needs matplotlib."""
    made = (recall_over_budget(result), first_gold_rank(result), recall_at_the_cut(result), scorers(result))
    return [plot for plot in made if plot is not None]


def recall_over_budget(result: Json) -> Plot | None:
    """Micro recall against the word budget, a line a ranking."""
    shown, left_out = _chosen_curves(result, "recall")

    def label(axes: Axes) -> None:
        axes.set_xlabel("budget, words")
        axes.set_ylabel("recall of gold turns (micro)")
        axes.xaxis.set_major_formatter("{x:,.0f}")

    return _lines(
        "Recall over budget",
        [(curve["ranking"], curve["budgets"], curve["recall"]) for curve in shown],
        label,
        "Higher and further left is better: the share of all gold turns that are within a budget of so many "
        f"words, when ranked turns are taken in order until one does not fit.{left_out}",
    )


def first_gold_rank(result: Json) -> Plot | None:
    """Share of questions whose first gold turn is within a rank, a line a ranking."""
    shown, left_out = _chosen_curves(result, "first_within")
    lines = [
        (curve["ranking"], [int(depth) for depth in curve["first_within"]], [*curve["first_within"].values()])
        for curve in shown
    ]

    def label(axes: Axes) -> None:
        depths = lines[0][1]
        axes.set_xscale("log")
        axes.set_xticks(depths, [str(depth) for depth in depths])
        axes.minorticks_off()
        axes.set_xlabel("rank, log scale")
        axes.set_ylabel("share of questions")

    return _lines(
        "Rank of the first gold turn",
        lines,
        label,
        "Higher is better: of the questions for which the ranking has any gold turn, the share whose first "
        f"one is at this rank or above it.{left_out}",
    )


def _lines(
    title: str,
    lines: Sequence[tuple[str, Sequence[float], Sequence[float]]],
    label: Callable[[Axes], None],
    caption: str,
) -> Plot | None:
    """A line for each name with its places and values; None without any."""
    if not lines:
        return None

    def draw(axes: Axes) -> None:
        for place, (name, across, values) in enumerate(lines):
            style = _MARKERS[place % len(_MARKERS)] + _DASHES[place % len(_DASHES)]
            axes.plot(across, values, style, color=_COLOURS[place], label=name, markersize=4.5)
        label(axes)
        axes.legend(loc="upper left", bbox_to_anchor=(-0.14, -0.15), ncols=2 if len(lines) > 1 else 1)

    ends = "; ".join(f"{name} from {share(values[0])} to {share(values[-1])}" for name, _, values in lines)
    return Plot(title, _drawn(draw, _HEIGHT + 0.1 * len(lines)), caption, f"{title}: {ends}.")


def recall_at_the_cut(result: Json) -> Plot | None:
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
            mine = base is not None and row["name"] == base["name"]
            colour = _COLOURS[1] if mine else _COLOURS[0]
            if kept.get("low") is not None and kept.get("high") is not None:
                axes.plot([kept["low"], kept["high"]], [place, place], color=colour, linewidth=2)
            axes.plot([kept["micro"]], [place], "D" if mine else "o", color=colour, markersize=5)
        axes.set_yticks(range(len(shown)), [row["name"] for row in shown])
        axes.invert_yaxis()
        axes.set_xlabel("recall of gold turns after the cut (micro)")

    values = "; ".join(f"{row['name']} {share(micro(row, 'kept'))}" for row in shown)
    return Plot(
        "Recall at the cut",
        _drawn(draw, 0.9 + 0.22 * max(3, len(shown))),
        "Further right is better: gold turns left after the cut, as a share of all, with the 95% bootstrap "
        "interval over questions as a bar. The diamond is the reference row. Bars that overlap may still "
        "differ: the tests in the table compare rows question by question."
        f"{_left_out(len(measured) - len(shown), 'row')}",
        f"Points with bars, a row each: {values}.",
    )


def scorers(result: Json) -> Plot | None:
    """Rank of gold turns by the cross-encoder against that by ColBERT, as counts in log-spaced cells."""
    ranks = np.array((result.get("agreement") or {}).get("gold_ranks") or [], dtype=np.float64)
    if not len(ranks):
        return None

    def draw(axes: Axes) -> None:
        edges = np.unique(np.geomspace(1, max(2.0 * TOP, float(ranks.max()) + 1), 20).round()) - 0.5
        *_, cells = axes.hist2d(ranks[:, 1], ranks[:, 0], bins=[edges, edges], cmap="Blues", norm="log")
        axes.figure.colorbar(cells, ax=axes, label="gold turns", format="{x:,.0f}")
        axes.axvline(TOP + 0.5, color=_COLOURS[1], linewidth=1, linestyle="--")
        axes.axhline(TOP + 0.5, color=_COLOURS[1], linewidth=1, linestyle="--")
        axes.set(xscale="log", yscale="log", xlabel="rank by ColBERT", ylabel="rank by the cross-encoder")
        axes.minorticks_off()
        axes.xaxis.set_major_formatter("{x:,.0f}")
        axes.yaxis.set_major_formatter("{x:,.0f}")
        axes.grid(visible=False)

    ce, colbert = ranks[:, 0] <= TOP, ranks[:, 1] <= TOP
    both, one, other = (float(np.mean(where)) for where in (ce & colbert, ce & ~colbert, colbert & ~ce))
    shares = (
        f"{percent(both)} of the {len(ranks):,} gold turns shown are in the top {TOP} of both, "
        f"{percent(one)} of the cross-encoder alone, {percent(other)} of ColBERT alone"
    )
    return Plot(
        "Cross-encoder against ColBERT",
        _drawn(draw, _HEIGHT),
        "Each gold turn that both scorers read stands at its rank by one and by the other; darker cells hold "
        "more. On the diagonal the two agree; below it the cross-encoder ranks the turn better. The dashed "
        f"lines are rank {TOP}, about 2,000 words: {shares}.",
        f"Counts of gold turns by rank of either scorer: {shares}.",
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


def _drawn(draw: Callable[[Axes], None], height: float) -> str:
    """What `draw` draws as an SVG in a data URI, without date or address; the same for the same data."""
    with suppress(CacheError, OSError):  # matplotlib keeps its list of fonts in our cache, not in the home
        folder = private.home("matplotlib")
        private.make(folder)
        os.environ.setdefault("MPLCONFIGDIR", str(folder))
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context(_SETTINGS):
        figure = Figure(figsize=(_WIDTH, height))
        FigureCanvasSVG(figure)
        draw(figure.add_subplot())
        written = io.BytesIO()
        unnamed = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(written, format="svg", bbox_inches="tight", pad_inches=0.06, metadata=unnamed)
    return f"data:image/svg+xml;base64,{b64encode(written.getvalue()).decode()}"
