"""MemoRAG: a memory of all transcripts drafts clues to an answer, and these are searched in them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from smartsearch.errors import ConfigError
from smartsearch.systems.base import RUN, Card

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools
    from smartsearch.systems.base import System

CARD = Card(
    "memorag",
    f"A memory of all turns drafts clues to the answer; the clues are searched with the question. {RUN}",
    paper="MemoRAG: Boosting Long Context Processing with Global Memory-Enhanced Retrieval Augmentation",
    needs="llm",
    fidelity="approximate",
    keeps=True,
    llm=True,
)
CARDS = {CARD.name: CARD}


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """MemoRAG with the models of the config's profile. Raises ConfigError, LLMError, ModelError."""
    if not config.llm:
        raise ConfigError("--system memorag asks a language model for its memory", hint="add --llm")
    from smartsearch.systems.memorag.search import opened

    return opened(CARD, config, tools(config))
