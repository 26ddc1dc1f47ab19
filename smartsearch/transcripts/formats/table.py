"""CSV and TSV of messages, a row each: the first row names the columns, as keys name the values of JSON.

A table with the columns `start` and `text` is what somebody said in a recording, as Whisper writes it.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import messages
from smartsearch.transcripts.formats.csvtext import columns, records
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.keys import HEAD, are_messages, keys_of
from smartsearch.transcripts.formats.speech import heard, placed, started
from smartsearch.transcripts.source import Source


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
    yield from (row for row in rows if not isinstance(row, Item))
    yield from placed(source, heard([row for row in rows if isinstance(row, Item)]), source.stem)


def _is_recording(source: Source) -> bool:
    """Whether there are a text and a start, and the first start is a place in a recording, not a date."""
    first = next((row for row in records(source) if isinstance(row, Item)), None) if columns(source) else None
    return first is not None and bool(keys_of(first.value).text and started(first.value, far=False)[0])
