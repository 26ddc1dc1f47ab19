"""`smartsearch cache`: ColBERT's vectors of turns that are kept on disk: fill, show, clear."""

from __future__ import annotations

from typing import TYPE_CHECKING

from smartsearch.cli.groups import AsJson, Paths, group
from smartsearch.errors import ExitCode
from smartsearch.output import show, stream
from smartsearch.runtime import ending

if TYPE_CHECKING:
    from smartsearch.rank.cache.vector_store import Usage

cache = group("Show, fill or clear the vectors of turns that are kept for the next questions.")

AT_ONCE = 400
"""Turns that are read between two words about how far it is."""


@cache.command()
def status(json: AsJson = False) -> int:
    """Show where the cache lies, what it holds, and how many bytes it may take (0: it is off)."""
    from smartsearch.config import build
    from smartsearch.rank.cache import vector_store

    limit = build().cache_bytes
    _print(vector_store.usage(), json, limit=limit)
    return ExitCode.FOUND


@cache.command()
def clear(json: AsJson = False) -> int:
    """Remove what the cache holds, and show what that was."""
    from smartsearch.rank.cache import vector_store

    _print(vector_store.clear(), json)
    return ExitCode.FOUND


@cache.command()
def fill(
    paths: Paths = None,
    json: AsJson = False,
) -> int:
    """Read the turns of PATH ahead, some 400 a second, so that no question has to.

    A question reads the some hundred likeliest turns; those that were read before cost it nothing.
    """
    from smartsearch.ask.library import Library
    from smartsearch.ask.scope import Written
    from smartsearch.config import build
    from smartsearch.errors import UsageError
    from smartsearch.models.loading import load_tools
    from smartsearch.rank.cache import vector_store
    from smartsearch.rank.meaning import read_ahead

    config = build()
    if not config.cache_bytes:
        raise UsageError("the cache is off", hint="leave out SMARTSEARCH_CACHE=off and --no-cache")
    colbert = load_tools(config).scorers.get("colbert")
    if colbert is None or colbert.vectors is None:
        raise UsageError(f"profile {config.profile} keeps no vectors", hint="--profile embedded")
    haystack = Library().haystack(Written().scope(paths, config))
    with stream.counted("reading ahead") as tell:
        left = len(haystack)
        while left:
            left = read_ahead(haystack, colbert, AT_ONCE)
            tell(len(haystack) - left, len(haystack))
    ending.finish()  # what was read is written
    _print(vector_store.usage(), json, limit=config.cache_bytes)
    return ExitCode.FOUND


def _print(usage: Usage, as_json: bool, **more: object) -> None:
    from smartsearch.rank.cache.vector_store import home

    show.table("cache", [{"path": str(home()), **vars(usage), **more}], as_json=as_json)
