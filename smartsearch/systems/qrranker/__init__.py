"""QRRanker (arXiv 2602.12192): a language model's attention orders the first turns of our own search."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.systems.base import RUN, Card, Empty, Memory, Progress, Ranked
from smartsearch.systems.qrranker.settings import set_in

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools
    from smartsearch.rank.qrranker import QRRanker
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.types import ModelInfo

CARD = Card(
    "qrranker",
    "What attention heads of a causal language model send from the question to each of our first turns. "
    f"{RUN}",
    paper="Query-focused and Memory-aware Reranker for Long Context Processing",
    needs="torch",
    fidelity="approximate",
    extra="qr",
    whole=False,
)


class System:
    """The method of the paper with a model and its heads, over what SmartSearch finds with `tools`."""

    card = CARD

    def __init__(self, tools: Tools, ranker: QRRanker, info: ModelInfo, config: Config) -> None:
        self.tools, self.ranker, self.info, self.config = tools, ranker, info, config
        self.notice = ranker.notice(set_in(config).qr_candidates)

    @property
    def fingerprint(self) -> str:
        """Of its model and heads, and whether it has a memory."""
        from smartsearch.systems.pieces import digest

        return digest(repr((self.info, self.ranker.heads, set_in(self.config).qr_memory)), 8)

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """Nothing: every question reads the transcripts. With `qr_memory` their episodes, not kept."""
        if not set_in(self.config).qr_memory:
            return Empty()
        from smartsearch.systems.qrranker.search import Episodes

        return Episodes(corpus.corpus.turns)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns that SmartSearch finds, the first of them in the order of the heads."""
        from smartsearch.systems.qrranker.search import search

        return search(question, corpus, memory, config, self.tools, self.ranker, self.info)


def card(name: str) -> Card:
    """What it is."""
    return CARD


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """QRRanker with the config's model. Raises ModelError where it has none, or no heads of it."""
    from dataclasses import replace

    from smartsearch.systems.qrranker import causal

    rankers = tuple(name for name in config.rank if name != "qr")
    loaded = tools(replace(config, rank=rankers))
    return System(loaded, *causal.ranker(config, "--system qrranker"), config)


def shown(config: Config) -> str:
    """Its name in tables: another one where its heads were not trained. Raises ModelError."""
    from smartsearch.rank.hub.heads import NAME, UNTRAINED
    from smartsearch.systems.qrranker import causal

    return NAME if causal.trained(config) else UNTRAINED
