"""The nearest turns in meaning, of as many as a person has (docs/decisions/0016).

Up to a thousand or so ColBERT reads all. Of more it compares sketches, a few vectors a turn that are kept
once it was read, and then reads the nearest for real. A turn that was never read has no sketch: every
question reads some more of these, those beside what words found first, then the newest; a process that
stays reads on meanwhile.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from smartsearch.rank.sketches import Sketcher, Sketches
from smartsearch.rank.text import SHOWN, Shown, seen_by
from smartsearch.rank.windows import turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.semantic import Scorer

READ = 400
"""Turns that are read for real at least, of those nearest by their sketches."""
BESIDE = 3
"""Turns before and after one that words found, which are read before others."""

_HELD: WeakKeyDictionary[Haystack, Sketches] = WeakKeyDictionary()


@dataclass(frozen=True)
class Near:
    """The nearest turns, best first, by their indices, and how many were not looked at."""

    turns: list[int]
    unread: int = 0


def nearest_turns(question: str, haystack: Haystack, scorer: Scorer, top: int, show: Shown = SHOWN) -> Near:
    """The `top` nearest turns: the scorer reads all."""
    return Near(_read(question, haystack, haystack.indices, scorer, top, show))


def nearest_sketches(
    question: str,
    haystack: Haystack,
    scorer: Scorer,
    sketcher: Sketcher,
    top: int,
    most_new: int,
    found: Collection[int],
    show: Shown = SHOWN,
) -> Near:
    """The `top` nearest turns by sketch and then by the scorer; `found` are the turns that words found."""
    sketches = _sketches(haystack, sketcher, show)
    while sketches.look_up():
        pass
    sketches.read(most_new, _beside(haystack, found))
    scores = sketches.scores(question)
    read = np.flatnonzero(~np.isnan(scores))
    best = read[np.argsort(-scores[read], kind="stable")[: max(READ, 2 * top)]]
    indices = [haystack.indices[place] for place in np.sort(best).tolist()]
    return Near(_read(question, haystack, indices, scorer, top, show), sketches.unread)


def read_ahead(haystack: Haystack, sketcher: Sketcher, most_new: int) -> int:
    """A step towards sketches of all turns, for the questions to come; how many turns have none yet."""
    sketches = _sketches(haystack, sketcher)
    if not sketches.look_up():
        sketches.read(most_new)
    return sketches.unread


def _sketches(haystack: Haystack, sketcher: Sketcher, show: Shown = SHOWN) -> Sketches:
    held, show = _HELD.get(haystack), seen_by(sketcher, show)
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
