"""Groups hits into blocks with the turns around them, and shows repeated turns once. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from smartsearch.output.marking import found
from smartsearch.types import Hit, Nearby, Term, Turn, fold

MOST_TURNS = 5
"""A block stops growing at this many turns, unless the user asked for more context."""
SHORT = 5
"""A turn of so few words needs the turn before it to be understood."""
ENOUGH = 0.6
"""A folded turn may end at a sentence once it fills this share of its room."""
_ENDED = re.compile(r"([.!?]) ")
HOPPED = 0.1
"""Weight of a term found in a turn, beside 1 for a term of the question, when a long turn is folded."""


@dataclass(frozen=True)
class Block:
    """Turns of one session in the order they were said, by their index in the corpus.

    `hits` has those among them that were found, the one `at` is the best of them. `times` says how often
    the hits say the same as that one, itself included.
    """

    at: int
    turns: dict[int, Turn]
    hits: dict[int, Hit]
    times: int = 1

    @property
    def best(self) -> Hit:
        """The best hit of the block."""
        return self.hits[self.at]


def blocks(hits: Sequence[Hit], around: Sequence[Nearby] = (), *, whole: bool = False) -> list[Block]:
    """One block per hit, the best first; neighbouring hits share one, and so do hits that say the same.

    `around` has one entry per hit, or none. With `whole` all of it is shown, else only what makes a hit
    readable: its reply, and the turn before where that asks something or the hit is very short.
    """
    once, times = _once(hits)
    near = {id(hit): nearby for hit, nearby in zip(hits, around, strict=False)}
    at = {_key(hit, n): hit for n, hit in enumerate(once)}
    windows = {key: _window(key, hit, near.get(id(hit)), whole) for key, hit in at.items()}
    left = dict(at)
    made = []
    for key, hit in at.items():
        if key in left:
            turns = _joined(key, left, windows, len(at) * MOST_TURNS if whole else MOST_TURNS)
            inside = {index: left.pop(index) for index in turns if index in left}
            made.append(Block(key, dict(sorted(turns.items())), inside, times[id(hit)]))
    return made


def _key(hit: Hit, number: int) -> int:
    """The hit's index in the corpus, or a unique negative number where it has none."""
    return hit.index if hit.index >= 0 else -2 - 2 * number


def _once(hits: Sequence[Hit]) -> tuple[list[Hit], dict[int, int]]:
    """The hits that repeat no better hit, each with the number of hits that say the same."""
    first: dict[tuple[str, str], Hit] = {}
    times: dict[int, int] = {}
    for hit in hits:
        same = first.setdefault((fold(hit.turn.speaker), " ".join(fold(hit.turn.said).split())), hit)
        times[id(same)] = times.get(id(same), 0) + 1
    return list(first.values()), times


def _window(key: int, hit: Hit, around: Nearby | None, whole: bool) -> dict[int, Turn]:
    """The hit and those of the turns around it that are shown, by index."""
    before, after = (around.before, around.after) if around else ((), ())
    if not whole and before and not _asks(before[-1], hit.turn):
        before = ()
    turns = (*before, hit.shown, *after)
    shown = {key - len(before) + n: turn for n, turn in enumerate(turns)}
    return shown | {hit.reply.index: hit.reply.shown} if hit.reply else shown


def _asks(before: Turn, turn: Turn) -> bool:
    """Whether `turn` needs the turn before it to be understood."""
    return before.text.rstrip().endswith("?") or len(turn.said.split()) < SHORT


def _joined(
    key: int, left: dict[int, Hit], windows: dict[int, dict[int, Turn]], most: int
) -> dict[int, Turn]:
    """The turns of a block that begins with one hit: it grows by hits in it or next to it up to `most`."""
    turns, inside, place = dict(windows[key]), {key}, windows[key][key].place
    while len(turns) < most:
        reach = range(min(turns) - 1, max(turns) + 2)
        more = next((i for i in reach if i in left and i not in inside and left[i].turn.place == place), None)
        if more is None:
            break
        inside.add(more)
        turns |= windows[more]
    return turns


def folded(text: str, terms: Sequence[Term], room: int) -> str:
    """`text` on one line in about `room` characters: the part that holds most of the terms' weight.

    Terms of the question count before those found on the way. `…` stands for what was left out.
    """
    flat = " ".join(text.split())
    if len(flat) <= room:
        return flat
    begin = _begin(flat, terms, room)
    part = flat[begin : begin + room]
    if begin + room >= len(flat):
        return f"… {part}" if begin else part
    ends = [match.end(1) for match in _ENDED.finditer(part) if match.end(1) > ENOUGH * room]
    part = part[: ends[-1]] if ends else part[: part.rindex(" ")] if " " in part else part
    return ("… " if begin else "") + part + (" …" if ends else "…")


def _begin(flat: str, terms: Sequence[Term], room: int) -> int:
    """Where the part to show begins: at a sentence if one begins shortly before the terms, else at a word."""
    spots = found(flat, terms)
    if not spots:
        return 0
    starts, ends = [begin for (begin, _), _ in spots], [end for (_, end), _ in spots]
    lead = room // 4
    best, most = 0, -1.0
    for n, start in enumerate(starts):
        inside = spots[n : bisect_left(ends, start + room - lead, lo=n)]
        weights = {fold(term.text): term.weight if term.hop == 1 else HOPPED for _, term in inside}
        if sum(weights.values()) > most:
            best, most = start, sum(weights.values())
    if best <= lead:
        return 0
    before = flat[best - lead : best]
    sentence = re.search(r"[.!?] ", before)
    return best - lead + (sentence.end() if sentence else before.find(" ") + 1)


def short(path: str, most: int) -> str:
    """A path in `most` characters, its end."""
    return path if len(path) <= most else f"…{path[len(path) - most + 1 :]}"
