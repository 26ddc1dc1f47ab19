"""CSV and TSV of messages, a row each: the first row names the columns, as keys name the values of JSON.

A table with the columns `start` and `text` is what somebody said in a recording, as Whisper writes it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, pairwise
from statistics import median

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import messages
from smartsearch.transcripts.formats.csvtext import columns, records
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.keys import HEAD, are_messages
from smartsearch.transcripts.formats.speech import Said, heard_by, placed, seconds
from smartsearch.transcripts.source import Source

_PLACE = re.compile(r"(?:\d{1,3}:){0,2}\d{1,9}(?:[.,]\d{1,6})?s?")
_LONG = 100.0
"""Seconds that are spoken without a break by nobody: lengths beyond are in milliseconds."""


def detect(source: Source) -> bool:
    """Whether a file is a table with a column for the text, and one for the speaker or the start."""
    head = islice(records(source), HEAD) if columns(source) else ()
    return _is_recording(source) or are_messages([row.value for row in head if isinstance(row, Item)])


def read(source: Source) -> Iterator[Record]:
    """Turns in file order, at the lines on which their rows begin, and a fault for what is no row."""
    if not _is_recording(source):
        yield from messages.read(source)
        return
    rows = list(records(source))
    said = [_said(row) for row in rows if isinstance(row, Item)]
    lengths = [later.start - one.start for one, later in pairwise(said)]
    ticks = 1000 if lengths and median(lengths) > _LONG else 1
    yield from (row for row in rows if not isinstance(row, Item))
    yield from placed(source, (one._replace(start=one.start / ticks) for one in said), source.stem)


def _is_recording(source: Source) -> bool:
    """Whether the columns are a recording's, and the first start is a place in one, not a date."""
    if not {"start", "text"} <= {name.strip().casefold() for name in columns(source)}:
        return False
    first = next((row for row in records(source) if isinstance(row, Item)), None)
    return first is not None and _PLACE.fullmatch(_cells(first).get("start", "").strip()) is not None


def _said(row: Item) -> Said:
    """What a row says, from when on in the table's own unit."""
    value = _cells(row)
    return Said(row, value.get("text", ""), heard_by(value), seconds(value.get("start", "")))


def _cells(row: Item) -> dict[str, str]:
    """A row's cells by the names of their columns in small letters."""
    return {name.strip().casefold(): cell for name, cell in row.value.items()}
