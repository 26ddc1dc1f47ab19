"""Prints a benchmark's result: tables on a terminal, aligned columns in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace

from rich.console import Console, JustifyMethod
from rich.table import Table as Grid
from rich.text import Text

from smartsearch.bench import tables, versus
from smartsearch.bench.tables import Json, Table
from smartsearch.output import stream, terminal
from smartsearch.output.plain import aligned, one_line

_WIDE = 140
"""From this width on, in columns, a terminal shows the table of rows in one piece."""


def show(result: Json, color: str = "auto") -> None:
    """Print `result`; in a pipe titles and notes are lines that begin with `# `."""
    if not sys.stdout.isatty():
        stream.write(lines(result))
        return
    screen = terminal.console(colour=stream.coloured(color))
    try:
        draw(screen, result)
        stream.write([])
    except BrokenPipeError as error:
        raise stream.PipeClosed from error


def draw(screen: Console, result: Json) -> None:
    """Draw all tables, the reference row in bold."""
    base = tables.reference(result)
    for table in blocks(result, split=screen.width < _WIDE):
        draw_table(screen, table, base["name"] if base else "")
    for said in (*tables.explained(result), "", *tables.verdict(result)):
        screen.print(Text(said))


def blocks(result: Json, *, split: bool = False) -> Iterator[Table]:
    """The tables in the order they are shown; `split` parts that of the rows into ranking and cut."""
    rows, base = tables.rows(result), tables.reference(result)
    if split:
        yield replace(rows.only(tables.RANKED), caption="")
        rows = rows.only(tables.CUT)
    yield rows
    yield from versus.compared(result)
    if base is not None:
        yield tables.categories(base)
        yield tables.readings(base)
        yield tables.losses([row for row in result["rows"] if row["cut"] == base["cut"]])
    yield from tables.details(result)


def lines(result: Json) -> Iterator[str]:
    """The result as plain lines: each table under its title, empty lines between."""
    data, asked = result["dataset"], result["questions"]
    searched = tables.short(result["passages_a_question"])
    said = f"{asked['asked']} questions, {asked['with_gold']} with gold"
    yield f"# {one_line(data['name'])}: {said}, {searched} passages to search a question"
    for table in blocks(result):
        yield ""
        yield f"# {one_line(table.title)}"
        yield from aligned([[one_line(cell) for cell in row] for row in (table.head, *table.rows)])
        if table.caption:
            yield f"# {one_line(table.caption)}"
    yield ""
    yield from (f"# {one_line(said)}" for said in tables.explained(result))
    yield ""
    yield from (f"# {one_line(said)}" for said in tables.verdict(result))


def draw_table(screen: Console, table: Table, bold: str = "") -> None:
    """Draw one table; the line that is called `bold` stands out."""
    drawn = Grid(title=Text(one_line(table.title), "bold"), title_justify="left", box=None, pad_edge=False)
    for place, name in enumerate(table.head):
        cells = [row[place] for row in table.rows]
        figures = place > 0 and all(cell[:1] in "+-.[0123456789" or cell == "reference" for cell in cells)
        side: JustifyMethod = "right" if figures else "left"
        drawn.add_column(Text(name, "dim"), justify=side, overflow="fold", no_wrap=figures)
    for row in table.rows:
        drawn.add_row(*(Text(one_line(cell)) for cell in row), style="bold" if row[0] == bold else "")
    screen.print(drawn)
    if table.caption:
        screen.print(Text(one_line(table.caption), "dim"))
    screen.print()
