"""Which candidates the rankers read, where there are more than they can.

The order of match weight counts a word that every chat is full of as much as one that stands in three
turns, and knows nothing of the turns beside. What it loses and this keeps: docs/decisions/0002.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest

from smartsearch.types import Candidate, Corpus, fold

BEFORE, AFTER = 0.5, 0.3
"""What the turn before and the turn after add of their own weight."""
FIRST, PART = 256, 128
"""The turns that are read anyway, and how many more at a time for as long as that is worth it."""
BEST, SHARE = 62, 0.4
"""It is while the last of them are among so many best at least this share of how often chance has them
there. Of 300 questions over 19,723 turns of validation: 557 turns read, not 833; right turns in ColBERT's
first 5 .298, not .299, in its first 62 .654, not .657."""


def rarity(turns: int, having: int) -> float:
    """How much a term tells that `having` of `turns` turns contain; above 0."""
    return math.log1p(turns / max(1, having))


def likeliest(
    candidates: Sequence[Candidate], corpus: Corpus, counts: Mapping[str, int], most: int
) -> list[Candidate]:
    """The `most` first of `by_likelihood`, in the order given."""
    if len(candidates) <= most:
        return list(candidates)
    chosen = {c.index for c in by_likelihood(candidates, corpus, counts)[: max(0, most)]}
    return [c for c in candidates if c.index in chosen]


def by_likelihood(
    candidates: Sequence[Candidate], corpus: Corpus, counts: Mapping[str, int]
) -> list[Candidate]:
    """The candidates, the likeliest to answer first, ties as given.

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

    return sorted(candidates, key=lambda c: -weight(c.index))


def worth_more(scores: Mapping[int, float], last: Collection[int]) -> bool:
    """Whether to read on, by the scores of what was read so far and which of it was read last."""
    best = nlargest(BEST, scores, key=scores.__getitem__)
    return len(set(last).intersection(best)) >= SHARE * len(best) * len(last) / len(scores)
