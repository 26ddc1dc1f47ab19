"""Makes, updates and removes an index, for `smartsearch index`."""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path

from smartsearch.errors import CacheError
from smartsearch.runtime.private import alone, check, home, levels, make
from smartsearch.transcripts.archive import age, flush
from smartsearch.transcripts.corpus import read_one
from smartsearch.transcripts.faults import IndexFault
from smartsearch.transcripts.files import find
from smartsearch.transcripts.large import index_store as store
from smartsearch.transcripts.onefile import id_of
from smartsearch.transcripts.opening import confined
from smartsearch.types import Corpus, Skipped, Turn, fold

SETTLED = 2.0
"""Seconds a file must have been left alone before it is read: a second change within one tick of the clock
(2 s on FAT) of the first does not show."""
COMMIT_SECONDS = 2.0
"""Seconds between commits: a killed build loses no more."""
TRANSIENT = ("unreadable", "too_large")
"""Faults that may pass; each question reads such a file again."""


@dataclass
class Built:
    """The result of a build: files by outcome, and the totals of the index."""

    path: str
    new: int = 0
    changed: int = 0
    removed: int = 0
    unchanged: int = 0
    files: int = 0
    turns: int = 0
    bytes: int = 0
    seconds: float = 0.0
    skipped: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True)
class Held:
    """One index of this user: its root, what it holds, bytes on disk, and `ready` or why it is not."""

    path: str
    files: int
    turns: int
    bytes: int
    state: str


Step = Callable[[int, int], None]
"""Receives the number of files done and of all files."""


def build(path: str, step: Step = lambda *_: None, wait: Callable[[], None] = lambda: None) -> Built:
    """Bring the index of a file or folder up to date; `wait` is called where another build has to end first.

    Raises InputError for a path that is not there, CacheError where the index cannot be kept.
    """
    start = time.perf_counter()
    root = os.path.realpath(path)
    found = list(find([root]))
    folder = store.folder_of(root)
    try:
        make(folder)
        with (
            _alone(folder, wait),
            confined([root]),
        ):  # readers of the index must not learn more than readers of its root
            built = _build(path, root, folder, found, step)
    except (OSError, sqlite3.Error) as error:
        raise CacheError(f"the index of {path} cannot be written: {error}") from error
    built.seconds = time.perf_counter() - start
    return built


@contextmanager
def _alone(folder: Path, wait: Callable[[], None]) -> Iterator[None]:
    with alone(folder, wait=False) as mine:
        if mine:
            yield
            return
    wait()
    with alone(folder, wait=True):
        yield


def _build(path: str, root: str, folder: Path, found: Sequence[str | Skipped], step: Step) -> Built:
    try:
        with closing(_opened(folder, root)) as database:
            return _Build(database, path, folder).run(found, step)
    except sqlite3.OperationalError:  # a full disk, not damage
        raise
    except (sqlite3.DatabaseError, ValueError, TypeError):
        _discard(folder)
        with closing(_opened(folder, root)) as database:
            return _Build(database, path, folder).run(found, step)


def _opened(folder: Path, root: str) -> sqlite3.Connection:
    """The database to write to; a missing or unusable one is made anew."""
    if (folder / store.NAME).exists() and not (folder / store.DAMAGED).exists():
        with contextlib.suppress(IndexFault, sqlite3.Error):
            database = store.connect(folder / store.NAME, write=True)
            if store.stamped(database):
                return _tuned(database)
            database.close()
    _discard(folder)
    os.close(os.open(folder / store.NAME, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600))
    database = store.connect(folder / store.NAME, write=True)
    try:
        database.executescript(f"PRAGMA page_size = 8192; PRAGMA journal_mode = WAL; BEGIN; {store.TABLES}")
    except sqlite3.OperationalError as error:
        database.close()
        store.unlink(folder)
        raise CacheError(
            f"SQLite {sqlite3.sqlite_version} cannot index: {error}", hint="SQLite 3.34 or later has trigrams"
        ) from error
    about = [("stamp", store.STAMP), ("root", os.fsencode(root))]
    database.executemany("INSERT INTO about VALUES (?, ?)", about)
    database.execute("COMMIT")
    (folder / store.DAMAGED).unlink(missing_ok=True)
    return _tuned(database)


def _tuned(database: sqlite3.Connection) -> sqlite3.Connection:
    database.executescript("PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536;")
    return database


def _discard(folder: Path) -> None:
    """Remove a database, marked damaged meanwhile so that no reader opens it."""
    (folder / store.DAMAGED).touch(mode=0o600)
    store.unlink(folder, keep=store.DAMAGED)


