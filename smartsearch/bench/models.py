"""Loads the models of the paper's rows R1 to R6 by hub id, whatever the profile."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smartsearch.config import Config
from smartsearch.models import profiles, store
from smartsearch.models.loading import Ranker
from smartsearch.models.store import ModelRef
from smartsearch.rank.scorer import Scorer

_PAPER = profiles.PROFILES["paper"]
COLBERT, MXBAI_LARGE = _PAPER["colbert"].name, _PAPER["crossencoder"].name
MINILM = "cross-encoder/ms-marco-MiniLM-L-12-v2"
BGE_BASE, BGE_LARGE = "BAAI/bge-reranker-base", "BAAI/bge-reranker-large"
MXBAI_BASE, MXBAI_LARGE_V2 = "mixedbread-ai/mxbai-rerank-base-v1", "mixedbread-ai/mxbai-rerank-large-v2"
MXBAI_XSMALL, COLBERT_V2 = "mixedbread-ai/mxbai-rerank-xsmall-v1", "colbert-ir/colbertv2.0"
"""Tables 4, 8 and 9; 33M, 278M, 560M, 184M, 1.5B, 71M and 110M parameters."""
_PINNED = {ref.name: ref for ref in _PAPER.values()}


def is_colbert(name: str) -> bool:
    """Whether a scorer, by its name in a row, is a ColBERT."""
    return name in ("colbert", COLBERT, COLBERT_V2)


def opened(ids: Sequence[str], config: Config) -> tuple[Mapping[str, Scorer], dict[str, str]]:
    """Rankers by hub id, loaded when first asked, and what each is to the byte.

    Raises ModelError where one is not on this machine, SmartsearchError without what runs it.
    """
    rankers, fingerprints = {}, {}
    for name in ids:
        ref = _PINNED.get(name, ModelRef(name, given=True))
        ranker = Ranker("colbert" if is_colbert(name) else "ce", ref, config.cores, 0)
        rankers[name], fingerprints[name] = ranker.scorer, store.fingerprint(ranker.role, ref, ranker.check())
    return rankers, fingerprints
