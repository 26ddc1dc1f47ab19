"""An index's file: where it lies, what is in it, how a turn is written and looked for (docs/decisions/0012).

SQLite, one database a root, `$XDG_CACHE_HOME/smartsearch/index/HASH/index.sqlite`. `turns` has the records,
`words` the trigrams of their folded text without the text, `runs` which rows are a file's turns in order.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shlex
import sqlite3
import stat
import unicodedata
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import orjson
from numpy.typing import NDArray

import smartsearch
from smartsearch.runtime import private
from smartsearch.transcripts.archive import file_of
from smartsearch.transcripts.faults import IndexFault
from smartsearch.transcripts.filters import Facts
from smartsearch.types import Turn, fold

SCHEMA = 4
STAMP = f"{SCHEMA} {smartsearch.__version__} {unicodedata.unidata_version}"
"""Writer and reader of an index must agree on this: layout, readers, case folding."""
NAME, DAMAGED = "index.sqlite", "damaged"
APART = "apart "
"""Marks the state of a file that needs files beside it: it is not indexed, and each question reads it."""
FIELDS = (
    *("text", "speaker", "time", "caption", "role", "line", "pointer", "conversation", "session", "turn"),
    "title",
)
_FACTS = [FIELDS.index(name) for name in Facts._fields]
GRAM = 3
PAD = "\n\n"
"""Appended to each text, so that a trigram begins at every character."""
MANY = 128
"""A term of one or two letters with more trigrams than this may be in any turn."""
WAIT = 5.0
"""Seconds that a reader waits for a writer that is recovering the database."""
TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value);
CREATE TABLE files
    (id INTEGER PRIMARY KEY, path BLOB UNIQUE, state TEXT, turns INTEGER, speakers TEXT, skipped TEXT,
    warnings TEXT, ids BLOB);
CREATE TABLE runs
    (file INTEGER, position INTEGER, first INTEGER, count INTEGER, PRIMARY KEY (file, position))
    WITHOUT ROWID;
CREATE TABLE turns (id INTEGER PRIMARY KEY, record BLOB);
CREATE VIRTUAL TABLE words USING fts5
    (spoken, content='', columnsize=0, detail=none, tokenize='trigram case_sensitive 1');
CREATE VIRTUAL TABLE grams USING fts5vocab(words, row);
INSERT INTO words(words, rank) VALUES ('hashsize', 67108864);
INSERT INTO about VALUES ('next', 1);
"""

Rows = NDArray[np.int64]


def folder_of(root: str) -> Path:
    """The folder of the index of `root`, a real path; it need not exist. Raises CacheError without a home."""
    return private.home("index") / hashlib.blake2b(os.fsencode(root), digest_size=16).hexdigest()


def state_of(path: str) -> str:
    """A file's state: inode, bytes, times of content and entry. Raises OSError."""
    found = os.stat(file_of(path))  # noqa: PTH116 - the path as it is
    return f"{found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def connect(path: Path, *, write: bool = False) -> sqlite3.Connection:
    """Open the database at `path`. Raises IndexFault if it is missing or not this user's."""
    try:
        facts = path.lstat()
        if not stat.S_ISREG(facts.st_mode) or facts.st_uid != os.geteuid():
            raise IndexFault(f"{path} is not a file of yours")
        mode = "rw" if write else "ro"
        return sqlite3.connect(
            f"file:{quote(os.fspath(path))}?mode={mode}",
            uri=True,
            timeout=WAIT,
            isolation_level=None,
            check_same_thread=False,
        )
    except (OSError, sqlite3.Error) as error:
        raise IndexFault(str(error)) from error


def stamped(database: sqlite3.Connection) -> bool:
    """Whether this version and Python wrote the database. Raises sqlite3.Error."""
    found = database.execute("SELECT value FROM about WHERE key = 'stamp'").fetchone()
    return found is not None and found[0] == STAMP


