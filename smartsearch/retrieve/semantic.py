"""The dense search for questions that grep cannot serve: the nearest turns by a scorer (paper 3.2)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

Scorer = Callable[[str, Sequence[str]], NDArray[np.float64]]
"""The shape both rankers share: a question and n texts in, n scores out, higher is better."""


def nearest(question: str, texts: Sequence[str], scorer: Scorer, top: int) -> list[int]:
    """Indices of the `top` best texts by `scorer`, best first, ties in corpus order."""
    if not texts:
        return []
    scores = scorer(question, texts)
    return [int(i) for i in np.argsort(-scores, kind="stable")[:top]]
