"""Sketches of a haystack's turns, a few vectors a turn, side by side: all are compared at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.cache.vectors import TOKENS, Stack, TokenVectors, stack_maxsim, stacked
from smartsearch.rank.scorer import Sketcher
from smartsearch.rank.text import SHOWN, Shown
from smartsearch.rank.windows import all_windows
from smartsearch.retrieve.grep import Haystack

LOOKED_UP = 256
"""Turns whose sketches are looked for at a time: some milliseconds."""


class Sketches:
    """The sketches made so far of a haystack's turns; a turn has one for each of its windows."""

    def __init__(self, haystack: Haystack, sketcher: Sketcher, show: Shown = SHOWN) -> None:
        self.sketcher, self.show = sketcher, show
        self._corpus, self._indices = haystack.corpus, haystack.indices
        self._read = np.zeros(len(haystack), dtype=np.bool_)
        self._stacks: list[tuple[Stack, NDArray[np.int64]]] = []  # with the turn of each text
        turns, indices = haystack.corpus.turns, haystack.indices
        newest = sorted(range(len(indices)), key=lambda n: (turns[indices[n]].time, n), reverse=True)
        self._newest = np.array(newest, dtype=np.int64)
        self._looked_up = 0

    @property
    def unread(self) -> int:
        """How many turns have no sketch yet."""
        return len(self._read) - int(np.count_nonzero(self._read))

    def look_up(self) -> bool:
        """Take what was kept of some more turns; whether there were any to look for."""
        start = self._looked_up
        places = range(start, min(start + LOOKED_UP, len(self._read)))
        windows = self._windows(places)
        kept = self.sketcher.kept_sketches([text for some in windows for text in some]) if windows else {}
        whole = [n for n, some in enumerate(windows) if all(text in kept for text in some)]
        self._add([(places[n], [kept[text] for text in windows[n]]) for n in whole])
        self._looked_up = start + len(places)
        return bool(places)

    def read(self, most: int, first: Iterable[int] = ()) -> None:
        """Read about `most` windows of turns that have no sketch: those at `first`, then the newest."""
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
        found = stack_maxsim(self.sketcher.question_vectors(question), (stack for stack, _ in self._stacks))
        for (_, places), values in zip(self._stacks, found, strict=True):
            np.maximum.at(scores, places, values)
        scores[np.isneginf(scores)] = 0.0  # a turn without a token
        return scores

    def _windows(self, places: Sequence[int]) -> list[tuple[str, ...]]:
        return all_windows(self._corpus, [self._indices[place] for place in places], self.show)

    def _add(self, turns: Sequence[tuple[int, Sequence[TokenVectors]]]) -> None:
        """Put the sketches of the windows of these turns beside the others; they are there last of all."""
        texts = [(place, one) for place, some in turns for one in some if len(one.values)]
        if texts:
            more, places = stacked([one for _, one in texts]), np.array([place for place, _ in texts])
            whole = self._stacks
            if whole and len(whole[-1][0].values) < TOKENS:
                (last, before), whole = whole[-1], whole[:-1]
                more, places = last.joined(more), np.concatenate([before, places])
            self._stacks = [*whole, (more, places)]
        self._read[[place for place, _ in turns]] = True
