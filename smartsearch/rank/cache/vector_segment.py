"""One file of token vectors: an index of texts by hash, then a block a text. Written once, never changed.

Little-endian: a header (40 bytes), the index by column in the order of its keys (key 16 bytes, first token
u64, tokens u32, CRC-32 u32), then the blocks in the order they came: scales (tokens,) float32, values
(tokens, dim) int8. The header's checksums cover it and the index, a block's own is compared when it is read:
whatever was torn or changed is found before it can score anything (docs/decisions/0009).
"""

from __future__ import annotations

import contextlib
import mmap
import os
import stat
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from smartsearch.rank.cache.vectors import TokenVectors

MAGIC = b"ssvector"
VERSION = 1
SUFFIX = ".vectors"
PART = ".part"
"""What a file is called until it is whole."""
KEY = np.dtype("S16")
_HEADER = struct.Struct("<8sIIQQI")  # magic, version, dim, texts, tokens, CRC-32 of the index
_CHECK = struct.Struct("<I")  # CRC-32 of the header
_START = _HEADER.size + _CHECK.size
_COLUMNS: tuple[np.dtype[Any], ...] = (KEY, np.dtype("<u8"), np.dtype("<u4"), np.dtype("<u4"))
_ENTRY = sum(column.itemsize for column in _COLUMNS)


class Damaged(Exception):
    """A file that is not what was written, or not of this format."""


class Entry(NamedTuple):
    """What the index says of a text, but for its place: key (16 bytes), tokens, and CRC-32 of its block."""

    key: bytes
    tokens: int
    crc: int


class Segment:
    """A file open for reading, mapped into memory; closed when nothing refers to it."""

    def __init__(self, path: Path) -> None:
        """Map the file and verify its index. Raises Damaged, and OSError where it cannot be opened."""
        flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(path, flags)
        try:
            facts = os.fstat(descriptor)
            if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid() or facts.st_size < _START:
                raise Damaged(path)
            self._map = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
        self.path = path
        self.bytes = facts.st_size
        self.modified = facts.st_mtime
        head = self._map[: _HEADER.size]
        magic, version, self.dim, self.count, tokens, crc = _HEADER.unpack(head)
        self._blocks = _START + self.count * _ENTRY
        if (
            (magic, version) != (MAGIC, VERSION)
            or _CHECK.unpack(self._map[_HEADER.size : _START]) != (zlib.crc32(head),)
            or self.bytes != self._blocks + tokens * (4 + self.dim)
            or zlib.crc32(memoryview(self._map)[_START : self._blocks]) != crc
        ):
            raise Damaged(path)
        columns, start = [], _START
        for column in _COLUMNS:
            columns.append(np.frombuffer(self._map, column, self.count, start))
            start += self.count * column.itemsize
        self._keys, self._firsts, self._tokens, self._crcs = columns

    def find(self, keys: Sequence[bytes]) -> list[int]:
        """The place of each key in the index, -1 for those that are not here."""
        if not self.count or not keys:
            return [-1] * len(keys)
        wanted = np.frombuffer(b"".join(keys), KEY)
        places = np.minimum(np.searchsorted(self._keys, wanted), self.count - 1)
        found: list[int] = np.where(self._keys[places] == wanted, places, -1).tolist()
        return found

    def entry(self, place: int) -> Entry:
        """What the index says of the text at `place`."""
        start = _START + place * KEY.itemsize
        key = self._map[start : start + KEY.itemsize]
        return Entry(key, int(self._tokens[place]), int(self._crcs[place]))

    def in_file_order(self) -> list[int]:
        """Every place, in the order in which the blocks lie."""
        places: list[int] = np.argsort(self._firsts).tolist()
        return places

    def block(self, place: int) -> bytes:
        """A copy of the block of the text at `place`. Raises Damaged where it is not what was written."""
        size = 4 + self.dim
        start = self._blocks + int(self._firsts[place]) * size
        block = self._map[start : start + int(self._tokens[place]) * size]
        if zlib.crc32(block) != self._crcs[place]:
            raise Damaged(self.path)
        return block

    def vectors(self, place: int) -> TokenVectors:
        """The vectors of the text at `place`, bit for bit as they were put. Raises Damaged."""
        block, tokens = self.block(place), int(self._tokens[place])
        values = np.frombuffer(block, np.int8, offset=4 * tokens).reshape(tokens, self.dim)
        return TokenVectors(values, np.frombuffer(block, np.dtype("<f4"), tokens))


def write(path: Path, texts: Sequence[tuple[bytes, TokenVectors]]) -> None:
    """Write vectors, at least one, by the keys of their texts, whole or not at all. Raises OSError."""
    blocks = [v.scales.astype("<f4").tobytes() + v.values.tobytes() for _, v in texts]
    entries = [
        Entry(key, len(v.values), zlib.crc32(block)) for (key, v), block in zip(texts, blocks, strict=True)
    ]
    _write(path, texts[0][1].values.shape[1], entries, blocks)


def merge(segments: Sequence[Segment], path: Path) -> None:
    """Write what several files hold to one, each text once; it counts as used when the last of them was.

    Raises OSError, and Damaged where one of them is; then nothing is written.
    """
    taken: dict[bytes, tuple[Segment, int]] = {}
    for segment in segments:
        for place in segment.in_file_order():
            taken.setdefault(segment.entry(place).key, (segment, place))
    entries = [segment.entry(place) for segment, place in taken.values()]
    blocks = (segment.block(place) for segment, place in taken.values())
    _write(path, segments[0].dim, entries, blocks, max(segment.modified for segment in segments))


def _write(
    path: Path, dim: int, entries: Sequence[Entry], blocks: Iterable[bytes], modified: float | None = None
) -> None:
    """Write beside `path` and rename, so that `path` is never there in part."""
    tokens = np.array([entry.tokens for entry in entries], np.uint64)
    keys = np.frombuffer(b"".join(entry.key for entry in entries), KEY)
    order = np.argsort(keys, kind="stable")
    values = (keys, np.cumsum(tokens) - tokens, tokens, np.array([entry.crc for entry in entries]))
    index = b"".join(v[order].astype(kind).tobytes() for v, kind in zip(values, _COLUMNS, strict=True))
    head = _HEADER.pack(MAGIC, VERSION, dim, len(entries), int(tokens.sum()), zlib.crc32(index))
    part = path.with_suffix(PART)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123 - a descriptor
            file.write(head + _CHECK.pack(zlib.crc32(head)) + index)
            file.writelines(blocks)
            file.flush()
            os.fsync(descriptor)
        if modified is not None:
            os.utime(part, (modified, modified))
        part.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            part.unlink()
        raise
