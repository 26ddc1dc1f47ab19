"""What a memory system is: it may prepare transcripts, and it finds the turns that answer a question.

A system is a module, and a line in the table of `smartsearch/systems/__init__.py`. The module has `CARDS`, by
name what its systems are, and itself or in its `search.py` `load(config, tools)`, where `tools` loads
SmartSearch's models; it may have `shown(config)`, the name in tables where the card does not tell it.
Then `--system NAME` serves in `query`, `answer`, `batch`, `serve`, `mcp` and `bench`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from smartsearch.types import Hit, Trace, Turn

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.llm import Asker
    from smartsearch.retrieve.grep import Haystack

Needs = Literal["none", "torch", "llm", "logprobs"]
"""What a system runs on beside numpy and onnxruntime: torch, a language model, or one that gives logprobs."""
Fidelity = Literal["faithful", "approximate", "rule"]
"""How near it is to its paper: as published, with parts replaced, or a plain rule without models."""

SEEN = "Mechanism as printed, never run with the paper's weights."
RUN = "Mechanism as printed, run with SmolLM2-135M, never with the paper's weights."
"""What was seen of a published system: its card says it."""

Progress = Callable[[int, int], None]
"""Called with what is done and what there is of it, in a unit of the system's own."""


def quietly(_done: int, _of: int) -> None:
    """Report no progress."""


@dataclass(frozen=True)
class Card:
    """What a system is, known before it is loaded.

    `extras` are those of the install that it needs. `whole` says that it reads every turn: large
    transcripts are parsed for it and not scanned. `keeps` says that its memory is worth a folder in the
    user's cache. `llm` says that a language model takes its paper's place in it where the config asks for
    that: it is an `Asking` then. `uncut`: no budget cuts what it finds.
    """

    name: str
    summary: str
    paper: str = ""
    needs: Needs = "none"
    fidelity: Fidelity = "rule"
    extras: tuple[str, ...] = ()
    whole: bool = True
    keeps: bool = False
    llm: bool = False
    uncut: bool = False

    @property
    def asking(self) -> Card:
        """The card of this system when a language model runs in it."""
        return replace(self, needs="llm", fidelity="approximate")

    @property
    def shown(self) -> str:
        """Its name in answers and tables: of a published system that runs by rule not the bare one."""
        return f"{self.name}-rule" if self.paper and self.fidelity == "rule" else self.name


@dataclass(frozen=True)
class Plan:
    """An estimate of what will be sent to a language model; retries after bad replies are not counted.

    `unit` says for what, such as "9 episodes".
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    unit: str = ""

    def plus(self, other: Plan, n: int = 1) -> Plan:
        """The estimate for this and `n` times another, without a unit."""
        prompts = self.prompt_tokens + n * other.prompt_tokens
        completions = self.completion_tokens + n * other.completion_tokens
        return Plan(self.calls + n * other.calls, prompts, completions)


class Memory(Protocol):
    """What a system holds of some transcripts between questions.

    `fingerprint` tells it from every other: of the system, its settings and models, and the turns. Keys of
    kept answers, identities of runs and receipts of measurements hold it; empty, it adds nothing to them.
    """

    @property
    def fingerprint(self) -> str:
        """Hexadecimal, or empty where there is nothing but the transcripts themselves."""


class Kept(Memory, Protocol):
    """The memory of a system that `keeps`, as `smartsearch memory` shows it."""

    @property
    def statistics(self) -> Mapping[str, float]:
        """How much it holds of each kind."""

    def outline(self) -> Sequence[Mapping[str, Any]]:
        """Its parts, a row each; `turn` is the index of the first turn that one comes from, or -1."""


class Empty:
    """The memory of a system that reads the transcripts themselves."""

    fingerprint = ""


@dataclass(frozen=True)
class Ranked:
    """What a system found for a question: `systems.answer` makes a `Result` of it, cut and in order.

    `hits` are turns of the corpus, best first, whatever the system's own unit is. `trace` has its steps, what
    it ran, milliseconds by stage, and the system's own part. A cut by score keeps the hits whose index is
    `pinned`. `unread` counts turns that were found and not read. `name` is what the system calls itself in
    this answer, where its card does not say. `told` is what a reader gets before the turns, as turns
    of nobody.
    """

    hits: Sequence[Hit]
    trace: Trace
    profile: str = ""
    pinned: Set[int] = frozenset()
    unread: int = 0
    warnings: tuple[str, ...] = ()
    confidence: float | None = None
    weak: bool = False
    name: str = ""
    told: tuple[Turn, ...] = ()


@dataclass
class Clock:
    """Milliseconds by stage: `with clock("parse"): ...`."""

    spent: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Add what the block takes to `stage`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.spent[stage] = self.spent.get(stage, 0.0) + (time.perf_counter() - start) * 1000.0


class System(Protocol):
    """A memory system, its models loaded.

    It may have a `notice`: what a person should know before asking it, such as how long that takes.
    """

    @property
    def card(self) -> Card:
        """What it is."""

    @property
    def fingerprint(self) -> str:
        """What tells its answers from those of other settings and models of its own; empty for SmartSearch,
        whose settings and models every key holds anyway."""

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """The memory of all turns of `corpus.corpus`, whatever may be found of them.

        `folder` is the system's own, of these transcripts alone, for it to keep what was costly, None for
        nothing. Turns that it holds already, of an earlier state of the transcripts, are not worked on again;
        `progress` is called only where there are others. Raises SmartsearchError.
        """

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns among `corpus.indices` that answer, all of them, best first. Raises SmartsearchError."""


class Asking(System, Protocol):
    """A system with a language model in it. `asker.endpoint` belongs in its fingerprint."""

    @property
    def asker(self) -> Asker:
        """What it asks; nothing is sent by `load` nor by `plan`."""

    def plan(self, corpus: Haystack, folder: Path | None, config: Config) -> tuple[Plan, Plan]:
        """What `prepare` would send, with what `folder` holds, and what a question would after that."""


def asker(config: Config) -> Asker | None:
    """What asks the language model where the config has one. Raises LLMError."""
    if not config.llm:
        return None
    from smartsearch import llm

    return llm.asker(config)
