"""Times warm queries as a user asks them, and checks that the grid's row gives the same order.

A grid works on scores that may be old. So a few questions are asked of the systems themselves: they give the
times, and SmartSearch's order must be the grid's.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from smartsearch import systems
from smartsearch.bench import grid, presets
from smartsearch.bench.ranking import ordered
from smartsearch.bench.rivals import Rival, Running
from smartsearch.bench.scoring import Haystacked, Scoring
from smartsearch.bench.types import BenchQuestion, Dataset
from smartsearch.config import MODELS, PRESETS, Config
from smartsearch.errors import InputError
from smartsearch.rank.text import shown
from smartsearch.systems.base import Memory, quietly
from smartsearch.types import STAGES, Result

OURS = "smartsearch"


def measure(
    dataset: Dataset,
    scoring: Scoring,
    rivals: Sequence[Rival],
    wanted: int,
    step: Callable[[], None] = lambda: None,
    like: str = "",
) -> dict[str, Any]:
    """Ask about `wanted` questions, spread evenly, by the scoring's own Config or `like` a preset.

    `ranking` is our row that is timed. Milliseconds: by stage the median and 95th percentile; `first_ms` is
    the median of each conversation's first question, which pays for work that later ones reuse (ColBERT's
    vectors) and is asked again; `rivals` have a total each, their memory made before. Raises InputError where
    a search does not give the row's order, and says why.
    """
    method = {name: value for name, value in PRESETS.get(like, {}).items() if name not in MODELS}
    config = replace(scoring.config, **method)
    row = default_row(config, like)
    config = replace(config, system=OURS, lift=config.lift and row.ranker.kind == "cascade")
    tools = scoring.tools
    ours = systems.load(config, lambda _: tools)
    rivals = [rival for rival in rivals if not rival.asks]  # a language model's time is not measured
    opened = [rival.open(config, tools) for rival in rivals]
    stages: dict[str, list[float]] = {}
    first: list[float] = []
    candidates: list[int] = []
    spent: dict[str, list[float]] = {}
    chosen = set(np.linspace(0, dataset.questions - 1, min(wanted, dataset.questions)).round().astype(int))
    seen = 0
    for group in dataset.groups():
        asked = [question for n, question in enumerate(group.questions, seen) if n in chosen]
        seen += len(group.questions)
        if not asked:
            continue
        ready = Haystacked(group.corpus, shown(scoring.config))
        memory = ours.prepare(ready.haystack, None, quietly)
        running = [Running(system, ready.haystack, config, scoring.store.path.parent) for system in opened]

        def ask(question: BenchQuestion, ready: Haystacked = ready, memory: Memory = memory) -> Result:
            day = replace(config, now=question.day)
            return systems.answer(ours, question.text, ready.haystack, memory, day)

        first.append(ask(asked[0]).trace.timing_ms["total"])
        for rival in running:
            rival(asked[0])
        for question in asked:
            started = time.perf_counter()
            result = ask(question)
            total = (time.perf_counter() - started) * 1000.0
            for stage in STAGES:
                if stage not in ("load", "read"):
                    stages.setdefault(stage, []).append(result.trace.timing_ms.get(stage, 0.0))
            stages["total"][-1] = total
            candidates.append(result.trace.candidates)
            _same(question, ready, scoring, row, result)
            for named, rival in zip(rivals, running, strict=True):
                started = time.perf_counter()
                rival(question)
                spent.setdefault(named.name, []).append((time.perf_counter() - started) * 1000.0)
            step()
    return {
        "ranking": presets.ranking(row.name),
        "questions": len(candidates),
        "candidates": round(float(np.mean(candidates)), 1) if candidates else None,
        "stages": {stage: _middle(some) for stage, some in stages.items()},
        "first_ms": round(float(np.median(first)), 1) if first else None,
        "rivals": {name: _middle(some) for name, some in spent.items()},
    }


def _middle(spent: Sequence[float]) -> dict[str, float]:
    return {f"p{share}": round(float(np.percentile(spent, share)), 2) for share in (50, 95)}


def default_row(config: Config, like: str = "") -> grid.Row:
    """The row of the grid that equals `search` with `config`'s rankers, or with preset `like`."""
    if like:
        retrieval, ranker, _ = presets.REFERENCES[like].split()
        return grid.Row(grid.retrieval(retrieval), grid.ranker(ranker, config), grid.cut("B0"))
    kind = {("ce",): "ce", ("colbert",): "colbert", (): "weight"}.get(tuple(config.rank))
    if kind is None:
        heads = {0: "rrf", -1: "cascade"}
        kind = heads.get(config.candidates, f"cascade:{config.candidates}")
    return grid.Row(grid.retrieval("I3"), grid.ranker(kind, config), grid.cut("B0"))


def _same(
    question: BenchQuestion, ready: Haystacked, scoring: Scoring, row: grid.Row, result: Result
) -> None:
    scored = scoring.score(question, ready, [(row.retrieval, [row.ranker])])
    expected = ordered(scored, row.retrieval.name, row.ranker, lambda: np.zeros((0, 0), np.float32)).tolist()
    rank = next((hit.rank for hit in result.hits if expected[hit.rank - 1 : hit.rank] != [hit.index]), 0)
    if rank:
        raise InputError(
            f"{scoring.store.path}: question {question.id}: from rank {rank} on, {row.name} has another "
            "order than a search now",
            hint="another --store, if its scores are of another processor; else report it, and --live 0",
            kind="store",
        )
