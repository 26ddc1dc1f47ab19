"""MemoRAG's search: clues widen what is found for the question, or are searched alone (its paper, 3.1)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from smartsearch.config import Config
from smartsearch.errors import ConfigError
from smartsearch.llm import Asker, rough_tokens
from smartsearch.models.tools import Tools
from smartsearch.rank.fusion import order, rrf
from smartsearch.rank.meaning import dense_search
from smartsearch.retrieve.grep import Found, Haystack, by_match_weight, grep, merge
from smartsearch.retrieve.hops import Evidence
from smartsearch.systems import base
from smartsearch.systems.base import Card, Clock, Plan, Progress, Ranked
from smartsearch.systems.kept import Notes
from smartsearch.systems.memorag import CARD, notes
from smartsearch.systems.memorag.notes import Clues, Memory
from smartsearch.systems.memorag.settings import set_in
from smartsearch.systems.pieces import digest
from smartsearch.systems.roles import foretold, identity
from smartsearch.systems.smartsearch import pipeline
from smartsearch.text.parse import Parser
from smartsearch.types import HopTrace, Query, Term, fold

CLUE = "CLUE"
"""The kind of a term that a clue gave."""
HEAVY, LIGHT = 2.0, 0.5
"""What a name or noun of a clue weighs, and any other word of it; the paper has no weights."""
_LIGHT_KINDS = frozenset(("VERB", "TOKEN"))
STEP = "clue"
"""What a clue's step is called among the hops."""


@dataclass(frozen=True)
class System:
    """MemoRAG with a language model, and SmartSearch's models for what clues find."""

    card: Card
    tools: Tools
    config: Config
    fingerprint: str
    asker: Asker

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> base.Memory:
        """The memory of all turns; with a `folder`, what it has is read, and what is new is written."""
        turns = corpus.corpus.turns
        with Notes.of(folder, self.fingerprint, alone=True) as store:
            if set_in(self.config).memorag == "long":
                return notes.long(turns, self.asker, self.config)
            return notes.gist(turns, store, self.asker, self.config, progress)

    def plan(self, corpus: Haystack, folder: Path | None, config: Config) -> tuple[Plan, Plan]:
        """What `prepare` would send, and what a question would."""
        turns = corpus.corpus.turns
        if set_in(self.config).memorag == "long":
            text = notes.long(turns, self.asker, self.config).text
            return Plan(), foretold([(notes.CLUES, 1, rough_tokens(text))])
        with Notes.of(folder, self.fingerprint, alone=False) as store:
            return notes.plan(turns, store, self.config)

    def search(self, question: str, corpus: Haystack, memory: base.Memory, config: Config) -> Ranked:
        """The turns that the memory's clues and the question find, best first; a clue is never a hit."""
        assert isinstance(memory, Memory)
        clock = Clock()
        with clock("parse"):
            clues, fault = notes.clues(memory, question, self.asker)
        way = set_in(config).memorag_clues
        only = way != "with" and bool(clues.texts)
        if only:
            result = alone(question, clues, corpus, config, self.tools)
        else:
            widen = partial(widened, clues, corpus, config, self.tools)
            result = pipeline.search(question, corpus, config, self.tools, widen)
        spent = {**result.trace.timing_ms}
        spent["parse"] = spent.get("parse", 0.0) + clock.spent["parse"]
        fault = fault or ("" if clues.texts or way == "with" else "the memory had no clue")
        noted = [f"{fault}: the question alone was searched"] if fault else []
        own = {
            "memory": set_in(self.config).memorag,
            "about": memory.about,
            "fidelity": "approximate",
            "clues": way if only else "with the question",
            "kind": clues.kind,
            "drafted": len(clues.texts),
            "new_pieces": memory.new,
            "gone_pieces": memory.gone,
            "failed_pieces": memory.failed,
        }
        trace = replace(result.trace, timing_ms=spent, degraded=(*result.trace.degraded, *noted), own=own)
        return replace(result, trace=trace, confidence=None, weak=False)


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """MemoRAG with the models of the config's profile. Raises ConfigError, LLMError, ModelError."""
    model, own = base.asker(config), set_in(config)
    if model is None:
        raise ConfigError("--system memorag asks a language model for its memory", hint="add --llm")
    settings = [own.memorag, own.memorag_ratio, own.memorag_context, *identity(model, notes.ROLES)]
    fingerprint = digest(json.dumps([*settings, config.redact, 2]), 8)
    return System(CARD, tools(config), config, fingerprint, model)


def clue_terms(clue: str, known: Container[str], parser: Parser, config: Config) -> tuple[Term, ...]:
    """The terms of a clue that are not among the `known`, folded, each with the clue as its source."""
    return tuple(
        replace(term, kind=CLUE, weight=LIGHT if term.kind in _LIGHT_KINDS else HEAVY, source=clue)
        for term in parser.parse(clue, config).terms
        if fold(term.text) not in known
    )


def widened(
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
        dense = dense_search(replace(query, text=clue), haystack, config, tools.scorers, tools.static)
        for index in dense(config.semantic_top) if dense else ():
            new.setdefault(index, {})
        fresh = merge(found, new)
        steps.append(HopTrace(1, STEP, terms, fresh, len(found)))
    candidates = tuple(by_match_weight(found, config.typed))
    return replace(evidence, candidates=candidates, hops=tuple(steps), counts=counts)


def alone(question: str, clues: Clues, haystack: Haystack, config: Config, tools: Tools) -> Ranked:
    """What each clue finds in the question's place, in the order of the fused lists: the paper's way. Its
    authors' code appends the question to the clues, the formula of the paper does not."""
    asked = (*clues.texts, question) if set_in(config).memorag_clues == "only" else clues.texts
    results = [pipeline.search(one, haystack, config, tools) for one in asked]
    lists = [result.hits[: config.top_k] for result in results]
    every = sorted((hit for hits in lists for hit in hits), key=lambda hit: -(hit.scores.ce or 0.0))
    best = {hit.index: hit for hit in reversed(every)}
    fused = rrf(((1.0, [hit.index for hit in hits]) for hits in lists), config.rrf_k)
    hits = [
        replace(best[index], rank=rank, scores=replace(best[index].scores, rrf=fused[index]))
        for rank, index in enumerate(order(fused), start=1)
    ]
    steps = []
    for clue, result in zip(asked, results, strict=True):
        for n, step in enumerate(result.trace.hops):
            terms = (replace(term, source=term.source or clue) for term in step.terms)
            steps.append(replace(step, kind=step.kind if n else STEP, terms=tuple(terms)))
    timing: Counter[str] = Counter()
    for result in results:
        timing.update(result.trace.timing_ms)
    trace = replace(
        results[0].trace,
        terms=tuple(term for step in steps for term in step.terms),
        hops=tuple(steps),
        candidates=len(best),
        timing_ms=dict(timing),
        absent=(),
    )
    return Ranked(hits, trace, config.profile)
