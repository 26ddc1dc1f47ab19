"""Places out of what our commands printed: JSON of `query` and `batch`, or their lines. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from smartsearch.errors import InputError
from smartsearch.transcripts.places import Place


def read_hits(text: str, placed: Callable[[str], Place]) -> list[Place]:
    """The places in `text`: one JSON result, JSONL of results or of hits, or lines that begin with a place.

    `placed` makes a place of a line. Lines of context and those that are no place are passed by where others
    are. Raises InputError: for a search that failed, for JSON without hits, and where nothing is a place.
    """
    values = list(_values(text))
    if values:
        return [_place(hit) for value in values for hit in _hits(value)]
    lines = [line for line in text.splitlines() if line.strip() and line != "--"]
    places = [place for line in lines if (place := _tried(line, placed)) is not None]
    if lines and not places:
        placed(lines[0])
    return places


def _tried(line: str, placed: Callable[[str], Place]) -> Place | None:
    try:
        return placed(line)
    except InputError:
        return None


def _values(text: str) -> Iterator[Any]:
    """The JSON values of a document or of JSONL; none of text that is no JSON. Raises InputError."""
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
