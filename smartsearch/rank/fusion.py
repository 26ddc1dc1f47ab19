"""The learned fusion of a pair of rankers: a weighted sum for each turn, and what the list adds to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.learned import Floats, features, weighted
from smartsearch.rank.set_encoder import Listed, listed
from smartsearch.types import Turn


class Fused(NamedTuple):
    """The scores of the turns read, and the part of them that the list added; each of shape (read,)."""

    scores: Floats
    added: Floats


@dataclass(frozen=True)
class Fusion:
    """The `weights` of the features (rank/learned.py), and the encoder of the list, if there is one.

    The encoder gives what is added to each turn's score: a SetEncoder.
    """

    weights: Mapping[str, float]
    encoder: Callable[[Listed, Floats], Floats] | None = None

    def __call__(
        self,
        question: str,
        turns: Sequence[Turn],
        previous: Sequence[int],
        ce: Floats,
        colbert: Floats,
        read: NDArray[np.int64],
    ) -> Fused:
        """The fused scores of the turns at `read`, of which `turns` hold the neighbours too.

        `previous`, `ce` and `colbert` have a value for each of `turns`, as for `features`.
        """
        rows = features(previous, ce, colbert, read)
        own = weighted(rows, self.weights)
        if self.encoder is None or len(read) < 2:
            return Fused(own, np.zeros(len(read)))
        added = self.encoder(listed(question, turns, previous, read), rows)
        return Fused(own + added, added)
