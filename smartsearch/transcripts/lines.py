"""JSONL files of messages, searched as bytes: only the lines that are asked for become turns.

Parsing costs some ten microseconds a turn, scanning bytes for a word a few nanoseconds. `MessageLines` holds
such files unparsed, says which of their lines can contain a word (never too few), and reads single lines with
the reader of `messages`. Any other file is `NotByLine` and has to be read whole.
"""

from __future__ import annotations

import ctypes
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from smartsearch.filters import Facts
from smartsearch.transcripts import messages
from smartsearch.transcripts.faults import FormatError, NotByLine
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.jsontext import parse
from smartsearch.transcripts.onefile import or_whole
from smartsearch.transcripts.own_calls import possible
from smartsearch.transcripts.registry import detect
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn, fold

HEAD_LINES = 10
"""Lines at a file's beginning that are parsed to know its format, its keys and its speakers."""

BLOCK = 1 << 20
"""Bytes scanned at a time: what they become stays in the processor's cache."""

Places = NDArray[np.int64]
_PLAIN = re.compile(r"[\w ]+")
_RUN = re.compile(r"\w+")
_ESCAPES = (b"\\u", b"\\/")
_NUL = re.compile(rb"(?<!\\)((?:\\\\)*)\\u0000")
"""A NUL as JSON writes it, after the backslashes that stand for themselves: a space to grep."""


@dataclass(frozen=True)
class LineFile:
    """A file that can be read by line: its bytes, and what its first lines show.

    Raises NotByLine for any other file.
    """

    path: str
    data: bytes

    def __post_init__(self) -> None:
        if b"\x00" in self.data or self.data.startswith(b"\xef\xbb\xbf") or possible(self.data):
            raise NotByLine(self.path)
        try:
            if not self.data.isascii():
                self.data.decode()
            known = detect(self._head)
        except (UnicodeDecodeError, FormatError):
            raise NotByLine(self.path) from None
        if known is not messages.FORMAT or not all(self._records):
            raise NotByLine(self.path)

    @cached_property
    def _head(self) -> Source:
        """The first lines, as if they were the file."""
        return Source(self.path, b"\n".join(self.data.split(b"\n", HEAD_LINES)[:HEAD_LINES]).decode())

    @cached_property
    def _records(self) -> list[Record | None]:
        return [messages.of_line(self._head, item.value, item.line) for item in self._head.json.items]

    @property
    def keys(self) -> set[bytes]:
        """The keys of the first messages as they stand in the folded text."""
        values = (item.value for item in self._head.json.items)
        return {fold(key).encode() for value in values if isinstance(value, dict) for key in value}

    @property
    def speakers(self) -> set[str]:
        """The folded names of those who speak in the first lines."""
        return {fold(record.speaker) for record in self._records if isinstance(record, Turn)}


