"""The memory on disk: an SQLite file, in which each episode comes or goes in one transaction.

So a process may be killed at any point: what the file then holds is the memory of the first so many changes,
and the next process goes on with the one that follows.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from smartsearch.errors import CacheError
from smartsearch.systems.xmemory.rule import Episode, Semantic
from smartsearch.systems.xmemory.themes import Themes

VERSION = 2
_SCHEMA = """
create table if not exists episodes (
    key text primary key, messages integer not null, title text not null, time text not null,
    content text not null, source text not null) without rowid;
create table if not exists semantics (
    id integer primary key, episode text not null, text text not null, messages text not null,
    source text not null, vector blob not null, theme integer not null, moved integer not null,
    likeness real);
create index if not exists of_episode on semantics (episode);
create table if not exists following (semantic integer not null, theme integer not null);
create table if not exists notes (
    kind text not null, key text not null, value text not null, source text not null,
    primary key (kind, key)) without rowid;
insert into following select 0, 0 where not exists (select 1 from following);
"""


Kind = Literal["boundaries", "names"]


@dataclass(frozen=True)
class Note:
    """What was made of some texts, as JSON, and who made it: the rule or a language model."""

    value: Any
    source: str


class Store:
    """The episodes and semantics of some transcripts; the theme of each semantic is a column."""

    def __init__(self, path: Path | None) -> None:
        """Open or make the file; without a path it is in memory. Raises CacheError where it is damaged."""
        self.path = path
        try:
            if path:
                path.touch(mode=0o600)
            self._db = sqlite3.connect(path or ":memory:", isolation_level=None, timeout=60.0)
            with _telling(path):
                self._db.execute("pragma journal_mode = wal")
                self._db.execute("pragma synchronous = normal")
                self._db.execute("pragma secure_delete = on")  # of what is deleted no text stays in the file
                (version,) = self._db.execute("pragma user_version").fetchone()
                if version not in (0, VERSION):
                    raise CacheError(f"{path} is of another version", hint="`smartsearch memory remove PATH`")
                self._db.executescript(_SCHEMA)
                self._db.execute(f"pragma user_version = {VERSION}")
                self.next_semantic, self.next_theme = self._db.execute("select * from following").fetchone()
        except (sqlite3.Error, OSError) as error:
            raise CacheError(f"{path} cannot be opened: {error}", hint="room on that disk") from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def keys(self) -> list[str]:
        """The keys of the episodes that are held."""
        return [key for (key,) in self._rows("select key from episodes")]

    def themes(self, **settings: Any) -> Themes:
        """The themes as they were after the last change; `settings` are those of `Themes`."""
        rows = self._rows("select id, theme, moved, likeness, vector from semantics order by id")
        read = (
            (one, theme, bool(moved), likeness, _vector(blob)) for one, theme, moved, likeness, blob in rows
        )
        return Themes.restored(read, self.next_theme, **settings)

    def episodes(self) -> Iterator[tuple[Episode, tuple[int, ...]]]:
        """Each episode with the ids of its semantics, in no order."""
        facts: dict[str, list[tuple[int, Semantic]]] = {}
        for one, key, text, messages, source in self._rows(
            "select id, episode, text, messages, source from semantics order by id"
        ):
            facts.setdefault(key, []).append((one, Semantic(text, tuple(json.loads(messages)), source)))
        for key, messages, title, time, content, source in self._rows("select * from episodes"):
            own = facts.get(key, [])
            made = Episode(key, messages, title, time, tuple(fact for _, fact in own), content, source)
            yield made, tuple(one for one, _ in own)

    def themed(self) -> dict[int, list[str]]:
        """The facts of each theme."""
        facts: dict[int, list[str]] = {}
        for theme, text in self._rows("select theme, text from semantics order by theme, id"):
            facts.setdefault(theme, []).append(text)
        return facts

    def notes(self, kind: Kind) -> dict[str, Note]:
        """What was noted, by the key of the texts that it was made of."""
        rows = self._rows("select key, value, source from notes where kind = ?", kind)
        return {key: Note(json.loads(value), source) for key, value, source in rows}

    def note(self, kind: Kind, made: Mapping[str, Note]) -> None:
        """Note more."""
        rows = [(kind, key, json.dumps(one.value), one.source) for key, one in made.items()]
        self._each("insert or replace into notes values (?, ?, ?, ?)", rows)

    def forget(self, kind: Kind, gone: Iterable[str]) -> None:
        """Take these notes out of the file."""
        self._each("delete from notes where kind = ? and key = ?", [(kind, key) for key in sorted(gone)])

    def by_rule(self) -> dict[str, int]:
        """How many of each kind the rule made."""
        return {
            "boundaries": sum(note.source == "rule" for note in self.notes("boundaries").values()),
            "episodes": len(self._rows("select 1 from episodes where source = 'rule'")),
            "semantics": len(self._rows("select 1 from semantics where source = 'rule'")),
            "names": sum(note.source == "rule" for note in self.notes("names").values()),
        }

    def add(self, episode: Episode, vectors: NDArray[np.float32], themes: Themes) -> None:
        """Put an episode and its semantics, with their vectors, into the file and into `themes`."""
        first = self.next_semantic
        with self._change(themes):
            told = (episode.title, episode.time, episode.content, episode.source)
            values = (episode.key, episode.messages, *told)
            self._db.execute("insert into episodes values (?, ?, ?, ?, ?, ?)", values)
            for one, (fact, vector) in enumerate(zip(episode.semantics, vectors, strict=True), start=first):
                themes.insert(one, vector.astype(np.float64))
                row = (one, episode.key, fact.text, json.dumps(fact.messages), fact.source, vector.tobytes())
                likeness = themes.likeness.get(one)
                self._db.execute(
                    "insert into semantics values (?, ?, ?, ?, ?, ?, ?, 0, ?)",
                    (*row, themes.theme[one], likeness),
                )
            self.next_semantic += len(episode.semantics)

    def drop(self, key: str, themes: Themes) -> None:
        """Take an episode and its semantics out of the file and out of `themes`."""
        with self._change(themes):
            for (one,) in list(self._rows("select id from semantics where episode = ? order by id", key)):
                themes.remove(one)
            self._db.execute("delete from semantics where episode = ?", (key,))
            self._db.execute("delete from episodes where key = ?", (key,))

    @contextmanager
    def _change(self, themes: Themes) -> Iterator[None]:
        """One transaction, at whose end the file has the themes as they are."""
        with _telling(self.path):
            self._db.execute("begin immediate")
            try:
                yield
                self._db.executemany(
                    "update semantics set theme = ?, moved = ? where id = ?", _places(themes)
                )
                ends = self.next_semantic, themes.next
                self._db.execute("update following set semantic = ?, theme = ?", ends)
            except BaseException:
                self._db.execute("rollback")
                raise
            self._db.execute("commit")
        self.next_theme = themes.next
        themes.touched.clear()

    def _each(self, sql: str, rows: Sequence[tuple[object, ...]]) -> None:
        with _telling(self.path):
            self._db.executemany(sql, rows)

    def _rows(self, sql: str, *values: object) -> list[tuple]:  # type: ignore[type-arg]
        with _telling(self.path):
            return self._db.execute(sql, values).fetchall()


def opened(path: Path | None) -> Store:
    """The store in a file; a damaged one, or of another version, begins anew: the transcripts have it all."""
    try:
        return Store(path)
    except CacheError:
        if path is None or not path.exists():
            raise
        for part in (path, *(path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))):
            path.with_name(part.name).unlink(missing_ok=True)
        return Store(path)


def _places(themes: Themes) -> list[tuple[int, bool, int]]:
    return [(themes.theme[one], one in themes.moved, one) for one in sorted(themes.touched)]


def _vector(blob: bytes) -> NDArray[np.float64]:
    return np.frombuffer(blob, dtype=np.float32).astype(np.float64)


@contextmanager
def _telling(path: Path | None) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        hint = "room on that disk, or `smartsearch memory remove PATH` and build it again"
        raise CacheError(f"{path} cannot be used: {error}", hint=hint) from error
