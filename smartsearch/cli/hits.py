"""Reads places from what our commands printed: JSON of `query` and `batch`, their lines, numbers of hits."""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from smartsearch.errors import CacheError, InputError, UsageError
from smartsearch.runtime import private
from smartsearch.transcripts.places import Place
from smartsearch.types import Turn

_HIT = re.compile(r"((?![^:]*-\d+-)[^:]{1,500}:\d{1,9}):")
"""The beginning of a line of ours and of `rg -n`, but not of a line of context (`path-12-text`)."""
KEPT = 8
"""Last searches that are kept, one of each terminal."""
SAID = 200
"""Characters of a hit that are kept, to find it again where its file has grown."""


def read_hits(
    text: str, placed: Callable[[str], Place], lost: Callable[[str], None] = lambda _: None
) -> list[Place]:
    """The places in `text`: one JSON result, JSONL of results or of hits, or lines that begin with a place.

    `placed` makes a place of a line. Lines of context and lines without a place are skipped where others have
    one; `lost` is told the place of a missing file. Raises InputError: for a search that failed,
    for JSON without hits, and where nothing is a place.
    """
    values = list(_values(text))
    if values:
        return [_place(hit) for value in values for hit in _hits(value)]
    lines = [line for line in text.splitlines() if line.strip() and line != "--"]
    tried = [(line, _tried(line, placed)) for line in lines]
    places = [place for _, place in tried if place is not None]
    if lines and not places:
        placed(lines[0])
    for line, place in tried:
        if place is None and (found := _HIT.match(line)):
            lost(found[1])
    return places


def _tried(line: str, placed: Callable[[str], Place]) -> Place | None:
    try:
        return placed(line)
    except InputError:
        return None


def _values(text: str) -> Iterator[Any]:
    """The JSON values of a document or of JSONL, none for other text. Raises InputError."""
    if not text.lstrip().startswith(("{", "[")):
        return
    try:
        yield json.loads(text)
        return
    except (ValueError, RecursionError):
        pass
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield json.loads(line)
            except (ValueError, RecursionError):
                raise InputError(
                    f"line {number} of standard input is not JSON", hint="pipe the output of --json here"
                ) from None


def _hits(value: Any) -> list[Any]:
    """The hits of a result, of a list of hits, or a hit itself. Raises InputError."""
    if isinstance(value, list):
        return [hit for one in value for hit in _hits(one)]
    if isinstance(value, dict):
        if isinstance(value.get("error"), dict):
            said = value["error"].get("message", "no message")
            raise InputError(f"the search before the pipe failed: {said}")
        if isinstance(value.get("hits"), list):
            return list(value["hits"])
        if isinstance(value.get("path"), str):
            return [value]
    raise InputError("standard input has no hits", hint="smartsearch query ... --json | smartsearch show -")


def _place(hit: Any) -> Place:
    """The place of a hit. Raises InputError."""
    path, line = (hit.get("path"), hit.get("line", 0)) if isinstance(hit, dict) else (None, 0)
    if not isinstance(path, str) or isinstance(line, bool) or not isinstance(line, int):
        raise InputError("a hit on standard input has no path", hint="pipe the output of --json here")
    pointer, text = hit.get("pointer"), hit.get("text")
    said = text if isinstance(text, str) else ""
    return Place(path, line, line, pointer if isinstance(pointer, str) else "", text=said)


def remember(question: str, turns: Sequence[Turn], *, exact: bool) -> None:
    """Keep the places of the hits that a screen has numbered, for `show 2`, in the user's private cache.

    `exact` says that their texts are as the files have them, not masked.
    """
    kept = [
        {"path": t.path, "line": t.line, "pointer": t.pointer, "text": t.text[:SAID] if exact else ""}
        for t in turns
    ]
    with contextlib.suppress(OSError, CacheError):  # a search does without it
        folder = _folder()
        private.make(folder)
        others = sorted(folder.iterdir(), key=lambda file: file.stat().st_mtime, reverse=True)
        for old in others[KEPT - 1 :]:
            old.unlink()
        file = folder / f"{os.getsid(0)}.json"
        file.unlink(missing_ok=True)
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            json.dump({"folder": str(Path.cwd()), "query": question, "hits": kept}, opened)


def last(number: int) -> tuple[str, Place]:
    """The question of this terminal's last search, else of the last of all, and its hit of that number.

    Raises UsageError where there is no such hit.
    """
    try:
        files = sorted(_folder().iterdir(), key=lambda file: file.stat().st_mtime)
        own = _folder() / f"{os.getsid(0)}.json"
        kept = json.loads((own if own in files else files[-1]).read_bytes())
        places, folder, query = [_place(hit) for hit in kept["hits"]], kept["folder"], str(kept["query"])
    except (OSError, CacheError, ValueError, LookupError, TypeError, InputError):
        hint = f"smartsearch query ... on a terminal numbers its hits; a file of that name is ./{number}"
        raise UsageError(f"there is no search that {number} could be a hit of", hint=hint) from None
    if not 0 < number <= len(places):
        raise UsageError(f"the last search has no hit {number}", hint=f"1 to {len(places)}")
    place = places[number - 1]
    if place.path != "-" and folder != str(Path.cwd()):
        place = replace(place, path=os.path.join(folder, place.path))  # noqa: PTH118 - as it was typed
    return query, place


def _folder() -> Path:
    return private.home("last") / "searches"
