"""A table in CSV, TSV or Markdown to records: an object a row, by the names in the first row."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

SUFFIXES = (".csv", ".tsv")
_RULE = re.compile(r"\|?(?:\s*:?-+:?\s*\|)+(?:\s*:?-+:?\s*)?")
_HEADING = re.compile(r"#{1,6} ")
_MOST = 0.8
"""Share of a file's lines that are rows of its one table."""
_BAR = re.compile(r"(?<!\\)\|")
_LOOKED_AT = 40
"""Lines in which a table of Markdown begins."""
_HEAD = 4096
"""Characters in which the first row must end."""
_LONGEST = 60
"""Characters of a column's name: what is longer is a sentence."""
_SEPARATOR = re.compile(r"\ufeff?sep=([,;\t|])\r?\n", re.I)
"""A line in which Excel is told what parts the cells."""


def has_columns(source: Source, names: Sequence[str]) -> bool:
    """Whether a file begins with a row that has all of the names."""
    return set(names) <= set(columns(source))


def columns(source: Source) -> list[str]:
    """The names in a file's first row, where it has two or more and all differ; else none."""
    if (ruled := _ruled(source)) is not None:
        return _cells(source.lines[ruled - 1])
    told = _SEPARATOR.match(source.text)
    start = told.end() if told else 0
    first = source.text[start : start + _HEAD].lstrip("\ufeff").split("\n", 1)[0].strip("\r")
    try:
        names = next(csv.reader([first], **_dialect(source)), [])
    except csv.Error:
        return []
    return names if all(len(name) <= _LONGEST for name in names) and len(set(names)) == len(names) > 1 else []


def records(source: Source) -> Iterator[Item | FormatError]:
    """Each row behind the first, at the line on which it begins; a fault for one that is no row."""
    if (ruled := _ruled(source)) is not None:
        head = _cells(source.lines[ruled - 1])
        for number, written in enumerate(source.lines[ruled + 1 :], ruled + 2):
            if _is_row(written):
                yield Item(dict(zip(head, _cells(written), strict=False)), number)
        beside = [n for n, line in enumerate(source.lines, 1) if line.strip() and not _is_row(line)]
        beside = [n for n in beside if not _HEADING.match(source.lines[n - 1])]
        if beside:
            said = f"lines beside the table left out: {len(beside)}, the first at line {beside[0]}"
            yield FormatError(said, kind="notice")
        return
    told = 1 if _SEPARATOR.match(source.text) else 0
    text = "\n".join(source.lines[told:]).lstrip("\ufeff")
    reader = csv.reader(StringIO(text, newline=""), **_dialect(source))
    names: list[str] | None = None
    while True:
        line = reader.line_num + 1 + told
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield FormatError(f"no row of the table: {error}", line=line)
            continue
        if names is None:
            names = row
        elif any(cell.strip() for cell in row[len(names) :]):
            yield FormatError(f"{len(row)} cells, the first row has {len(names)}", line=line)
        elif len(row) > 1 or "".join(row).strip():
            yield Item(dict(zip(names, row, strict=False)), line)


def _ruled(source: Source) -> int | None:
    """The line (0-based) of the rule below a Markdown table's first row, if one table is most of a file."""
    if not any("|" in line for line in source.lines[:_LOOKED_AT]):
        return None
    ruled = [n for n, line in enumerate(source.lines) if "|" in line and _RULE.fullmatch(line.strip())]
    rows = sum(map(_is_row, source.lines))
    most = rows >= _MOST * sum(1 for row in source.lines if row.strip())
    return ruled[0] if most and len(ruled) == 1 and 0 < ruled[0] < _LOOKED_AT else None


def _is_row(line: str) -> bool:
    """Whether it stands between bars, as a row of a table of Markdown does."""
    row = line.strip()
    return len(row) > 1 and row[0] == row[-1] == "|" and "|" in line[:4]


def _cells(row: str) -> list[str]:
    """The cells of a row of a table of Markdown, without stars around them."""
    return [cell.strip().strip("*").replace("\\|", "|") for cell in _BAR.split(row.strip().strip("|"))]


def _dialect(source: Source) -> dict[str, Any]:
    """What parts the cells: of comma, semicolon and tab the most frequent in the first row.

    Between tabs a quote is a letter like any other where each line has a cell for each name as it stands.
    """
    if told := _SEPARATOR.match(source.text):
        return {"delimiter": told[1]}
    first = source.first_line()
    mark = max(",;\t|" if source.suffix in SUFFIXES else ",;\t", key=first.count)
    plain = mark == "\t" and all(
        line.count(mark) == first.count(mark) for line in source.lines if line.strip()
    )
    return {"delimiter": mark, **({"quoting": csv.QUOTE_NONE} if plain and _is_torn(source) else {})}


def _is_torn(source: Source) -> bool:
    """Whether some cell of a table between tabs begins with a quote that its end does not close."""
    cells = (cell for line in source.lines for cell in line.split("\t") if cell.startswith('"'))
    return any(len(cell) < 2 or not cell.endswith('"') for cell in cells)
