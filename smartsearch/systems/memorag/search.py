"""MemoRAG's search: clues widen what is found for the question, or are searched alone (its paper, 3.1)."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import partial

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.fusion import order, rrf
from smartsearch.rank.meaning import dense_search
from smartsearch.retrieve.grep import Found, Haystack, by_match_weight, grep, merge
from smartsearch.retrieve.hops import Evidence
from smartsearch.systems.base import Clock, Ranked
from smartsearch.systems.memorag.clues import Clues, clue_terms
from smartsearch.systems.memorag.notes import Notes
from smartsearch.systems.memorag.settings import set_in
from smartsearch.systems.smartsearch import pipeline
from smartsearch.types import Hit, HopTrace, Query, Term, fold

STEP = "clue"
"""What a clue's step is called among the hops."""


def search(
    question: str, haystack: Haystack, memory: Notes, config: Config, tools: Tools, tier: str
) -> Ranked:
    """The turns that the memory's clues and the question find, best first.

    A clue is searched and never a hit. `tier` is the kind of the memory.
    """
    clock = Clock()
    with clock("parse"):
        clues = memory.clues(question)
    way = set_in(config).memorag_clues
    only = way != "with" and bool(clues.texts)
    find = alone if only else beside
    result = find(question, clues, haystack, config, tools)
    spent = result.trace.timing_ms
    spent = spent | {"parse": spent.get("parse", 0.0) + clock.spent["parse"]}
    wanted = clues.texts or way == "with"
    fault = clues.fault or ("" if wanted else "the memory had no clue")
    noted = [f"{fault}: the question alone was searched"] if fault else []
    own = {
        "memory": tier,
        "about": memory.about,
        "fidelity": "approximate",
        "clues": way if only else "with the question",
        "kind": clues.kind,
        "drafted": len(clues.texts),
        "new_pieces": memory.built.new,
        "gone_pieces": memory.built.gone,
        "failed_pieces": memory.built.failed,
    }
    trace = replace(result.trace, timing_ms=spent, degraded=(*result.trace.degraded, *noted), own=own)
    return replace(result, trace=trace, confidence=None, weak=False)


def beside(question: str, clues: Clues, haystack: Haystack, config: Config, tools: Tools) -> Ranked:
    """What the question finds with all that the clues find beside it, ranked for the question."""
    widen = partial(_widened, clues, haystack, config, tools)
    return pipeline.search(question, haystack, config, tools, widen)


def _widened(
    clues: Clues, haystack: Haystack, config: Config, tools: Tools, query: Query, evidence: Evidence
) -> Evidence:
    """The evidence with the turns of each clue: those that its words find, and the nearest to it."""
    if config.mode == "and":  # everything else would bring in turns that lack a term
        return evidence
    found: Found = {c.index: {fold(term.text): term for term in c.terms} for c in evidence.candidates}
    known = {fold(term.text) for term in query.terms} | (set() if config.hop_speakers else haystack.speakers)
    steps, counts = list(evidence.hops), Counter(evidence.counts)
    for clue in clues.texts:
        terms = clue_terms(clue, known, tools.parser, config)
        known |= {fold(term.text) for term in terms}
        new = grep(haystack, terms, word_boundary=config.word_boundary)
        counts.update(key for inside in new.values() for key in inside)
        for index in _nearest(clue, query, haystack, config, tools) or ():
            new.setdefault(index, {})
        fresh = merge(found, new)
        steps.append(HopTrace(1, STEP, terms, fresh, len(found)))
    candidates = tuple(by_match_weight(found, config.typed))
    return replace(evidence, candidates=candidates, hops=tuple(steps), counts=counts)


def _nearest(clue: str, query: Query, haystack: Haystack, config: Config, tools: Tools) -> list[int]:
    """The turns nearest in meaning to a clue."""
    dense = dense_search(replace(query, text=clue), haystack, config, tools.scorers, tools.static)
    return dense(config.semantic_top) if dense else []


def alone(question: str, clues: Clues, haystack: Haystack, config: Config, tools: Tools) -> Ranked:
    """What each clue finds in the question's place, in the order of the fused lists: the paper's way.

    Its authors' code appends the question to the clues, the formula of the paper does not.
    """
    asked = (*clues.texts, question) if set_in(config).memorag_clues == "only" else clues.texts
    results = [pipeline.search(one, haystack, config, tools) for one in asked]
    lists = [result.hits[: config.top_k] for result in results]
    best: dict[int, Hit] = {}
    for hit in (hit for hits in lists for hit in hits):
        held = best.get(hit.index)
        if held is None or (hit.scores.ce or 0.0) > (held.scores.ce or 0.0):
            best[hit.index] = hit
    fused = rrf(((1.0, [hit.index for hit in hits]) for hits in lists), config.rrf_k)
    hits = [
        replace(best[index], rank=rank, scores=replace(best[index].scores, rrf=fused[index]))
        for rank, index in enumerate(order(fused), start=1)
    ]
    steps = [
        HopTrace(step.hop, STEP if not n else step.kind, _of(clue, step.terms), step.found, step.total)
        for clue, result in zip(asked, results, strict=True)
        for n, step in enumerate(result.trace.hops)
    ]
    first = results[0].trace
    timing = {
        stage: sum(result.trace.timing_ms.get(stage, 0.0) for result in results) for stage in first.timing_ms
    }
    trace = replace(
        first,
        terms=tuple(term for step in steps for term in step.terms),
        hops=tuple(steps),
        candidates=len(best),
        timing_ms=timing,
        absent=(),
    )
    return Ranked(hits, trace, config.profile)


def _of(clue: str, terms: tuple[Term, ...]) -> tuple[Term, ...]:
    return tuple(replace(term, source=term.source or clue) for term in terms)
