"""Texts to unit vectors by the ColBERT that ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.cache.vectors import TokenVectors, quantised

RUN = 12
"""Tokens that are as one: the mean is over runs of so many, each of length 1."""

Vectors = Callable[[Sequence[str]], Sequence[TokenVectors]]


def embedded(vectors: Vectors, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors (n, dim) of `texts`; of a text without a token nothing but zeros."""
    rows = [
        (few.values.astype(np.float32) * few.scales[:, None]).sum(axis=0)
        for few in map(_runs, vectors(texts))
    ]
    found = np.stack(rows).astype(np.float32)
    lengths = np.linalg.norm(found, axis=1, keepdims=True)
    unit: NDArray[np.float32] = found / np.maximum(lengths, 1e-9)
    return unit


def _runs(vectors: TokenVectors) -> TokenVectors:
    """The mean of each run of tokens, of length 1."""
    if not len(vectors.values):
        return vectors
    exact = vectors.values.astype(np.float32) * vectors.scales[:, None]
    sums = np.add.reduceat(exact, np.arange(0, len(exact), RUN), axis=0)
    return quantised(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9))
