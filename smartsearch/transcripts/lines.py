"""A JSONL file of messages, searched as bytes: only the lines that are asked for become turns.

Parsing costs some ten microseconds a turn, scanning bytes for a word a few nanoseconds. `MessageLines` holds
such a file unparsed, says which of its lines can contain a word (never too few), and reads single lines with
the reader of `messages`. Any other file is `NotByLine` and has to be read whole.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property

import numpy as np
import orjson
from numpy.typing import NDArray

from smartsearch.transcripts import messages
from smartsearch.transcripts.faults import FormatError, NotByLine
from smartsearch.transcripts.jsontext import parse
from smartsearch.transcripts.registry import detect
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn, fold

HEAD_LINES = 50
"""Lines at a file's beginning that are parsed to know its format, its keys and its speakers."""

Places = NDArray[np.int64]
_PLAIN = re.compile(r"[\w ]+")
_RUN = re.compile(r"\w+")


class MessageLines:
    """The messages of one JSONL file, by position: lines that are not blank, counted from 0."""

    def __init__(self, path: str, data: bytes) -> None:
        self.path = path
        self._data = data
        if b"\x00" in data or data.startswith(b"\xef\xbb\xbf"):
            raise NotByLine(path)
        ends = places(data, b"\n")
        starts = np.concatenate([np.zeros(1, np.int64), ends + 1])
        ends = np.concatenate([ends, np.array([len(data)])])
        self._lines = _not_blank(data, starts, ends)
        self._starts, self._ends = starts[self._lines], ends[self._lines]
        self._source = Source(path, "")
        self._check()

    def __len__(self) -> int:
        return len(self._lines)

    def _check(self) -> None:
        """Raise NotByLine unless it is UTF-8 and its first lines are messages."""
        if not len(self):
            raise NotByLine(self.path)
        try:
            if not self._data.isascii():
                self._data.decode()
            head = self._data[: self._ends[:HEAD_LINES][-1]].decode()
            known = detect(Source(self.path, head))
        except (UnicodeDecodeError, FormatError):
            raise NotByLine(self.path) from None
        if known is not messages.FORMAT or head.lstrip()[:1] != "{":
            raise NotByLine(self.path)
        self.head = [turn for n in range(min(len(self), HEAD_LINES)) if (turn := self.turn(n)) is not None]

    def turn(self, position: int) -> Turn | None:
        """The turn on a line, None where there is none: broken, or without text.

        Raises NotByLine where the line alone does not tell.
        """
        try:
            value = self._value(position)
        except json.JSONDecodeError:
            return None
        found = messages.of_line(self._source, value, int(self._lines[position]) + 1)
        if found is None:
            raise NotByLine(self.path)
        return found if isinstance(found, Turn) else None

    def _value(self, position: int) -> object:
        return parse(self._data[self._starts[position] : self._ends[position]].decode())

    def with_word(self, text: str) -> Places:
        """Positions whose line can contain `text` (case-folded): every one that does, and few more."""
        needle = _needle(text)
        if not needle:
            return np.arange(len(self))
        lines = self._positions(needle)
        keys = [(key, key.count(needle)) for key in self._keys if needle in key]
        if not keys:
            return np.unique(lines)
        counts = np.bincount(lines, minlength=len(self))
        for key, times in keys:
            for written in (b'"%s":' % key, b'"%s" :' % key):
                counts -= times * np.bincount(self._positions(written), minlength=len(self))
        return np.flatnonzero(counts > 0)

    def _positions(self, needle: bytes) -> Places:
        """The position of each place of `needle`, ascending."""
        return np.searchsorted(self._folded_ends, places(self._folded, needle))

    @cached_property
    def _keys(self) -> tuple[bytes, ...]:
        """The keys of the first messages as they stand in the folded text: structure, not speech."""
        found: dict[str, None] = {}
        for n in range(min(len(self), HEAD_LINES)):
            with suppress(json.JSONDecodeError):
                value = self._value(n)
                found.update(dict.fromkeys(value if isinstance(value, Mapping) else ()))
        return tuple(fold(key).encode() for key in found)

    @cached_property
    def _folded(self) -> bytes:
        return folded(self._data)

    @cached_property
    def _folded_ends(self) -> Places:
        """Where each line ends in the folded text, whose lines are those of the file."""
        if len(self._folded) == len(self._data):
            return self._ends
        ends = np.concatenate([places(self._folded, b"\n"), np.array([len(self._folded)])])
        return ends[self._lines]


def _not_blank(data: bytes, starts: Places, ends: Places) -> Places:
    short = np.flatnonzero(ends - starts < 8)
    blank = [n for n in short.tolist() if not data[starts[n] : ends[n]].strip()]
    return np.delete(np.arange(len(starts)), blank)


def _needle(text: str) -> bytes:
    """What stands in the folded file wherever `text` stands in a turn: all of it, or its longest word.

    Anything but letters, digits and spaces may be written in several ways in JSON.
    """
    whole = fold(text).strip()
    if not _PLAIN.fullmatch(whole):
        whole = max(_RUN.findall(whole), key=len, default="")
    return _uncased(whole.encode())


def places(data: bytes, needle: bytes) -> Places:
    """Where `needle` begins in `data`, without overlaps, ascending."""
    import stringzilla

    pieces = stringzilla.Str(data).split(needle)
    count = len(pieces)
    if count < 2:
        return np.zeros(0, np.int64)
    kind = ctypes.c_uint64 if pieces.offsets_are_large else ctypes.c_uint32
    starts = np.frombuffer((kind * count).from_address(pieces.offsets_address), dtype=kind).astype(np.int64)
    return starts[1:] + len(needle) * np.arange(count - 1)


def folded(data: bytes) -> bytes:
    """UTF-8 JSON lines as `fold` sees their text: escapes of characters undone, composed, case-folded.

    The lines stay the lines.
    """
    import stringzilla

    if b"\\u" in data or b"\\/" in data:
        data = b"\n".join(map(_unescaped, data.split(b"\n")))
    if not data.isascii() and stringzilla.utf8_find_denormalized(data, "NFC") is not None:
        data = fold(data.decode()).encode()
    return _uncased(data)


def _uncased(data: bytes) -> bytes:
    """Case folding by stringzilla's version of Unicode, which may know more characters than Python's.

    What Python folds is the same, so text and word meet whichever of the two folded them before.
    """
    import stringzilla

    return data.lower() if data.isascii() else bytes(stringzilla.utf8_uncased_fold(data))


def _unescaped(line: bytes) -> bytes:
    if b"\\u" not in line and b"\\/" not in line:
        return line
    try:
        return orjson.dumps(parse(line.decode()))
    except (json.JSONDecodeError, TypeError):
        return line
