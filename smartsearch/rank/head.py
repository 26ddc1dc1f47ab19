"""Which turns the cross-encoder reads, where it cannot read all: the best by ColBERT, neighbours counted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.learned import Floats, after

SHARE = 0.1
"""Of the score of the turn before, and of the turn after, that a turn's own gains (docs/decisions/0002)."""


def among(previous: Sequence[int], turns: Sequence[int]) -> list[int]:
    """For each of `turns` the place among them of the turn before it (`Corpus.previous`), or -1."""
    place = {index: n for n, index in enumerate(turns)}
    return [place.get(previous[index], -1) for index in turns]


def head(previous: Sequence[int], colbert: Floats, most: int) -> NDArray[np.int64]:
    """Places of the `most` turns that are likeliest by ColBERT, best first, of equal ones the first.

    `colbert` has the score of each, shape (turns,), `previous` the place of the turn before it (`among`). A
    neighbour that is not among them counts as the lowest of them. All of them come in ColBERT's own order.
    """
    scores = colbert
    if most < len(colbert):
        known = np.append(colbert, colbert.min())
        near = known[np.asarray(previous, dtype=np.int64)] + known[after(previous)]
        scores = np.asarray(colbert + SHARE * near)
    return np.argsort(-scores, kind="stable")[:most]