@contextmanager
def faults(folder: Path, root: str) -> Iterator[None]:
    """Turn database errors of the block into IndexFault, and mark a damaged database as unusable."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise IndexFault(f"the index of {root} cannot be read ({error}) and was left aside") from error
    except (sqlite3.Error, ValueError, TypeError) as error:
        with contextlib.suppress(OSError):
            (folder / DAMAGED).touch(mode=0o600)
        raise IndexFault(damaged(root)) from error


def damaged(root: str) -> str:
    """The message for a damaged index."""
    return f"the index of {root} is damaged and was left aside; `{command(root)}` makes it anew"


def command(root: str) -> str:
    """The command that updates the index of a root."""
    return f"smartsearch index {shlex.quote(root)}"


def record(turn: Turn) -> bytes:
    """A turn without its path as bytes."""
    fields = [getattr(turn, name) for name in FIELDS]
    while not fields[-1] and len(fields) > 1:
        fields.pop()
    try:
        return orjson.dumps(fields)
    except TypeError:  # halves of surrogate pairs
        return json.dumps(fields).encode()


def sealed(data: bytes, file: int, row: int) -> bytes:
    """A record after a checksum of itself, its file and its row."""
    return zlib.crc32(data, zlib.crc32(b"%d %d" % (file, row))).to_bytes(4, "big") + data


def turn_of(stored: bytes, file: int, row: int, path: str) -> Turn:
    """The turn of a sealed record. Raises ValueError if the checksum fails."""
    return Turn(**dict(zip(FIELDS, _opened(stored, file, row))), path=path)


def facts_of(stored: bytes, file: int, row: int) -> Facts:
    """The facts of that turn, without making it. Raises ValueError."""
    fields = _opened(stored, file, row)
    fields += [""] * (len(FIELDS) - len(fields))
    return Facts(*[fields[at] for at in _FACTS])


def _opened(stored: bytes, file: int, row: int) -> list[Any]:
    """The fields of a sealed record, without those at the end that are empty."""
    data = stored[4:]
    if sealed(data, file, row) != stored:
        raise ValueError("checksum")
    try:
        fields: list[Any] = orjson.loads(data)
    except orjson.JSONDecodeError:
        fields = json.loads(data)
    return fields


def indexed_text(turn: Turn) -> str:
    """A turn's text as the index holds it."""
    return _plain(fold(turn.spoken)) + PAD


def needle_of(text: str) -> str:
    """`text` as it stands in the indexed text of exactly the turns that contain it."""
    return _plain(fold(text)).strip()


def rows_with(database: sqlite3.Connection, text: str) -> Rows | None:
    """Rows whose turn may contain `text` (case-folded), ascending: all that do, None for any.

    Raises sqlite3.Error.
    """
    needle = needle_of(text)
    if len(needle) >= GRAM:
        places = {*range(0, len(needle) - GRAM + 1, GRAM), len(needle) - GRAM}
        return _matching(database, " AND ".join(_quoted(needle[at : at + GRAM]) for at in sorted(places)))
    last = needle + "\U0010ffff" * GRAM
    begun = "SELECT term FROM grams WHERE term >= ? AND term <= ? LIMIT ?"
    grams = [gram for (gram,) in database.execute(begun, (needle, last, MANY + 1))]
    if len(grams) > MANY or not needle:
        return None
    return _matching(database, " OR ".join(map(_quoted, grams))) if grams else np.zeros(0, np.int64)


def _matching(database: sqlite3.Connection, wanted: str) -> Rows:
    """The matching rows, fetched as one text: a Python object per row costs more than the search."""
    asked = "SELECT group_concat(rowid, ' ') FROM words WHERE words MATCH ?"
    (found,) = database.execute(asked, (wanted,)).fetchone()
    rows: Rows = np.fromstring(found, dtype=np.int64, sep=" ") if found else np.zeros(0, np.int64)
    return np.sort(rows, kind="stable")


def _quoted(gram: str) -> str:
    return '"' + gram.replace('"', '""') + '"'


def _plain(text: str) -> str:
    """`text` without characters that SQLite misreads; replaced alike in turns and in terms."""
    if text.isascii():
        return text.replace("\x00", " ")
    known = text.encode("utf-8", "replace").decode()
    return known.replace("\x00", " ").replace("\ufffe", "\ufffd").replace("\uffff", "\ufffd")


def sizes(folder: Path) -> int:
    """Bytes that an index takes on disk."""
    total = 0
    for path in _ours(folder):
        with contextlib.suppress(OSError):
            total += path.stat().st_size
    return total


def unlink(folder: Path, keep: str = "") -> None:
    """Remove the files of an index except `keep` and the lock, which others may wait for. Raises OSError."""
    for path in _ours(folder):
        if path.name != keep:
            path.unlink(missing_ok=True)


def _ours(folder: Path) -> Iterable[Path]:
    return [folder / name for name in (NAME, f"{NAME}-wal", f"{NAME}-shm", DAMAGED)]
