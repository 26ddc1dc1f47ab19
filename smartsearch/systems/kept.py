"""What a system keeps of some transcripts in a folder: an SQLite file of notes.

A process may be killed at any point. A damaged file begins anew: the transcripts have it all.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from smartsearch.errors import CacheError
from smartsearch.runtime import private

N = TypeVar("N", bound="Notes")


@dataclass(frozen=True)
class Note:
    """What was made of some texts, as JSON, and who made it: the rule or a language model."""

    value: Any
    source: str = "llm"


class Notes:
    """Notes by kind and by the key of what they were made of. Without a path they are in memory."""

    schema = """create table if not exists notes (
    kind text not null, key text not null, value text not null, source text not null,
    primary key (kind, key)) without rowid"""

    @classmethod
    @contextmanager
    def of(cls: type[N], folder: Path | None, fingerprint: str, *, alone: bool) -> Iterator[N]:
        """Those of a memory in a system's folder, if any: as they are, or `alone` to be added to.

        Then no other process has them, and older files go: one of other settings could quote what is gone.
        """
        path = folder / f"{fingerprint}.sqlite" if folder else None
        with ExitStack() as leaving:
            if folder and path and alone:
                leaving.enter_context(private.alone(folder, wait=True))
                for other in folder.glob("*.sqlite*"):
                    if other.name.removesuffix("-wal").removesuffix("-shm") != path.name:  # SQLite's two
                        other.unlink(missing_ok=True)
            there = path if path and (alone or path.exists()) else None
            yield leaving.enter_context(closing(cls(there)))

    def __init__(self, path: Path | None) -> None:
        """Open or make the file. Raises CacheError where that cannot be."""
        self.path = path
        try:
            try:
                self._open()
            except sqlite3.DatabaseError as error:
                if path is None or isinstance(
                    error, sqlite3.OperationalError
                ):  # locked, or no room: it is well
                    raise
                for part in (path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))):
                    part.unlink(missing_ok=True)
                self._open()
        except (sqlite3.Error, OSError) as error:
            raise CacheError(f"{path} cannot be opened: {error}", hint="room on that disk") from error

    def _open(self) -> None:
        if self.path:
            self.path.touch(mode=0o600)
        self._db = sqlite3.connect(self.path or ":memory:", isolation_level=None, timeout=60.0)
        self._db.execute("pragma journal_mode = wal")
        self._db.execute("pragma synchronous = normal")
        self._db.execute("pragma secure_delete = on")  # of what is deleted no text stays in the file
        self._db.executescript(self.schema)

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def notes(self, kind: str) -> dict[str, Note]:
        """The notes of a kind, by key."""
        rows = self.rows("select key, value, source from notes where kind = ?", kind)
        return {key: Note(json.loads(value), source) for key, value, source in rows}

    def note(self, kind: str, made: Mapping[str, Note]) -> None:
        """Note more."""
        rows = [(kind, key, json.dumps(one.value), one.source) for key, one in made.items()]
        self.each("insert or replace into notes values (?, ?, ?, ?)", rows)

    def forget(self, kind: str, gone: Iterable[str]) -> None:
        """Take these notes out of the file."""
        self.each("delete from notes where kind = ? and key = ?", [(kind, key) for key in sorted(gone)])

    @contextmanager
    def change(self) -> Iterator[None]:
        """One transaction: all that the block changes, or nothing."""
        with self._telling():
            self._db.execute("begin immediate")
            try:
                yield
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")

    def each(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        """Run a statement for every row."""
        with self._telling():
            self._db.executemany(sql, rows)

    def rows(self, sql: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        """What a query gives."""
        with self._telling():
            return self._db.execute(sql, values).fetchall()

    @contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            hint = "room on that disk, or `smartsearch memory remove PATH` and build it again"
            raise CacheError(f"{self.path} cannot be used: {error}", hint=hint) from error
