"""What several systems make of transcripts: segments of whole turns, episodes, and their keys."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from itertools import pairwise

from smartsearch.rank.windows import pieces
from smartsearch.text.parse import stop_words, words
from smartsearch.types import Turn

SEGMENT_TOKENS = 600
"""QRMeM's size, whose unit its paper does not name; ours are tokens, counted as pieces (rank/windows.py). A
longer turn is a segment alone."""

GAP_MINUTES = 30.0
"""Silence that ends an episode."""
LONGEST = 12
"""Messages of an episode at most; the paper's are usually up to 10 or 15."""
SHORTEST = 4
"""Messages that an episode has before its words alone may end it."""
AHEAD = 3
"""Messages whose words are compared with those of the episode so far."""
RELATED = 0.1
"""Share of their words that the episode must have had; the paper asks a model for 30% relevance."""
TELLING = 6
"""Different words that both sides need for that."""
_TURNING = re.compile(
    r"\W*(?:by the way|btw|anyway|anyways|on another note|changing the subject|speaking of which|new topic"
    r"|one more thing|different question|unrelated|before i forget)\b",
    re.I,
)
"""How people begin another topic."""


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
    places = [(turn.path, turn.conversation) for turn in turns]
    runs = packed(tokens, most, lambda index: places[index] != places[index - 1])
    return Segments(tuple(map(tuple, runs)), tokens)


def packed(
    sizes: Sequence[int], most: int, apart: Callable[[int], bool] = lambda _: False
) -> list[list[int]]:
    """Places of neighbours, packed until the next would bring them over `most`; a larger one stands alone.

    One that is `apart` from that before it begins a run.
    """
    runs: list[list[int]] = []
    room = 0
    for place, size in enumerate(sizes):
        if not runs or size > room or apart(place):
            runs.append([])
            room = most
        runs[-1].append(place)
        room -= size
    return runs


def spans(turns: Sequence[Turn]) -> list[range]:
    """The episodes of a corpus as runs of turns, in order; every turn is in one."""
    said = [frozenset(word for word in words(turn.said) if len(word) > 2) - stop_words() for turn in turns]
    starts = [0] if turns else []
    for at in range(1, len(turns)):
        if _ends(turns, said, starts[-1], at):
            starts.append(at)
    return [range(*ends) for ends in pairwise([*starts, len(turns)])]


def _ends(turns: Sequence[Turn], said: Sequence[frozenset[str]], start: int, at: int) -> bool:
    """Whether the episode that began at `start` ends before the turn `at`."""
    before, turn = turns[at - 1], turns[at]
    if turn.place != before.place or at - start >= LONGEST or _minutes(before, turn) > GAP_MINUTES:
        return True
    if at - start > 1 and _TURNING.match(turn.text):
        return True
    if at - start < SHORTEST:
        return False
    following = [n for n in range(at, min(at + AHEAD, len(turns))) if turns[n].place == turn.place]
    so_far, coming = frozenset().union(*said[start:at]), frozenset().union(*(said[n] for n in following))
    telling = min(len(so_far), len(coming)) >= TELLING
    return telling and len(so_far & coming) < RELATED * len(coming)


def _minutes(before: Turn, after: Turn) -> float:
    """Minutes between two turns; 0 where their times do not tell."""
    try:
        passed = datetime.fromisoformat(after.time) - datetime.fromisoformat(before.time)
    except (ValueError, TypeError):  # no time, or one with an offset and one without
        return 0.0
    return passed.total_seconds() / 60.0


def keys(turns: Sequence[Turn], runs: Sequence[range]) -> list[str]:
    """What tells each episode from all others: what was said in it, by whom and when, wherever it stands.

    Of several that say the same, the second and further are numbered.
    """
    seen: Counter[str] = Counter()
    made = []
    for run in runs:
        key = key_of(turns[run.start : run.stop])
        made.append(f"{key}-{seen[key]}" if seen[key] else key)
        seen[key] += 1
    return made


def key_of(turns: Sequence[Turn]) -> str:
    """What tells messages from others: what was said, by whom and when."""
    return digest("".join(repr((turn.speaker, turn.time, turn.said)) for turn in turns))


def digest(text: str, size: int = 12) -> str:
    """What tells a text from others, of so many bytes in hexadecimal."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def first_line(turn: Turn) -> str:
    """The beginning of what was said, at most 80 characters: what an episode is called by rule."""
    said = " ".join(turn.said.split())
    return said if len(said) <= 80 else f"{said[:77]}..."
