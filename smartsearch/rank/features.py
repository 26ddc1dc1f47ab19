"""What the learned fusion knows of a turn: the scores of each ranker for it and for the turns beside it.

RRF (paper 3.5) sees ranks alone. The scores say more, and so do the neighbours: an answer stands near its
question, and the turn after it often repeats its words. Every feature is a score that `--explain` shows.
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
SCORERS = ("ce", "colbert")
"""The scorers that features are made of."""
FAR = 4
"""Turns on either side that are looked at: what is talked about lasts longer than a turn."""

Floats = NDArray[np.float64]


def logit(scores: Floats) -> Floats:
    """The inverse of the sigmoid, finite at both ends; NaN stays NaN."""
    inside = np.clip(scores, 1e-12, 1.0 - 1e-12)
    return np.asarray(np.log(inside) - np.log1p(-inside))


def among(previous: Sequence[int], turns: Sequence[int]) -> list[int]:
    """For each of `turns` the place among them of the turn before it (`Corpus.previous`), or -1."""
    place = {index: n for n, index in enumerate(turns)}
    return [place.get(previous[index], -1) for index in turns]


def after(previous: Sequence[int]) -> NDArray[np.int64]:
    """For each turn the turn after it in its session, or -1, from the turns before (`Corpus.previous`)."""
    before = np.asarray(previous, dtype=np.int64)
    following = np.full(len(before), -1, dtype=np.int64)
    places = np.flatnonzero(before >= 0)
    following[before[places]] = places
    return following


def features(previous: Sequence[int], scores: Mapping[str, Floats], read: NDArray[np.int64]) -> Floats:
    """The features of the turns in `read`, which all SCORERS read; shape (read, 8).

    `scores`, by scorer, have a value a turn, NaN where it was not read; those of `ce` are sigmoids. A
    neighbour that was not read, or is not there, counts as the lowest of those read.
    """
    back = np.asarray(previous, dtype=np.int64)
    sides = {"before": _steps(back, read), "after": _steps(after(previous), read)}
    columns: dict[str, Floats] = {}
    for name in SCORERS:
        values = logit(scores[name]) if name == "ce" else scores[name]
        lowest = float(values[read].min()) if len(read) else 0.0
        columns[name] = _at(values, read, lowest)
        for side, places in sides.items():
            near, *far = (_at(values, some, lowest) for some in places)
            columns[f"{name}_{side}"], columns[f"{name}_far_{side}"] = near, np.max(far, axis=0)
    return np.stack([columns[name] for name in FEATURES], axis=1)


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
