"""Rank orders from scores there are already: each ranker of the grid over one question's candidates.

The same arithmetic as `rank.cascade` and `rank.fuse`, over arrays, because a grid asks it a million times;
a test holds the two together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.grid import Ranker
from smartsearch.bench.scoring import Floats, Scored, reading
from smartsearch.bench.types import Indices
from smartsearch.rank.learned import features, logit, weighted

Vectors = Callable[[], NDArray[np.float32]]
"""Unit vectors of the corpus, shape (turns, d): asked for by MMR alone."""


def ordered(scored: Scored, retrieval: str, ranker: Ranker, vectors: Vectors) -> Indices:
    """The candidates of `retrieval` in the order of `ranker`, best first, ties by match weight.

    Every candidate is there: those a scorer did not read come last, by match weight.
    """
    candidates = scored.found[retrieval]
    if ranker.kind == "weight":
        return candidates
    if ranker.kind == "corpus":
        return np.sort(candidates)
    if ranker.kind == "ce":
        return candidates[_descending(_there(scored.ce_of(ranker), "ce")[candidates])]
    if ranker.kind == "colbert":
        return candidates[_descending(_of(scored, "colbert")[candidates])]
    if ranker.kind == "cascade":
        pool = scored.pool(ranker, retrieval)
        read = reading(ranker, pool, scored.colbert, scored.previous)
        ce = np.full(len(_of(scored, "ce")), np.nan)
        ce[read] = _of(scored, "ce")[read]
        late = _only(_of(scored, "colbert"), pool)
        first = candidates[_descending(_fused(ranker, candidates, ce, late))]
        return _learned(scored, first, ce, late) if scored.fusion else first
    ce, colbert = _of(scored, "ce"), _of(scored, "colbert")
    if ranker.kind == "zscore":
        sums = ranker.weight_ce * _standard(logit(ce[candidates]))
        sums = sums + ranker.weight_colbert * _standard(colbert[candidates])
        return candidates[_descending(sums)]
    if ranker.kind == "product":
        return candidates[_descending(_scaled(logit(ce[candidates])) * _scaled(colbert[candidates]))]
    fused = _fused(ranker, candidates, ce, colbert)
    order = candidates[_descending(fused)]
    if ranker.kind == "mmr":
        from smartsearch.bench.controls import mmr

        order = mmr(order, -np.sort(-fused), vectors(), trade_off=ranker.trade_off)
    return order


def _learned(scored: Scored, order: Indices, ce: Floats, colbert: Floats) -> Indices:
    """What both scorers read by the learned fusion, before the rest as it stands in `order`."""
    both = ~np.isnan(ce[order]) & ~np.isnan(colbert[order])
    inside, outside = np.sort(order[both]), order[~both]
    sums = weighted(features(scored.previous, ce, colbert, inside), scored.fusion)
    value = dict(zip(inside.tolist(), sums.tolist(), strict=True))
    first = sorted(order[both].tolist(), key=lambda i: -value[i])
    return np.concatenate([np.array(first, dtype=order.dtype), outside])


def _of(scored: Scored, name: str) -> Floats:
    return _there(scored.ce if name == "ce" else scored.colbert, name)


def _there(scores: Floats | None, name: str) -> Floats:
    if scores is None:
        raise ValueError(f"{name} was not scored")
    return scores


def _only(scores: Floats, places: Indices) -> Floats:
    kept = np.full(len(scores), np.nan)
    kept[places] = scores[places]
    return kept


def _descending(values: Floats) -> Indices:
    """Positions by descending value, NaN last, ties as they stand."""
    return np.argsort(-values, kind="stable")


def _fused(ranker: Ranker, candidates: Indices, ce: Floats, colbert: Floats) -> Floats:
    """Weighted RRF (paper 3.3) of the two scorers' ranks over the candidates each has read."""
    total = np.zeros(len(candidates))
    for weight, scores in ((ranker.weight_colbert, colbert), (ranker.weight_ce, ce)):
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
