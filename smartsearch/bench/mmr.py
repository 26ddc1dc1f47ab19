"""Maximal marginal relevance (Carbonell and Goldstein 1998), a negative control of the paper (seeds 1.2)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.types import Indices


def mmr(
    order: Indices,
    relevance: NDArray[np.floating],
    vectors: NDArray[np.float32],
    *,
    trade_off: float = 0.7,
    depth: int = 100,
) -> Indices:
    """`order` with its first `depth` turns re-ordered for diversity; the rest follows as it was.

    Each step takes the turn with the highest `trade_off * relevance - (1 - trade_off) * similarity`, where
    similarity is the largest cosine with a turn taken before; ties go to the turn that stood first.
    `relevance`, finite and aligned with `order`, is scaled to 0..1 within the head; `vectors`, shape
    (turns, d), holds the unit vector of every turn of the corpus.
    """
    head = order[:depth]
    if not len(head):
        return order
    scores = np.asarray(relevance[: len(head)], dtype=np.float64)
    spread = scores.max() - scores.min()
    gain = trade_off * ((scores - scores.min()) / spread if spread else np.zeros(len(head)))
    near = vectors[head]
    cosines = (1.0 - trade_off) * np.asarray(near @ near.T, dtype=np.float64)
    taken = [int(np.argmax(gain))]
    closest = cosines[taken[0]].copy()
    gain[taken[0]] = -np.inf
    for _ in range(len(head) - 1):
        best = int(np.argmax(gain - closest))
        taken.append(best)
        gain[best] = -np.inf
        np.maximum(closest, cosines[best], out=closest)
    return np.concatenate([head[taken], order[len(head) :]])
