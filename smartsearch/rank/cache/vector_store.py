"""ColBERT's token vectors on disk, between processes, in one SQLite file (docs/decisions/0009).

`$XDG_CACHE_HOME/smartsearch/colbert/store/vectors.sqlite`, else below `~/.cache`. A row holds a text's
vectors and their checksum under a hash of model and text. Rows written at once are a batch; trimming removes
the batches that were used longest ago. Unix only.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
import sqlite3
import stat
import threading
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

import numpy as np

from smartsearch.errors import CacheError
from smartsearch.rank.cache.vectors import TokenVectors
from smartsearch.runtime import ending, private

FLUSH_BYTES = 8 * 2**20
FLUSH_SECONDS = 5.0
"""New vectors are written when they take so many bytes, or the first of them is so old."""
FREE = 64 * 2**20
"""Bytes of the disk that are left to others."""
TOUCHED = 3600.0
"""Seconds within which a batch that is used again is not marked again."""
WAIT = 5.0
"""Seconds that one writer waits for another."""
ASKED = 500
"""Keys in one statement; older SQLite takes 999 at most."""
_SETUP = """
PRAGMA page_size = 8192;
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
CREATE TABLE batches (id INTEGER PRIMARY KEY, model TEXT, used REAL);
CREATE TABLE vectors
    (id INTEGER PRIMARY KEY, key BLOB UNIQUE, batch INTEGER, dim INTEGER, crc INTEGER, block BLOB);
CREATE INDEX of_batch ON vectors (batch);
"""

T = TypeVar("T")


@dataclass(frozen=True)
class Usage:
    """The number of models and turns in the cache, and its bytes on disk."""

    models: int
    turns: int
    bytes: int


class VectorStore:
    """The vectors of one model in the cache at `root`, which takes at most `limit` bytes; thread-safe.

    No fault here fails a search: unreadable vectors are missing, and unwritable ones are dropped. `note`
    tells the user of a fault that they can mend.
    """

    def __init__(self, root: Path, model: str, limit: int) -> None:
        self.note = ""
        self._path, self._model, self._limit = path_in(root), model, limit
        self._lock = threading.RLock()  # the timeout's signal handler may flush during another call
        self._pending: dict[bytes, TokenVectors] = {}
        self._bytes = 0
        self._since = 0.0

    def get(self, texts: Sequence[str]) -> dict[str, TokenVectors]:
        """The vectors of those of `texts` that are in the cache, bit for bit as they were put."""
        keys = {self._key(text): text for text in texts}
        with self._lock:
            found = {text: self._pending[key] for key, text in keys.items() if key in self._pending}
        left = [key for key, text in keys.items() if text not in found]
        if left:
            kept = self._attempt(lambda database: _read(database, left)) or {}
            found.update((keys[key], vectors) for key, vectors in kept.items())
        return found

    def put(self, vectors: Mapping[str, TokenVectors]) -> None:
        """Keep the vectors of these texts; they are written when they are many or old, or at the end."""
        with self._lock:
            if not vectors or not (self._pending or self._ready()):
                return
            if not self._pending:
                self._since = time.monotonic()
                ending.add(self.flush)
            self._pending.update((self._key(text), value) for text, value in vectors.items())
            self._bytes += sum(value.nbytes for value in vectors.values())
            due = self._bytes >= FLUSH_BYTES or time.monotonic() - self._since >= FLUSH_SECONDS
        if due:
            self.flush()

    def flush(self) -> None:
        """Write what was put, and trim the cache to its limit."""
        with self._lock:
            pending, self._pending, self._bytes = self._pending, {}, 0
            ending.discard(self.flush)
            ready = bool(pending) and self._ready()
        if ready:
            self._attempt(lambda database: _write(database, self._model, pending, self._limit))

    def _key(self, text: str) -> bytes:
        """16 bytes that stand for the text and the model, and do not give the text away."""
        said = f"{self._model}\0{text}".encode("utf-8", "surrogatepass")
        return hashlib.blake2b(said, digest_size=16).digest()

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `work` returns; None where the database is not there or fails. A damaged one is removed."""
        try:
            private.check(private.levels(self._path.parent))
            with closing(_connect(self._path)) as database:
                return work(database)
        except (CacheError, OSError):
            return None
        except (sqlite3.Error, TypeError, ValueError) as error:
            if not isinstance(error, sqlite3.OperationalError) or "no such" in str(error):
                with contextlib.suppress(OSError):
                    _remove(self._path)
            elif "full" in str(error):
                self._tell_full()
            return None

    def _ready(self) -> bool:
        """Make the database if there is none; False where that fails or the disk is nearly full."""
        try:
            private.make(self._path.parent)
            if shutil.disk_usage(self._path.parent).free < FREE:
                self._tell_full()
                return False
            _make(self._path)
        except CacheError as error:
            self.note = f"{error.message}, so ColBERT's vectors are not kept; {error.hint}"
            return False
        except (OSError, sqlite3.Error):
            return False
        self.note = ""
        return True

    def _tell_full(self) -> None:
        where = f"no room for ColBERT's vectors in {self._path.parent}, so they are not kept"
        self.note = f"{where}; make room, or set XDG_CACHE_HOME, or give --no-cache"


def home() -> Path:
    """The folder of this user's cache; it need not exist. Raises CacheError where there can be none."""
    return private.home("colbert")


def path_in(root: Path) -> Path:
    """The database of the cache at `root`."""
    return root / "store" / "vectors.sqlite"


