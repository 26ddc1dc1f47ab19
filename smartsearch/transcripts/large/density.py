"""Estimates from a file's bytes how much memory its lines and values would take.

A file takes about four times its size in memory, but not where its values are nearly empty: `[],` is three
bytes and a list of sixty. The JSON parser ends the process when memory runs out, so this is checked first.
"""

from __future__ import annotations

import re

from smartsearch.transcripts.faults import FormatError

VALUE = 64
"""Bytes of memory that an empty line or value takes."""
ROOM = 1 << 29
"""Bytes of memory that such lines and values may take in any case; in a large file four times its size."""
_RECORD = 3  # values that a record on a line of its own counts for
_STRING = re.compile(rb'"[^"]*"?')


def check_values(data: bytes) -> None:
    """Raise FormatError `too_large` for more lines, or JSON values, than fit in memory."""
    room = max(ROOM, 4 * len(data)) // VALUE
    values = lines = max(data.count(b"\n"), data.count(b"\r"))
    if lines <= room < len(data) and data.lstrip()[:1] in (b"[", b"{"):
        values = _RECORD * lines + _values(data)
        if values > room:  # lines may be indented, and strings hold commas
            values = _RECORD * (data.count(b"\n{") + data.count(b"\n[")) + _values(_unsaid(data))
    if values > room:
        raise FormatError(f"{values:,} lines or values are more than fit in memory", kind="too_large")


def _values(data: bytes) -> int:
    return sum(map(data.count, (b",", b"[", b"{")))


def _unsaid(data: bytes) -> bytes:
    """JSON without the contents of its strings, whose commas and brackets are not values."""
    return _STRING.sub(b"", data.replace(b"\\\\", b"").replace(b'\\"', b""))
