"""The turns around a hit: those just before and after it in the same session, for -A, -B and -C."""

from __future__ import annotations

from collections.abc import Sequence

from smartsearch.types import Corpus, Hit, Nearby, Turn


def nearby(corpus: Corpus, hits: Sequence[Hit], before: int = 0, after: int = 0) -> list[Nearby]:
    """One entry a hit: up to `before` and `after` turns of its own session."""
    return [_around(corpus.turns, hit.index, before, after) for hit in hits]


def _around(turns: Sequence[Turn], at: int, before: int, after: int) -> Nearby:
    first = at
    while first > 0 and at - first < before and turns[first - 1].place == turns[at].place:
        first -= 1
    last = at
    while last + 1 < len(turns) and last - at < after and turns[last + 1].place == turns[at].place:
        last += 1
    return Nearby(at, tuple(turns[first:at]), tuple(turns[at + 1 : last + 1]))
