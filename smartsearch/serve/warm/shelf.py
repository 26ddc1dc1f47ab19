"""Transcripts that a long-lived process holds between questions, never older than their files."""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from smartsearch.ask.library import Library
from smartsearch.ask.scope import Scope
from smartsearch.errors import InputError
from smartsearch.transcripts.archive import file_of, flush
from smartsearch.transcripts.files import find, size
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


class Shelf(Library):
    """The transcripts last searched, up to a size; those whose files changed are read again.

    Relative paths begin in the current folder, which may be another for each question.
    """

    def __init__(self, limit: int = KEPT_BYTES) -> None:
        super().__init__()
        self._limit = limit
        self._kept: OrderedDict[Hashable, _Kept] = OrderedDict()
        self.latest: Haystack | None = None
        """What was asked for last, if it is held."""

    def haystack(self, source: Scope) -> Haystack:
        """The turns of `source`. Raises InputError as reading does."""
        key, stamp = _key(source), _stamp(source)
        kept = self._kept.pop(key, None)
        if kept is None or kept.stamp != stamp:
            kept = _Kept(stamp or (), _size(stamp), Library())
            if kept.size <= self._limit:
                for entry in kept.stamp:
                    if not isinstance(entry, Skipped):
                        flush(str(entry[0]))
            if key in self._whole:
                kept.library.read_whole(source)
        haystack, self.latest = kept.library.haystack(source), None
        if stamp is not None and kept.size <= self._limit and _settled(stamp) and _stamp(source) == stamp:
            self._kept[key], self.latest = kept, haystack
            while sum(other.size for other in self._kept.values()) > self._limit:
                self._kept.popitem(last=False)
        return haystack

    def size(self, source: Scope) -> int:
        """Bytes of the files of `source`, unpacked."""
        return _size(_stamp(source))

    def read_whole(self, source: Scope) -> None:
        """From now on parse every line of `source`."""
        key = _key(source)
        if key not in self._whole:
            self._whole.add(key)
            self._kept.pop(key, None)


def _key(source: Scope) -> Hashable:
    """The files of `source`, and what the current folder is."""
    here = os.stat(".")  # noqa: PTH116 - of a folder that was removed, too
    return here.st_dev, here.st_ino, source.unfiltered


def _stamp(source: Scope) -> Stamp | None:
    """What tells one state of the files from another; None where that cannot be told."""
    try:
        found = list(find(source.paths, source.selection))
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
