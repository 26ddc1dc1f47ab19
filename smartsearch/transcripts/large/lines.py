"""JSONL files of messages, searched as bytes: only the lines that are asked for become turns.

Parsing costs some ten microseconds a turn, scanning bytes for a word a few nanoseconds. `MessageLines` holds
such files unparsed, says which of their lines can contain a word (never too few), and reads single lines with
the reader of `messages`. Any other file is `NotByLine` and has to be read whole.

What is scanned is a line for each line of the files. Where what a message says stands in its line as it is
(`messages.as_written`), that is the line, folded as turns are; else it is what grep would see of the turn. So
nothing that grep finds is missed, whatever stands in a line or around it.
"""

from __future__ import annotations

import ctypes
import io
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.errors import SmartsearchError
from smartsearch.transcripts.faults import FormatError, NotByLine
from smartsearch.transcripts.files import Limits, lines_suffix, load
from smartsearch.transcripts.filters import Facts
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import messages
from smartsearch.transcripts.formats.jsontext import parse
from smartsearch.transcripts.formats.keys import keys_of, said_of
from smartsearch.transcripts.formats.own_calls import NAME, ids, possible
from smartsearch.transcripts.onefile import check_lines
from smartsearch.transcripts.registry import detect
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn, fold

HEAD_LINES = 20
"""Lines parsed to learn a file's format, keys and speakers: as many as any detector reads."""

BLOCK = 1 << 20
"""Bytes scanned at a time: what they become stays in the processor's cache."""
FOLDED = 1 << 14
"""Bytes folded at a time: pieces of pure ASCII cost least."""

Places = NDArray[np.int64]
_NAMED = rb'"%s"[ \t]*:[ \t]*("(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})+")'
"""A key and the string that follows it."""
_PLAIN = re.compile(r"[\w ]+")
_RUN = re.compile(r"\w+")
_SHORT = 8  # bytes; a longer line of blanks is reported as broken JSON
_BLANK = np.isin(np.arange(256), list(b" \t\n\r\x0b\x0c"))


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
        if known.name != "messages" or not all(self._records):
            raise NotByLine(self.path)

    @classmethod
    def at(cls, path: str, limits: Limits) -> LineFile | None:
        """The file at `path`; None where it cannot be read, or not by line."""
        if not lines_suffix(path):
            return None
        with suppress(NotByLine), or_whole(path):
            data = load(path, None, limits)
            check_lines(data, limits)
            return cls(path, data)
        return None

    @cached_property
    def _head(self) -> Source:
        """A source of the first lines that are JSON."""
        whole = (line for line in map(bytes.decode, io.BytesIO(self.data)) if line.strip() and _is_json(line))
        return Source(self.path, "".join(line for line, _ in zip(whole, range(HEAD_LINES))))

    @cached_property
    def _records(self) -> list[Record | None]:
        return [messages.of_line(self._head, item.value, item.line) for item in self._head.json.items]

    @property
    def keys(self) -> set[bytes]:
        """The keys of the first messages as they stand in what is scanned."""
        values = (item.value for item in self._head.json.items)
        return {fold(key).encode() for value in values if isinstance(value, dict) for key in value}

    @property
    def name_keys(self) -> set[bytes]:
        """The keys that name the speaker."""
        values = (item.value for item in self._head.json.items if isinstance(item.value, dict))
        known = (keys_of(value) for value in values)
        named = {fold(key) for keys in known for key in (*keys.speaker, *keys.after_role)}
        return {key.encode() for key in named - {"role"}}

    @property
    def said(self) -> str:
        """A warning of its messages' keys, or ""."""
        return said_of(item.value for item in self._head.json.items)

    @property
    def speakers(self) -> set[str]:
        """The folded names of those who speak in the first lines."""
        return {fold(record.speaker) for record in self._records if isinstance(record, Turn)}


@contextmanager
def or_whole(path: str) -> Iterator[None]:
    """Turn any error but our own into NotByLine: the file is read whole then, and the error is reported."""
    try:
        yield
    except SmartsearchError:
        raise
    except Exception as error:
        raise NotByLine(path) from error


def _is_json(line: str) -> bool:
    try:
        parse(line)
    except json.JSONDecodeError:
        return False
    return True


