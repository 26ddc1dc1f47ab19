"""BM25 in which a turn shares the score of the turns around it: a reply rarely repeats what was asked."""

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.rivals import Scorer, bm25, spoken, with_neighbours
from smartsearch.types import Corpus

NAME = "bm25_neighbours"
DESCRIPTION = "BM25 plus 0.5 of the previous turn's score and 0.3 of the next one's, within the session"
PACKAGES = ("bm25s", "simplemma")


def build(corpus: Corpus) -> Scorer:
    alone = bm25(spoken(corpus))

    def score(question: str) -> NDArray[np.float64]:
        return with_neighbours(alone(question), corpus)

    return score
