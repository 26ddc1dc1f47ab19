"""all-MiniLM-L6-v2 on the CPU: the plain search by meaning."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.models.store import minilm_folder
from smartsearch.runtime import extras

CACHED_TEXTS = 100_000
"""Texts whose embeddings an Embedder keeps: 150 MB at 384 dimensions."""


class Embedder:
    """Texts to unit vectors, each text once in a process; the memo is emptied when it grows too large."""

    def __init__(self, embed: Callable[[list[str]], NDArray[np.float32]] | None = None) -> None:
        """`embed` maps texts to normalised rows; without it all-MiniLM-L6-v2 on the CPU does."""
        self._embed = embed or _minilm
        self._known: dict[str, NDArray[np.float32]] = {}

    def forget(self) -> None:
        """Empty the memo."""
        self._known.clear()

    def encode(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Normalised embeddings of `texts`, shape (n, 384). Raises SmartsearchError without the packages."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) + len(new) > CACHED_TEXTS:
            self._known.clear()
            new = list(dict.fromkeys(texts))
        if new:
            self._known.update(zip(new, self._embed(new)))
        return np.stack([self._known[text] for text in texts]) if texts else np.zeros((0, 384), np.float32)


@lru_cache(maxsize=1)
def embedder() -> Embedder:
    """The process's one Embedder, which all rivals and MMR share."""
    return Embedder()


@lru_cache(maxsize=1)
def _model() -> Any:
    extras.require("hub", "all-MiniLM")
    from sentence_transformers import SentenceTransformer

    return SentenceTransformer(str(minilm_folder()), device="cpu")


def _minilm(texts: list[str]) -> NDArray[np.float32]:
    vectors = _model().encode(texts, batch_size=64, normalize_embeddings=True, show_progress_bar=False)
    return np.asarray(vectors, dtype=np.float32)
