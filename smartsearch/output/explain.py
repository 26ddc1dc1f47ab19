"""What every stage did, as lines of text for `--explain` in a pipe; a terminal gets picture.py's drawing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from smartsearch.config import Config
from smartsearch.output.cut import ceiling
from smartsearch.output.plain import aligned, one_line, where
from smartsearch.output.record import budget
from smartsearch.types import STAGES, Dropped, Hit, Result, Scores, Term

SHOWN_DROPS = 10
"""Dropped turns that are listed by name; JSON lists them all."""


def lines(answer: Result, config: Config) -> Iterator[str]:
    """Terms, hops, scores, the cut, timing and models; one fact a line, no line break inside a line."""
    trace = answer.trace
    yield from _columns("terms", [_term(t) for t in trace.terms])
    if trace.fallback:
        yield f"fallback: {trace.fallback}"
    hops = [
        (str(h.hop), h.kind, f"+{h.found}", str(h.total), ", ".join(one_line(t.text) for t in h.terms))
        for h in trace.hops
    ]
    yield from _columns("hops", [("hop", "kind", "new", "turns", "terms"), *hops] if hops else [])
    yield f"candidates: {trace.candidates}"
    rows = [_scores(hit) for hit in answer.hits]
    yield from _columns(
        "scores", [("rank", "match", "ce", "colbert", "rrf", "fused", "hop", "turn"), *rows] if rows else []
    )
    yield from _cut(answer, config)
    yield from (f"degraded: {one_line(said)}" for said in trace.degraded)
    spent = [f"{stage} {trace.timing_ms.get(stage, 0.0):.1f}" for stage in STAGES]
    yield f"ms: {', '.join(spent)}; threads {answer.threads}"
    yield f"profile: {answer.profile}"
    yield from _columns("models", [(m.role, m.id, m.revision, m.precision) for m in trace.models])


def _term(term: Term) -> tuple[str, ...]:
    source = f"for {one_line(term.source)}" if term.source else ""
    return (one_line(term.text), term.kind, f"{term.weight:.2f}", f"hop {term.hop}", source)


def _scores(hit: Hit) -> tuple[str, ...]:
    s = hit.scores
    colbert = "-" if s.colbert is None else f"{s.colbert:.3f}"
    fused = "-" if s.fused is None else f"{s.fused:.3f}"
    return (str(hit.rank), f"{s.match:.2f}", _ce(s), colbert, f"{s.rrf:.5f}", fused, str(hit.hop), _name(hit))


def _ce(scores: Scores) -> str:
    return "-" if scores.ce is None else f"{scores.ce:.4f}"


def _name(hit: Hit | Dropped) -> str:
    return f"{where(hit.turn)} {one_line(hit.turn.turn)}".rstrip()


def _cut(answer: Result, config: Config) -> Iterator[str]:
    cut = budget(answer.budget, config)
    rules = f"top_k {cut['top_k']}, alpha {cut['alpha']:g}, tau {cut['tau']:.4f}, " if cut["top_k"] else ""
    yield f"cut: {cut['truncate']}, {rules}{ceiling(answer, config)}, fill {cut['fill']}"
    yield f"used: {cut['used_words']} words, {cut['used_tokens']} tokens ({cut['tokenizer']})"
    yield "dropped: " + ", ".join(f"{reason} {count}" for reason, count in cut["dropped"].items())
    if answer.budget.hidden:
        yield f"hidden: {len(answer.budget.hidden)} that stayed, by -n {cut['limit']}"
    rows = [
        (f"rank {d.rank}", d.reason, f"ce {_ce(d.scores)}", _name(d))
        for d in answer.budget.dropped[:SHOWN_DROPS]
    ]
    yield from _columns("first dropped", rows)


def _columns(title: str, rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A titled table, or nothing without rows."""
    if rows:
        yield f"{title}:"
        yield from (f"  {line}" for line in aligned(rows))
