"""The dense search: the turns nearest in meaning, of all that there are (docs/decisions/0002).

By static vectors no text is encoded. The paper's way has ColBERT read every turn (paper 3.3), and so has a
search with another one's vectors alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from weakref import WeakKeyDictionary

import numpy as np

from smartsearch.config import Config
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.static import WHOLE, Static
from smartsearch.rank.text import SHOWN, shown
from smartsearch.rank.windows import all_windows, turn_scores
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Dense
from smartsearch.types import Query

DENSE = "colbert"
"""The scorer that searches by meaning where no static vectors do."""

_AHEAD: WeakKeyDictionary[Haystack, list[int]] = WeakKeyDictionary()


def dense_search(
    query: Query,
    haystack: Haystack,
    config: Config,
    scorers: Mapping[str, Scorer],
    static: Static | None = None,
    degraded: list[str] | None = None,
) -> Dense | None:
    """The dense search over all turns, or None where it is off or impossible; `degraded` is told why."""
    degraded = [] if degraded is None else degraded
    if config.semantic == "off" or not any(c.isalnum() for c in query.text):
        return None
    indices = haystack.indices

    def by_static(top: int) -> list[int]:
        assert static is not None
        return _best(static(query.text, haystack, indices), indices, top)

    def by_reading(top: int) -> list[int]:
        scores = turn_scores(query.text, haystack.corpus, indices, scorers[DENSE], shown(config))
        return _best(scores, indices, top)

    def by_nothing(_top: int) -> list[int]:
        degraded.append(f"nothing was searched by meaning alone: {len(haystack)} turns, more than {WHOLE}")
        return []

    if config.first == "static" and static is not None:
        return by_static if len(haystack) <= WHOLE else by_nothing
    if DENSE in scorers:
        return by_reading
    if config.semantic == "always":
        degraded.append(f"no dense search: the profile {config.profile} has no ColBERT")
    return None


def _best(scores: np.ndarray, indices: Sequence[int], top: int) -> list[int]:
    return [indices[place] for place in np.argsort(-scores, kind="stable")[:top].tolist()]


def read_ahead(haystack: Haystack, scorer: Scorer, most: int) -> int:
    """Have `scorer` keep the vectors of `most` more turns, the newest first; how many it has not read yet."""
    turns, read = haystack.corpus.turns, scorer.vectors
    if read is None:
        raise ValueError("a scorer that keeps no vectors")
    if haystack not in _AHEAD:
        _AHEAD[haystack] = sorted(haystack.indices, key=lambda index: (turns[index].time, index))
    left = _AHEAD[haystack]
    chosen = [left.pop() for _ in range(min(most, len(left)))]
    show = scorer.seeing(SHOWN)
    read([text for windows in all_windows(haystack.corpus, chosen, show) for text in windows])
    return len(left)
