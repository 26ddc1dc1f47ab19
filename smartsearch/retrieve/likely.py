"""Which candidates the rankers read, where there are more than they can.

Match weight counts a word that fills every chat as much as one that stands in three turns, and ignores the
turns beside. What an order by it alone loses: docs/decisions/0002.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from smartsearch.types import Candidate, Corpus, fold

BEFORE, AFTER = 0.5, 0.3
"""What the turn before and the turn after add of their own weight."""


def rarity(turns: int, having: int) -> float:
    """How much a term tells that `having` of `turns` turns contain; above 0."""
    return math.log1p(turns / max(1, having))


def likelihood(
    candidates: Sequence[Candidate], corpus: Corpus, counts: Mapping[str, int]
) -> dict[int, float]:
    """How much of the question each candidate holds, by its index, most first; ties as given.

    Each weighs what its terms do, times their rarity, and a share of the turns beside it in its session.
    `counts` says how many turns contain a term, by its folded text.
    """
    rare = {key: rarity(len(corpus.turns), count) for key, count in counts.items()}
    own = {c.index: sum(t.weight * rare.get(fold(t.text), 0.0) for t in c.terms) for c in candidates}
    previous = corpus.previous

    def weight(index: int) -> float:
        near = BEFORE * own.get(previous[index], 0.0)
        after = own.get(index + 1, 0.0)
        return own[index] + near + (AFTER * after if after and previous[index + 1] == index else 0.0)

    weights = {index: weight(index) for index in own}
    return {index: weights[index] for index in sorted(weights, key=lambda index: -weights[index])}
