"""Orders one question's candidates from kept scores, by each ranker of the grid.

The same arithmetic as `rank.fusion`, over arrays, because a grid asks it a million times;
a test holds the two together. A cascade is the search's own order (`scoring`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.grid import Ranker
from smartsearch.bench.models import is_colbert
from smartsearch.bench.scoring import Floats, Scored
from smartsearch.bench.types import Indices
from smartsearch.rank.features import logit

Vectors = Callable[[], NDArray[np.float32]]
"""Makes the unit vectors of the corpus, shape (turns, d); only MMR calls it."""


def ordered(scored: Scored, retrieval: str, ranker: Ranker, vectors: Vectors) -> Indices:
    """The candidates of `retrieval` in the order of `ranker`, best first, ties by match weight.

    Every candidate is there: those a scorer did not read come last, by match weight. Raises ValueError where
    a scorer of `ranker` was not asked.
    """
    if ranker.kind == "cascade":
        return scored.searched[retrieval, ranker.name].order
    candidates = scored.found[retrieval]
    if ranker.kind == "weight":
        return candidates
    if ranker.kind == "corpus":
        return np.sort(candidates)
    read = [scored.read(ranker, retrieval, name) for name, _ in ranker.scorers]
    if ranker.kind == "one":
        return candidates[_descending(read[0][candidates])]
    if ranker.kind in ("zscore", "product"):
        whole = [_open(name, scores[candidates]) for (name, _), scores in zip(ranker.scorers, read)]
        if ranker.kind == "product":
            return candidates[_descending(np.prod([_scaled(some) for some in whole], axis=0))]
        parts = [weight * _standard(some) for (_, weight), some in zip(ranker.scorers, whole)]
        return candidates[_descending(np.sum(parts, axis=0))]
    fused = _fused(ranker, candidates, read)
    order = candidates[_descending(fused)]
    if ranker.kind == "mmr":
        from smartsearch.bench.controls import mmr

        order = mmr(order, -np.sort(-fused), vectors(), trade_off=ranker.trade_off)
    return order


def _open(name: str, scores: Floats) -> Floats:
    """Unbounded scores: the logits of a cross-encoder's sigmoids."""
    return scores if is_colbert(name) else logit(scores)


def _descending(values: Floats) -> Indices:
    """Positions by descending value, NaN last, ties as they stand."""
    return np.argsort(-values, kind="stable")


def _fused(ranker: Ranker, candidates: Indices, read_by: Sequence[Floats]) -> Floats:
    """Weighted RRF (paper 3.5) of the scorers' ranks over the candidates each has read."""
    total = np.zeros(len(candidates))
    for (_, weight), scores in zip(ranker.scorers, read_by, strict=True):
        values = scores[candidates]
        read = np.flatnonzero(~np.isnan(values))
        ranks = np.empty(len(read))
        ranks[_descending(values[read])] = np.arange(1, len(read) + 1)
        total[read] += weight / (ranker.k + ranks)
    return total


def _standard(values: Floats) -> Floats:
    spread = float(values.std()) if len(values) else 0.0
    return (values - values.mean()) / spread if spread else np.zeros(len(values))


def _scaled(values: Floats) -> Floats:
    low, high = (float(values.min()), float(values.max())) if len(values) else (0.0, 0.0)
    return (values - low) / (high - low) if high > low else np.ones(len(values))
