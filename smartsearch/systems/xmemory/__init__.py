"""xMemory: messages, episodes, semantics and themes, kept in order as they come, and read top-down.

Where the config asks for a language model, it writes the memory and decides what is enough. Else rules and
our rankers do, and every answer says so.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from smartsearch.systems.base import SEEN, Card

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools
    from smartsearch.systems.base import System

CARD = Card(
    "xmemory",
    "Episodes, facts and themes made of all turns; themes, then facts, then episodes while they help. "
    f"{SEEN}",
    paper="Beyond RAG for Agent Memory: Retrieval by Decoupling and Aggregation (arXiv 2602.02007)",
    fidelity="rule",
    keeps=True,
    llm=True,
)
CARDS = {CARD.name: CARD}


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """xMemory with the models of the config's profile. Raises ModelError where these do not do."""
    from smartsearch.systems.xmemory.search import opened

    return opened(CARD, config, tools(config))
