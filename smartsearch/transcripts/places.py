"""Places as our output prints them, and the turns at them: `path:LINE`, `path#POINTER`, `path@NAME`. Pure.

A place is written in one string, and every mark in it (`:`, `#`, `@`) can also be part of a file's name:
`readings` gives every way to read it, and who can look at the disk takes the first whose file is there.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from smartsearch.types import Turn

_MARKS = re.compile("[:#@]")
_LINES = re.compile(r":([1-9]\d{0,15})(?:-([1-9]\d{0,15}))?(#/[^\n]*|#)?(?::.*)?", re.DOTALL)
_POINTER = re.compile(r"#(/.*)?", re.DOTALL)
_NAME = re.compile(r"@(.+)", re.DOTALL)
_NAMED_AT_MOST = 20_000
"""Names that a misspelt one is compared with: difflib takes a second for these."""


@dataclass(frozen=True)
class Place:
    """What was asked for: a file, and in it lines, a JSON pointer (RFC 6901), or a name; none: all of it.

    `first` and `last` are 1-based lines, 0 for none; `name` a turn's id, a session's or a conversation's.
    `text` is what a hit said that stands for this place.
    """

    path: str
    first: int = 0
    last: int = 0
    pointer: str | None = None
    name: str = ""
    text: str = ""

    @property
    def whole(self) -> bool:
        """Whether the file alone was named."""
        return not self.first and self.pointer is None and not self.name

    def __str__(self) -> str:
        lines = f":{self.first}" + (f"-{self.last}" if self.last > self.first else "") if self.first else ""
        pointer = "" if self.pointer is None or (lines and not self.pointer) else f"#{self.pointer}"
        return f"{self.path}{lines}{pointer}" + (f"@{self.name}" if self.name else "")


def readings(text: str) -> Iterator[Place]:
    """Every way to read `text` as a place, the longest path first; a whole line of our output is one too."""
    yield Place(text)
    for mark in reversed([found.start() for found in _MARKS.finditer(text)]):
        path, rest = text[:mark], text[mark:]
        if not path:
            continue
        if lines := _LINES.fullmatch(rest):
            first = int(lines[1])
            pointer = lines[3][1:] if lines[3] else None
            yield Place(path, first, max(int(lines[2] or 0), first), pointer)
        elif pointed := _POINTER.fullmatch(rest):
            yield Place(path, pointer=pointed[1] or "")
        elif named := _NAME.fullmatch(rest):
            yield Place(path, name=named[1])


@dataclass(frozen=True)
class Found:
    """The turns at a place, by index. `exact` is False for the one before the place, where none is at it.

    Where nothing can be shown, `nearest` is the index of the turn that comes closest, or -1. `note` says
    what was not as asked.
    """

    indices: tuple[int, ...] = ()
    exact: bool = True
    nearest: int = -1
    note: str = ""


def find(turns: Sequence[Turn], place: Place) -> Found:
    """The turns at `place`, which names a file whose turns these are."""
    if place.whole:
        return Found(tuple(range(len(turns))))
    if place.name:
        return _named(turns, place.name)
    if place.text:
        return _said(turns, place)
    if place.first and place.pointer is not None:
        found = _pointed([(i, t) for i, t in enumerate(turns) if t.line == place.first], place.pointer)
        return found if found.indices else _on_lines(turns, place.first, place.last)
    if place.first:
        return _on_lines(turns, place.first, place.last)
    return _pointed(list(enumerate(turns)), place.pointer or "")


def _on_lines(turns: Sequence[Turn], first: int, last: int) -> Found:
    """Turns that stand on some of these lines: those that begin there, and the one that `first` is within."""
    starts = sorted((turn.line, i) for i, turn in enumerate(turns) if turn.line)
    if not starts:
        return Found(nearest=0 if turns else -1, note="this file's places are no lines")
    at = bisect_right(starts, (first - 1, len(turns)))
    begun = [i for line, i in starts[at:] if line <= last]
    before = starts[at - 1][1] if at else -1
    if before >= 0 and (not begun or turns[begun[0]].line > first):
        end = turns[before].line + turns[before].text.count("\n")  # as far as its text tells
        begun = [before, *begun] if first <= end else begun
    if begun:
        return Found(tuple(sorted(begun)))
    if before < 0:
        return Found(nearest=starts[0][1])
    if at == len(starts):
        return Found(nearest=before)
    return Found((before,), exact=False)


def _pointed(turns: Sequence[tuple[int, Turn]], pointer: str) -> Found:
    """The turn at a pointer, those below it, or the one it points into.

    After a `:` a pasted line of output may go on.
    """
    wanted = pointer.rstrip("/")
    pieces = wanted.split(":")
    for n in range(len(pieces), 0, -1):
        target = ":".join(pieces[:n])
        if found := tuple(i for i, turn in turns if _within(turn.pointer, target) and turn.pointer):
            return Found(found)
        if found := tuple(i for i, turn in turns if turn.pointer and _within(target, turn.pointer)):
            return Found(found)
    if not any(turn.pointer for _, turn in turns):
        return Found(nearest=turns[0][0] if turns else -1, note="this file's places are no pointers")
    return Found(nearest=max(turns, key=lambda pair: _alike(pair[1].pointer, pieces[0]))[0])


def _within(pointer: str, outer: str) -> bool:
    return pointer == outer or pointer.startswith(f"{outer}/")


def _alike(pointer: str, other: str) -> tuple[int, float]:
    """How much of two pointers is the same from the left, then how close the numbers after it are."""
    left, right = pointer.split("/"), other.split("/")
    same = next((n for n, (a, b) in enumerate(zip(left, right)) if a != b), min(len(left), len(right)))
    a, b = left[same : same + 1], right[same : same + 1]
    near = -abs(int(a[0]) - int(b[0])) if a and b and _number(a[0]) and _number(b[0]) else float("-inf")
    return same, near


def _number(text: str) -> bool:
    return text.isdecimal() and text.isascii() and len(text) < 16


def _named(turns: Sequence[Turn], name: str) -> Found:
    """Turns of that id; else of that session, else of that conversation; `conversation/session/turn` too."""
    ways: tuple[Callable[[Turn], tuple[str, ...]], ...] = (
        lambda t: (t.turn,) if t.turn else (),
        lambda t: (f"{t.session}/{t.turn}", f"{t.conversation}/{t.turn}") if t.turn else (),
        lambda t: (f"{t.conversation}/{t.session}/{t.turn}",) if t.turn else (),
        lambda t: (t.session,) if t.session else (),
        lambda t: (f"{t.conversation}/{t.session}",) if t.session else (),
        lambda t: (t.conversation, t.title),
    )
    for way in ways:
        if found := tuple(i for i, turn in enumerate(turns) if name in way(turn)):
            return Found(found)
    from difflib import get_close_matches

    known: dict[str, int] = {}
    for i, turn in enumerate(turns[:_NAMED_AT_MOST]):
        for identity in (turn.turn, turn.session, turn.conversation, turn.title):
            if identity:
                known.setdefault(identity, i)
    close = get_close_matches(name, known, n=1, cutoff=0.5)
    return Found(nearest=known[close[0]] if close else -1)


def _said(turns: Sequence[Turn], place: Place) -> Found:
    """The turn a hit stands for: where it stood if that still says the same, else wherever it is said now."""
    stood = place.first, place.pointer or ""
    here = [i for i, turn in enumerate(turns) if (turn.line, turn.pointer) == stood]
    same = [i for i in here if turns[i].text.startswith(place.text)]
    if same:
        return Found((same[0],))
    moved = next((i for i, turn in enumerate(turns) if turn.text.startswith(place.text)), -1)
    if moved >= 0:
        return Found((moved,), note="moved since the search")
    if here:
        return Found((here[0],), note="no longer what the hit said")
    return Found()


@dataclass(frozen=True)
class Excerpt:
    """Turns of one session that are read together, in the order of the file; `asked` marks what was meant."""

    turns: tuple[Turn, ...]
    asked: tuple[bool, ...]


def excerpts(
    turns: Sequence[Turn], found: Sequence[int], before: int, after: int, whole: str = ""
) -> list[Excerpt]:
    """The turns at `found` with so many around each, of its own session; what overlaps is one excerpt.

    `whole` is `session` or `conversation` where all of that is wanted.
    """
    if not found:
        return []
    sessions: dict[tuple[str, str, str], list[int]] = defaultdict(list)
    for i, turn in enumerate(turns):
        sessions[turn.place].append(i)
    asked = frozenset(found)
    chosen: dict[tuple[str, str, str], None] = dict.fromkeys(turns[i].place for i in sorted(asked))
    if whole == "conversation":
        meant = {place[:2] for place in chosen}
        chosen = dict.fromkeys(place for place in sessions if place[:2] in meant)
    out = []
    for place in chosen:
        mates = sessions[place]
        for run in [range(len(mates))] if whole else _windows(mates, asked, before, after):
            indices = [mates[n] for n in run]
            out.append(Excerpt(tuple(turns[i] for i in indices), tuple(i in asked for i in indices)))
    return out


def _windows(mates: Sequence[int], asked: frozenset[int], before: int, after: int) -> Iterator[range]:
    """Runs of positions in a session: what was asked for and its neighbours, touching ones joined."""
    start = end = -1
    for n, index in enumerate(mates):
        if index not in asked:
            continue
        first, last = max(n - before, 0), min(n + after + 1, len(mates))
        if start >= 0 and first > end:
            yield range(start, end)
            start = -1
        start, end = (first if start < 0 else start), last
    if start >= 0:
        yield range(start, end)
