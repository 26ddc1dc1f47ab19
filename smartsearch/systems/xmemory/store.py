"""The memory on disk, in which each episode comes or goes in one transaction.

So a process may be killed at any point: what the file then holds is the memory of the first so many changes,
and the next process goes on with the one that follows.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.systems.kept import Note, Notes
from smartsearch.systems.xmemory.rule import Episode, Semantic
from smartsearch.systems.xmemory.settings import Constants
from smartsearch.systems.xmemory.themes import Themes


class Store(Notes):
    """The episodes of some transcripts, as notes, and where each of their semantics is placed."""

    schema = f"""{Notes.schema};
create table if not exists placed (
    id integer primary key, theme integer not null, moved integer not null, likeness real,
    vector blob not null)"""

    def keys(self) -> list[str]:
        """The keys of the episodes that are held."""
        return [key for (key,) in self.rows("select key from notes where kind = 'episodes'")]

    def themes(self, constants: Constants) -> Themes:
        """The themes as they were after the last change."""
        rows = self.rows("select id, theme, moved, likeness, vector from placed order by id")
        read = (
            (one, theme, bool(moved), likeness, np.frombuffer(blob, dtype=np.float32).astype(np.float64))
            for one, theme, moved, likeness, blob in rows
        )
        return Themes.restored(read, self._following()[1], constants)

    def episodes(self) -> Iterator[tuple[Episode, range]]:
        """Each episode with the ids of its semantics, in no order."""
        for note in self.notes("episodes").values():
            yield _episode(note.value)

    def themed(self) -> dict[int, list[str]]:
        """The facts of each theme."""
        texts = {
            one: fact.text
            for episode, own in self.episodes()
            for one, fact in zip(own, episode.semantics, strict=True)
        }
        facts: dict[int, list[str]] = {}
        for theme, one in self.rows("select theme, id from placed order by theme, id"):
            facts.setdefault(theme, []).append(texts[one])
        return facts

    def add(self, episode: Episode, vectors: NDArray[np.float32], themes: Themes) -> None:
        """Put an episode and its semantics, with their vectors, into the file and into `themes`."""
        first, _ = self._following()
        own = range(first, first + len(episode.semantics))
        with self._changing(themes, own.stop):
            for one, vector in zip(own, vectors, strict=True):
                themes.insert(one, vector.astype(np.float64))
            self.note("episodes", {episode.key: Note(asdict(episode) | {"first": first}, episode.source)})
            placed = zip(own, map(themes.likeness.get, own), map(np.ndarray.tobytes, vectors), strict=True)
            self.each("insert into placed values (?1, 0, 0, ?2, ?3)", list(placed))

    def drop(self, key: str, themes: Themes) -> None:
        """Take an episode and its semantics out of the file and out of `themes`."""
        [(said,)] = self.rows("select value from notes where kind = 'episodes' and key = ?", key)
        _, own = _episode(json.loads(said))
        with self._changing(themes, self._following()[0]):
            for one in own:
                themes.remove(one)
            self.each("delete from placed where id = ?", [(one,) for one in own])
            self.forget("episodes", [key])

    @contextmanager
    def _changing(self, themes: Themes, semantic: int) -> Iterator[None]:
        """One transaction, at whose end the file has the themes as they are; `semantic` is the next id."""
        with self.change():
            yield
            places = [(themes.theme[one], one in themes.moved, one) for one in sorted(themes.touched)]
            self.each("update placed set theme = ?, moved = ? where id = ?", places)
            self.note("following", {"": Note([semantic, themes.next])})
        themes.touched.clear()

    def _following(self) -> tuple[int, int]:
        """The ids of the next semantic and of the next theme."""
        ends = self.notes("following").get("")
        semantic, theme = ends.value if ends else (0, 0)
        return semantic, theme


def _episode(said: dict[str, Any]) -> tuple[Episode, range]:
    first = said.pop("first")
    facts = [Semantic(**{**fact, "messages": tuple(fact["messages"])}) for fact in said["semantics"]]
    episode = Episode(**{**said, "semantics": tuple(facts)})
    return episode, range(first, first + len(facts))
