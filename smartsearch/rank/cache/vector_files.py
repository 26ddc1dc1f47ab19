"""ColBERT's token vectors on disk, between processes, by the hash of the text (docs/decisions/0009).

New ones are gathered into files (`vector_segment`) in the user's cache (`vector_folder`). Neither readers nor
writers need a lock between processes, for a file is there whole or not at all, and never changes.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import shutil
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from smartsearch.errors import CacheError
from smartsearch.rank.cache.vector_folder import new_name, tidy, unlink
from smartsearch.rank.cache.vector_segment import SUFFIX, Damaged, Segment, write
from smartsearch.rank.cache.vectors import TokenVectors
from smartsearch.runtime import ending
from smartsearch.runtime.private import check, levels, make

FLUSH_BYTES = 8 * 2**20
FLUSH_SECONDS = 5.0
"""New vectors are held back until they are so many or so old, for few and large files."""
FREE = 64 * 2**20
"""Bytes of the disk that are left to others."""
TOUCHED = 3600.0
"""Seconds within which a file that is used again is not marked again."""


def key_of(text: str) -> bytes:
    """A text's name in the cache: 16 bytes that it cannot be read back from."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


class VectorFiles:
    """The vectors of one model under `root`, of all models at most `limit` bytes; for several threads.

    Nothing here fails a search: what cannot be read is not there, what cannot be written is left out. `note`
    says so where the user can do something about it.
    """

    def __init__(self, root: Path, model: str, limit: int) -> None:
        self.note = ""
        self._root, self._limit = root, limit
        self._folder = root / model
        self._lock = threading.RLock()  # the timeout's signal handler may flush in the midst of a call
        self._segments: dict[str, Segment] = {}
        self._unreadable: set[str] = set()
        self._pending: dict[bytes, TokenVectors] = {}
        self._bytes = 0
        self._since = 0.0

    def get(self, texts: Sequence[str]) -> dict[str, TokenVectors]:
        """The vectors of those of `texts` that are kept."""
        keys = {text: key_of(text) for text in texts}
        with self._lock:
            found = {text: self._pending[key] for text, key in keys.items() if key in self._pending}
            for segment in self._opened():
                left = [text for text in keys if text not in found]
                if not left:
                    break
                places = segment.find([keys[text] for text in left])
                here = [(text, place) for text, place in zip(left, places, strict=True) if place >= 0]
                try:
                    found.update((text, segment.vectors(place)) for text, place in here)
                except Damaged:
                    self._drop(segment.path)
                if here:
                    _touch(segment)
        return found

    def put(self, vectors: Mapping[str, TokenVectors]) -> None:
        """Keep the vectors of these texts; they are written when they are many or old, or at the end."""
        with self._lock:
            if not vectors or not (self._pending or self._ready()):
                return
            if not self._pending:
                self._since = time.monotonic()
                ending.add(self.flush)
            self._pending.update((key_of(text), value) for text, value in vectors.items())
            self._bytes += sum(value.nbytes for value in vectors.values())
            due = self._bytes >= FLUSH_BYTES or time.monotonic() - self._since >= FLUSH_SECONDS
        if due:
            self.flush()

    def flush(self) -> None:
        """Write what was put, as one file, and merge and trim where that is due."""
        with self._lock:
            pending, self._pending, self._bytes = self._pending, {}, 0
            ending.discard(self.flush)
            ready = bool(pending) and self._ready()
        if not ready:
            return
        try:
            write(self._folder / new_name(), list(pending.items()))
            self.note = ""
            tidy(self._root, self._folder, self._limit)
        except OSError as error:
            self._complain(error)

    def _opened(self) -> list[Segment]:
        """The files of now; listed again where another process merged one before it was opened."""
        for _ in range(5):
            names = self._names()
            self._segments = {name: s for name, s in self._segments.items() if name in names}
            opened = [self._open(name) for name in names - self._segments.keys() - self._unreadable]
            if all(opened):
                break
        return list(self._segments.values())

    def _names(self) -> set[str]:
        """Every file of the model, none where the folder is not there or not ours."""
        try:
            check(levels(self._folder))
            return {name for name in os.listdir(self._folder) if name.endswith(SUFFIX)}  # noqa: PTH208
        except (CacheError, OSError):
            return set()

    def _open(self, name: str) -> bool:
        """Open a file, or drop it if it is damaged; False where it is gone."""
        try:
            self._segments[name] = Segment(self._folder / name)
        except FileNotFoundError:
            return False
        except Damaged:
            self._drop(self._folder / name)
        except OSError:
            self._unreadable.add(name)
        return True

    def _drop(self, path: Path) -> None:
        """Do without a damaged file; its texts are encoded again."""
        self._segments.pop(path.name, None)
        self._unreadable.add(path.name)
        unlink(path)

    def _ready(self) -> bool:
        """Whether there is a folder to write to, made if need be, and room for more."""
        try:
            make(self._folder)
            if shutil.disk_usage(self._folder).free < FREE:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except CacheError as error:
            self.note = f"{error.message}, so ColBERT's vectors are not kept; {error.hint}"
        except OSError as error:
            self._complain(error)
        else:
            return True
        return False

    def _complain(self, error: OSError) -> None:
        """A full disk is told; a home that cannot be written is as it is."""
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        where = f"no room for ColBERT's vectors in {self._folder.parent}, so they are not kept"
        self.note = f"{where}; make room, or set XDG_CACHE_HOME, or give --no-cache" if full else ""


def _touch(segment: Segment) -> None:
    """Mark a file as used, so that others are dropped before it."""
    now = time.time()
    if abs(now - segment.modified) > TOUCHED:  # of the future, where the clock was set back
        with contextlib.suppress(OSError):
            os.utime(segment.path, (now, now))
        segment.modified = now
