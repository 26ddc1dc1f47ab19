"""What is measured of a ranking and of a cut, question by question, and how it is summed up (seeds 1.5).

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


def of_ranking(order: Indices, gold: Gold, chunks: Indices, sessions: Indices) -> dict[str, float]:
    """Measures of a ranked list `order` (n,) of passages, of `chunks` and `sessions` (passages,).

    `first` is the rank of the first gold turn, NaN where none was retrieved.
    """
    position = np.full(len(sessions), np.inf)
    position[order] = np.arange(1, len(order) + 1)
    ranks = np.array([position[inside].min() for inside in gold.turns])
    values = {"candidates": float(len(order)), "retrieved": float(np.isfinite(ranks).sum())}
    values["first"] = float(ranks.min()) if len(ranks) and np.isfinite(ranks.min()) else float("nan")
    for depth in (*DEPTHS, TOP):
        values[f"turn@{depth}"] = float((ranks <= depth).sum())
    for level, numbers, wanted in (("chunk", chunks, gold.chunks), ("session", sessions, gold.sessions)):
        best = _first_seen(numbers[order])
        for depth in DEPTHS:
            values[f"{level}@{depth}"] = float(len(wanted.intersection(best[:depth].tolist())))
    return values


def of_cut(order: Indices, kept: Kept, gold: Gold) -> dict[str, float]:
    """Measures of a cut list: gold turns kept, and the others by where they were lost."""
    fate = np.full(1 + max((int(p.max()) for p in (order, *gold.turns) if len(p)), default=0), -1)
    fate[order] = kept.fate
    values = {"words": float(kept.words), "tokens": float(kept.tokens)}
    values["passages"] = float((kept.fate == KEPT).sum())
    # A turn that several passages contain has the best fate of them: kept, then the last cut it reached.
    lost = dict.fromkeys(("not retrieved", *REASONS), 0)
    for inside in gold.turns:
        fates = fate[inside]
        if (fates < 0).all():
            lost["not retrieved"] += 1
        elif (fates == KEPT).any():
            lost["kept"] += 1
        else:
            lost[REASONS[int(fates.max())]] += 1
    return values | {f"fate {name}": float(count) for name, count in lost.items()}


def curve(order: Indices, spent: Indices, gold: Gold, budgets: Sequence[int]) -> dict[str, float]:
    """Gold turns kept at each budget of words, given what the ranked passages up to each one cost."""
    cost = np.full(1 + max((int(p.max()) for p in (order, *gold.turns) if len(p)), default=0), np.inf)
    cost[order] = spent
    if len(order):
        cost[order[0]] = 0.0  # the first passage is always kept, cut if need be
    cheapest = np.array([cost[inside].min() for inside in gold.turns])
    return {str(words): float((cheapest <= words).sum()) for words in budgets}


def _first_seen(numbers: Indices) -> Indices:
    """Distinct numbers in order of first appearance."""
    distinct, first = np.unique(numbers, return_index=True)
    return distinct[np.argsort(first)]


Table = Mapping[str, Floats]
"""One value a question, by measure; shape (questions,)."""


@dataclass(frozen=True)
class Recall:
    """One recall, four ways, and a 95% bootstrap interval of the micro one (questions resampled)."""

    micro: float
    macro: float
    any: float
    all: float
    low: float
    high: float


class Resampling:
    """The same resamples of questions for every row, so that rows compare in pairs."""

    def __init__(self, questions: int, seed: int = SEED) -> None:
        random = np.random.default_rng(seed)
        shares = np.full(questions, 1.0 / questions) if questions else np.zeros(0)
        self.counts = random.multinomial(questions, shares, RESAMPLES).astype(np.float64)
        self.signs = random.choice((-1.0, 1.0), (RESAMPLES * 5, questions))

    def interval(self, found: Floats, total: Floats) -> tuple[float, float]:
        """95% percentile interval of sum(found) / sum(total); NaN where there is no gold."""
        below = self.counts @ total
        if not (below > 0).all():
            return float("nan"), float("nan")
        low, high = np.percentile((self.counts @ found) / below, (2.5, 97.5))
        return float(low), float(high)

    def difference(self, one: Floats, other: Floats, total: Floats) -> tuple[float, float, float, float]:
        """Micro recall of `one` minus that of `other`, its 95% interval, and a two-sided p-value.

        The p-value is of a paired permutation test: under no difference each question's gap is as
        likely to stand the other way round.
        """
        gap, everything = one - other, float(total.sum())
        if not everything:
            return (float("nan"),) * 4
        low, high = self.interval(gap, total)
        seen = abs(float(gap.sum()))
        extreme = int((np.abs(self.signs @ gap) >= seen - 1e-9).sum())
        return float(gap.sum()) / everything, low, high, (extreme + 1) / (len(self.signs) + 1)


def recall(found: Floats, total: Floats, resampling: Resampling | None = None) -> Recall:
    """The readings of a recall over the questions that have such gold (`total` > 0)."""
    asked = total > 0
    hits, there = found[asked], total[asked]
    if not len(hits):
        return Recall(*(float("nan"),) * 6)
    low, high = resampling.interval(found, total) if resampling else (float("nan"),) * 2
    return Recall(
        float(hits.sum() / there.sum()),
        float((hits / there).mean()),
        float((hits > 0).mean()),
        float((hits == there).mean()),
        low,
        high,
    )


def holm(values: Sequence[float]) -> list[float]:
    """Holm's adjustment of p-values that were looked at together."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted, worst = [0.0] * len(values), 0.0
    for step, i in enumerate(order):
        worst = max(worst, min(1.0, (len(values) - step) * values[i]))
        adjusted[i] = worst
    return adjusted


def spearman(one: Floats, other: Floats) -> float:
    """Spearman's rank correlation over the turns that both scorers read; NaN under three, or all alike."""
    from scipy.stats import spearmanr

    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < 3 or np.ptp(one[both]) == 0 or np.ptp(other[both]) == 0:
        return float("nan")
    return float(spearmanr(one[both], other[both]).statistic)
