"""MemoRAG: a memory of all transcripts drafts clues to an answer, and these are searched in them."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, cast

from smartsearch.systems.base import SEEN, Card, Memory, Plan, Progress, Ranked, asker
from smartsearch.systems.memorag.settings import set_in

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.llm import Asker
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.memorag.clues import Drafting
    from smartsearch.types import Turn

CARD = Card(
    "memorag",
    f"A memory of all turns drafts clues to the answer; the clues are searched with the question. {SEEN}",
    paper="MemoRAG: Boosting Long Context Processing with Global Memory-Enhanced Retrieval Augmentation",
    needs="llm",
    fidelity="approximate",
    keeps=True,
    llm=True,
)
ASKING = ("gist", "long")
"""Memories of a language model behind an endpoint."""


@dataclass(frozen=True)
class System:
    """MemoRAG with one kind of memory, `tier`, and SmartSearch's models for what clues find."""

    tools: Tools
    config: Config
    tier: str
    fingerprint: str
    asker: Asker | None = None
    remember: Callable[[Sequence[Turn], Path | None, Progress], Drafting] | None = None
    card: Card = CARD

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The memory of all turns; with a `folder`, what it has is read, and what is new is written."""
        from smartsearch.systems.kept import alone_in

        with alone_in(folder, self._name, of="memory-*") as path:
            return self._made(corpus, path, progress)

    def _made(self, corpus: Haystack, path: Path | None, progress: Progress) -> Drafting:
        turns = corpus.corpus.turns
        if self.remember is not None:
            return self.remember(turns, path, progress)
        from smartsearch.systems.memorag import notes

        assert self.asker is not None
        if self.tier == "long":
            return notes.long(turns, self.asker, self.config)
        return notes.gist(turns, path, self.asker, self.config, progress)

    def plan(self, corpus: Haystack, folder: Path | None, config: Config) -> tuple[Plan, Plan]:
        """What `prepare` would send, and what a question would."""
        from smartsearch.systems.memorag.notes import plan

        assert self.asker is not None
        path = folder / self._name if folder else None
        return plan(corpus.corpus.turns, path, self.asker, self.config, self.tier)

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns that clues of the memory and the question find."""
        from smartsearch.systems.memorag.search import search

        return search(question, corpus, cast("Drafting", memory), config, self.tools, self.tier)

    @property
    def _name(self) -> str:
        return f"memory-{self.fingerprint}.{'kv' if self.remember else 'json'}"


def card(name: str) -> Card:
    """What it is."""
    return CARD


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """MemoRAG with the models of the config's profile. Raises ConfigError, LLMError and ModelError."""
    from smartsearch.systems.pieces import digest

    own = set_in(config)
    tier = "gist" if own.memorag == "auto" else own.memorag
    model, kv = _asker(config, tier), _kv(config) if tier == "kv" else None
    loaded = tools(config)
    card = CARD if model else replace(CARD, needs="torch")
    settings: list[object] = [tier, own.memorag_ratio, 1]
    if model:
        from smartsearch.systems.memorag.notes import ROLES
        from smartsearch.systems.roles import identity

        settings += [*identity(model, ROLES), own.memorag_context, config.redact]
    elif kv:
        settings += kv[1]
    fingerprint = digest(json.dumps(settings), 8)
    return System(loaded, config, tier, fingerprint, model, kv and kv[0], card)


def _kv(config: Config) -> tuple[Callable[..., Drafting], list[str]]:
    """What makes the memory of a decoder, and what tells the decoder from others.

    Raises ConfigError, ModelError, SmartsearchError (package).
    """
    from smartsearch.errors import ConfigError
    from smartsearch.runtime import extras

    extras.require("hub", "--set memorag=kv")
    if not set_in(config).memorag_model:
        raise ConfigError(
            "--set memorag=kv needs --set memorag_model",
            hint="a folder of the checkout's `python -m recipe memorag`",
        )
    from smartsearch.systems.memorag import remembered

    decoder = remembered.held(set_in(config).memorag_model, config.cores)
    return partial(remembered.made, decoder), [decoder.trained.digest, decoder.compressor.fingerprint]


def _asker(config: Config, tier: str) -> Asker | None:
    """What the memory asks, if it does. Raises ConfigError where --llm and the memory disagree, LLMError."""
    from smartsearch.errors import ConfigError

    if (tier in ASKING) != config.llm:
        wanted = "leave out --llm" if config.llm else "add --llm, or --set memorag=kv"
        asks = "asks no" if config.llm else "asks a"
        raise ConfigError(f"--set memorag={tier} {asks} language model", hint=wanted)
    return asker(config)
