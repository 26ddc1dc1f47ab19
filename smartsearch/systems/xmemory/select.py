"""What a question is answered from: representatives by greedy coverage, then episodes while they help.

Stage I and Stage II of the paper.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from smartsearch.systems.xmemory.ingest import XMemory
from smartsearch.systems.xmemory.settings import OURS, Constants

NEIGHBOURS = 10
"""Edges of a node of the kNN graph."""
SUPPORT = 0.1
"""What each chosen semantic of an episode adds to its likeness to the question."""

Matrix = NDArray[np.float64]
T = TypeVar("T")


def edges(candidates: Sequence[int], vectors: Matrix, neighbours: int = NEIGHBOURS) -> Matrix:
    """The kNN graph among `candidates`, rows of unit `vectors` (n, dim), as weights (c, c).

    Two are joined where one is among the nearest of the other in the whole graph; the weight is their
    cosine, if that is above 0, and 1 of a node with itself. The rows are computed when they are asked for:
    a graph that was kept would have to be mended with every insertion.
    """
    chosen = np.asarray(candidates, dtype=np.int64)
    similar = vectors[chosen] @ vectors.T
    similar[np.arange(len(chosen)), chosen] = -np.inf
    most = min(neighbours, len(vectors) - 1)
    joined = np.zeros(similar.shape, dtype=np.bool_)
    if most > 0:
        nearest = np.argpartition(-similar, most - 1, axis=1)[:, :most]
        np.put_along_axis(joined, nearest, True, axis=1)
    near = joined[:, chosen]
    weights = np.where(near | near.T, np.maximum(similar[:, chosen], 0.0), 0.0)
    np.fill_diagonal(weights, 1.0)
    return weights


def step_scores(weights: Matrix, likeness: Matrix, covered: NDArray[np.bool_], alpha: float) -> Matrix:
    """Of each candidate alpha * (weights to nodes not yet covered) / Z + (1 - alpha) * likeness. Z is the
    largest sum of weights that any candidate has."""
    new: Matrix = weights[:, ~covered].sum(axis=1) / weights.sum(axis=1).max()
    return alpha * new + (1.0 - alpha) * likeness


def representatives(
    weights: Matrix, likeness: Matrix, most: int, *, alpha: float = OURS.alpha, enough: float = OURS.covered
) -> list[int]:
    """Places of up to `most` candidates, chosen one by one by `step_scores` until `enough` are covered. A
    choice covers itself and all that it has an edge to."""
    covered = np.zeros(len(likeness), dtype=np.bool_)
    chosen: list[int] = []
    while len(chosen) < min(most, len(likeness)) and covered.mean() < enough:
        scores = step_scores(weights, likeness, covered, alpha)
        scores[chosen] = -np.inf
        chosen.append(int(np.argmax(scores)))
        covered |= weights[chosen[-1]] > 0
    return chosen


@dataclass(frozen=True)
class Choice(Generic[T]):
    """An episode as the gate sees it: its place, what it says in short, and its messages."""

    episode: int
    record: tuple[T, ...]
    messages: tuple[T, ...]


def stage_one(
    asked: Matrix, memory: XMemory, allowed: Sequence[int], constants: Constants = OURS
) -> tuple[list[int], list[int]]:
    """Representative themes and semantics, by id, for a question's unit vector (dim,).

    The `allowed` semantics most like it come first; their themes are chosen, a theme as like it as the likest
    of these, and then among these the semantics. Not `greedy`, both are the nearest.
    """
    if not allowed:
        return [], []
    rows = [memory.rows[one] for one in allowed]
    near = dict(zip(allowed, (memory.vectors[rows] @ asked).tolist(), strict=True))
    held: dict[int, list[int]] = {}
    for one in sorted(allowed, key=lambda one: -near[one])[: constants.pool]:
        held.setdefault(memory.themes.theme[one], []).append(one)

    def picked(rows: Sequence[int], vectors: Matrix, likeness: Sequence[float], most: int) -> list[int]:
        like = np.array(likeness)
        if not constants.greedy:
            return list(map(int, np.argsort(-like, kind="stable")[:most]))
        alpha, enough = constants.alpha, constants.covered
        return representatives(edges(rows, vectors), scaled(like), most, alpha=alpha, enough=enough)

    places = {theme: place for place, theme in enumerate(memory.themes.ids)}
    likest = [near[own[0]] for own in held.values()]
    chosen = picked([places[theme] for theme in held], memory.themes.centroids, likest, constants.themes)
    themes = [list(held)[n] for n in chosen]
    own = [one for theme in themes for one in held[theme]]
    likeness = [near[one] for one in own]
    chosen = picked([memory.rows[one] for one in own], memory.vectors, likeness, constants.facts)
    return themes, [own[n] for n in chosen]


def nearest_episodes(asked: Matrix, memory: XMemory, allowed: Sequence[int], most: int) -> list[int]:
    """The episodes whose facts, on average, are most like the question."""
    if not most or not allowed:
        return []
    held: dict[int, list[int]] = {}
    for one in allowed:
        held.setdefault(memory.semantics[one].episode, []).append(memory.rows[one])
    near = {episode: float((memory.vectors[rows].mean(axis=0)) @ asked) for episode, rows in held.items()}
    return sorted(near, key=lambda episode: -near[episode])[:most]


def ranked_episodes(
    memory: XMemory,
    semantics: Sequence[int],
    among: Container[int],
    likeness: Callable[[Sequence[int]], Matrix],
    closest: Sequence[int] = (),
) -> list[Choice[int]]:
    """The episodes of these semantics, and `closest`, by their likeness to the question and how many of these
    they have.

    An episode is as like it as the likest of its messages. Its record is the turns that its semantics quote.
    """
    support = Counter(dict.fromkeys(closest, 0))
    support.update(memory.semantics[one].episode for one in semantics)
    messages = {episode: found_among(memory.runs[episode], among) for episode in support}
    turns = [turn for own in messages.values() for turn in own]
    like = dict(zip(turns, likeness(turns).tolist(), strict=True))
    likest = scaled(np.array([max(like[turn] for turn in messages[episode]) for episode in support]))
    near = dict(zip(support, likest.tolist(), strict=True))
    best = sorted(support, key=lambda episode: (-(near[episode] + SUPPORT * support[episode]), episode))
    return [
        Choice(episode, tuple(turns_of(memory, memory.ids[episode], among)), tuple(messages[episode]))
        for episode in best
    ]


def scaled(values: Matrix) -> Matrix:
    """Values from 0 for the least to 1 for the most, as what is covered goes from 0 to 1."""
    spread: Matrix = values - values.min(initial=np.inf)
    return spread / max(float(spread.max(initial=0.0)), 1e-9)


def found_among(turns: Iterable[int], among: Container[int]) -> list[int]:
    """Those that may be found, each once."""
    return [turn for turn in dict.fromkeys(turns) if turn in among]


def turns_of(memory: XMemory, semantics: Iterable[int], among: Container[int]) -> list[int]:
    """The turns that these semantics come from and that may be found."""
    return found_among((turn for one in semantics for turn in memory.semantics[one].turns), among)


@dataclass(frozen=True)
class Gated:
    """What the gate let in, how sure it was before and after, and what it asked. `admitted` tells of each
    episode whether it was opened, that is, let in with its messages."""

    admitted: dict[int, bool]
    before: float
    after: float
    asked: int


def gate(
    known: Iterable[T],
    choices: Sequence[Choice[T]],
    uncertainty: Callable[[Sequence[T]], float],
    *,
    constants: Constants = OURS,
    fits: Callable[[Sequence[T]], bool] = lambda _: True,
) -> Gated:
    """Let episodes in, in their order, while each makes the reader surer than what is `known` so far.

    An episode is let in where uncertainty falls by `gain` of itself, and opened where its messages have it
    fall as much again. After `patience` in a row that do not help it ends, and where something whole does
    not fit any more.
    """
    context = list(known)
    if constants.opens is not None:
        return _probed(context, choices, uncertainty, constants, fits)
    before = level = uncertainty(context)
    admitted: dict[int, bool] = {}
    failed, asked, gain = 0, 1, constants.gain
    for choice in choices:
        if failed == constants.patience or level <= 0.0:
            break
        longer = _with(context, choice.record)
        if not fits(longer):
            break
        fallen, asked = uncertainty(longer), asked + 1
        if not _helps(level, fallen, gain):
            failed += 1
            continue
        context, level, failed = longer, fallen, 0
        admitted[choice.episode] = False
        opened = _with(context, choice.messages)
        if level > 0.0 and fits(opened):
            fallen, asked = uncertainty(opened), asked + 1
            if _helps(level, fallen, gain):
                context, level, admitted[choice.episode] = opened, fallen, True
    return Gated(admitted, before, level, asked)


def _probed(
    context: Sequence[T],
    choices: Sequence[Choice[T]],
    uncertainty: Callable[[Sequence[T]], float],
    constants: Constants,
    fits: Callable[[Sequence[T]], bool],
) -> Gated:
    """As the authors' code: each episode alone beside what is known; it ends with the first of three that is
    low, or with the second of all. Where none is let in, the first is."""
    before, admitted, low = uncertainty(context), dict[int, bool](), 0
    levels, whole = [before], list(context)
    for n, choice in enumerate(choices, start=1):
        if not fits(_with(whole, choice.record)):
            break
        levels.append(uncertainty(_with(context, choice.record)))
        gain = before - levels[-1]
        if gain > max(constants.gain, constants.low):
            opened = _with(whole, (*choice.record, *choice.messages))
            opens = gain > (constants.opens or 0.0) and fits(opened)
            admitted[choice.episode] = opens
            whole = opened if opens else _with(whole, choice.record)
        low += gain <= constants.low
        if low >= (1 if n <= 3 else 2):
            break
    if not admitted and choices:
        admitted = {choices[0].episode: False}
    return Gated(admitted, before, min(levels), len(levels))


def _helps(level: float, fallen: float, gain: float) -> bool:
    return level - fallen >= gain * level


def _with(context: Sequence[T], more: Iterable[T]) -> list[T]:
    """`context` and what of `more` is not in it yet."""
    return list(dict.fromkeys([*context, *more]))
