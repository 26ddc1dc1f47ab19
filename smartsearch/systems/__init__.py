"""The memory systems, by name. A new one is a module with `CARD` and `load`, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from smartsearch.config import Config
from smartsearch.errors import ConfigError
from smartsearch.runtime import extras

if TYPE_CHECKING:
    from smartsearch.models.tools import Tools
    from smartsearch.systems.base import Card, System

SYSTEMS = {
    "smartsearch": "smartsearch.systems.smartsearch",
    "bm25": "smartsearch.systems.bm25",
    "bm25_neighbours": "smartsearch.systems.bm25_neighbours",
    "minilm": "smartsearch.systems.minilm",
    "grep": "smartsearch.systems.grep",
}


def _module(name: str) -> Any:
    if name not in SYSTEMS:
        raise ConfigError(f"no system named {name!r}", hint=f"one of {', '.join(SYSTEMS)}")
    return import_module(SYSTEMS[name])


def card(name: str) -> Card:
    """What the system of that name is. Raises ConfigError where there is none."""
    found: Card = _module(name).CARD
    return found


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """The system that the config names, with its models; `tools` loads SmartSearch's.

    Raises ConfigError, ModelError, and SmartsearchError (kind "package") where an extra is not installed.
    """
    module = _module(config.system)
    if module.CARD.extra:
        extras.require(module.CARD.extra, f"--system {config.system}")
    system: System = module.load(config, tools)
    return system
