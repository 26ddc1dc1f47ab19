"""The turns around a hit in its session: for -A, -B and -C, and for what others began and a hit ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from smartsearch.types import Corpus, Hit, Nearby, Turn

BEFORE, AFTER = 64, 2
"""Turns in which what goes on in a turn may have begun, and may end."""


def runs(corpus: Corpus, indices: Iterable[int]) -> Iterator[list[Turn]]:
    """The turns at `indices` with `BEFORE` and `AFTER` more, each once, as runs of one session each."""
    turns = corpus.turns
    wanted = {n for at in indices for n in range(max(at - BEFORE, 0), min(at + AFTER + 1, len(turns)))}
    run: list[Turn] = []
    for n in sorted(wanted):
        turn = turns[n]
        if run and (n - 1 not in wanted or turn.place != run[-1].place):
            yield run
            run = []
        run.append(turn)
    if run:
        yield run


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
