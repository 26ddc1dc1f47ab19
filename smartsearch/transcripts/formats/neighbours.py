"""JSON files beside a transcript that say who and where: names only, so a broken one costs no turn."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.jsontext import documents
from smartsearch.transcripts.source import Source


def value_beside(source: Source, name: str) -> Any:
    """The JSON value of the file `name` beside a transcript; None where there is none that parses."""
    written = source.beside(name)
    return _parsed(written) if written else None


@lru_cache(maxsize=8)
def _parsed(written: str) -> Any:
    try:
        found = documents(written, ".json")
    except FormatError:
        return None
    return found.items[0].value if found.items else None
