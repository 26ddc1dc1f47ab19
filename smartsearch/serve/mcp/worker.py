"""The process that reads transcripts and holds the models, and what it and the desk say to each other.

The process that speaks the protocol is another (runtime/worker.py says why).
"""

from __future__ import annotations

import contextlib
import os
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from smartsearch.ask.scope import Written
from smartsearch.config import Config
from smartsearch.errors import SmartsearchError
from smartsearch.runtime import ending
from smartsearch.runtime.work import Job, JobResult, resident_bytes
from smartsearch.runtime.worker import Tell
from smartsearch.serve.mcp.brief import Json, Reply
from smartsearch.serve.mcp.roots import Location, Roots
from smartsearch.serve.models import Models

ORPHANED = 5.0
"""Seconds beyond its time after which a worker that nobody has ended ends itself."""


@dataclass(frozen=True)
class Setup:
    """What a worker needs to know once.

    Relative paths begin at `cwd`; `loader` names what loads the models, `module:function`; `places` are the
    turns that ids stand for. An `eager` worker loads the models before it is told to.
    """

    roots: Roots
    written: Written
    config: Config
    cwd: str
    loader: str
    places: Mapping[str, Location]
    eager: bool = False


@dataclass(frozen=True)
class Order:
    """What is to be done: `load` the models, `search` or `expand`, of what, and in how many seconds."""

    what: str
    given: Json = field(default_factory=dict)
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


def begin(setup: Setup, tell: Tell) -> Callable[[Order], Job]:
    """What makes a job of an Order; of each it sends a Told."""
    from smartsearch.serve.mcp.tools import Answers

    with contextlib.suppress(OSError):
        os.chdir(setup.cwd)
    models = Models(setup.config, pkgutil.resolve_name(setup.loader))
    answers = Answers(setup.roots, setup.written, setup.config, models)
    answers.places.keep(setup.places)
    if setup.eager:
        answers.prepare()
    work: dict[str, Callable[[Any], Any]] = {
        "load": lambda _: answers.prepare(),
        "search": answers.search,
        "expand": answers.expand,
    }

    def told(result: JobResult) -> None:
        ids = result.answer.ids if isinstance(result.answer, Reply) else ()
        places = {name: answers.places[name] for name in ids}
        state = State(models.state, tuple(models.ran), resident_bytes())
        tell(Told(result.answer, result.error, places, state))
        ending.finish()  # what this order left to be written

    def job(order: Order) -> Job:
        hung = order.seconds + ORPHANED if order.seconds else 0.0
        return Job(lambda: work[order.what](SimpleNamespace(**order.given)), told, hung)

    return job
