"""BM25 with neighbours over turns led by their date in words, so that a question's date finds them."""

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.rivals import Scorer, bm25, with_neighbours
from smartsearch.rank.text import spoken_date
from smartsearch.types import Corpus

NAME = "bm25_date"
DESCRIPTION = "BM25 with neighbours over `8 May 2023 speaker: text caption`"
PACKAGES = ("bm25s", "simplemma")


def build(corpus: Corpus) -> Scorer:
    alone = bm25([f"{spoken_date(turn.time)} {turn.spoken}" for turn in corpus.turns])

    def score(question: str) -> NDArray[np.float64]:
        return with_neighbours(alone(question), corpus)

    return score
