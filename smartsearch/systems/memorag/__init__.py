"""MemoRAG: a memory of all transcripts drafts clues to an answer, and these are searched in them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, cast

from smartsearch.systems.base import RUN, Card, Memory, Plan, Progress, Ranked, asker
from smartsearch.systems.memorag.settings import set_in

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.llm import Asker
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.memorag.notes import Notes

CARD = Card(
    "memorag",
    f"A memory of all turns drafts clues to the answer; the clues are searched with the question. {RUN}",
    paper="MemoRAG: Boosting Long Context Processing with Global Memory-Enhanced Retrieval Augmentation",
    needs="llm",
    fidelity="approximate",
    keeps=True,
    llm=True,
)


@dataclass(frozen=True)
class System:
    """MemoRAG with one kind of memory, `tier`, and SmartSearch's models for what clues find."""

    tools: Tools
    config: Config
    tier: str
    fingerprint: str
    asker: Asker
    card: Card = CARD

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The memory of all turns; with a `folder`, what it has is read, and what is new is written."""
        from smartsearch.systems.kept import alone_in
        from smartsearch.systems.memorag import notes

        turns = corpus.corpus.turns
        with alone_in(folder, self._name, of="memory-*") as path:
            if self.tier == "long":
                return notes.long(turns, self.asker, self.config)
            return notes.gist(turns, path, self.asker, self.config, progress)

    def plan(self, corpus: Haystack, folder: Path | None, config: Config) -> tuple[Plan, Plan]:
        """What `prepare` would send, and what a question would."""
        from smartsearch.systems.memorag.notes import plan

        path = folder / self._name if folder else None
        return plan(corpus.corpus.turns, path, self.asker, self.config, self.tier)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns that clues of the memory and the question find."""
        from smartsearch.systems.memorag.search import search

        return search(question, corpus, cast("Notes", memory), config, self.tools, self.tier)

    @property
    def _name(self) -> str:
        return f"memory-{self.fingerprint}.json"


def card(name: str) -> Card:
    """What it is."""
    return CARD


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """MemoRAG with the models of the config's profile. Raises ConfigError, LLMError, ModelError."""
    from smartsearch.errors import ConfigError
    from smartsearch.systems.memorag.notes import ROLES
    from smartsearch.systems.pieces import digest
    from smartsearch.systems.roles import identity

    model = asker(config)
    if model is None:
        raise ConfigError("--system memorag asks a language model for its memory", hint="add --llm")
    own = set_in(config)
    settings = [
        own.memorag,
        own.memorag_ratio,
        1,
        *identity(model, ROLES),
        own.memorag_context,
        config.redact,
    ]
    return System(tools(config), config, own.memorag, digest(json.dumps(settings), 8), model)
