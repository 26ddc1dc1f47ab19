"""The memory systems, by name. A new one is a module with `CARDS` and `load`, and a line here.

A folder may have its `load` in its `search.py`, which is imported only then.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from smartsearch.errors import ConfigError
from smartsearch.runtime import extras
from smartsearch.types import STAGES, Result, paired

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.base import Asking, Card, Memory, System

_PLAIN = "smartsearch.systems.baselines"
SYSTEMS = {
    "smartsearch": "smartsearch.systems.smartsearch",
    "fixed": "smartsearch.systems.fixed",
    **dict.fromkeys(("bm25", "bm25_neighbours", "bm25_date", "minilm", "minilm_date"), _PLAIN),
    **dict.fromkeys(("bm25_minilm_rrf", "grep", "full_context"), _PLAIN),
    "xmemory": "smartsearch.systems.xmemory",
    "qrmem": "smartsearch.systems.qrmem",
    "qrranker": "smartsearch.systems.qrranker",
    "memorag": "smartsearch.systems.memorag",
}
"""By name, the module of each. The plain searches share one."""


def settings() -> list[Any]:
    """The `settings.py` of the systems that are folders and have one, in the table's order.

    Each has a dataclass `Settings`, whose fields become settings of `Config`, and may have `RANKERS`.
    """
    modules = dict.fromkeys(SYSTEMS.values())
    folders = {module: Path(__file__).with_name(module.rpartition(".")[2]) for module in modules}
    own = [module for module, folder in folders.items() if (folder / "settings.py").is_file()]
    return [import_module(f"{module}.settings") for module in own]


def _module(name: str) -> Any:
    if name not in SYSTEMS:
        raise ConfigError(f"no system named {name!r}", hint=f"one of {', '.join(SYSTEMS)}")
    return import_module(SYSTEMS[name])


def card(name: str) -> Card:
    """The card of the system of that name. Raises ConfigError for an unknown name."""
    return cast("Card", _module(name).CARDS[name])


def shown(config: Config) -> str:
    """What the config's system is called in tables, before it is loaded. Raises ConfigError."""
    named = getattr(_module(config.system), "shown", None)
    own = card(config.system)
    return str(named(config)) if named else (own.asking if config.llm else own).shown


def check(config: Config) -> None:
    """Raise ConfigError where the system is to ask a language model, and asks none."""
    if config.llm and not card(config.system).llm:
        asking = ", ".join(name for name in SYSTEMS if card(name).llm)
        hint = f"--llm goes with --system {asking}" if asking else "leave out --llm"
        raise ConfigError(f"{config.system} asks no language model", hint=hint)


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """The system that the config names, with its models; `tools` loads SmartSearch's.

    Raises ConfigError, ModelError, and SmartsearchError (kind "package") where an extra is not installed.
    """
    check(config)
    for extra in card(config.system).extras:
        extras.require(extra, f"--system {config.system}")
    module = _module(config.system)
    if not hasattr(module, "load"):
        module = import_module(f"{module.__name__}.search")
    return cast("System", module.load(config, tools))


def answer(system: System, question: str, corpus: Haystack, memory: Memory, config: Config) -> Result:
    """What a loaded system finds, cut, ordered and told as `config` says. Raises SmartsearchError."""
    from smartsearch.models.loading import tokenizer
    from smartsearch.rank.excerpts import excerpted
    from smartsearch.rank.truncate import truncate

    began, question = time.perf_counter(), paired(question)
    asker = cast("Asking", system).asker if config.llm else None
    before = asker.spent if asker else None
    ranked = system.search(question, corpus, memory, config)
    found = time.perf_counter()
    cut = replace(config, truncate="none") if system.card.uncut else config
    excerpt = None if config.whole or system.card.uncut else partial(excerpted, question)
    kept, budget = truncate(ranked.hits, cut, tokenizer(), ranked.pinned, excerpt)
    if config.order == "time":
        kept = tuple(sorted(kept, key=lambda hit: (hit.turn.time, hit.index)))
    ended = time.perf_counter()
    spent = {"truncate": (ended - found) * 1000.0, "total": (ended - began) * 1000.0}
    trace = replace(
        ranked.trace,
        timing_ms=dict.fromkeys(STAGES, 0.0) | ranked.trace.timing_ms | spent,
        cost=(asker.spent - before).cost if asker and before else ranked.trace.cost,
    )
    return Result(
        question,
        ranked.profile,
        kept,
        replace(budget, unread=ranked.unread),
        trace,
        config.cores,
        warnings=(*ranked.warnings, *budget.warnings),
        system=ranked.name or system.card.shown,
        confidence=ranked.confidence,
        weak=ranked.weak,
        told=ranked.told,
    )
