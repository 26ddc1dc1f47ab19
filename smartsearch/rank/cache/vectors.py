"""Token vectors in int8, and MaxSim over them (paper 3.5).

A byte per number and a scale per token: a quarter of float32. Sums of such integers are exact in float32, so
scores do not depend on the rest of the matrix product, on threads or on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STEPS = 127
"""The largest int8 magnitude; 127 * 127 * 1,040 dimensions still fit the 24 bits of a float32."""
TOKENS = 8192
"""Tokens in one matrix product: a few megabytes, which stay in the processor's cache."""


class TokenVectors(NamedTuple):
    """A text's vectors: `values` (tokens, dim), int8 or exact, times `scales` (tokens,)."""

    values: NDArray[Any]
    scales: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Bytes in memory."""
        return self.values.nbytes + self.scales.nbytes


def quantised(vectors: NDArray[Any]) -> TokenVectors:
    """Vectors (tokens, dim) with a scale a token, so that the largest number of each becomes 127."""
    exact = np.asarray(vectors, dtype=np.float32)
    scales = np.abs(exact).max(axis=1, initial=0.0) / np.float32(STEPS)
    steps = exact / np.where(scales > 0, scales, np.float32(1))[:, None]
    return TokenVectors(np.rint(steps).astype(np.int8), scales)


def unquantised(vectors: NDArray[Any]) -> TokenVectors:
    """Vectors (tokens, dim) as they are."""
    exact = np.asarray(vectors, dtype=np.float32)
    return TokenVectors(exact, np.ones(len(exact), dtype=np.float32))


def maxsim(
    question: NDArray[Any],
    turns: Sequence[TokenVectors],
    kept: Callable[[NDArray[Any]], TokenVectors] = quantised,
) -> NDArray[np.float64]:
    """Late interaction of one question (q, dim), kept as the turns are, with n turns, shape (n,), in [-q, q].

    The sum over the question's tokens of the best product with any token of the turn; a turn without a
    token scores 0.
    """
    scores = np.zeros(len(turns))
    wanted = kept(question)
    columns = np.ascontiguousarray(wanted.values.astype(np.float32).T)
    scales = wanted.scales.astype(np.float64)
    for places in _parts(turns):
        some = [turns[n] for n in places]
        products = np.concatenate([one.values for one in some]).astype(np.float32) @ columns
        products *= np.concatenate([one.scales for one in some])[:, None]
        starts = np.cumsum([0, *(len(one.values) for one in some[:-1])])
        best = np.maximum.reduceat(products, starts, axis=0)
        scores[places] = (best * scales).sum(axis=1)  # row by row: a product with BLAS may sum otherwise
    return scores


def _parts(turns: Sequence[TokenVectors]) -> Iterator[list[int]]:
    """Places of turns of about TOKENS tokens together; those without a token are left out."""
    places: list[int] = []
    tokens = 0
    for place, turn in enumerate(turns):
        if len(turn.values):
            places.append(place)
            tokens += len(turn.values)
        if tokens >= TOKENS:
            yield places
            places, tokens = [], 0
    if places:
        yield places
