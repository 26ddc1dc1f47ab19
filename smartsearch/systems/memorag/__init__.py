"""MemoRAG: a memory of all transcripts drafts clues to an answer, and these are searched in them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.systems.base import Card, Memory, Progress

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.types import Result

CARD = Card(
    "memorag",
    "A memory of all turns drafts clues to the answer; the clues are searched with the question.",
    paper="MemoRAG: Boosting Long Context Processing with Global Memory-Enhanced Retrieval Augmentation",
    fidelity="rule",
    keeps=True,
)


@dataclass(frozen=True)
class System:
    """MemoRAG with one kind of memory, `tier`, and SmartSearch's models for what clues find."""

    tools: Tools
    config: Config
    tier: str
    fingerprint: str
    card: Card = CARD

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The memory of all turns; with a `folder`, what it has is read, and what is new is written."""
        from smartsearch.systems.memorag.extractive import made
        from smartsearch.systems.memorag.records import alone_in

        with alone_in(folder, f"memory-{self.fingerprint}.json") as path:
            return made(corpus.corpus.turns, path, self.tools.parser, self.config, progress)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Result:
        """The turns that clues of the memory and the question find."""
        from smartsearch.systems.memorag.extractive import Extractive
        from smartsearch.systems.memorag.search import search

        assert isinstance(memory, Extractive)
        config = replace(config, memorag=self.tier)
        return search(question, corpus, memory, config, self.tools, self.card.shown)


def card(name: str) -> Card:
    """What it is."""
    return CARD


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """MemoRAG with the models of the config's profile. Raises ModelError."""
    loaded = tools(config)
    tier = "extractive" if config.memorag == "auto" else config.memorag
    parser = loaded.models.get("parser")
    settings = [tier, config.memorag_ratio, parser and (parser.id, parser.revision), 1]
    identity = hashlib.blake2b(json.dumps(settings).encode(), digest_size=8).hexdigest()
    return System(loaded, config, tier, identity)
