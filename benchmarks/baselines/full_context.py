"""No search at all: every turn in the order it was said."""

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.rivals import Scorer
from smartsearch.types import Corpus

NAME = "full_context"
DESCRIPTION = "every turn in corpus order, whatever the question"


def build(corpus: Corpus) -> Scorer:
    scores = -np.arange(len(corpus.turns), dtype=np.float64)

    def score(_question: str) -> NDArray[np.float64]:
        return scores

    return score
