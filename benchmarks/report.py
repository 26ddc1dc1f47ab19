"""What the reports share: the template of each is its text, the tables come from a record."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
REPORTS = HERE / "reports"
NONE = "-"
"""A figure there is none of."""
Cells = Sequence[str]


def render(name: str, **values: Any) -> str:
    """The report of the template `templates/NAME.md.jinja`, which has `table` and the filters below."""
    environment = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=False,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["table"] = table
    for function in (digits, percent, plain):
        environment.filters[function.__name__] = function
    return environment.get_template(f"{name}.md.jinja").render(values).rstrip() + "\n"


def table(head: Cells, rows: Sequence[Cells], left: Collection[int] = ()) -> str:
    """A Markdown table; its first column and those of `left` stand to the left, the others to the right."""
    sides = ("---" if place in (0, *left) else "---:" for place in range(len(head)))
    lines = (head, *rows)
    said = [f"| {' | '.join(plain(cell) for cell in line)} |" for line in lines]
    said.insert(1, f"|{'|'.join(sides)}|")
    return "\n".join(said)


def plain(text: str) -> str:
    """Text that Markdown shows as it is, on one line; what stands between backticks stays code."""
    text = " ".join(text.split()).replace("|", "/")
    parts = text.split("`")
    for place in range(0, len(parts), 2):
        for mark in "\\*[]<":
            parts[place] = parts[place].replace(mark, "\\" + mark)
    return "`".join(parts)


def digits(value: float | None) -> str:
    """Three digits that count, never more than are known."""
    if value is None:
        return NONE
    if value == 0:
        return "0"
    return f"{value:,.{max(0, 2 - math.floor(math.log10(abs(value))))}f}"


def percent(value: float | None) -> str:
    """`12%`."""
    return NONE if value is None else f"{value:.0%}"
