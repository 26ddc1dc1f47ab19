"""The paper on one page: parse, grep, hop, score, fuse, lift, cut (docs/paper.md)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.cascade import Task, fuse, score
from smartsearch.rank.confidence import absent, confidence, is_weak, signals
from smartsearch.rank.fusion import Ranking
from smartsearch.rank.lift import lift
from smartsearch.rank.meaning import dense_search
from smartsearch.rank.truncate import truncate
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence, grepped, hopped, is_form
from smartsearch.types import STAGES, Budget, Hit, Query, Result, Trace, paired

Widen = Callable[[Query, Evidence], Evidence]
"""Adds to what retrieval gathered for a question: the place of another system's own step."""


def search(
    question: str, haystack: Haystack, config: Config, tools: Tools, widen: Widen | None = None
) -> Result:
    """The turns of `haystack` that answer `question`, ranked and cut to the budget (paper 3)."""
    clock, question = _Clock(), paired(question)
    degraded: list[str] = []
    with clock("parse"):
        query = tools.parser.parse(question, config)
    with clock("retrieve"):
        dense = dense_search(query, haystack, config, tools.scorers, tools.static, degraded)
        found = grepped(query, haystack, config)
        evidence = hopped(found, query, tools.parser, dense, tools.known)
        evidence = widen(query, evidence) if widen else evidence
    with clock("rank"):
        ranking = ranked(query, evidence, haystack, config, tools)
    with clock("truncate"):
        kept, budget = truncate(_hits(ranking, haystack), config, tools.tokenizer, ranking.pinned)
        budget = replace(budget, unread=evidence.unread)
    if config.order == "time":
        kept = tuple(sorted(kept, key=lambda hit: (hit.turn.time, hit.index)))
    searched = any(step.kind == "semantic" for step in evidence.hops)
    ran = dict.fromkeys(["parser", *config.rank, *(["colbert"] if searched else [])])
    named = {
        kind: {t.source for s in evidence.hops if s.kind == kind for t in s.terms}
        for kind in ("date", "title")
    }
    trace = Trace(
        terms=tuple(term for step in evidence.hops for term in step.terms),
        hops=evidence.hops,
        candidates=len(evidence.candidates) + evidence.unread,
        fallback=query.fallback,
        timing_ms=clock.stages() | dict(ranking.timing_ms),
        models=tuple(tools.models[name] for name in ran if name in tools.models),
        degraded=(*degraded, *evidence.notes, *ranking.degraded, *tools.notes()),
        absent=tuple(term for term in absent(query, evidence.counts) if term.text not in named["title"]),
        estimates=("candidates", "budget", "hops") if evidence.unread else (),
    )
    tells = config.typed and config.calibrate and tools.confidence
    near = {term.source for term in evidence.mended} | {
        word for said in named["date"] for word in said.split()
    }
    sure = confidence(signals(query, trace.absent, ranking.scores), tools.confidence) if tells else None
    weak = is_weak(sure, query, trace.absent, near)
    return Result(
        question,
        config.profile,
        kept,
        budget,
        trace,
        config.cores,
        warnings=_warnings(query, evidence, budget, weak),
        confidence=sure,
        weak=weak,
    )


def ranked(
    query: Query,
    evidence: Evidence,
    haystack: Haystack,
    config: Config,
    tools: Tools,
) -> Ranking:
    """All candidates of `evidence` as a search orders them; the benchmark's default row is this order too."""
    task = Task.of(query, evidence, haystack, config, tools.scorers, tools.fusion, tools.static)
    scored = score(task)
    order = fuse(task, scored)
    return lift(order, query, evidence, haystack.corpus, config)


def _hits(ranking: Ranking, haystack: Haystack) -> list[Hit]:
    pairs = zip(ranking.candidates, ranking.scores, strict=True)
    return [
        Hit(position, haystack.corpus.turns[c.index], scores, c.terms, c.hop, c.index)
        for position, (c, scores) in enumerate(pairs, start=1)
    ]


def _warnings(query: Query, evidence: Evidence, budget: Budget, weak: bool) -> tuple[str, ...]:
    warnings = []
    fuzzy = [term for term in evidence.mended if not is_form(term)]  # a form of a word is no news
    for source in dict.fromkeys(term.source for term in fuzzy):
        near = ", ".join(term.text for term in fuzzy if term.source == source)
        warnings.append(f"no turn contains {source!r}; searched for {near}")
    named = ("grep", "fuzzy", "date", "title", "speaker")
    by_words = sum(step.found for step in evidence.hops if step.kind in named)
    if evidence.candidates and query.terms and not by_words and not weak:
        warnings.append("no turn contains a word of the question; these are the nearest in meaning")
    if query.fallback and not query.terms:
        warnings.append(f"the parser found no noun, name or verb in the question: {query.fallback}")
    return (*warnings, *budget.warnings, *evidence.warnings)


class _Clock:
    """Milliseconds a stage, by name."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._spent: dict[str, float] = dict.fromkeys(STAGES, 0.0)

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        try:
            yield
        finally:
            self._spent[stage] += (time.perf_counter() - start) * 1000.0

    def stages(self) -> dict[str, float]:
        self._spent["total"] = (time.perf_counter() - self._start) * 1000.0
        return dict(self._spent)
