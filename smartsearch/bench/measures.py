"""What is measured of a ranking and of a cut, question by question, and how it is summed up.

Every recall is a pair of counts a question, gold found and gold there is, so that micro (gold found /
gold), macro (the mean of a question's share), any (questions with some of it) and all (with all of it)
are four readings of the same table. Gold is counted in turns, in chunks (a chunk that holds a gold turn;
QRRanker paper, table 2) and in sessions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from smartsearch.bench.cutting import KEPT, REASONS, Kept
from smartsearch.bench.scoring import Floats
from smartsearch.bench.types import Indices

TOP = 62
"""Turns in 2,000 words at the paper's 32 words a turn (table 9)."""
DEPTHS = (1, 3, 5, 10)
LEVELS = ("turn", "chunk", "session")
RESAMPLES = 1000
FLIPS = 20_000
"""Sign flips of the permutation test: enough for a p-value that survives Holm over several hundred rows."""
SEED = 20260315


@dataclass(frozen=True)
class Gold:
    """A question's gold as numbers of passages, chunks and sessions.

    `turns` holds for each gold turn the passages that contain it (one, unless passages overlap).
    """

    turns: tuple[Indices, ...]
    chunks: frozenset[int]
    sessions: frozenset[int]

    def total(self, level: str) -> int:
        """How much gold there is at a level of LEVELS."""
        return {"turn": len(self.turns), "chunk": len(self.chunks), "session": len(self.sessions)}[level]


@dataclass(frozen=True)
class Placed:
    """Where a ranked list has a question's gold: positions from 0, and the gold turn that each holds.

    `at` and `turn` have shape (found,): one entry for each ranked passage with gold. `gold` counts turns.
    """

    at: Indices
    turn: Indices
    gold: int

    def best(self, values: Floats, nothing: float) -> Floats:
        """The largest of the values (n,) of the passages with each gold turn, shape (gold,)."""
        found = np.full(self.gold, nothing)
        np.maximum.at(found, self.turn, values[self.at])
        return found


def placed(order: Indices, gold: Gold, passages: int) -> Placed:
    """Finds the gold in a ranked list of so many passages."""
    position = np.full(passages, -1)
    position[order] = np.arange(len(order))
    turn = np.repeat(np.arange(len(gold.turns)), [len(inside) for inside in gold.turns])
    at = position[np.concatenate(gold.turns)] if gold.turns else np.zeros(0, dtype=np.int64)
    return Placed(at[at >= 0], turn[at >= 0], len(gold.turns))


def of_ranking(
    order: Indices, where: Placed, gold: Gold, chunks: Indices, sessions: Indices
) -> dict[str, float]:
    """Measures of a ranked list `order` (n,) of passages, of `chunks` and `sessions` (passages,).

    `first` is the rank of the first gold turn, NaN where none was retrieved.
    """
    ranks = -where.best(-np.arange(1.0, len(order) + 1), -np.inf)
    values = {"candidates": float(len(order)), "retrieved": float(np.isfinite(ranks).sum())}
    values["first"] = float(ranks.min()) if len(ranks) and np.isfinite(ranks.min()) else float("nan")
    for depth in (*DEPTHS, TOP):
        values[f"turn@{depth}"] = float((ranks <= depth).sum())
    for level, numbers, wanted in (("chunk", chunks, gold.chunks), ("session", sessions, gold.sessions)):
        best = _first_seen(numbers[order])
        for depth in DEPTHS:
            values[f"{level}@{depth}"] = float(len(wanted.intersection(best[:depth].tolist())))
    return values


FATES = ("not retrieved", *REASONS[1:], REASONS[KEPT])
"""What may become of a gold turn, from the worst: one that several passages hold has the best of theirs."""


def of_cut(order: Indices, where: Placed, kept: Kept, gold: Gold, sessions: Indices) -> dict[str, float]:
    """Measures of a cut list `order` (n,): gold turns kept, the others by where they were lost.

    `session kept` counts the gold sessions of which anything was kept.
    """
    codes = np.where(kept.fate == KEPT, len(REASONS), kept.fate).astype(np.float64)
    counts = np.bincount(where.best(codes, 0.0).astype(np.int64), minlength=len(FATES))
    values = {"words": float(kept.words), "tokens": float(kept.tokens)}
    stayed = order[kept.fate == KEPT]
    values["passages"] = float(len(stayed))
    values["session kept"] = float(len(gold.sessions.intersection(sessions[stayed].tolist())))
    return values | {f"fate {name}": float(count) for name, count in zip(FATES, counts, strict=True)}