class _Build:
    """One run over the files of an index."""

    def __init__(self, database: sqlite3.Connection, path: str, folder: Path) -> None:
        self._database, self._folder = database, folder
        self._built = Built(path)
        self._written = 0
        known = database.execute("SELECT path, id, state FROM files").fetchall()
        self._known = {os.fsdecode(path): (number, state) for path, number, state in known}

    def run(self, found: Sequence[str | Skipped], step: Step) -> Built:
        """Index changed files, remove those that are gone, and return the result."""
        skipped = [entry for entry in found if isinstance(entry, Skipped)]
        self._built.skipped += [entry for entry in skipped if entry.kind != "folder_link"]
        paths = [path for path in found if isinstance(path, str) and os.path.realpath(path) == path]
        self._database.execute("BEGIN IMMEDIATE")
        for gone in self._known.keys() - set(paths):
            self._remove(self._known[gone][0])
            self._built.removed += 1
        self._update(paths, step)
        self._database.execute("COMMIT")
        return self._finished()

    def _update(self, paths: Sequence[str], step: Step) -> None:
        late: list[str] = []
        committed = time.monotonic()
        for done, path in enumerate(paths, 1):
            if not self._done(path):
                late.append(path)
            if time.monotonic() - committed > COMMIT_SECONDS:
                self._commit()
                committed = time.monotonic()
            step(done, len(paths))
        if late:
            self._commit()
            time.sleep(SETTLED)
        for path in late:
            if not self._done(path):
                said = "changes right now; every question reads it until the next `smartsearch index`"
                self._built.skipped.append(Skipped(path, "unsettled", said))

    def _commit(self) -> None:
        self._database.execute("COMMIT")
        self._database.execute("BEGIN IMMEDIATE")

    def _done(self, path: str) -> bool:
        """Index a file unless it is unchanged; False if it was changed a moment ago."""
        try:
            state = store.state_of(path)
            held = self._known.get(path)
            if held and held[1] == state:
                self._built.unchanged += 1
                return True
            if held and held[1] == store.APART + state:
                self._leave(path)
                return True
            if age(path) < SETTLED:
                return False
            flush(path)
            read, known = read_one(path)
            if store.state_of(path) != state:
                return False
        except OSError as error:
            self._built.skipped.append(Skipped(path, "unreadable", error.strerror or str(error)))
            return True
        self._built.skipped += read.skipped
        together = known is not None and not known.alone
        if together or any(entry.kind in TRANSIENT for entry in read.skipped):
            if held:
                self._remove(held[0])
                self._built.removed += not held[1].startswith(store.APART)
                del self._known[path]
            if together:
                self._write(path, store.APART + state, 0, "[]", "[]", "[]", b"")
                self._leave(path)
            return True
        self._put(path, state, read, held, once=known is not None and known.once)
        return True

    def _leave(self, path: str) -> None:
        said = "needs files beside it, so every question reads it"
        self._built.skipped.append(Skipped(path, "not_alone", said))

    def _write(self, path: str, state: str, *facts: object) -> int:
        """Put down what is known of a file, under the number that it has, or a new one."""
        asked = "INSERT OR REPLACE INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
        known = self._known.get(path, (None, ""))[0]
        number = self._database.execute(asked, (known, os.fsencode(path), state, *facts)).lastrowid or 0
        self._known[path] = (number, state)
        return number

    def _put(self, path: str, state: str, read: Corpus, held: tuple[int, str] | None, *, once: bool) -> None:
        facts = (
            len(read.turns),
            json.dumps(sorted({fold(turn.speaker) for turn in read.turns})),
            json.dumps([(entry.kind, entry.reason) for entry in read.skipped]),
            json.dumps([said.removeprefix(f"{path}: ") for said in read.warnings]),
            b"".join(id_of(turn) for turn in read.turns) if once else b"",
        )
        number = self._write(path, state, *facts)
        self._built.changed += bool(held)
        self._built.new += not held
        records = list(map(store.record, read.turns))
        kept = self._keep(number, records) if held else 0
        self._append(number, kept, read.turns[kept:], records[kept:])

    def _keep(self, number: int, records: Sequence[bytes]) -> int:
        """The number of unchanged turns at a file's beginning; removes the rows of the others."""
        old = self._rows(number)
        same = sum(1 for _ in takewhile(bool, (stored[4:] == new for (_, stored), new in zip(old, records))))
        self._forget(number, old[same:])
        runs = "SELECT position, count FROM runs WHERE file = ?"
        for position, count in self._database.execute(runs, (number,)).fetchall():
            left = min(count, same - position)
            if left <= 0:
                self._database.execute("DELETE FROM runs WHERE file = ? AND position = ?", (number, position))
            elif left < count:
                asked = "UPDATE runs SET count = ? WHERE file = ? AND position = ?"
                self._database.execute(asked, (left, number, position))
        return same

    def _append(self, number: int, position: int, turns: Sequence[Turn], records: Sequence[bytes]) -> None:
        """New rows, whose numbers were never used, for a file's turns from `position`."""
        if not turns:
            return
        (first,) = self._database.execute("SELECT value FROM about WHERE key = 'next'").fetchone()
        rows = range(first, first + len(turns))
        stored = ((row, store.sealed(data, number, row)) for row, data in zip(rows, records))
        self._database.executemany("INSERT INTO turns VALUES (?, ?)", stored)
        texts = zip(rows, map(store.indexed_text, turns))
        self._database.executemany("INSERT INTO words (rowid, spoken) VALUES (?, ?)", texts)
        self._database.execute("UPDATE about SET value = ? WHERE key = 'next'", (rows.stop,))
        self._database.execute("INSERT INTO runs VALUES (?, ?, ?, ?)", (number, position, first, len(turns)))
        self._written += len(turns)

    def _remove(self, number: int) -> None:
        self._forget(number, self._rows(number))
        for asked in ("DELETE FROM runs WHERE file = ?", "DELETE FROM files WHERE id = ?"):
            self._database.execute(asked, (number,))

    def _rows(self, number: int) -> list[tuple[int, bytes]]:
        """The rows of a file's turns, in order."""
        asked = (
            "SELECT turns.id, turns.record FROM runs JOIN turns ON turns.id >= runs.first "
            "AND turns.id < runs.first + runs.count WHERE runs.file = ? ORDER BY runs.position, turns.id"
        )
        return self._database.execute(asked, (number,)).fetchall()

    def _forget(self, number: int, rows: Sequence[tuple[int, bytes]]) -> None:
        texts = ((row, store.indexed_text(store.turn_of(stored, number, row, ""))) for row, stored in rows)
        removed = "INSERT INTO words (words, rowid, spoken) VALUES ('delete', ?, ?)"
        self._database.executemany(removed, texts)
        self._database.executemany("DELETE FROM turns WHERE id = ?", ((row,) for row, _ in rows))

    def _finished(self) -> Built:
        built = self._built
        built.files, built.turns = _counts(self._database)
        if self._written > built.turns // 2:
            self._database.execute("INSERT INTO words (words) VALUES ('optimize')")
        self._database.execute("PRAGMA busy_timeout = 0")  # a reader of an older state delays it
        self._database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        built.bytes = store.sizes(self._folder)
        return built


