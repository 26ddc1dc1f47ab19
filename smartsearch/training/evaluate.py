"""Where the right text ranks among the candidates, by one ranker and by both fused."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from smartsearch.rank.fusion import order, rrf
from smartsearch.training.chats import Group
from smartsearch.training.shipped import Scorer

RRF_K, WEIGHTS = 60, (0.7, 0.3)
"""The paper's fusion (paper 3.5): cross-encoder 0.7, ColBERT 0.3."""
ROLES = ("crossencoder", "colbert", "fused")
Ranks = dict[str, list[int]]
"""The rank of the right text in each trial, by role."""


def rank_of_first(scores: Sequence[float]) -> int:
    """The 1-based rank of item 0; ties count against it."""
    return 1 + sum(score >= scores[0] for score in scores[1:])


def fused(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Weighted reciprocal rank fusion of two lists of scores."""
    orders = [order(dict(enumerate(scores))) for scores in (first, second)]
    found = rrf(zip(WEIGHTS, orders, strict=True), RRF_K)
    return [found[i] for i in range(len(first))]


def ranks_of(
    trials: Sequence[Group], cross: Scorer, late: Scorer, step: Callable[[], None] = lambda: None
) -> Ranks:
    """The ranks by each ranker and by both fused; `step` is called after each trial."""
    found: Ranks = {role: [] for role in ROLES}
    for trial in trials:
        one, two = cross(trial.question, trial.texts), late(trial.question, trial.texts)
        for role, scores in zip(ROLES, (one, two, fused(one, two)), strict=True):
            found[role].append(rank_of_first(scores))
        step()
    return found


def mrr(ranks: Sequence[int]) -> float:
    """The mean reciprocal rank; 0 of no ranks."""
    return sum(1 / rank for rank in ranks) / (len(ranks) or 1)


def summary(ranks: Sequence[int]) -> dict[str, float]:
    """R@1, R@5, R@10 and MRR of a list of ranks."""
    total = len(ranks) or 1
    cuts = {f"R@{k}": round(sum(rank <= k for rank in ranks) / total, 4) for k in (1, 5, 10)}
    return {"n": len(ranks), **cuts, "MRR": round(mrr(ranks), 4)}