class MessageLines:
    """The messages of some files, by position: lines that are not blank, counted from 0."""

    def __init__(self, files: Sequence[LineFile]) -> None:
        self._sources = [Source(file.path, "") for file in files]
        self._data = b"\n".join(file.data for file in files)
        self.speakers = {name for file in files for name in file.speakers}
        self._keys = sorted({key for file in files for key in file.keys})
        ends = places(self._data, b"\n")
        starts = np.concatenate([np.zeros(1, np.int64), ends + 1])
        ends = np.concatenate([ends, np.array([len(self._data)])])
        self._lines = _not_blank(self._data, starts, ends)
        self._starts, self._ends = starts[self._lines], ends[self._lines]
        offsets = np.cumsum([0, *(len(file.data) + 1 for file in files[:-1])])
        self._first_lines = np.searchsorted(starts, offsets)

    def __len__(self) -> int:
        return len(self._lines)

    def turn(self, position: int) -> Turn | None:
        """The turn on a line, None where there is none: broken, or without text.

        Raises NotByLine where the line alone does not tell.
        """
        try:
            value = parse(self._data[self._starts[position] : self._ends[position]].decode())
        except json.JSONDecodeError:
            return None
        line = int(self._lines[position])
        file = int(np.searchsorted(self._first_lines, line, side="right")) - 1
        source = self._sources[file]
        with or_whole(source.path):
            found = messages.of_line(source, value, line - int(self._first_lines[file]) + 1)
        if found is None:
            raise NotByLine(source.path)
        return found if isinstance(found, Turn) else None

    def on_lines(self, first: int, last: int) -> list[Turn]:
        """The turns on these lines (1-based) of files taken as one. Raises NotByLine."""
        start, end = np.searchsorted(self._lines, [first - 1, last])
        found = (self.turn(position) for position in range(int(start), int(end)))
        return [turn for turn in found if turn is not None]

    def facts(self, positions: Places) -> Iterator[Facts | None]:
        """What filters ask of the turns at these positions, ascending; None where there is none.

        Raises NotByLine as `turn` does.
        """
        lines = self._lines[positions]
        files = np.searchsorted(self._first_lines, lines, side="right") - 1
        numbers = lines - self._first_lines[files] + 1
        starts, ends = self._starts[positions], self._ends[positions]
        data, sources = self._data, self._sources
        for start, end, file, number in zip(*(part.tolist() for part in (starts, ends, files, numbers))):
            try:
                value = parse(data[start:end].decode())
            except json.JSONDecodeError:
                yield None
                continue
            with or_whole(sources[file].path):
                found = messages.facts_of_line(sources[file], value, number)
            if found is None:
                raise NotByLine(sources[file].path)
            yield found or None

    def with_word(self, text: str) -> Places:
        """Positions whose line can contain `text` (case-folded): every one that does, and few more."""
        needle = _needle(text)
        if not needle:
            return np.arange(len(self))
        lines = self._positions(needle)
        keys = [(key, key.count(needle)) for key in self._keys if needle in key]
        if not keys:
            return lines[np.diff(lines, prepend=-1) > 0]
        counts = np.bincount(lines, minlength=len(self))
        for key, times in keys:
            for written in (b'"%s":' % key, b'"%s" :' % key):
                counts -= times * np.bincount(self._positions(written), minlength=len(self))
        return np.flatnonzero(counts > 0)

    def _positions(self, needle: bytes) -> Places:
        """The position of each place of `needle`, ascending."""
        return np.searchsorted(self._folded_ends, places(self._folded, needle))

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
    return _uncased(whole.encode("utf-8", "surrogatepass"))


def places(data: bytes, needle: bytes) -> Places:
    """Where `needle` begins in `data`, within a line or a line end itself, without overlaps, ascending."""
    import stringzilla

    text = stringzilla.Str(data)
    found, start = [], 0
    while start < len(data):
        end = data.find(b"\n", start + BLOCK) + 1 or len(data)
        inside = _places(text[start:end], needle)
        if len(inside):
            found.append(inside + start)
        start = end
    return np.concatenate(found) if found else np.zeros(0, np.int64)


def _places(text: Any, needle: bytes) -> Places:
    pieces = text.split(needle)
    count = len(pieces)
    kind = np.uint64 if pieces.offsets_are_large else np.uint32
    raw = ctypes.string_at(pieces.offsets_address, count * kind().itemsize)
    starts = np.frombuffer(raw, dtype=kind).astype(np.int64)
    found: Places = starts[1:] + len(needle) * np.arange(count - 1)
    return found


def folded(data: bytes) -> bytes:
    """UTF-8 JSON lines as `fold` sees their text: escapes of characters undone, composed, case-folded.

    The lines stay the lines.
    """
    import stringzilla

    if stringzilla.find(data, b"\\") >= 0 and max(stringzilla.find(data, e) for e in _ESCAPES) >= 0:
        data = b"\n".join(map(_unescaped, data.split(b"\n")))
    if not data.isascii() and stringzilla.utf8_find_denormalized(data, "NFC") is not None:
        data = fold(data.decode()).encode()
    return _uncased(data)


def _uncased(data: bytes) -> bytes:
    """Case folding by stringzilla's version of Unicode, which may know more characters than Python's.

    What Python folds is the same, so text and word meet whichever of the two folded them before.
    """
    import stringzilla

    return bytes(stringzilla.utf8_uncased_fold(data))


def _unescaped(line: bytes) -> bytes:
    if b"\\u" not in line and b"\\/" not in line:
        return line
    try:
        return _NUL.sub(rb"\1 ", orjson.dumps(parse(line.decode())))
    except (json.JSONDecodeError, TypeError):
        return line
