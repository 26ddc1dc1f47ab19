"""What a person with plain `grep -i` gets: turns by how many of the question's words stand in them."""

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.rivals import Scorer, stop_words, words
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Corpus

NAME = "grep"
DESCRIPTION = (
    "number of distinct question words (3 letters or more, no stop words) in `speaker: text caption`"
)


def build(corpus: Corpus) -> Scorer:
    haystack = Haystack(corpus)

    def score(question: str) -> NDArray[np.float64]:
        counts = np.zeros(len(corpus.turns))
        for word in set(words(question)) - stop_words():
            if len(word) >= 3:
                counts[haystack.turns_with(word)] += 1.0
        return counts

    return score
