"""The paper on one page: parse, grep, hop, score twice, fuse; `systems.answer` truncates."""

from __future__ import annotations

from collections.abc import Callable, Collection

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.rank.cascade import Ranking
from smartsearch.rank.confidence import absent, confidence, is_weak, signals
from smartsearch.rank.lift import ranked
from smartsearch.rank.meaning import Near, nearest_sketches, nearest_turns
from smartsearch.rank.text import shown
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Dense, Evidence, gather, stem
from smartsearch.systems.base import Clock, Ranked
from smartsearch.types import Hit, Query, Trace, fold

Widen = Callable[[Query, Evidence], Evidence]
"""Adds to what retrieval gathered for a question: the place of another system's own step."""


def search(
    question: str, haystack: Haystack, config: Config, tools: Tools, widen: Widen | None = None
) -> Ranked:
    """The turns of `haystack` that answer `question`, best first (paper section 3)."""
    clock = Clock()
    with clock("parse"):
        query = tools.parser.parse(question, config)
    degraded: list[str] = []
    with clock("retrieve"):
        dense = dense_search(query, haystack, config, tools, degraded)
        evidence = gather(query, haystack, tools.parser, config, dense, tools.known)
        if widen is not None:
            evidence = widen(query, evidence)
    with clock("rank"):
        ranking = ranked(query, evidence, haystack, config, tools.scorers, tools.fusion)
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
        timing_ms=clock.spent | dict(ranking.timing_ms),
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
    return Ranked(
        _hits(ranking, haystack),
        trace,
        config.profile,
        ranking.pinned,
        evidence.unread,
        _warnings(query, evidence, weak),
        sure,
        weak,
    )


def _hits(ranking: Ranking, haystack: Haystack) -> list[Hit]:
    pairs = zip(ranking.candidates, ranking.scores, strict=True)
    return [
        Hit(position, haystack.corpus.turns[c.index], scores, c.terms, c.hop, c.index)
        for position, (c, scores) in enumerate(pairs, start=1)
    ]


def dense_search(
    query: Query, haystack: Haystack, config: Config, tools: Tools, degraded: list[str]
) -> Dense | None:
    """The dense search over all turns, or None where it is off or impossible."""
    if config.semantic == "off" or not any(c.isalnum() for c in query.text):
        return None
    if "colbert" not in tools.scorers:
        if config.semantic == "always":
            degraded.append(f"no dense search: the profile {config.profile} has no ColBERT")
        return None

    scorer, turns = tools.scorers["colbert"], len(haystack)
    looked: list[Near] = []  # once a question, whoever asks

    def run(top: int, most: int, found: Collection[int]) -> list[int]:
        if turns <= most or config.semantic == "always":
            return nearest_turns(query.text, haystack, scorer, top, shown(config)).turns
        sketcher = getattr(scorer, "sketcher", None) if config.typed else None
        if sketcher is None or turns > config.sketch_max_turns:
            limit = config.sketch_max_turns if sketcher else most
            degraded.append(
                f"nothing was searched by meaning: {turns} turns, more than {limit}; "
                "--semantic always does it"
            )
            return []
        if looked:
            return looked[0].turns[:top]
        most_wanted = max(config.pool, config.semantic_top)
        new = config.semantic_new
        near = nearest_sketches(
            query.text, haystack, scorer, sketcher, most_wanted, new, found, shown(config)
        )
        looked.append(near)
        if near.unread:
            degraded.append(
                f"searched by meaning in {turns - near.unread} of {turns} turns; the next questions read on "
                "(`smartsearch cache fill PATH` reads ahead)"
            )
        return near.turns[:top]

    return run


def _warnings(query: Query, evidence: Evidence, weak: bool) -> tuple[str, ...]:
    warnings = []
    mended = [term for step in evidence.hops for term in step.terms if step.kind == "fuzzy"]
    fuzzy = [term for term in mended if stem(fold(term.source)) != stem(term.text)]  # a form of it is no news
    for source in dict.fromkeys(term.source for term in fuzzy):
        near = ", ".join(term.text for term in fuzzy if term.source == source)
        warnings.append(f"no turn contains {source!r}; searched for {near}")
    named = ("grep", "fuzzy", "date", "title", "speaker")
    by_words = sum(step.found for step in evidence.hops if step.kind in named)
    if evidence.candidates and not by_words and not weak:
        warnings.append("no turn contains a word of the question; these are the nearest in meaning")
    if query.fallback and not query.terms:
        warnings.append(f"the parser found no noun, name or verb in the question: {query.fallback}")
    return (*warnings, *evidence.warnings)
