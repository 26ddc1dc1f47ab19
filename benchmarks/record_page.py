"""Writes a record of `smartsearch bench` as one HTML page: two plots, and the tables of the terminal.

python benchmarks/record_page.py RECORD.json > page.html
"""

from __future__ import annotations

import io
import sys
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from record_tables import dropped, levels, receipt
from records import read
from rich.console import Console

from smartsearch.bench import console, tables
from smartsearch.bench.tables import Json
from smartsearch.output.plain import one_line

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 8
"""Rankings in a plot: the reference, then rivals, then the others; the record has all."""
_COLUMNS = 200
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title>
<style>{stylesheet} body {{ font-family: sans-serif; color: {foreground}; background: {background}; }}
pre {{ overflow-x: auto; font-size: 12px; }} img {{ max-width: 100%; }}</style></head>
<body><h1>@TITLE@</h1>@PLOTS@<pre><code>{code}</code></pre></body></html>
"""


def page(result: Json) -> str:
    """The page as a string. Needs matplotlib."""
    screen = Console(record=True, width=_COLUMNS, file=io.StringIO(), color_system="standard")
    console.draw(screen, result)
    for table in (levels(result["rows"]), dropped(result), receipt(result)):
        if table is not None:
            console.draw_table(screen, table)
    text = screen.export_html(code_format=_PAGE)
    title = escape(f"smartsearch bench: {one_line(result['dataset']['name'])}")
    return text.replace("@TITLE@", title).replace("@PLOTS@", plots(result))


def plots(result: Json) -> str:
    """Recall over the budget and the rank of the first gold turn, a line a ranking, as an image element."""
    curves = shown(result)
    if not curves:
        return ""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "bench", "text.parse_math": False}):
        figure = Figure(figsize=(11, 4.5), layout="constrained")
        recall, first = figure.subplots(1, 2)
        for curve in curves:
            recall.plot(curve["budgets"], curve["recall"], "o-", label=curve["ranking"])
            within = curve["first_within"]
            first.plot([int(depth) for depth in within], list(within.values()), "o-")
        _named(recall, "Recall over budget", "budget, words", "recall of gold turns (micro)")
        _named(first, "Rank of the first gold turn", "rank", "share of questions that have one")
        first.set_xscale("log")
        first.xaxis.set_major_formatter("{x:.0f}")
        figure.legend(loc="outside lower center", ncols=4)
        written = io.BytesIO()
        figure.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    said = "; ".join(f"{c['ranking']} from {c['recall'][0]} to {c['recall'][-1]}" for c in curves)
    data = b64encode(written.getvalue()).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{escape(f"Recall over budget: {said}")}">'


def shown(result: Json) -> Sequence[Json]:
    """The curves that are drawn."""
    base = tables.reference(result)
    own = tables.ranking(base) if base else ""
    rivals = {row["rank"] for row in result["rows"] if not row["retrieval"]}
    whole = [curve for curve in result["curves"] if curve["first_within"] and None not in curve["recall"]]
    whole.sort(key=lambda curve: (curve["ranking"] != own, curve["ranking"] not in rivals))
    return whole[:MOST_LINES]


def _named(axes: Axes, title: str, across: str, up: str) -> None:
    axes.set(title=title, xlabel=across, ylabel=up)
    axes.grid(color="#dcdce2")


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    sys.stdout.write(page(read(Path(sys.argv[1]), "smartsearch bench")))
