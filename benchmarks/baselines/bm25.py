"""BM25 turn by turn: the standard lexical baseline."""

from smartsearch.bench.rivals import Scorer, bm25, spoken
from smartsearch.types import Corpus

NAME = "bm25"
DESCRIPTION = "BM25 (bm25s, k1 1.5, b 0.75) over the lemmas of `speaker: text caption`, no stop words"
PACKAGES = ("bm25s", "simplemma")


def build(corpus: Corpus) -> Scorer:
    return bm25(spoken(corpus))
