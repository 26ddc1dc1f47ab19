"""xMemory: messages, episodes, semantics and themes, kept in order as they come, and read top-down.

Where the config asks for a language model, it writes the memory and decides what is enough. Else rules and
our rankers do, and every answer says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.systems.base import SEEN, Card, Memory, Plan, Progress, Ranked, asker
from smartsearch.systems.xmemory.constants import AUTHORS, OURS, Constants
from smartsearch.systems.xmemory.settings import set_in, without

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.llm import Asker
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.xmemory.embed import Vectors
    from smartsearch.systems.xmemory.ingest import Author

CARD = Card(
    "xmemory",
    "Episodes, facts and themes made of all turns; themes, then facts, then episodes while they help. "
    f"{SEEN}",
    paper="Beyond RAG for Agent Memory: Retrieval by Decoupling and Aggregation (arXiv 2602.02007)",
    fidelity="rule",
    keeps=True,
    llm=True,
)


@dataclass(frozen=True)
class System:
    """xMemory with SmartSearch's models: ColBERT embeds, the cross-encoder ranks what was found.

    Without an `asker` it is by rule, and the cross-encoder is the gate.
    """

    tools: Tools
    vectors: Vectors
    fingerprint: str
    config: Config
    asker: Asker | None = None
    card: Card = CARD

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The memory of all turns; with a `folder`, what it has is read, and what is new is written."""
        from smartsearch.systems.kept import alone_in

        with alone_in(folder, self._name, of="*.sqlite*") as path:
            return self._made(corpus, path, progress)

    def plan(self, corpus: Haystack, folder: Path | None, config: Config) -> tuple[Plan, Plan]:
        """What `prepare` would send, and what a question would; where episodes will begin is guessed."""
        from smartsearch.systems.xmemory.forecast import ingest, question
        from smartsearch.systems.xmemory.store import opened

        assert self.asker is not None
        turns = corpus.corpus.turns
        path = folder / self._name if folder else None
        store = opened(path if path and path.exists() else None)
        try:
            return ingest(turns, store), question(turns, config, self.asker)
        finally:
            store.close()

    @property
    def _name(self) -> str:
        return f"{self.fingerprint}.sqlite"

    def _made(self, corpus: Haystack, path: Path | None, progress: Progress) -> Memory:
        from smartsearch.systems.xmemory.embed import embedded
        from smartsearch.systems.xmemory.ingest import ingest
        from smartsearch.systems.xmemory.store import opened

        store = opened(path)
        left = without(self.config)
        themes = store.themes(
            cap=set_in(self.config).xmemory_cap,
            split="split" not in left,
            merge="merge" not in left,
            constants=constants(self.config),
        )
        embed = partial(embedded, self.vectors)
        try:
            return ingest(corpus.corpus.turns, self._author(), store, themes, embed, progress)
        finally:
            store.close()

    def _author(self) -> Author:
        if self.asker is None:
            from smartsearch.systems.xmemory.ingest import Author

            return Author(self.tools.parser)
        from smartsearch.systems.xmemory.roles import Writer

        return Writer(self.tools.parser, self.asker)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns that themes, facts and episodes lead to."""
        from smartsearch.systems.xmemory.embed import embedded
        from smartsearch.systems.xmemory.ingest import XMemory
        from smartsearch.systems.xmemory.search import search

        assert isinstance(memory, XMemory)
        embed = partial(embedded, self.vectors)
        return search(question, corpus, memory, config, constants(config), self.tools, embed, self.asker)


def constants(config: Config) -> Constants:
    """What the paper leaves open, as the config's way has it."""
    return AUTHORS if set_in(config).xmemory == "authors" else OURS


def card(name: str) -> Card:
    """What it is."""
    return CARD


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """xMemory with the models of the config's profile. Raises ModelError where these do not do."""
    from smartsearch.errors import ModelError
    from smartsearch.systems.pieces import digest

    loaded = tools(config)
    colbert = loaded.scorers.get("colbert")
    vectors = colbert.vectors if colbert else None
    if vectors is None or "ce" not in loaded.scorers:
        raise ModelError(
            f"xmemory needs a cross-encoder and a ColBERT that keeps vectors, unlike {config.profile}",
            hint="--profile embedded",
            kind="model_unfit",
        )
    model = asker(config)
    models = [(info.id, info.revision) for name, info in sorted(loaded.models.items()) if name != "ce"]
    of = constants(config)
    made = (sorted({"split", "merge"} & without(config)), of.attach, of.around, of.eps)
    settings: list[object] = [models, set_in(config).xmemory_cap, made, 2]
    if model:
        from smartsearch.systems.roles import identity
        from smartsearch.systems.xmemory.prompts import ROLES

        settings += [*identity(model, ROLES), config.redact]
    fingerprint = digest(json.dumps(settings), 8)
    card = CARD.asking if model else CARD
    return System(loaded, vectors, fingerprint, config, model, card)
