"""Token vectors in int8, and MaxSim over them (paper 3.3).

A byte per number and a scale per token: a quarter of float32. Sums of such integers are exact in float32, so
scores do not depend on the rest of the matrix product, on threads or on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

STEPS = 127
"""The largest int8 magnitude; 127 * 127 * 1,040 dimensions still fit the 24 bits of a float32."""
TOKENS = 8192
"""Tokens in one matrix product: a few megabytes, which stay in the processor's cache."""
RUN = 12
"""Tokens that a vector of a sketch stands for."""


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


def sketch(vectors: TokenVectors) -> TokenVectors:
    """A text's sketch: the unit mean of each run of RUN tokens."""
    if not len(vectors.values):
        return vectors
    exact = vectors.values.astype(np.float32) * vectors.scales[:, None]
    sums = np.add.reduceat(exact, np.arange(0, len(exact), RUN), axis=0)
    return quantised(sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), 1e-9))


class Stack(NamedTuple):
    """The vectors of several texts as one: `starts` says where each text's begin; none is without any."""

    values: NDArray[Any]
    scales: NDArray[np.float32]
    starts: NDArray[np.int64]

    def joined(self, other: Stack) -> Stack:
        """These texts, then those."""
        starts = np.concatenate([self.starts, other.starts + len(self.values)])
        values = np.concatenate([self.values, other.values])
        return Stack(values, np.concatenate([self.scales, other.scales]), starts)


def stacked(texts: Sequence[TokenVectors]) -> Stack:
    """The vectors of texts, each with at least one, as one."""
    sizes = [len(text.values) for text in texts]
    values = np.concatenate([text.values for text in texts])
    return Stack(values, np.concatenate([text.scales for text in texts]), np.cumsum([0, *sizes[:-1]]))


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
    places = list(_parts(turns))
    stacks = (stacked([turns[n] for n in some]) for some in places)
    for some, values in zip(places, stack_maxsim(question, stacks, kept), strict=True):
        scores[some] = values
    return scores


def stack_maxsim(
    question: NDArray[Any],
    stacks: Iterable[Stack],
    kept: Callable[[NDArray[Any]], TokenVectors] = quantised,
) -> Iterator[NDArray[np.float64]]:
    """`maxsim` for the texts of each stack."""
    wanted = kept(question)
    columns = np.ascontiguousarray(wanted.values.astype(np.float32).T)
    scales = wanted.scales.astype(np.float64)
    for stack in stacks:
        products = stack.values.astype(np.float32) @ columns
        products *= stack.scales[:, None]
        best = np.maximum.reduceat(products, stack.starts, axis=0)
        yield (best * scales).sum(axis=1)  # row by row: BLAS may sum in another order


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