class MessageLines:
    """The messages of some files, by position: lines that are not blank, counted from 0."""

    def __init__(self, files: Sequence[LineFile]) -> None:
        self._sources = [Source(file.path, "") for file in files]
        self._data = b"\n".join(file.data for file in files)
        self.speakers = {name for file in files for name in file.speakers}
        self.speakers |= _named(self._data, {key for file in files for key in file.name_keys})
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

        Raises NotByLine if the line needs others to be understood.
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
        """The turns on these lines (1-based) of files taken as one; none where lines alone do not tell."""
        start, end = np.searchsorted(self._lines, [first - 1, last])
        try:
            found = [self.turn(position) for position in range(int(start), int(end))]
        except NotByLine:
            return []
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
        counts = self._counts(needle)
        for key in self._keys:
            if times := key.count(needle):
                for written in (b'"%s":' % key, b'"%s" :' % key):
                    counts -= times * self._counts(written)
        return np.flatnonzero(counts > 0)

    def _counts(self, needle: bytes) -> Places:
        """An upper bound of the number of times `needle` stands on each line; exact inside keys."""
        counts = np.zeros(len(self), np.int64)
        for found in blocks(self._scanned, needle):
            lines = np.searchsorted(self._scanned_ends, found)
            first = int(lines[0])
            times = np.bincount(lines - first)
            counts[first : first + len(times)] += times
        return counts

    @cached_property
    def _scanned(self) -> bytes:
        """The text that is scanned, a line per line of the files. Raises NotByLine if a line needs others."""
        pieces, start = [], 0
        while start <= len(self._data):
            end = self._data.find(b"\n", start + FOLDED)
            end = len(self._data) if end < 0 else end
            pieces.append(self._seen(self._data[start:end]))
            start = end + 1
        whole = b"\n".join(pieces)
        if NAME.encode() in whole and b'"tool_' in self._data:  # ids may connect (own_calls.py)
            raise NotByLine(self._sources[0].path)
        return whole

    def _seen(self, piece: bytes) -> bytes:
        """The scanned text of some whole lines."""
        if messages.as_written(piece):
            return folded(piece)
        lines = piece.split(b"\n")
        return b"\n".join(map(self._seen, lines)) if len(lines) > 1 else self._said(piece)

    def _said(self, line: bytes) -> bytes:
        """The turn on a line as grep sees it, on one line; empty if there is no turn. Raises NotByLine."""
        try:
            value = parse(line.decode())
        except json.JSONDecodeError:
            return b""
        path = self._sources[0].path
        with or_whole(path):
            found = messages.of_line(self._sources[0], value, 0)
        if found is None or ids([value]):
            raise NotByLine(path)
        spoken = found.spoken if isinstance(found, Turn) else ""
        # A NUL is a space to grep; a line stays a line; and no text looks like a key.
        bare = spoken.replace("\x00", " ").replace("\n", " ").replace('"', " ")
        return folded(bare.encode("utf-8", "replace"))

    @cached_property
    def _scanned_ends(self) -> Places:
        """The end of each line in the scanned text."""
        return np.append(places(self._scanned, b"\n"), len(self._scanned))[self._lines]


def _named(data: bytes, keys: Iterable[bytes]) -> set[str]:
    """The folded names of all who may speak, wherever they begin to."""
    found = {written for key in keys for written in re.findall(_NAMED % re.escape(key), data)}
    return {fold(json.loads(written)) for written in found}


def _not_blank(data: bytes, starts: Places, ends: Places) -> Places:
    """The lines that hold more than a few blanks."""
    short = np.flatnonzero(ends - starts < _SHORT)
    full = np.ones(len(starts), bool)
    full[short] = False
    letters = np.frombuffer(data, np.uint8)
    for place in range(_SHORT - 1):
        short = short[starts[short] + place < ends[short]]
        full[short] |= ~_BLANK[letters[starts[short] + place]]
    return np.flatnonzero(full)


def _needle(text: str) -> bytes:
    """What is scanned has this wherever a turn has `text`: all of it, or its longest word.

    Anything but letters, digits and spaces may be written in several ways in JSON.
    """
    whole = fold(text).strip()
    if not _PLAIN.fullmatch(whole):
        whole = max(_RUN.findall(whole), key=len, default="")
    return _uncased(whole.encode())


def places(data: bytes, needle: bytes) -> Places:
    """Where `needle`, a byte, stands in `data`, ascending."""
    return np.concatenate([np.zeros(0, np.int64), *blocks(data, needle)])


def blocks(data: bytes, needle: bytes) -> Iterator[Places]:
    """Where `needle` begins in `data`, ascending, in non-empty arrays.

    Places do not overlap, but where one block ends: then there may be one more.
    """
    import stringzilla

    text = stringzilla.Str(data)
    for start in range(0, len(data), BLOCK):
        inside = _places(text[start : start + BLOCK + len(needle) - 1], needle)
        if len(inside):
            yield inside + start


def _places(text: Any, needle: bytes) -> Places:
    pieces = text.split(needle)
    count = len(pieces)
    if (count - 1) * len(needle) == len(text):  # only needles: stringzilla has no offsets then
        return np.arange(count - 1) * len(needle)
    kind = np.uint64 if pieces.offsets_are_large else np.uint32
    raw = ctypes.string_at(pieces.offsets_address, count * kind().itemsize)
    starts = np.frombuffer(raw, dtype=kind).astype(np.int64)
    found: Places = starts[1:] + len(needle) * np.arange(count - 1)
    return found


def folded(data: bytes) -> bytes:
    """UTF-8 text as `fold` has it, composed where it is not and case-folded; its lines stay the lines."""
    import stringzilla

    if not data.isascii() and stringzilla.utf8_find_denormalized(data, "NFC") is not None:
        data = fold(data.decode()).encode()
    return _uncased(data)


def _uncased(data: bytes) -> bytes:
    """Case folding by stringzilla's version of Unicode, which may know more characters than Python's.

    What Python folds is the same, so text and word meet whichever of the two folded them before.
    """
    import stringzilla

    return bytes(stringzilla.utf8_uncased_fold(data))
