"""What the process that speaks the protocol and its worker say to each other (worker.py)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from smartsearch.ask.scope import Written
from smartsearch.config import Config
from smartsearch.errors import SmartsearchError
from smartsearch.serve.mcp.brief import Json
from smartsearch.serve.mcp.roots import Location, Roots


@dataclass(frozen=True)
class Setup:
    """What a worker needs to know once.

    Relative paths begin at `cwd`; `loader` names what loads the models, `module:function`; `places` are the
    turns that ids stand for.
    """

    roots: Roots
    written: Written
    config: Config
    cwd: str
    loader: str
    places: Mapping[str, Location]


@dataclass(frozen=True)
class Order:
    """What is to be done: `load` the models, `search`, `expand` or `look`, and in how many seconds."""

    what: str
    given: Any = None
    seconds: float = 0.0


@dataclass(frozen=True)
class State:
    """What a worker holds."""

    models: str = "not loaded"
    ran: tuple[Json, ...] = ()
    rss_bytes: int = 0


@dataclass(frozen=True)
class Told:
    """What came of an order: an answer or an error, the ids that stand in it, and what is loaded now."""

    answer: Any = None
    error: SmartsearchError | None = None
    places: dict[str, Location] = field(default_factory=dict)
    state: State = State()
