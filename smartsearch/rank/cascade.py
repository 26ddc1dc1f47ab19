"""Which ranker sees which candidates, side by side where both see all, and the fused order.

Both rankers over every candidate is the paper's way (`candidates` 0) and runs them in parallel
threads. The default spends less: ColBERT scores all, the cross-encoder the best of them, one after
the other because the second needs the first (docs/decisions/0002).
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from smartsearch.config import Config
from smartsearch.rank.fuse import order, rrf
from smartsearch.rank.text import scored_texts
from smartsearch.retrieve.semantic import Scorer
from smartsearch.types import Candidate, Corpus, Scores


@dataclass(frozen=True)
class Ranking:
    """Candidates in final order with their scores, milliseconds a scorer, and what was left out."""

    candidates: tuple[Candidate, ...]
    scores: tuple[Scores, ...]
    timing_ms: Mapping[str, float]
    degraded: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Scored:
    by_index: dict[int, float]
    milliseconds: float


def rank(
    question: str,
    candidates: Sequence[Candidate],
    corpus: Corpus,
    scorers: Mapping[str, Scorer],
    config: Config,
) -> Ranking:
    """Score `candidates` (given by match weight, which settles ties) and fuse; all of them come back."""
    indices = [c.index for c in candidates]
    names = [name for name in config.rank if name in scorers]
    degraded: list[str] = []

    def score(name: str, over: Sequence[int]) -> _Scored:
        start = time.perf_counter()
        values = scorers[name](question, scored_texts(corpus, over))
        spent = (time.perf_counter() - start) * 1000.0
        return _Scored({i: float(v) for i, v in zip(over, values, strict=True)}, spent)

    scored: dict[str, _Scored] = {}
    if len(names) == 2:
        pool = indices if config.candidates == 0 else indices[: config.colbert_turns]
        if len(pool) < len(indices):
            degraded.append(
                f"{len(indices)} turns were found; the {len(pool)} that match best were ranked "
                "(--candidates all ranks every one and takes longer)"
            )
        best = _cross_encoder_share(config, len(pool))
        if best == len(pool):
            with ThreadPoolExecutor(2) as threads:
                jobs = {name: threads.submit(score, name, pool) for name in names}
                scored = {name: job.result() for name, job in jobs.items()}
        else:
            scored["colbert"] = score("colbert", pool)
            scored["ce"] = score("ce", order(scored["colbert"].by_index)[:best])
    elif names:
        only = names[0]
        scored[only] = score(only, indices[: config.candidates] if config.candidates > 0 else indices)
    return _fused(candidates, scored, config, tuple(degraded))


def _cross_encoder_share(config: Config, pool: int) -> int:
    """How many of `pool` candidates the cross-encoder sees: all (0), the default (-1) or as given."""
    if config.candidates == 0:
        return pool
    return min(pool, config.cascade if config.candidates < 0 else config.candidates)


def _fused(
    candidates: Sequence[Candidate], scored: Mapping[str, _Scored], config: Config, degraded: tuple[str, ...]
) -> Ranking:
    """One order out of the rankers' orders. What no ranker saw comes last, by match weight."""
    weights = {"ce": config.weight_ce, "colbert": config.weight_colbert}
    position = {c.index: n for n, c in enumerate(candidates)}
    rankings = []
    for name, result in scored.items():
        stable = {i: result.by_index[i] for i in sorted(result.by_index, key=position.__getitem__)}
        rankings.append((weights[name], order(stable)))
    fused = rrf(rankings, config.rrf_k)
    ranked = sorted(candidates, key=lambda c: (-fused.get(c.index, 0.0), position[c.index]))
    ce = scored["ce"].by_index if "ce" in scored else {}
    colbert = scored["colbert"].by_index if "colbert" in scored else {}
    scores = tuple(
        Scores(c.weight, ce.get(c.index), colbert.get(c.index), fused.get(c.index, 0.0)) for c in ranked
    )
    names = {"ce": "crossencoder", "colbert": "colbert"}
    return Ranking(tuple(ranked), scores, {names[n]: r.milliseconds for n, r in scored.items()}, degraded)