def _counts(database: sqlite3.Connection) -> tuple[int, int]:
    """Files and turns. Raises sqlite3.Error."""
    held = "SELECT count(*) FROM files WHERE state NOT LIKE ? || '%'"
    asked = f"SELECT ({held}), (SELECT ifnull(sum(count), 0) FROM runs)"
    files, turns = database.execute(asked, (store.APART,)).fetchone()
    return files, turns


def held(paths: Sequence[str] = ()) -> list[Held]:
    """The indexes of these roots, by default all of this user's. Raises CacheError."""
    every = home("index")
    if paths:
        folders = [store.folder_of(os.path.realpath(path)) for path in paths]
    else:
        folders = sorted(every.iterdir()) if every.is_dir() else []
    return [_held(folder) for folder in folders if (folder / store.NAME).is_file()]


def _held(folder: Path) -> Held:
    check(levels(folder))
    root, files, turns, state = "?", 0, 0, "damaged"
    try:
        with closing(store.connect(folder / store.NAME)) as database:
            found = database.execute("SELECT value FROM about WHERE key = 'root'").fetchone()
            root = os.fsdecode(found[0])
            files, turns = _counts(database)
            if not (folder / store.DAMAGED).exists():
                state = "ready" if store.stamped(database) else "of another version"
    except (IndexFault, sqlite3.Error, TypeError):
        pass
    return Held(root, files, turns, store.sizes(folder), state)


def remove(path: str, wait: Callable[[], None] = lambda: None) -> Held | None:
    """Remove the index of a file or folder, which need not be there any more; None where there is none.

    Raises CacheError.
    """
    folder = store.folder_of(os.path.realpath(path))
    was = held([path])
    if not was:
        return None
    try:
        with _alone(folder, wait):
            store.unlink(folder)
    except OSError as error:
        raise CacheError(f"the index of {path} cannot be removed: {error}") from error
    return was[0]
