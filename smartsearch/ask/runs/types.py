"""The records that the parts of a run hand each other, which can be pickled."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from smartsearch.ask.scope import Scope, Written
    from smartsearch.config import Config

LIMIT = 600.0
"""Seconds for one file or one question; after that its worker counts as hung."""

TRIES = 3
"""A file or question is given up after it has ended its worker, or taken too long, this often in a row."""
GRACE = 5.0
"""Seconds beyond a limit after which a worker that has not come back ends itself."""


@dataclass(frozen=True)
class Item:
    """One line of the questions file: its number (1-based) and its bytes without the line end."""

    line: int
    raw: bytes


@dataclass(frozen=True)
class Task:
    """Lines that search the same places, or neighbouring ones. A worker does one task at a time."""

    number: int
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Input:
    """A file that was read; or a `memory`, by its fingerprint: what a system made of the files at `path`."""

    path: str
    sha256: str
    memory: bool = False


@dataclass(frozen=True)
class Answer:
    """What became of one line: its record as JSON on one line, and the kind of its error if it failed.

    `memory` is what the system found it in, None where it keeps none.
    """

    line: int
    record: bytes
    kind: str = ""
    memory: Input | None = None


@dataclass(frozen=True)
class Report:
    """A task that is done: answers, files read, workers that died of it, a worker's peak memory in bytes."""

    task: int
    answers: tuple[Answer, ...]
    inputs: tuple[Input, ...] = ()
    deaths: int = 0
    peak: int = 0


@dataclass(frozen=True)
class Setup:
    """What every worker needs to know once.

    Relative paths begin at `cwd`. `loader` names what loads the models, `module:function`. `limit` is in
    seconds, for one file and for one question.
    """

    config: Config
    source: Scope
    filters: Written
    cwd: str
    limit: float = LIMIT
    loader: str = "smartsearch.models.loading:load_ready"
