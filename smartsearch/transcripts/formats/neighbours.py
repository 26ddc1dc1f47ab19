"""JSON files beside a transcript that say who and where: names only, so a broken one costs no turn."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeVar

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.jsontext import documents
from smartsearch.transcripts.source import Source

T = TypeVar("T")


def value_beside(source: Source, name: str) -> Any:
    """The JSON value of the file `name` beside a transcript; None where there is none that parses."""
    return made_beside(source, name, parsed)


def made_beside(source: Source, name: str, make: Callable[[str], T]) -> T | None:
    """What `make` makes of the file `name` beside a transcript, once for all files of an export."""
    written = source.beside(name)
    return _made(written, make) if written else None


@lru_cache(maxsize=16)
def _made(written: str, make: Callable[[str], T]) -> T:
    return make(written)


def parsed(written: str) -> Any:
    """The JSON value of a text; None where it does not parse."""
    try:
        found = documents(written, ".json")
    except FormatError:
        return None
    return found.items[0].value if found.items else None
