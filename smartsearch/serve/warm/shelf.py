"""Transcripts that a long-lived process holds between questions, never older than their files."""

from __future__ import annotations

import io
import os
import time
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smartsearch.ask.library import Library, Scope
from smartsearch.errors import InputError
from smartsearch.transcripts.archive import file_of
from smartsearch.transcripts.files import Selection, find, size
from smartsearch.types import Skipped

if TYPE_CHECKING:
    from smartsearch.retrieve.grep import Haystack

KEPT_BYTES = 128 << 20
"""Of files whose turns are held, all together: short turns take some ten times their size in memory."""
SETTLED = 2.0
"""Seconds a file must have been left alone: a change within one tick of the clock (2 s on FAT) of the
last one does not show."""

Stamp = tuple[tuple[str | int, ...] | Skipped, ...]
"""Of each file found: path, device, inode, bytes, and when its content and its entry changed (ns).

Of one in an archive: its own bytes, unpacked, and the rest of the archive."""


@dataclass(frozen=True)
class _Kept:
    stamp: Stamp
    size: int
    library: Library


class Shelf:
    """The transcripts last searched, up to a size; those whose files changed are read again."""

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        self._limit = limit
        self._kept: OrderedDict[tuple[str, Scope], _Kept] = OrderedDict()
        self._whole: set[tuple[str, Scope]] = set()

    def haystack(self, folder: str, source: Scope) -> Haystack:
        """The turns of `source`, whose relative paths begin in `folder`, the current folder.

        Raises InputError as reading does.
        """
        key = (folder, source.unfiltered)
        stamp = _stamp(source)
        kept = self._kept.pop(key, None)
        if kept is None or kept.stamp != stamp:
            kept = _Kept(stamp or (), _size(stamp), Library())
            if key in self._whole:
                kept.library.read_whole(source)
        haystack = kept.library.haystack(source)
        if stamp is not None and kept.size <= self._limit and _settled(stamp) and _stamp(source) == stamp:
            self._kept[key] = kept
            while sum(other.size for other in self._kept.values()) > self._limit:
                self._kept.popitem(last=False)
        return haystack

    def read_whole(self, folder: str, source: Scope) -> None:
        """From now on parse every line of `source`."""
        self._whole.add((folder, source.unfiltered))
        self._kept.pop((folder, source.unfiltered), None)


class Reading(Library):
    """The transcripts of one question, from the shelf unless they come from standard input."""

    def __init__(self, shelf: Shelf, folder: str, piped: bytes | None) -> None:
        super().__init__(None if piped is None else io.BytesIO(piped))
        self._shelf, self._folder, self._piped_in = shelf, folder, piped is not None
        self._ready: Haystack | None = None

    def haystack(self, source: Scope) -> Haystack:
        """The turns of `source`, read once. Raises InputError as reading does."""
        if self._ready is None:
            with inside(self._folder):
                if self._piped_in:
                    self._ready = super().haystack(source)
                else:
                    self._ready = self._shelf.haystack(self._folder, source)
        return self._ready

    def read_whole(self, source: Scope) -> None:
        """From now on parse every line of `source`."""
        self._ready = None
        self._shelf.read_whole(self._folder, source)


@contextmanager
def inside(folder: str) -> Iterator[None]:
    """The block with `folder` as the current folder, and the root afterwards. Raises OSError."""
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir("/")


def _stamp(source: Scope) -> Stamp | None:
    """What tells one state of the files from another; None where that cannot be told."""
    try:
        found = list(find(source.paths, Selection(source.globs, source.excludes)))
        return tuple(entry if isinstance(entry, Skipped) else _state(entry) for entry in found)
    except (InputError, OSError):
        return None


def _state(path: str) -> tuple[str | int, ...]:
    found = os.stat(file_of(path))  # noqa: PTH116 - the path as it is
    return (path, found.st_dev, found.st_ino, size(path), found.st_mtime_ns, found.st_ctime_ns)


def _size(stamp: Stamp | None) -> int:
    return sum(int(entry[3]) for entry in stamp or () if not isinstance(entry, Skipped))


def _settled(stamp: Stamp) -> bool:
    latest = max((int(max(e[4:])) for e in stamp if not isinstance(e, Skipped)), default=0)
    return time.time_ns() - latest > SETTLED * 1e9
