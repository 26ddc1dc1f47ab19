"""Says what each stage did, for `--explain`: as facts, and these as lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from smartsearch.config import Config
from smartsearch.output.plain import aligned, one_line, where
from smartsearch.output.record import budget
from smartsearch.types import STAGES, Dropped, Hit, Met, Result, Scores, Term

SHOWN_DROPS = 10
"""Dropped turns that are listed by name; JSON lists them all."""


@dataclass(frozen=True)
class Facts:
    """A titled table, or a title with one line of text; `headed`: the first row names the columns."""

    title: str
    rows: Sequence[Sequence[str]] = ()
    said: str = ""
    headed: bool = False


def facts(answer: Result, config: Config) -> Iterator[Facts]:
    """Terms, hops, scores, the cut, timing and models; no line break inside a cell."""
    return (one for one in _facts(answer, config) if one.said or one.rows)


def _facts(answer: Result, config: Config) -> Iterator[Facts]:
    trace = answer.trace
    yield Facts("terms", [_term(term) for term in trace.terms])
    yield Facts("fallback", said=trace.fallback)
    hops = [
        (str(h.hop), h.kind, f"+{h.found}", str(h.total), ", ".join(one_line(t.text) for t in h.terms))
        for h in trace.hops
    ]
    yield Facts("hops", [("hop", "kind", "new", "turns", "terms"), *hops] if hops else [], headed=True)
    yield Facts(answer.system, said=", ".join(f"{name} {value}" for name, value in trace.own.items()))
    yield Facts("candidates", said=f"{'about ' if trace.estimates else ''}{trace.candidates}")
    others = tuple(dict.fromkeys(name for hit in answer.hits for name in hit.scores.more))
    names = ("rank", "match", "ce", "colbert", "rrf", "fused", *others, "hop", "turn")
    rows = [_scores(hit, others) for hit in answer.hits]
    yield Facts("scores", [names, *rows] if rows else [], headed=True)
    yield Facts("met", [(str(hit.rank), ", ".join(map(_met, hit.met))) for hit in answer.hits if hit.met])
    yield from _cut(answer, config)
    yield from (Facts("degraded", said=one_line(said)) for said in trace.degraded)
    spent = ", ".join(f"{stage} {trace.timing_ms.get(stage, 0.0):.1f}" for stage in STAGES)
    yield Facts("ms", said=f"{spent}; threads {answer.threads}")
    asked = {"memory": trace.ingest, "question": trace.cost} if trace.ingest else {}
    took = [
        (what, f"calls {c.model_calls:,}", f"tokens in {c.tokens_in:,}", f"out {c.tokens_out:,}")
        for what, c in asked.items()
        if c
    ]
    yield Facts("language model", took)
    yield Facts("profile", said=answer.profile)
    yield Facts("models", [(m.role, m.id, m.revision, m.precision) for m in trace.models])


def lines(answer: Result, config: Config) -> Iterator[str]:
    """One fact a line."""
    for one in facts(answer, config):
        if one.said:
            yield f"{one.title}: {one.said}"
        else:
            yield f"{one.title}:"
            yield from (f"  {line}" for line in aligned(one.rows))


def _term(term: Term) -> tuple[str, ...]:
    source = f"for {one_line(term.source)}" if term.source else ""
    return (one_line(term.text), term.kind, f"{term.weight:.2f}", f"hop {term.hop}", source)


def _scores(hit: Hit, others: Sequence[str]) -> tuple[str, ...]:
    """A row of the scores; `others` are the names of those beside SmartSearch's own."""
    s = hit.scores
    own = (f"{s.match:.2f}", _ce(s), _number(s.colbert, 3), f"{s.rrf:.5f}", _number(s.fused, 3))
    more = (_number(s.more.get(name), 4) for name in others)
    return (str(hit.rank), *own, *more, str(hit.hop), _name(hit))


def _met(words: Met) -> str:
    """`instrument ~ accordion .71`: a word of the question, what stands for it, and how near they are."""
    return f"{one_line(words.asked)} ~ {one_line(words.said)} {f'{words.cosine:.2f}'.lstrip('0')}"


def _ce(scores: Scores) -> str:
    return _number(scores.ce, 4)


def _number(score: float | None, digits: int) -> str:
    return "-" if score is None else f"{score:.{digits}f}"


def _name(hit: Hit | Dropped) -> str:
    return f"{where(hit.turn)} {one_line(hit.turn.turn)}".rstrip()


def _cut(answer: Result, config: Config) -> Iterator[Facts]:
    cut = budget(answer.budget, config)
    rules = f"top_k {cut['top_k']}, alpha {cut['alpha']:g}, tau {cut['tau']:.4f}, " if cut["top_k"] else ""
    room = f"{answer.budget.words or 'any number of'} words"
    room += f", {config.tokens} tokens" if config.tokens else ""
    yield Facts("cut", said=f"{cut['truncate']}, {rules}{room}, fill {cut['fill']}")
    used = f"{cut['used_words']} words, {cut['used_tokens']} tokens ({cut['tokenizer']})"
    yield Facts("used", said=used)
    yield Facts("dropped", said=", ".join(f"{reason} {count}" for reason, count in cut["dropped"].items()))
    if answer.budget.hidden:
        yield Facts("hidden", said=f"{len(answer.budget.hidden)} that stayed, by -n {cut['limit']}")
    rows = [
        (f"rank {d.rank}", d.reason, f"ce {_ce(d.scores)}", _name(d))
        for d in answer.budget.dropped[:SHOWN_DROPS]
    ]
    yield Facts("first dropped", rows)
