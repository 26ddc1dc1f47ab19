"""Weighted reciprocal rank fusion (paper 3.3): pure arithmetic over ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence


def order(scores: Mapping[int, float]) -> list[int]:
    """Items by descending score; ties keep the mapping's order (match weight, then time)."""
    return sorted(scores, key=lambda item: -scores[item])


def rrf(rankings: Iterable[tuple[float, Sequence[int]]], k: int = 60) -> dict[int, float]:
    """Sum over rankings of `weight / (k + rank)`, ranks from 1; a missing item gets no term."""
    fused: dict[int, float] = {}
    for weight, ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            fused[item] = fused.get(item, 0.0) + weight / (k + rank)
    return fused
