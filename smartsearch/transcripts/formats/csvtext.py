"""A table in CSV to records: an object a row, by the names in the first row."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from io import StringIO

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_HEAD = 4096
"""Characters in which the first row must end."""


def has_columns(source: Source, names: Sequence[str]) -> bool:
    """Whether a file begins with a row that has all of the names."""
    first = source.text[:_HEAD].lstrip("\ufeff").split("\n", 1)[0]
    try:
        return set(names) <= set(next(csv.reader([first.strip("\r")]), []))
    except csv.Error:
        return False


def records(source: Source) -> Iterator[Item | FormatError]:
    """Each row behind the first, at the line on which it begins; a fault for one that is no row."""
    reader = csv.reader(StringIO("\n".join(source.lines).lstrip("\ufeff"), newline=""))
    names: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield FormatError(f"no row of the table: {error}", line=line)
            continue
        if names is None:
            names = row
        elif len(row) > 1 or "".join(row).strip():
            yield Item(dict(zip(names, row, strict=False)), line)
