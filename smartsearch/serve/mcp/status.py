"""What `status` tells. A process of its own looks up what is on the disk, beside a search."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Protocol

import smartsearch
from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.errors import CacheError
from smartsearch.output.record import dumps
from smartsearch.runtime.work import resident_bytes
from smartsearch.serve.mcp import brief
from smartsearch.serve.mcp.brief import Json, Reply
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.files import Limits, find, load, size

LOOKING = 10.0
"""Seconds after which `status` does without what has to be looked up."""
DETECTED, DETECTED_BYTES, DETECTING = 200, 8 << 20, 2.0
"""Files whose format is looked up at most, the largest of them, and the seconds that may take."""


class Desk(Protocol):
    """What is told of a Desk (desk.py)."""

    state: Any
    busy: bool
    waiting: int
    served: int


def looked(roots: Sequence[str], scope: Scope, config: Config) -> Json:
    """What files there are, and what is kept on disk."""
    return {**_counted(roots, scope), "index": _indexes(roots), "cache": _cache(config)}


def unseen(roots: Sequence[str], why: str) -> Json:
    """The same keys, if it could not be looked up."""
    rows = [{"path": root} for root in roots]
    return {
        **{"roots": rows, "formats": {}, "formats_counted": 0, "index": [], "cache": {"state": "not known"}},
        "notes": [f"files were not counted: {why}"],
    }


def told(seen: Json, config: Config, seconds: float, desk: Desk) -> Reply:
    """What is served, what is loaded, what is kept on disk, and the limits."""
    record: Json = {
        "version": smartsearch.__version__,
        "profile": config.profile,
        "models_state": desk.state.models,
        "models": list(desk.state.ran),
        **seen,
        "warm": {
            "working": desk.busy,
            "waiting": desk.waiting,
            "served": desk.served,
            "rss_bytes": resident_bytes() + desk.state.rss_bytes,
        },
        "limits": {
            "seconds": seconds,
            "result_characters": brief.RESULT_CHARACTERS,
            "at_once": 1,
        },
    }
    return Reply(record, dumps(record, indent=True))


def _counted(roots: Sequence[str], scope: Scope) -> Json:
    """Files and bytes by root, and the formats of the first files."""
    selection = scope.selection
    rows, formats = [], Counter[str]()
    until, seen = time.monotonic() + DETECTING, 0
    for root in roots:
        files = [f for f in find([root], selection) if isinstance(f, str)]
        rows.append({"path": root, "files": len(files), "bytes": sum(map(size, files))})
        for path in files:
            if seen < DETECTED and time.monotonic() < until:
                formats[_format_of(path)] += 1
                seen += 1
    return {"roots": rows, "formats": dict(formats.most_common()), "formats_counted": seen}


def _indexes(roots: Sequence[str]) -> list[Json]:
    from smartsearch.transcripts.large import indexing

    try:
        return [asdict(held) for held in indexing.held(roots)]
    except CacheError as error:
        return [{"state": error.message}]


def _cache(config: Config) -> Json:
    from smartsearch.rank.cache import vector_store

    try:
        return {**asdict(vector_store.usage()), "limit": config.cache_bytes}
    except (CacheError, OSError) as error:
        return {"state": str(error)}


def _format_of(path: str) -> str:
    from smartsearch.transcripts import detect
    from smartsearch.transcripts.decode import decode
    from smartsearch.transcripts.source import Source

    try:
        text = decode(load(path, None, Limits(file=DETECTED_BYTES))).text
        return detect(Source(path, text)).name if text.strip() else "empty"
    except FormatError as error:
        return "not looked at: large" if error.kind == "too_large" else "unreadable"
    except (OSError, RecursionError):
        return "unreadable"
