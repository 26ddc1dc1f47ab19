"""The nearest turns in meaning, of as many as a person has (docs/decisions/0016).

Up to a thousand or so ColBERT reads all. Of more it compares sketches, a few vectors a turn that are kept
once it was read, and then reads the nearest for real. A turn that was never read has no sketch: every
question reads some more of these, those beside what words found first, then the newest.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.text import SHOWN, Shown
from smartsearch.rank.windows import all_windows, best_windows, likeliest
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.semantic import Scorer, nearest

READ = 400
"""Turns that are read for real at least, of those nearest by their sketches."""
BESIDE = 3
"""Turns before and after one that words found, which are read before others."""

Sketched = Callable[[str, Sequence[str], int], NDArray[np.float64]]
"""A question, texts, and how many of them may be read for the first time: a score each, NaN where unread."""

_WINDOWS: WeakKeyDictionary[Haystack, dict[Shown, list[tuple[str, ...]]]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Near:
    """The nearest turns, best first, by their indices, and how many were not looked at."""

    turns: list[int]
    unread: int = 0


def nearest_turns(question: str, haystack: Haystack, scorer: Scorer, top: int, show: Shown = SHOWN) -> Near:
    """The `top` nearest turns: the scorer reads all."""
    return Near(_read(question, haystack, range(len(haystack)), scorer, top, show))


def nearest_sketches(
    question: str,
    haystack: Haystack,
    scorer: Scorer,
    sketched: Sketched,
    top: int,
    most_new: int,
    found: Collection[int],
    show: Shown = SHOWN,
) -> Near:
    """The `top` nearest turns by sketch and then by the scorer; `found` are the turns that words found."""
    order = list(_by_promise(haystack, found))
    texts = [some[0] for some in _texts(question, haystack, order, show)]
    scores = sketched(question, texts, most_new)
    read = np.flatnonzero(~np.isnan(scores))
    best = read[np.argsort(-scores[read], kind="stable")[: max(READ, 2 * top)]]
    places = sorted(order[n] for n in best)
    return Near(_read(question, haystack, places, scorer, top, show), len(order) - len(read))


def read_ahead(haystack: Haystack, sketched: Sketched, most_new: int) -> int:
    """Make sketches of some more turns, for the questions to come. Returns how many turns have none yet."""
    texts = [some[0] for some in _texts("", haystack, _by_promise(haystack, ()))]
    return int(np.isnan(sketched("", texts, most_new)).sum())


def _read(
    question: str, haystack: Haystack, places: Sequence[int], scorer: Scorer, top: int, show: Shown
) -> list[int]:
    windows = _texts(question, haystack, places, show)

    def by_turn(question: str, _: Sequence[str]) -> NDArray[np.float64]:
        return best_windows(question, windows, scorer)[0]

    near = nearest(question, [some[0] for some in windows], by_turn, top)
    return [haystack.indices[places[n]] for n in near]


def _texts(
    question: str, haystack: Haystack, places: Sequence[int] | Iterator[int], show: Shown = SHOWN
) -> list[list[str]]:
    """What is read of the turns at these places of the haystack; they are cut into windows once."""
    made = _WINDOWS.setdefault(haystack, {})
    held = made.get(show)
    if held is None:
        held = made[show] = all_windows(haystack.corpus, haystack.indices, show)
    return likeliest(question, [held[place] for place in places])


def _by_promise(haystack: Haystack, found: Collection[int]) -> Iterator[int]:
    """Every place of the haystack: beside what was found, then the newest first where turns have times."""
    place = {index: n for n, index in enumerate(haystack.indices)} if found else {}
    steps = [step for n in range(1, BESIDE + 1) for step in (n, -n)]
    first = dict.fromkeys(place[i + step] for step in (0, *steps) for i in found if i + step in place)
    yield from first
    turns, indices = haystack.corpus.turns, haystack.indices
    newest = sorted(range(len(indices)), key=lambda n: (turns[indices[n]].time, n), reverse=True)
    yield from (n for n in newest if n not in first)
