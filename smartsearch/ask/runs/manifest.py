"""What a run folder says of itself: inputs with hashes, settings, models, counts, failures and time."""

from __future__ import annotations

import hashlib
import platform
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from datetime import datetime, timezone
from typing import Any

import orjson

from smartsearch import __version__
from smartsearch.ask import batch
from smartsearch.ask.runs.plan import Plan, Shard
from smartsearch.ask.runs.records import comparable
from smartsearch.ask.runs.storage import shown
from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.output import record
from smartsearch.transcripts.filters import NAMES

SCHEMA_VERSION = 1
LISTED = 1000
"""Failures and skipped files that are listed; all are counted."""
Json = dict[str, Any]


_SEVERAL = ("conversation", "session", "only_speaker", "role")
"""The filters that take several names, which a plan names with an s behind."""


def identity(plan: Plan, shard: Shard, source: Scope, config: Config, models: dict[str, str]) -> Json:
    """What must not change for a run to go on: all that an answer depends on, except the transcripts."""
    questions = plan.questions
    searched = {name: value for name, value in vars(source).items() if name not in ("indexed", "own")}
    del searched["filters"]
    searched |= {f"{name}s" if name in _SEVERAL else name: getattr(source.filters, name) for name in NAMES}
    made = {
        "schema_version": SCHEMA_VERSION,
        "tool_version": __version__,
        "questions": {
            "path": str(questions.path),
            "bytes": questions.bytes,
            "sha256": questions.sha256,
            "lines": len(questions),
        },
        "shard": {"number": shard.number, "of": shard.of, "task_lines": plan.size},
        "source": {**searched, "paths": [shown(path) for path in source.paths]},
        "config": batch.settings(config),
        "models": models,
    }
    whole: Json = orjson.loads(record.dumps(made))  # with lists for tuples, as a plan that was read back
    return whole


@dataclass
class Tally:
    """Sums up the records of a run."""

    answered: int = 0
    found: int = 0  # answered with at least one turn
    failed: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    failures: list[Json] = field(default_factory=list)
    skipped: dict[tuple[str, str, str], None] = field(default_factory=dict)
    search_ms: float = 0.0

    def __post_init__(self) -> None:
        self._whole, self._comparable = hashlib.sha256(), hashlib.sha256()

    def counting(self, records: Iterable[bytes]) -> Iterator[bytes]:
        """The same records, counted as they pass."""
        for raw in records:
            self._add(raw)
            yield raw

    def _add(self, raw: bytes) -> None:
        value = orjson.loads(raw)
        self._whole.update(raw + b"\n")
        self._comparable.update(comparable(value) + b"\n")
        failure = value.get("error")
        if failure is None:
            self.answered += 1
            self.found += bool(value["hits"])
            self.search_ms += value["timing_ms"].get("total", 0.0)
            self.skipped.update(((s["path"], s["kind"], s["reason"]), None) for s in value["skipped"])
            return
        self.failed += 1
        self.kinds[failure["kind"]] += 1
        if len(self.failures) < LISTED:
            self.failures.append({"id": value["id"], "line": value["line"], **failure})

    def counts(self, lines: int) -> Json:
        """Lines in, records out, and what they say."""
        return {
            "in": lines,
            "out": self.answered + self.failed,
            "answered": self.answered,
            "with_hits": self.found,
            "failed": self.failed,
            "failed_by_kind": dict(sorted(self.kinds.items())),
            "skipped_transcripts": len(self.skipped),
        }

    def digests(self) -> Json:
        """Hashes of all records in order: as they are, and without what differs from run to run."""
        return {"sha256": self._whole.hexdigest(), "sha256_without_timing": self._comparable.hexdigest()}

    def details(self) -> Json:
        """Failures and skipped files, LISTED of each."""
        keys = ("path", "kind", "reason")
        skipped = [dict(zip(keys, one)) for one in sorted(self.skipped)[:LISTED]]
        return {"failures": self.failures, "skipped": skipped}


@dataclass
class Session:
    """One process at work on a run: when, where, with what, and how much it did."""

    engine: str
    workers: int
    threads: int
    started: str = field(default_factory=lambda: now())
    host: str = field(default_factory=platform.node)
    python: str = field(default_factory=platform.python_version)
    ended: str = ""
    seconds: float = 0.0
    done: int = 0
    worker_deaths: int = 0
    worker_peak_bytes: int = 0

    def value(self) -> Json:
        """As JSON, with questions per second."""
        rate = round(self.done / self.seconds, 3) if self.seconds else 0.0
        return {**asdict(self), "seconds": round(self.seconds, 1), "per_second": rate}


def now() -> str:
    """The time in UTC, ISO 8601, in seconds."""
    return datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
