"""Sketches of a haystack's turns, a few vectors a turn, side by side: all are compared at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.cache.vectors import TOKENS, Stack, TokenVectors, stack_maxsim, stacked
from smartsearch.rank.windows import all_windows
from smartsearch.retrieve.grep import Haystack

LOOKED_UP = 4096
"""Turns whose sketches are looked for at a time."""


class Sketcher(Protocol):
    """What makes sketches of texts, and keeps them."""

    def kept_sketches(self, texts: Sequence[str]) -> dict[str, TokenVectors]:
        """The sketches of those of `texts` that were read before."""

    def sketches(self, texts: Sequence[str]) -> list[TokenVectors]:
        """The sketch of each text, which is read for it."""

    def question_vectors(self, question: str) -> NDArray[np.float32]:
        """The question's vectors, shape (tokens, dim)."""


class Sketches:
    """The sketches of the turns of a haystack, those that there are; a turn has those of all its windows."""

    def __init__(self, haystack: Haystack, sketcher: Sketcher) -> None:
        self.sketcher = sketcher
        self._corpus, self._indices = haystack.corpus, haystack.indices
        self._read = np.zeros(len(haystack), dtype=np.bool_)
        self._stacks: list[Stack] = []
        self._places: list[NDArray[np.int64]] = []  # the turn of each text of a stack
        turns, indices = haystack.corpus.turns, haystack.indices
        newest = sorted(range(len(indices)), key=lambda n: (turns[indices[n]].time, n), reverse=True)
        self._newest = np.array(newest, dtype=np.int64)
        for start in range(0, len(haystack), LOOKED_UP):
            self._look_up(range(start, min(start + LOOKED_UP, len(haystack))))

    @property
    def unread(self) -> int:
        """How many turns have no sketch yet."""
        return len(self._read) - int(np.count_nonzero(self._read))

    def read(self, most: int, first: Iterable[int] = ()) -> None:
        """Read about `most` windows of turns that have no sketch: those at `first`, then the newest."""
        if not self.unread:
            return
        left = self._newest[~self._read[self._newest]][:most].tolist()
        order = dict.fromkeys([*(place for place in first if not self._read[place]), *left])
        chosen, texts = [], 0
        for place, windows in zip(order, self._windows(list(order)[:most]), strict=False):
            if texts and texts + len(windows) > most:
                break
            chosen.append((place, windows))
            texts += len(windows)
        made = iter(self.sketcher.sketches([text for _, windows in chosen for text in windows]))
        self._add([(place, [next(made) for _ in windows]) for place, windows in chosen])

    def scores(self, question: str) -> NDArray[np.float64]:
        """Late interaction with each turn's best window, NaN for a turn that has no sketch."""
        scores = np.where(self._read, -np.inf, np.nan)
        found = stack_maxsim(self.sketcher.question_vectors(question), self._stacks)
        for places, values in zip(self._places, found, strict=True):
            np.maximum.at(scores, places, values)
        scores[np.isneginf(scores)] = 0.0  # a turn without a token
        return scores

    def _windows(self, places: Sequence[int]) -> list[tuple[str, ...]]:
        return all_windows(self._corpus, [self._indices[place] for place in places])

    def _look_up(self, places: Sequence[int]) -> None:
        """Take what was kept of the turns at `places`."""
        windows = self._windows(places)
        kept = self.sketcher.kept_sketches([text for some in windows for text in some])
        whole = [n for n, some in enumerate(windows) if all(text in kept for text in some)]
        self._add([(places[n], [kept[text] for text in windows[n]]) for n in whole])

    def _add(self, turns: Sequence[tuple[int, Sequence[TokenVectors]]]) -> None:
        """Put the sketches of the windows of these turns beside the others."""
        self._read[[place for place, _ in turns]] = True
        texts = [(place, one) for place, some in turns for one in some if len(one.values)]
        if not texts:
            return
        stack, places = stacked([one for _, one in texts]), np.array([place for place, _ in texts])
        if self._stacks and len(self._stacks[-1].values) < TOKENS:
            last = self._stacks.pop()
            places = np.concatenate([self._places.pop(), places])
            starts = np.concatenate([last.starts, stack.starts + len(last.values)])
            values = np.concatenate([last.values, stack.values])
            stack = Stack(values, np.concatenate([last.scales, stack.scales]), starts)
        self._stacks.append(stack)
        self._places.append(places)
