"""The paper on one page: parse, grep, hop, score, fuse, lift (docs/paper.md); `systems.answer` cuts."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import count

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.cascade import Task, fuse, score
from smartsearch.rank.confidence import FIRST, absent, confidence, is_weak, signals
from smartsearch.rank.features import SCORERS
from smartsearch.rank.fusion import Ranking
from smartsearch.rank.lift import ASKED, answer_to, lift
from smartsearch.rank.meaning import dense_search
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence, grepped, hopped, is_form
from smartsearch.systems.base import Clock, Ranked
from smartsearch.types import Candidate, Hit, Query, Scores, Trace

Widen = Callable[[Query, Evidence], Evidence]
"""Adds to what retrieval gathered for a question: the place of another system's own step."""


def search(
    question: str, haystack: Haystack, config: Config, tools: Tools, widen: Widen | None = None
) -> Ranked:
    """The turns of `haystack` that answer `question`, best first (paper 3)."""
    clock = Clock()
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
    searched = config.first == "match" and any(step.kind == "semantic" for step in evidence.hops)
    ran = dict.fromkeys(["parser", config.first, *config.rank, *(["colbert"] if searched else [])])
    named = {
        kind: {t.source for s in evidence.hops if s.kind == kind for t in s.terms}
        for kind in ("date", "title")
    }
    trace = Trace(
        terms=tuple(term for step in evidence.hops for term in step.terms),
        hops=evidence.hops,
        candidates=len(evidence.candidates) + evidence.unread,
        fallback=query.fallback,
        timing_ms=clock.spent | dict(ranking.timing_ms),
        models=tuple(tools.models[name] for name in ran if name in tools.models),
        degraded=(*degraded, *evidence.notes, *ranking.degraded, *tools.notes()),
        absent=tuple(term for term in absent(query, evidence.counts) if term.text not in named["title"]),
        estimates=("candidates", "budget", "hops") if evidence.unread else (),
    )
    both = set(SCORERS) <= set(config.rank)  # for whose scores it was fitted
    tells = config.typed and config.calibrate and both and tools.confidence
    near = {term.source for term in evidence.mended} | {
        word for said in named["date"] for word in said.split()
    }
    hits = _hits(ranking, haystack, ASKED if config.typed and config.lift else 0)
    seen = signals(query, trace.absent, ranking.scores, [hit.turn.spoken for hit in hits[:FIRST]])
    sure = confidence(seen, tools.confidence) if tells else None
    weak = is_weak(sure, query, trace.absent, near)
    return Ranked(
        hits,
        trace,
        config.profile,
        ranking.pinned,
        evidence.unread,
        _warnings(query, evidence, weak),
        sure,
        weak,
    )


def ranked(query: Query, evidence: Evidence, haystack: Haystack, config: Config, tools: Tools) -> Ranking:
    """All candidates of `evidence` as a search orders them; the benchmark's default row is this order too."""
    task = Task.of(query, evidence, haystack, config, tools.scorers, tools.fusion, tools.static)
    scored = score(task)
    order = fuse(task, scored)
    return lift(order, query, evidence, haystack.corpus, config)


def _hits(ranking: Ranking, haystack: Haystack, replied: int) -> list[Hit]:
    """The ranking as hits, the first `replied` with what answers them."""
    corpus, indices = haystack.corpus, haystack.indices

    def hit(rank: int, found: Candidate, scores: Scores) -> Hit:
        reply = answer_to(found.index, corpus) if rank <= replied else -1
        place = bisect_left(indices, reply) if reply >= 0 else len(indices)
        inside = place < len(indices) and indices[place] == reply  # filters leave others out
        answered = Hit(0, corpus.turns[reply], Scores(), index=reply) if inside else None
        return Hit(
            rank, corpus.turns[found.index], scores, found.terms, found.hop, found.index, reply=answered
        )

    return list(map(hit, count(1), ranking.candidates, ranking.scores))


def _warnings(query: Query, evidence: Evidence, weak: bool) -> tuple[str, ...]:
    warnings = []
    fuzzy = [term for term in evidence.mended if not is_form(term)]  # a form of a word is no news
    for source in dict.fromkeys(term.source for term in fuzzy):
        near = ", ".join(term.text for term in fuzzy if term.source == source)
        warnings.append(f"no turn contains {source!r}; searched for {near}")
    named = ("grep", "fuzzy", "date", "title", "speaker")
    by_words = sum(step.found for step in evidence.hops if step.kind in named)
    if evidence.candidates and query.terms and not by_words and not weak:
        sought = " or ".join(repr(term.text) for term in query.terms[:3])
        warnings.append(f"no turn contains {sought}; these are the nearest in meaning")
    if query.fallback and not query.terms:
        warnings.append(f"the parser found no noun, name or verb in the question: {query.fallback}")
    return (*warnings, *evidence.warnings)
