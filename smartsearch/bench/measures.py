"""Measures a ranking and a cut question by question, and sums the measures up.

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
"""Turns in 2,000 words at the paper's 32 words per turn (paper table 9)."""
DEPTHS = (1, 3, 5, 10)
SCREENS = 20
"""Turns that a reader may still look through: all gold should be among them."""
LEVELS = ("turn", "chunk", "session")
DEPTH = 100
"""Ranked turns that nDCG, MRR and MAP look at."""
RESAMPLES = 1000
FLIPS = 20_000
"""Sign flips of the permutation test: enough for a p-value that survives Holm over several hundred rows."""
SEED = 20260315


@dataclass(frozen=True)
class Gold:
    """A question's gold: places of turns, ascending, and numbers of chunks and sessions."""

    turns: Indices
    chunks: frozenset[int]
    sessions: frozenset[int]

    def total(self, level: str) -> int:
        """The number of gold items at a level of LEVELS."""
        return {"turn": len(self.turns), "chunk": len(self.chunks), "session": len(self.sessions)}[level]


def ranks_of(order: Indices, gold: Gold, turns: int) -> Floats:
    """The rank in a list `order` (n,) of each gold turn, from 1, infinite where it is not there."""
    ranks = np.full(turns, np.inf)
    ranks[order] = np.arange(1, len(order) + 1)
    return ranks[gold.turns]


def of_ranking(
    order: Indices, ranks: Floats, gold: Gold, chunks: Indices, sessions: Indices
) -> dict[str, float]:
    """Measures of a ranked list `order` (n,) of turns, of `chunks` and `sessions` (turns,).

    `first` is the rank of the first gold turn, NaN where none was retrieved.
    """
    found = ranks[np.isfinite(ranks)]
    values = {"candidates": float(len(order)), "retrieved": float(len(found))}
    values["first"] = float(found.min()) if len(found) else float("nan")
    for depth in (*DEPTHS, SCREENS, TOP):
        values[f"turn@{depth}"] = float((ranks <= depth).sum())
    for level, numbers, wanted in (("chunk", chunks, gold.chunks), ("session", sessions, gold.sessions)):
        _, first = np.unique(numbers[order], return_index=True)
        best = numbers[order][np.sort(first)]  # each once, in the order of appearance
        for depth in DEPTHS:
            values[f"{level}@{depth}"] = float(len(wanted.intersection(best[:depth].tolist())))
    return values


def of_cut(order: Indices, ranks: Floats, kept: Kept, gold: Gold, sessions: Indices) -> dict[str, float]:
    """Measures of a cut list `order` (n,): gold turns kept, the others by where they were lost.

    `session kept` counts the gold sessions with a kept turn.
    """
    fates = kept.fate[ranks[np.isfinite(ranks)].astype(np.int64) - 1]
    stayed = order[kept.fate == KEPT]
    values = {"words": float(kept.words), "tokens": float(kept.tokens), "passages": float(len(stayed))}
    values["session kept"] = float(len(gold.sessions.intersection(sessions[stayed].tolist())))
    values["fate not retrieved"] = float(len(ranks) - len(fates))
    return values | {f"fate {name}": float((fates == code).sum()) for code, name in enumerate(REASONS)}


def curve(ranks: Floats, spent: Indices, budgets: Sequence[int]) -> dict[str, float]:
    """Gold turns kept at each budget of words, given what the ranked turns up to each one cost."""
    cost = spent.astype(np.float64)
    cost[:1] = 0.0  # the first turn is always kept, cut if need be
    gold = cost[ranks[np.isfinite(ranks)].astype(np.int64) - 1]
    return {str(words): float((gold <= words).sum()) for words in budgets}


Table = Mapping[str, Floats]
"""By measure one value per question, shape (questions,)."""


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


def recall(found: Floats, total: Floats) -> dict[str, float]:
    """The readings of a recall over the questions that have such gold (`total` > 0); NaN without any."""
    asked = total > 0
    hits, there = found[asked], total[asked]
    if not len(hits):
        return dict.fromkeys(("micro", "macro", "any", "all"), float("nan"))
    return {
        "micro": float(hits.sum() / there.sum()),
        "macro": float((hits / there).mean()),
        "any": float((hits > 0).mean()),
        "all": float((hits == there).mean()),
    }


def holm(values: Sequence[float]) -> list[float]:
    """Holm's adjustment of a family of p-values; NaN stays and does not count."""
    order = sorted((i for i, value in enumerate(values) if not np.isnan(value)), key=lambda i: values[i])
    adjusted, worst = [float("nan")] * len(values), 0.0
    for step, i in enumerate(order):
        worst = max(worst, min(1.0, (len(order) - step) * values[i]))
        adjusted[i] = worst
    return adjusted


def spearman(one: Floats, other: Floats) -> float:
    """Spearman's rank correlation over the turns that both scorers read; NaN under three, or all alike."""
    both = ~np.isnan(one) & ~np.isnan(other)
    if both.sum() < 3 or np.ptp(one[both]) == 0 or np.ptp(other[both]) == 0:
        return float("nan")
    return float(np.corrcoef(_ranks(one[both]), _ranks(other[both]))[0, 1])


def _ranks(values: Floats) -> Floats:
    """The rank of each value from 1 on; equal values share the mean of theirs."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(counts) - (counts - 1) / 2)[which], np.float64)


def ranking_measures(
    ranked: Mapping[str, Sequence[int]], gold: Mapping[str, Sequence[int]]
) -> dict[str, float]:
    """nDCG@10, mean reciprocal rank and mean average precision at DEPTH, over the questions that have gold.

    `ranked` holds the best passages of each question, best first (the best DEPTH count); `gold` those that
    hold a gold turn.
    """
    found = []
    for question, wanted in ((question, set(places)) for question, places in gold.items() if places):
        ranks = [rank for rank, place in enumerate(ranked.get(question, ())[:DEPTH], 1) if place in wanted]
        best = range(1, len(wanted) + 1)
        gained, ideal = (sum(1 / np.log2(n + 1) for n in some if n <= 10) for some in (ranks, best))
        precise = sum(n / rank for n, rank in enumerate(ranks, 1)) / len(wanted)
        found.append((gained / ideal, 1 / ranks[0] if ranks else 0.0, precise))
    names = ("ndcg@10", f"mrr@{DEPTH}", f"map@{DEPTH}")
    return dict(zip(names, np.mean(found, axis=0).tolist(), strict=True)) if found else {}
