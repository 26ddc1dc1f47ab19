"""A learned fusion: one weighted sum over both scores of a turn and those of the turns beside it.

RRF (paper 3.3) sees ranks alone. The scores say more, and so do the neighbours: an answer stands near its
question, and the turn after it often repeats its words. The weights belong to a pair of rankers and come with
them (recipe/fusion.py, docs/decisions/0008); every part of the sum is a score that `--explain` shows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

FEATURES = (
    *("ce", "colbert", "ce_before", "ce_after", "colbert_before", "colbert_after"),
    *("colbert_far_before", "colbert_far_after"),
)
"""The cross-encoder's logit and ColBERT's MaxSim, of the turn, of the turn before and of the turn after; the
best MaxSim of the turns 2 to FAR before it, and after it."""
FAR = 4
"""Turns on either side that are looked at: what is talked about lasts longer than a turn."""

Floats = NDArray[np.float64]


def logit(scores: Floats) -> Floats:
    """The inverse of the sigmoid, finite at both ends; NaN stays NaN."""
    inside = np.clip(scores, 1e-12, 1.0 - 1e-12)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def after(previous: Sequence[int]) -> NDArray[np.int64]:
    """For each turn the turn after it in its session, or -1, from the turns before (`Corpus.previous`)."""
    before = np.asarray(previous, dtype=np.int64)
    following = np.full(len(before), -1, dtype=np.int64)
    places = np.flatnonzero(before >= 0)
    following[before[places]] = places
    return following


def features(previous: Sequence[int], ce: Floats, colbert: Floats, read: NDArray[np.int64]) -> Floats:
    """The features of the turns in `read`, which both rankers read; shape (read, 8).

    `ce` (sigmoid) and `colbert` have a value a turn, NaN where a ranker did not read it. A neighbour that was
    not read, or is not there, counts as the lowest of those read.
    """
    back = np.asarray(previous, dtype=np.int64)
    before, following = _steps(back, read), _steps(after(previous), read)
    near: list[Floats] = []
    for values in (logit(ce), colbert):
        lowest = float(values[read].min()) if len(read) else 0.0
        near.append(np.stack([_at(values, places, lowest) for places in (read, *before, *following)]))
    logits, late = near
    far = [late[1 + start : FAR + start].max(axis=0) for start in (1, 1 + FAR)]
    return np.stack([logits[0], late[0], logits[1], logits[1 + FAR], late[1], late[1 + FAR], *far], axis=1)


def _steps(step: NDArray[np.int64], places: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Where 1 to FAR steps lead from `places`, or -1."""
    reached = []
    for _ in range(FAR):
        places = np.where(places >= 0, step[places], -1)
        reached.append(places)
    return reached


def _at(values: Floats, places: NDArray[np.int64], lowest: float) -> Floats:
    found = np.where(places >= 0, values[places], np.nan)
    return np.where(np.isnan(found), lowest, found)


def weighted(rows: Floats, weights: Mapping[str, float]) -> Floats:
    """The weighted sum of each row of `features`; a feature without a weight counts nothing."""
    return np.asarray(rows @ np.array([weights.get(name, 0.0) for name in FEATURES]))
