"""One order out of the rankers' scores: weighted reciprocal ranks (paper 3.5), or learned weights.

The learned fusion is one weighted sum over `features`, what a set encoder adds for the list that was read,
and a share of the static score. Its weights belong to a pair of rankers and come with them (recipe/fusion.py,
docs/decisions/0008).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from smartsearch.config import Config
from smartsearch.rank.features import FAR, FEATURES, SCORERS, Floats, among, features
from smartsearch.rank.set_encoder import Listed, listed
from smartsearch.rank.static import STATIC
from smartsearch.types import Candidate, Corpus, Scores, Turn

LIST = "list"
"""What the list added to a turn's fused score, among its scores (rank/set_encoder.py)."""

ByTurn = Mapping[int, float]
"""Scores by the index of a turn."""
Parts = tuple[float, float]
"""A turn's learned score, and the part of it that the list added."""


@dataclass(frozen=True)
class Ranking:
    """Candidates in final order with their scores, milliseconds a scorer, and what was left out.

    `pinned` are the indices of turns that no score cuts off, `asked` those that only ask the question.
    """

    candidates: tuple[Candidate, ...]
    scores: tuple[Scores, ...]
    timing_ms: Mapping[str, float]
    degraded: tuple[str, ...] = ()
    pinned: frozenset[int] = frozenset()
    asked: frozenset[int] = frozenset()

    def reordered(self, order: Sequence[int], pinned: Iterable[int] = ()) -> Ranking:
        """With the candidates that stand at `order`, in that order, and those at `pinned` pinned."""
        return replace(
            self,
            candidates=tuple(self.candidates[n] for n in order),
            scores=tuple(self.scores[n] for n in order),
            pinned=self.pinned | {self.candidates[n].index for n in pinned},
        )


class Fused(NamedTuple):
    """The scores of the turns read, and the part of them that the list added; each of shape (read,)."""

    scores: Floats
    added: Floats


@dataclass(frozen=True)
class Fusion:
    """The `weights` of the features, and the encoder of the list, if there is one.

    The encoder gives what is added to each turn's score: a SetEncoder. `line` are the weights of what guesses
    a cross-encoder's logit: a constant, ColBERT's score, and the best one of the list.
    """

    weights: Mapping[str, float]
    encoder: Callable[[Listed, Floats], Floats] | None = None
    line: Mapping[str, float] = field(default_factory=dict)

    def __call__(
        self,
        question: str,
        turns: Sequence[Turn],
        previous: Sequence[int],
        scores: Mapping[str, Floats],
        read: NDArray[np.int64],
    ) -> Fused:
        """The fused scores of the turns at `read`, of which `turns` hold the neighbours too.

        `previous` and each of `scores` have a value for each of `turns`, as for `features`.
        """
        rows = features(previous, scores, read)
        own = weighted(rows, self.weights)
        if self.encoder is None or len(read) < 2:
            return Fused(own, np.zeros(len(read)))
        added = self.encoder(listed(question, turns, previous, read), rows)
        return Fused(own + added, added)

    def guesses(self, colbert: ByTurn, turns: Iterable[int]) -> dict[int, float]:
        """The cross-encoder's score of turns that it did not read, from ColBERT's, by a line."""
        best, line = max(colbert.values()), self.line
        logits = {i: line["bias"] + line["colbert"] * colbert[i] + line["best"] * best for i in turns}
        return {index: 1.0 / (1.0 + math.exp(-value)) for index, value in logits.items()}

    def over(
        self, question: str, scores: Mapping[str, ByTurn], corpus: Corpus, near: ByTurn
    ) -> dict[int, Parts]:
        """The parts of the turns that all of SCORERS read; none beside another scorer, nor of one alone.

        `near` are the static scores, if there are any.
        """
        if set(scores) != set(SCORERS):
            return {}
        both = set.intersection(*(set(by_turn) for by_turn in scores.values()))
        turns = _with_neighbours(both, corpus)
        values = {name: np.array([some.get(i, np.nan) for i in turns]) for name, some in scores.items()}
        read = np.flatnonzero(~np.isnan(np.sum(list(values.values()), axis=0)))
        said = [corpus.turns[index] for index in turns]
        fused = self(question, said, among(corpus.previous, turns), values, read)
        parts = zip(read.tolist(), fused.scores.tolist(), fused.added.tolist(), strict=True)
        share = self.weights.get(STATIC, 0.0)
        return {turns[n]: (score + share * near.get(turns[n], 0.0), added) for n, score, added in parts}


def weighted(rows: Floats, weights: Mapping[str, float]) -> Floats:
    """The weighted sum of each row of `features`; a feature without a weight counts nothing."""
    return np.asarray(rows @ np.array([weights.get(name, 0.0) for name in FEATURES]))


def _with_neighbours(turns: Iterable[int], corpus: Corpus) -> list[int]:
    """`turns` and the FAR turns of the session on either side of each, in order."""
    found = set(turns)
    for start in turns:
        before = after = start
        for _ in range(FAR):
            before = corpus.previous[before] if before >= 0 else -1
            after = corpus.following(after) if after >= 0 else -1
            found.update((before, after))
    return sorted(found - {-1})


def order(scores: ByTurn) -> list[int]:
    """Items by descending score; ties keep the mapping's order (match weight, then time)."""
    return sorted(scores, key=lambda item: -scores[item])


def rrf(rankings: Iterable[tuple[float, Sequence[int]]], k: int = 60) -> dict[int, float]:
    """Sum over rankings of `weight / (k + rank)`, ranks from 1; a missing item gets no term."""
    fused: dict[int, float] = {}
    for weight, ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            fused[item] = fused.get(item, 0.0) + weight / (k + rank)
    return fused


def fused(
    candidates: Sequence[Candidate],
    scores: Mapping[str, ByTurn],
    learned: Mapping[int, Parts],
    config: Config,
    told: Mapping[str, ByTurn] | None = None,
) -> Ranking:
    """One order out of the rankers' scores. What no ranker saw comes last, in the order given.

    The turns with a `learned` score come first, by it; RRF orders the others. Ties keep the order given.
    `told` are scores by name that are only shown.
    """
    position = {c.index: n for n, c in enumerate(candidates)}
    rankings = []
    for name, by_turn in scores.items():
        stable = {i: by_turn[i] for i in sorted(by_turn, key=position.__getitem__)}
        rankings.append((config.weight_of(name), order(stable)))
    ranks = rrf(rankings, config.rrf_k)
    first = {index: score for index, (score, _) in learned.items()}
    ranked = sorted(
        candidates,
        key=lambda c: (-first.get(c.index, -math.inf), -ranks.get(c.index, 0.0), position[c.index]),
    )
    more = {name: by_turn for name, by_turn in scores.items() if name not in SCORERS}
    more |= {name: by_turn for name, by_turn in (told or {}).items() if by_turn}
    if any(added for _, added in learned.values()):
        more[LIST] = {index: added for index, (_, added) in learned.items()}
    ce, colbert = (scores.get(name, {}) for name in SCORERS)
    shown = tuple(
        Scores(
            c.weight,
            ce.get(c.index),
            colbert.get(c.index),
            ranks.get(c.index, 0.0),
            first.get(c.index),
            {name: values[c.index] for name, values in more.items() if c.index in values},
        )
        for c in ranked
    )
    return Ranking(tuple(ranked), shown, {})
