"""QRRanker (arXiv 2602.12192): a language model's attention orders the first turns of our own search."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smartsearch.systems.base import RUN, Card

if TYPE_CHECKING:
    from smartsearch.config import Config

CARD = Card(
    "qrranker",
    "What attention heads of a causal language model send from the question to each of our first turns. "
    f"{RUN}",
    paper="Query-focused and Memory-aware Reranker for Long Context Processing",
    needs="torch",
    fidelity="approximate",
    extras=("qr",),
    whole=False,
)
CARDS = {CARD.name: CARD}


def shown(config: Config) -> str:
    """Its name in tables: another one where its heads were not trained. Raises ModelError."""
    from smartsearch.rank.hub.heads import NAME, UNTRAINED
    from smartsearch.systems.qrranker import causal

    return NAME if causal.trained(config) else UNTRAINED
