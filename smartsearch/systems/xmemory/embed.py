"""Texts to unit vectors by the ColBERT that ranks: the mean of the vectors of its sketch."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.scorer import Sketcher


def embedded(sketcher: Sketcher, texts: Sequence[str]) -> NDArray[np.float32]:
    """Unit vectors (n, dim) of `texts`; of a text without a token nothing but zeros."""
    rows = [
        (sketch.values.astype(np.float32) * sketch.scales[:, None]).sum(axis=0)
        for sketch in sketcher.sketches(texts)
    ]
    vectors = np.stack(rows).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: NDArray[np.float32] = vectors / np.maximum(lengths, 1e-9)
    return unit
