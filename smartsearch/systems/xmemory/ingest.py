"""Transcripts to a memory: only what is new is worked on, and what is gone is forgotten."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import Config
from smartsearch.rank.cache.vectors import TokenVectors, quantised
from smartsearch.systems import pieces
from smartsearch.systems.base import Progress
from smartsearch.systems.kept import Note
from smartsearch.systems.xmemory import rule
from smartsearch.systems.xmemory.rule import Episode, Semantic
from smartsearch.systems.xmemory.store import Store
from smartsearch.systems.xmemory.themes import Themes
from smartsearch.text.parse import Parser
from smartsearch.types import Turn

AT_ONCE = 16
"""Episodes whose semantics are embedded together."""

RUN = 12
"""Tokens that are as one: the mean is over runs of so many, each of length 1."""

Embed = Callable[[Sequence[str]], NDArray[np.float32]]
Vectors = Callable[[Sequence[str]], Sequence[TokenVectors]]


@dataclass(frozen=True)
class Author:
    """Who writes the memory: by rule, or as a subclass does, which keeps in the store what is costly."""

    parser: Parser

    def spans(self, turns: Sequence[Turn], store: Store, progress: Progress) -> list[range]:
        """The episodes of a corpus as runs of turns, in order; every turn is in one."""
        return pieces.spans(turns)

    def episodes(self, told: Sequence[tuple[str, Sequence[Turn]]]) -> list[Episode]:
        """The episodes of these keys and messages."""
        return [rule.episode(key, turns, self.parser) for key, turns in told]

    def names(self, store: Store, progress: Progress) -> Mapping[int, Note]:
        """What the themes are called; none where that is made when it is shown."""
        return {}

    def statistics(self, store: Store) -> Mapping[str, float]:
        """What it tells of itself."""
        return {}

    def identity(self, config: Config) -> list[object]:
        """What tells what it makes from what others make."""
        return []


@dataclass(frozen=True)
class Place:
    """A semantic where it belongs: itself, its episode, and the turns it comes from."""

    fact: Semantic
    episode: int
    turns: tuple[int, ...]


@dataclass
class XMemory:
    """The four levels over a corpus: episodes in its order, the `ids` of the semantics of each, and themes.

    `new` and `gone` count the episodes that were worked on and forgotten to make it. `named` is what themes
    are called where a language model said it, `own` what its author tells of itself.
    """

    episodes: Sequence[Episode]
    runs: Sequence[range]
    ids: Sequence[Sequence[int]]
    themes: Themes
    new: int
    gone: int
    named: Mapping[int, Note]
    own: Mapping[str, float]

    @cached_property
    def semantics(self) -> dict[int, Place]:
        """The semantics by id, ascending."""
        found = {
            one: Place(fact, n, tuple(run[m] for m in fact.messages))
            for n, (episode, run, own) in enumerate(zip(self.episodes, self.runs, self.ids, strict=True))
            for one, fact in zip(own, episode.semantics, strict=True)
        }
        return dict(sorted(found.items()))

    @cached_property
    def vectors(self) -> NDArray[np.float64]:
        """The unit vectors (n, dim) of the semantics, in their order."""
        return np.stack([self.themes.vectors[one] for one in self.semantics])

    @cached_property
    def rows(self) -> Mapping[int, int]:
        """The row of each semantic in `vectors`."""
        return {one: row for row, one in enumerate(self.semantics)}

    @cached_property
    def fingerprint(self) -> str:
        """A digest of what is held and how it is put into themes."""
        held = [f"{episode.key}{episode.content}" for episode in self.episodes]
        held += [
            f"{one} {self.themes.theme[one]} {place.fact.text}\n" for one, place in self.semantics.items()
        ]
        return pieces.digest("".join(held), 16)

    @property
    def statistics(self) -> dict[str, float]:
        """How large each level is, and the share of semantics that a split or merge took elsewhere."""
        sizes = [len(members) for members in self.themes.members.values()]
        return {
            "messages": sum(map(len, self.runs)),
            "episodes": len(self.episodes),
            "semantics": len(self.semantics),
            "themes": len(sizes),
            "largest_theme": max(sizes, default=0),
            "reassigned": round(self.themes.reassigned, 4),
            **self.own,
        }

    def coarse(self, themes: Iterable[int], facts: Iterable[int]) -> list[str]:
        """What a reader is told first: what these themes are called, then these facts, each once."""
        named = (self.names[theme].value for theme in themes)
        return list(dict.fromkeys((*named, *(self.semantics[one].fact.text for one in facts))))

    def outline(self) -> list[dict[str, Any]]:
        """Each theme, its semantics below it, each with its episode and the first turn it comes from."""
        rows: list[dict[str, Any]] = []
        for theme in self.themes.ids:
            name = self.names[theme]
            told = [("theme", theme, name.value, name.source, "", -1)]
            for one in self.themes.members[theme]:
                place = self.semantics[one]
                fact, of = place.fact, self.episodes[place.episode].title
                told.append(("semantic", one, fact.text, fact.source, of, place.turns[0]))
            rows += [dict(zip(("level", "id", "text", "source", "of", "turn"), row)) for row in told]
        return rows

    @cached_property
    def names(self) -> Mapping[int, Note]:
        """What each theme is called."""
        members = self.themes.members.items()
        facts = {theme: [self.semantics[one].fact.text for one in own] for theme, own in members}
        return {theme: Note(name, "rule") for theme, name in rule.names(facts).items()} | dict(self.named)


def ingest(
    turns: Sequence[Turn], author: Author, store: Store, themes: Themes, embed: Embed, progress: Progress
) -> XMemory:
    """The memory of `turns`: what `store` has of them, and what it lacks, as the author writes it.

    Episodes are forgotten and added one by one, in an order that what is held does not change, so that a
    build that was ended half-way goes on as if it had not been.
    """
    progress = _onward(progress)
    runs = author.spans(turns, store, progress)
    keys = pieces.keys(turns, runs)
    held = set(store.keys())
    gone, new = sorted(held - set(keys)), [n for n, key in enumerate(keys) if key not in held]
    for key in gone:
        store.drop(key, themes)
    for start in range(0, len(new), AT_ONCE):
        progress(start, len(new))
        told = [(keys[n], turns[runs[n].start : runs[n].stop]) for n in new[start : start + AT_ONCE]]
        made = author.episodes(told)
        vectors = embed([fact.text for episode in made for fact in episode.semantics])
        ends = np.cumsum([len(episode.semantics) for episode in made])
        for episode, own in zip(made, np.split(vectors, ends[:-1]), strict=True):
            store.add(episode, own, themes)
    if new:
        progress(len(new), len(new))
    known = {episode.key: (episode, ids) for episode, ids in store.episodes()}
    episodes, ids = zip(*(known[key] for key in keys)) if keys else ((), ())
    names = author.names(store, progress)
    return XMemory(episodes, runs, ids, themes, len(new), len(gone), names, author.statistics(store))


def _onward(progress: Progress) -> Progress:
    """Progress over steps, each of which begins with nothing done: what those before it did stays done."""
    before = last = 0

    def tell(done: int, of: int) -> None:
        nonlocal before, last
        if not done:
            before, last = before + last, of
        progress(before + done, before + of)

    return tell


def embedded(vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors (n, dim) of `texts`; of a text without a token nothing but zeros."""
    rows = [
        (few.values.astype(np.float32) * few.scales[:, None]).sum(axis=0)
        for few in map(_runs, vectors(texts))
    ]
    found = np.stack(rows).astype(np.float32)
    unit: NDArray[np.float32] = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
    return unit


def _runs(vectors: TokenVectors) -> TokenVectors:
    """The mean of each run of tokens, of length 1."""
    if not len(vectors.values):
        return vectors
    exact = vectors.values.astype(np.float32) * vectors.scales[:, None]
    sums = np.add.reduceat(exact, np.arange(0, len(exact), RUN), axis=0)
    return quantised(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9))
