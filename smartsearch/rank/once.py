"""A scorer that reads no text twice for a question."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.retrieve.semantic import Scorer


class Once:
    """A scorer that keeps the scores of the question it was last asked; all else it has is the scorer's."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer, self._question, self._known = scorer, "", dict[str, float]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._scorer, name)

    def __call__(self, question: str, texts: Sequence[str]) -> NDArray[np.float64]:
        """The score of each text."""
        if question != self._question:
            self._question, self._known = question, {}
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, self._scorer(question, new).tolist(), strict=True))
        return np.array([self._known[text] for text in texts])