def curve(where: Placed, spent: Indices, budgets: Sequence[int]) -> dict[str, float]:
    """Gold turns kept at each budget of words, given what the ranked passages up to each one cost."""
    cost = spent.astype(np.float64)
    cost[:1] = 0.0  # the first passage is always kept, cut if need be
    cheapest = -where.best(-cost, -np.inf)
    return {str(words): float((cheapest <= words).sum()) for words in budgets}


def _first_seen(numbers: Indices) -> Indices:
    """Distinct numbers in order of first appearance."""
    distinct, first = np.unique(numbers, return_index=True)
    return distinct[np.argsort(first)]


Table = Mapping[str, Floats]
"""One value a question, by measure; shape (questions,)."""


@dataclass(frozen=True)
class Recall:
    """One recall, read four ways."""

    micro: float
    macro: float
    any: float
    all: float


class Resampling:
    """The same resamples of questions for every row, so that rows compare in pairs."""

    def __init__(self, questions: int, seed: int = SEED) -> None:
        self._random = np.random.default_rng(seed)
        self._questions = questions
        shares = np.full(questions, 1.0 / questions) if questions else np.zeros(0)
        self.counts = self._random.multinomial(questions, shares, RESAMPLES).astype(np.float64)

    def interval(self, found: Floats, total: Floats) -> tuple[Floats, Floats]:
        """95% intervals of sum(found) / sum(total) for columns (questions, n); NaN without gold."""
        below = self.counts @ total
        columns = found.shape[1]
        if not (below > 0).all():
            return np.full(columns, np.nan), np.full(columns, np.nan)
        low, high = np.percentile((self.counts @ found) / below[:, None], (2.5, 97.5), axis=0)
        return low, high

    def differences(self, gaps: Floats, total: Floats) -> list[tuple[float, float, float, float]]:
        """For columns of gaps (questions, n): micro difference, its 95% interval, and a p-value.

        The two-sided p-value is of a paired permutation test: under no difference each question's gap is
        as likely to stand the other way round.
        """
        everything = float(total.sum())
        if not everything:
            return [(float("nan"),) * 4] * gaps.shape[1]
        low, high = self.interval(gaps, total)
        sums = gaps.sum(axis=0)
        extreme = np.zeros(gaps.shape[1])
        for _ in range(FLIPS // RESAMPLES):
            signs = self._random.choice((-1.0, 1.0), (RESAMPLES, self._questions))
            extreme += (np.abs(signs @ gaps) >= np.abs(sums) - 1e-9).sum(axis=0)
        p = (extreme + 1) / (FLIPS + 1)
        columns = np.stack((sums / everything, low, high, p), axis=1)
        return [(gap, least, most, value) for gap, least, most, value in columns.tolist()]


def recall(found: Floats, total: Floats) -> Recall:
    """The readings of a recall over the questions that have such gold (`total` > 0); NaN without any."""
    asked = total > 0
    hits, there = found[asked], total[asked]
    if not len(hits):
        return Recall(*(float("nan"),) * 4)
    return Recall(
        float(hits.sum() / there.sum()),
        float((hits / there).mean()),
        float((hits > 0).mean()),
        float((hits == there).mean()),
    )


def holm(values: Sequence[float]) -> list[float]:
    """Holm's adjustment of p-values that were looked at together; NaN stays and does not count."""
    order = sorted((i for i, value in enumerate(values) if not np.isnan(value)), key=lambda i: values[i])
    adjusted, worst = [float("nan")] * len(values), 0.0
    for step, i in enumerate(order):
        worst = max(worst, min(1.0, (len(order) - step) * values[i]))
        adjusted[i] = worst
    return adjusted


def spearman(one: Floats, other: Floats) -> float:
    """Spearman's rank correlation over the turns that both scorers read; NaN under three, or all alike."""
    from scipy.stats import spearmanr

    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < 3 or np.ptp(one[both]) == 0 or np.ptp(other[both]) == 0:
        return float("nan")
    return float(spearmanr(one[both], other[both]).statistic)
