"""The records of a run: those of `batch`, with their line, and without what differs between engines."""

from __future__ import annotations

from typing import Any

from smartsearch.ask.runs.types import Answer, Input
from smartsearch.config import Config
from smartsearch.errors import SmartsearchError
from smartsearch.output import record
from smartsearch.types import Answered, Identity


def answered(outcome: Answered, config: Config, memory: Input | None = None) -> Answer:
    """The record of one line as `batch` writes it, but with `line` and without `threads` (manifest.py)."""
    value = record.outcome(outcome, config)
    value.pop("threads", None)
    whole = {"id": value.pop("id"), "line": outcome.line} | value
    return Answer(
        outcome.line, record.dumps(whole).encode(), outcome.error.kind if outcome.error else "", memory
    )


def failed(
    identity: Identity | None, line: int, error: SmartsearchError, config: Config | None = None
) -> Answer:
    """The record of a line that was not answered."""
    return answered(Answered(identity, line, error=error), config or Config())


def comparable(value: dict[str, Any]) -> bytes:
    """A record as bytes, without the times, which differ from run to run."""
    return record.dumps({key: item for key, item in value.items() if key != "timing_ms"}).encode()
