"""Turns joined to other units of retrieval: pairs, sliding windows, chunks of whole turns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from smartsearch.bench.types import Group, Indices
from smartsearch.errors import UsageError
from smartsearch.types import Corpus, Turn

CountTokens = Callable[[str], int]

_UNIT = re.compile(r"(?P<kind>turn|pair|window|chunk)(?::(?P<size>[1-9]\d*))?")


@dataclass(frozen=True)
class Regrouped:
    """A corpus of joined passages; `members` are, for each, the places of its turns in the original one."""

    corpus: Corpus
    members: tuple[tuple[int, ...], ...]


def regroup(group: Group, unit: str, count_tokens: CountTokens) -> Regrouped:
    """The group's turns as passages of `unit`, none of which crosses a session.

    `turn` is each by itself; `pair` turns 1-2, 3-4, ...; `window:N` every N consecutive turns, or the whole
    of a shorter session; `chunk:N` whole turns packed until the next would bring them over N tokens, as
    `count_tokens` has them, a longer turn by itself. Raises UsageError for any other unit.
    """
    corpus = group.corpus
    kind, size = unit_of(unit)
    members = tuple(
        run for turns in _sessions(corpus) for run in _runs(corpus, turns, kind, size, count_tokens)
    )
    return Regrouped(replace(corpus, turns=tuple(_joined(corpus, run) for run in members)), members)


def chunk_numbers(corpus: Corpus, tokens: int, count_tokens: CountTokens) -> Indices:
    """The number of each turn's chunk, shape (turns,), packed as `chunk:N` is with N `tokens`.

    The chunks of the QRRanker paper's table 2: whole utterances, gold if an evidence turn is in it.
    """
    chunks = (chunk for turns in _sessions(corpus) for chunk in _chunks(corpus, turns, tokens, count_tokens))
    numbers = np.zeros(len(corpus.turns), dtype=np.int64)
    for number, chunk in enumerate(chunks):
        numbers[list(chunk)] = number
    return numbers


def unit_of(unit: str) -> tuple[str, int]:
    """The kind and size that a unit's name stands for. Raises UsageError for a name that is none."""
    found = _UNIT.fullmatch(unit)
    if found is None or (found["kind"] in ("window", "chunk")) != bool(found["size"]):
        raise UsageError(
            f"unknown unit {unit!r}", hint="turn, pair, window:N (turns) or chunk:N (tokens), N from 1"
        )
    return found["kind"], int(found["size"] or 1)


def _sessions(corpus: Corpus) -> list[list[int]]:
    """The places of each run of turns of one session."""
    runs: list[list[int]] = []
    for place, before in enumerate(corpus.previous):
        if before < 0:
            runs.append([])
        runs[-1].append(place)
    return runs


def _runs(
    corpus: Corpus, turns: list[int], kind: str, size: int, count_tokens: CountTokens
) -> Iterator[tuple[int, ...]]:
    """The units of one session."""
    if kind == "chunk":
        yield from _chunks(corpus, turns, size, count_tokens)
    elif kind == "window":
        yield from (tuple(turns[i : i + size]) for i in range(max(len(turns) - size, 0) + 1))
    else:
        step = 2 if kind == "pair" else 1
        yield from (tuple(turns[i : i + step]) for i in range(0, len(turns), step))


def _chunks(
    corpus: Corpus, turns: Sequence[int], tokens: int, count_tokens: CountTokens
) -> Iterator[tuple[int, ...]]:
    chunk: list[int] = []
    used = 0
    for place in turns:
        turn = corpus.turns[place]
        cost = count_tokens(_line(turn))
        if chunk and used + cost > tokens:
            yield tuple(chunk)
            chunk, used = [], 0
        chunk.append(place)
        used += cost
    if chunk:
        yield tuple(chunk)


def _joined(corpus: Corpus, members: Sequence[int]) -> Turn:
    """One turn of several: the first's fields, `speaker: text (caption)` lines for the rest."""
    first = corpus.turns[members[0]]
    if len(members) == 1:
        return first
    rest = (_line(corpus.turns[place]) for place in members[1:])
    return replace(first, text="\n".join([_said(first), *rest]), caption="")


def _said(turn: Turn) -> str:
    return f"{turn.text} ({turn.caption})" if turn.caption else turn.text


def _line(turn: Turn) -> str:
    """A turn as it stands in a passage."""
    return f"{turn.speaker}: {_said(turn)}" if turn.speaker else _said(turn)
