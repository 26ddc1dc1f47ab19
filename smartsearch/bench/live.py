"""Warm queries through the real pipeline: the time of each stage, and whether kept scores still hold.

A grid works on scores that may have been computed long ago. The same few questions are therefore also
asked of `search` itself: that is where times come from, and its order must be the grid's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from smartsearch.bench import grid
from smartsearch.bench.ranking import ordered
from smartsearch.bench.scoring import Haystacked, Scoring
from smartsearch.bench.types import BenchQuestion, Dataset
from smartsearch.config import Config
from smartsearch.errors import InputError
from smartsearch.systems.smartsearch.pipeline import search
from smartsearch.types import STAGES


@dataclass
class Live:
    """Milliseconds by stage, one a query, and how long a conversation's first question took.

    `first_ms` pays for what later questions over the same transcripts find done (ColBERT's vectors).
    """

    questions: int = 0
    stages: dict[str, list[float]] = field(default_factory=dict)
    first_ms: list[float] = field(default_factory=list)
    candidates: list[int] = field(default_factory=list)

    def summary(self) -> dict[str, dict[str, float]]:
        """Median and 95th percentile by stage, in milliseconds."""
        return {
            stage: {"p50": float(np.percentile(spent, 50)), "p95": float(np.percentile(spent, 95))}
            for stage, spent in self.stages.items()
            if spent
        }


def measure(
    dataset: Dataset,
    scoring: Scoring,
    wanted: int,
    step: Callable[[], None] = lambda: None,
) -> Live:
    """Ask about `wanted` questions, spread evenly, of `search` with the scoring's own Config.

    Each conversation's first question is asked twice, and timed apart the first time. Raises InputError
    where the store's scores are not what the models give now.
    """
    live = Live()
    chosen = set(
        np.linspace(0, dataset.questions - 1, min(wanted, dataset.questions)).round().astype(int).tolist()
    )
    seen = 0
    config = replace(scoring.config, lift=False)  # the grid has the rankers' own order
    for group in dataset.groups():
        places = [i for i in range(len(group.questions)) if seen + i in chosen]
        seen += len(group.questions)
        if not places:
            continue
        ready = Haystacked(group.corpus)
        warm = search(group.questions[places[0]].text, ready.haystack, scoring.config, scoring.tools)
        live.first_ms.append(warm.trace.timing_ms["total"])
        for place in places:
            question = group.questions[place]
            started = time.perf_counter()
            result = search(question.text, ready.haystack, config, scoring.tools)
            spent = (time.perf_counter() - started) * 1000.0
            for stage in STAGES:
                if stage not in ("load", "read"):
                    live.stages.setdefault(stage, []).append(result.trace.timing_ms.get(stage, 0.0))
            live.stages["total"][-1] = spent
            live.questions += 1
            live.candidates.append(result.trace.candidates)
            _same(question, ready, scoring, {hit.rank: hit.index for hit in result.hits})
            step()
    return live


def default_row(config: Config) -> grid.Row:
    """The row of the grid that is what `search` does with `config`'s rankers."""
    kind = {("ce",): "ce", ("colbert",): "colbert", (): "weight"}.get(tuple(config.rank))
    if kind is None:
        heads = {0: "rrf", -1: "cascade"}
        kind = heads.get(config.candidates, f"cascade:{config.candidates}")
    return grid.Row(grid.retrieval("I3"), grid.ranker(kind, config), grid.cut("B0"))


def _same(question: BenchQuestion, ready: Haystacked, scoring: Scoring, ranked: Mapping[int, int]) -> None:
    row = default_row(scoring.config)
    scored = scoring.score(question, ready, [(row.retrieval, [row.ranker])])
    expected = ordered(scored, row.retrieval.name, row.ranker, lambda: np.zeros((0, 0), np.float32))
    kept = dict(enumerate(expected.tolist(), 1))
    differ = [rank for rank, index in ranked.items() if kept.get(rank) != index]
    if differ:
        raise InputError(
            f"{scoring.store.path}: question {question.id}: from rank {min(differ)} on, the kept scores give "
            "another order than the models do now",
            hint="another --store: the code or a library has changed since the scores were kept",
            kind="store",
        )
