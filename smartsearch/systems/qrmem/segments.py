"""The static memory: conversations cut into segments of whole turns, verbatim."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from smartsearch.rank.windows import pieces
from smartsearch.types import Turn

SEGMENT_TOKENS = 600
"""The paper's size, whose unit it does not name; ours are tokens, counted as pieces (rank/windows.py). A
longer turn is a segment alone."""


@dataclass(frozen=True)
class Segments:
    """Each segment's turns by index, ascending, and the tokens of every turn, whatever the question."""

    turns: tuple[tuple[int, ...], ...]
    tokens: tuple[int, ...]
    fingerprint: str = ""

    @cached_property
    def of_turn(self) -> list[int]:
        """The segment of every turn."""
        return [number for number, turns in enumerate(self.turns) for _ in turns]


def segmented(
    turns: Sequence[Turn], count: Callable[[str], int] = pieces, most: int = SEGMENT_TOKENS
) -> Segments:
    """Runs of turns of one conversation, of at most `most` tokens by `count` unless one turn has more."""
    tokens = tuple(count(turn.rendered) for turn in turns)
    runs: list[list[int]] = []
    room = 0
    for index, turn in enumerate(turns):
        before = turns[index - 1] if index else None
        same = before is not None and (before.path, before.conversation) == (turn.path, turn.conversation)
        if not same or tokens[index] > room:
            runs.append([])
            room = most
        runs[-1].append(index)
        room -= tokens[index]
    return Segments(tuple(map(tuple, runs)), tokens)
