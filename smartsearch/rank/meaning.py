"""The dense search: the nearest turns in meaning, of as many as a person has (docs/decisions/0016).

Up to a thousand or so ColBERT reads all (paper 3.3). Of more it compares sketches, a few vectors per turn,
kept since the turn was read, and then reads the nearest for real. A turn that was never read has no sketch:
every question reads some more of these, first those beside what words found, then the newest; a process that
stays reads on meanwhile.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np

from smartsearch.config import Config
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.sketches import Sketches
from smartsearch.rank.text import SHOWN, Shown, shown
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Query

DENSE = "colbert"
"""The scorer that searches by meaning."""
READ = 400
"""Turns that are read for real at least, of those nearest by their sketches."""
BESIDE = 3
"""Turns before and after one that words found, which are read before others."""

_HELD: WeakKeyDictionary[Haystack, Sketches] = WeakKeyDictionary()


@dataclass
class DenseSearch:
    """The dense search of one question, a `Dense` of retrieval; `degraded` says what it did not look at.

    It loads its scorer when it is first asked.
    """

    question: str
    haystack: Haystack
    config: Config
    scorer: Scorer
    degraded: list[str] = field(default_factory=list)
    _near: list[int] | None = None  # by sketches once a question, whoever asks

    def __call__(self, top: int, most: int, found: Collection[int]) -> list[int]:
        """The `top` nearest turns, best first; of more than `most` by sketches, beside what was `found`."""
        config, turns = self.config, len(self.haystack)
        if turns <= most or config.semantic == "always":
            return nearest_turns(self.question, self.haystack, self.scorer, top, shown(config))
        sketched = config.typed and self.scorer.sketcher is not None
        if not sketched or turns > config.sketch_max_turns:
            limit = config.sketch_max_turns if sketched else most
            self.degraded.append(
                f"nothing was searched by meaning: {turns} turns, more than {limit}; "
                "--semantic always does it"
            )
            return []
        if self._near is None:
            self._near = self._by_sketches(found)
        return self._near[:top]

    def _by_sketches(self, found: Collection[int]) -> list[int]:
        config, turns = self.config, len(self.haystack)
        top = max(config.pool, config.semantic_top)
        near, unread = nearest_sketches(
            self.question, self.haystack, self.scorer, top, config.semantic_new, found, shown(config)
        )
        if unread:
            self.degraded.append(
                f"searched by meaning in {turns - unread} of {turns} turns; the next questions read on "
                "(`smartsearch cache fill PATH` reads ahead)"
            )
        return near


def dense_search(
    query: Query,
    haystack: Haystack,
    config: Config,
    scorers: Mapping[str, Scorer],
    degraded: list[str] | None = None,
) -> DenseSearch | None:
    """The dense search over all turns, or None where it is off or impossible; `degraded` is told why not."""
    degraded = [] if degraded is None else degraded
    if config.semantic == "off" or not any(c.isalnum() for c in query.text):
        return None
    if DENSE not in scorers:
        if config.semantic == "always":
            degraded.append(f"no dense search: the profile {config.profile} has no ColBERT")
        return None
    return DenseSearch(query.text, haystack, config, scorers[DENSE], degraded)


def nearest_turns(
    question: str, haystack: Haystack, scorer: Scorer, top: int, show: Shown = SHOWN
) -> list[int]:
    """The `top` nearest turns, best first, by their indices: the scorer reads all."""
    return _read(question, haystack, haystack.indices, scorer, top, show)


def nearest_sketches(
    question: str,
    haystack: Haystack,
    scorer: Scorer,
    top: int,
    most_new: int,
    found: Collection[int],
    show: Shown = SHOWN,
) -> tuple[list[int], int]:
    """The `top` nearest turns by sketch and then by the scorer, best first, and how many have no sketch yet.

    It reads `most_new` turns that have none, those beside the turns that words `found` first.
    """
    sketches = _sketches(haystack, scorer, show)
    while sketches.look_up():
        pass
    sketches.read(most_new, _beside(haystack, found))
    scores = sketches.scores(question)
    read = np.flatnonzero(~np.isnan(scores))
    best = read[np.argsort(-scores[read], kind="stable")[: max(READ, 2 * top)]]
    indices = [haystack.indices[place] for place in np.sort(best).tolist()]
    return _read(question, haystack, indices, scorer, top, show), sketches.unread


def read_ahead(haystack: Haystack, scorer: Scorer, most_new: int) -> int:
    """A step towards sketches of all turns, for the questions to come; how many turns have none yet."""
    sketches = _sketches(haystack, scorer)
    if not sketches.look_up():
        sketches.read(most_new)
    return sketches.unread


def _sketches(haystack: Haystack, scorer: Scorer, show: Shown = SHOWN) -> Sketches:
    held, show, sketcher = _HELD.get(haystack), scorer.seeing(show), scorer.sketcher
    if sketcher is None:
        raise ValueError("a scorer without sketches")
    if held is None or held.sketcher is not sketcher or held.show != show:
        held = _HELD[haystack] = Sketches(haystack, sketcher, show)
    return held


def _read(
    question: str, haystack: Haystack, indices: Sequence[int], scorer: Scorer, top: int, show: Shown
) -> list[int]:
    scores = turn_scores(question, haystack.corpus, indices, scorer, show)
    return [indices[n] for n in np.argsort(-scores, kind="stable")[:top].tolist()]


def _beside(haystack: Haystack, found: Collection[int]) -> Iterator[int]:
    """The places in the haystack of what was found, then of the turns beside it, the nearest first."""
    steps = [step for n in range(1, BESIDE + 1) for step in (n, -n)]
    for index in (i + step for step in (0, *steps) for i in found):
        place = bisect_left(haystack.indices, index)
        if place < len(haystack) and haystack.indices[place] == index:
            yield place
