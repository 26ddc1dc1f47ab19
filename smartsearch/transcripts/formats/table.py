"""CSV and TSV of messages, a row each: the first row names the columns, as keys name the values of JSON."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import messages
from smartsearch.transcripts.formats.csvtext import columns, records
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.keys import HEAD, are_messages
from smartsearch.transcripts.source import Source


def detect(source: Source) -> bool:
    """Whether a file is a table with a column for the speaker and one for the text."""
    head = islice(records(source), HEAD) if columns(source) else ()
    return are_messages([row.value for row in head if isinstance(row, Item)])


def read(source: Source) -> Iterator[Record]:
    """Turns in file order, at the lines on which their rows begin, and a fault for what is no row."""
    yield from messages.read(source)