def usage() -> Usage:
    """What the user's cache holds. Raises CacheError where it is another's or closed to the user."""
    path = path_in(home())
    try:
        private.check(private.levels(path.parent))
        with closing(_connect(path)) as database:
            (models,) = database.execute("SELECT count(DISTINCT model) FROM batches").fetchone()
            (turns,) = database.execute("SELECT count(*) FROM vectors").fetchone()
    except (FileNotFoundError, sqlite3.Error):
        models = turns = 0
    except OSError as error:
        hint = "make it readable, or set XDG_CACHE_HOME"
        raise CacheError(f"{error.filename} cannot be read: {error.strerror}", hint=hint) from error
    return Usage(models, turns, sum(_size(file) for file in _files(path)))


def clear() -> Usage:
    """Remove the user's cache; return what it held. Raises CacheError."""
    held = usage()
    try:
        _remove(path_in(home()))
    except OSError as error:
        raise CacheError(f"{error.filename} cannot be removed: {error.strerror}") from error
    return held


def _make(path: Path) -> None:
    """Make the database, whole or not at all. Raises OSError and sqlite3.Error."""
    if path.exists():
        return
    with private.alone(path.parent, wait=True):
        if path.exists():
            return
        part = path.with_suffix(".part")
        part.unlink(missing_ok=True)
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        with closing(sqlite3.connect(part)) as database:
            database.executescript(_SETUP)
        part.replace(path)


def _connect(path: Path) -> sqlite3.Connection:
    """Open the database, which must be this user's. Raises OSError and sqlite3.Error."""
    facts = path.lstat()
    if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
        raise FileNotFoundError(path)
    mode = "mode=rw" if os.access(path.parent, os.W_OK) else "immutable=1"
    database = sqlite3.connect(
        f"file:{quote(os.fspath(path))}?{mode}", uri=True, timeout=WAIT, isolation_level=None
    )
    database.execute("PRAGMA synchronous = NORMAL")
    return database


def _read(database: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, TokenVectors]:
    """The vectors under those of `keys` that are there and undamaged; marks their batches as used."""
    found, batches = {}, set()
    for start in range(0, len(keys), ASKED):
        some = keys[start : start + ASKED]
        asked = f"SELECT key, batch, dim, crc, block FROM vectors WHERE key IN ({','.join('?' * len(some))})"
        for key, batch, dim, crc, block in database.execute(asked, some):
            if crc == _checksum(key, dim, block):
                tokens = len(block) // (4 + dim)
                values = np.frombuffer(block, np.int8, offset=4 * tokens).reshape(tokens, dim)
                found[key] = TokenVectors(values, np.frombuffer(block, np.dtype("<f4"), tokens))
                batches.add(batch)
    _touch(database, batches)
    return found


def _touch(database: sqlite3.Connection, batches: Iterable[int]) -> None:
    """Mark batches as used, so that others are trimmed before them, unless another process is writing."""
    now = time.time()
    every = dict(database.execute("SELECT id, used FROM batches"))
    stale = [(now, one) for one in batches if abs(now - every.get(one, now)) > TOUCHED]
    if stale:
        database.execute("PRAGMA busy_timeout = 0")
        with contextlib.suppress(sqlite3.OperationalError):
            database.executemany("UPDATE batches SET used = ? WHERE id = ?", stale)


def _write(
    database: sqlite3.Connection, model: str, vectors: Mapping[bytes, TokenVectors], limit: int
) -> None:
    """Add a batch, and trim to `limit` bytes. Raises sqlite3.Error; then nothing is added."""
    database.execute("BEGIN IMMEDIATE")
    asked = "INSERT INTO batches (model, used) VALUES (?, ?)"
    batch = database.execute(asked, (model, time.time())).lastrowid
    database.executemany(
        "INSERT OR REPLACE INTO vectors (key, batch, dim, crc, block) VALUES (?, ?, ?, ?, ?)",
        (
            (key, batch, dim := v.values.shape[1], _checksum(key, dim, block := _block(v)), block)
            for key, v in vectors.items()
        ),
    )
    for (one,) in database.execute("SELECT id FROM batches ORDER BY used, id").fetchall():
        if _used(database) <= limit:
            break
        database.execute("DELETE FROM vectors WHERE batch = ?", (one,))
        database.execute("DELETE FROM batches WHERE id = ?", (one,))
    database.execute("COMMIT")
    database.executescript("PRAGMA incremental_vacuum")  # `execute` would free one page only


def _used(database: sqlite3.Connection) -> int:
    """Bytes of the pages that hold anything."""
    pages, free, size = (
        database.execute(f"PRAGMA {name}").fetchone()[0]
        for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _block(vectors: TokenVectors) -> bytes:
    """Scales (tokens,) as float32, then values (tokens, dim) as int8."""
    return vectors.scales.astype("<f4").tobytes() + vectors.values.tobytes()


def _checksum(key: bytes, dim: int, block: bytes) -> int:
    return zlib.crc32(block, zlib.crc32(b"%d" % dim, zlib.crc32(key)))


def _files(path: Path) -> list[Path]:
    """The database and what SQLite keeps beside it."""
    return [path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))]


def _size(path: Path) -> int:
    with contextlib.suppress(OSError):
        return path.lstat().st_size
    return 0


def _remove(path: Path) -> None:
    """Remove the database. Raises OSError."""
    for file in _files(path):
        file.unlink(missing_ok=True)
