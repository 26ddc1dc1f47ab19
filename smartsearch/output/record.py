"""A result or an error as the JSON of schema version 1 (docs/json.md): fixed keys in fixed order, rounded."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from smartsearch import __version__
from smartsearch.output.plain import UNSEEN

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.errors import SmartsearchError
    from smartsearch.types import Answered, Budget, Hit, HopTrace, Nearby, Result, Scores, Term, Turn

SCHEMA_VERSION = 1
HEAD = {"schema_version": SCHEMA_VERSION, "tool_version": __version__}
"""What most replies begin with."""
DROPS = ("top_k", "tau", "budget")

Json = dict[str, Any]

_DRIVING = re.compile(f"[\x7f-\x9f\u2028\u2029]|{UNSEEN.pattern}")


def result(
    answer: Result, config: Config, nearby: Sequence[Nearby] | None = None, *, explain: bool = False
) -> Json:
    """The record of one answer; `nearby` (one entry a hit) adds each hit's `context`."""
    from smartsearch.types import STAGES

    trace = answer.trace
    record: Json = {
        **HEAD,
        "query": answer.query,
        **({"filters": answer.filters} if answer.filters else {}),
        "system": answer.system,
        "profile": answer.profile,
        "degraded": list(trace.degraded),
        "fallback": trace.fallback,
        "candidates": trace.candidates,
        **({"estimates": list(trace.estimates)} if trace.estimates else {}),
        "confidence": None if answer.confidence is None else _round(answer.confidence),
        "weak": answer.weak,
        "absent": [term.text for term in trace.absent],
        "budget": budget(answer.budget, config),
        "timing_ms": {stage: round(trace.timing_ms.get(stage, 0.0), 1) for stage in STAGES},
        "models": [dataclasses.asdict(model) for model in trace.models],
        "cost": dataclasses.asdict(trace.cost),
        **({"ingest_cost": dataclasses.asdict(trace.ingest)} if trace.ingest else {}),
        **({"trace": trace.own} if trace.own else {}),
        "threads": answer.threads,
        "terms": [term(t) for t in trace.terms],
        "hops": [hop(h) for h in trace.hops],
        "hidden": len(answer.budget.hidden),
        "hits": [hit(h, nearby[n] if nearby else None) for n, h in enumerate(answer.hits)],
    }
    if explain:
        record["dropped_hits"] = [
            {"rank": d.rank, "reason": d.reason, **place(d.turn), "scores": scores(d.scores)}
            for d in answer.budget.dropped
        ]
    record["skipped"] = [dataclasses.asdict(s) for s in answer.skipped]
    record["warnings"] = list(answer.warnings)
    return record


def error(failure: SmartsearchError) -> Json:
    """The record of a failure: scripts branch on `kind`."""
    return {
        "error": {
            "kind": failure.kind,
            "message": failure.message,
            "hint": failure.hint,
            "retryable": failure.retryable,
        }
    }


def outcome(done: Answered, config: Config) -> Json:
    """One line of a batch: the record `query` gives with its `id` in front, or an error with its line.

    Masked if the config says so, but for the id: by it a run goes on.
    """
    told = {"line": done.line, **error(done.error)} if done.error else {}
    if done.result is not None:
        told = result(done.result, config)
    if config.redact:
        from smartsearch.text.redact import Together

        told = Together(told).of(told)
    return {"id": done.id, **told}


def budget(cut: Budget, config: Config) -> Json:
    """How the ranked list was cut, and how many turns each rule dropped."""
    dropped = cut.drops
    return {
        "truncate": cut.truncate,
        "words": cut.words,
        "used_words": cut.used_words,
        "tokens": config.tokens,
        "used_tokens": cut.used_tokens,
        "tokenizer": cut.tokenizer,
        "alpha": cut.alpha,
        "tau": _round(cut.tau),
        "top_k": cut.top_k,
        "fill": config.fill,
        "limit": config.limit,
        "cut_text": cut.cut_text,
        **({"compress": list(config.compress)} if config.compress else {}),
        "dropped": {
            reason: dropped.get(reason, 0) for reason in (*DROPS, *sorted(dropped.keys() - set(DROPS)))
        },
    }


def hit(found: Hit, nearby: Nearby | None = None) -> Json:
    """One ranked turn: its place, text, scores and matching terms."""
    turn = found.turn
    record: Json = {
        "rank": found.rank,
        **whole(turn),
        **_excerpt(found),
        **({"reply": neighbour(found.reply.turn) | _excerpt(found.reply)} if found.reply else {}),
        "scores": scores(found.scores),
        "why": {"terms": [term(t) for t in found.terms], "hop": found.hop},
        **({"met": [vars(one) | {"cosine": _round(one.cosine)} for one in found.met]} if found.met else {}),
    }
    if nearby is not None:
        record["context"] = {
            "before": [neighbour(t) for t in nearby.before],
            "after": [neighbour(t) for t in nearby.after],
        }
    return record


def _excerpt(found: Hit) -> Json:
    """The part of a long turn that is shown elsewhere."""
    return {"excerpt": found.excerpt.text} if found.excerpt else {}


def place(turn: Turn) -> Json:
    """A turn's place: file, line or pointer, and the source's own ids."""
    return {
        "path": turn.path,
        "line": turn.line,
        "pointer": turn.pointer,
        "conversation": turn.conversation,
        "session": turn.session,
        "turn": turn.turn,
        **({"title": turn.title} if turn.title else {}),
    }


def whole(turn: Turn) -> Json:
    """A turn with its place and all it says."""
    return {**place(turn), **_said(turn)}


def neighbour(turn: Turn) -> Json:
    """A turn shown as context of a hit in the same session of the same file."""
    return {"line": turn.line, "pointer": turn.pointer, "turn": turn.turn, **_said(turn)}


def _said(turn: Turn) -> Json:
    return {
        "speaker": turn.speaker,
        "time": turn.time,
        "text": turn.text,
        **({"caption": turn.caption} if turn.caption else {}),
    }


def scores(given: Scores) -> Json:
    """A turn's scores; null if the scorer did not see the turn."""
    return {
        "match": _round(given.match),
        "ce": None if given.ce is None else _round(given.ce),
        "colbert": None if given.colbert is None else _round(given.colbert),
        "rrf": _round(given.rrf),
        "fused": None if given.fused is None else _round(given.fused),
        **{name: _round(value) for name, value in given.more.items()},
    }


def term(given: Term) -> Json:
    """A search term; `source` is the question's own word behind a fuzzy one."""
    record: Json = {"text": given.text, "kind": given.kind, "weight": _round(given.weight), "hop": given.hop}
    return record | {"source": given.source} if given.source else record


def hop(step: HopTrace) -> Json:
    """One retrieval step: its new terms by name, the turns it added and how many there are then."""
    return {
        "hop": step.hop,
        "kind": step.kind,
        "terms": [t.text for t in step.terms],
        "found": step.found,
        "total": step.total,
    }


def table(name: str, rows: Sequence[Any]) -> Json:
    """A list of flat records under a versioned heading, as `models` and `formats` print it."""
    return {
        "schema_version": SCHEMA_VERSION,
        name: [row if isinstance(row, Mapping) else vars(row) for row in rows],
    }


def dumps(record: Json, *, indent: bool = False) -> str:
    """UTF-8 JSON; half of a surrogate pair, which JSON cannot hold, becomes U+FFFD.

    Characters that could drive a terminal are escaped, as JSON itself does with those below the space.
    """
    import orjson

    option = orjson.OPT_INDENT_2 if indent else 0
    try:
        text = orjson.dumps(record, option=option).decode()
    except TypeError:
        text = orjson.dumps(_whole(record), option=option).decode()
    return text if text.isascii() and "\x7f" not in text else _DRIVING.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    units = found[0].encode("utf-16-be")
    return "".join(f"\\u{units[n : n + 2].hex()}" for n in range(0, len(units), 2))


def _whole(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, Mapping):
        return {_whole(key): _whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_whole(item) for item in value]
    return value


def _round(value: float) -> float:
    return round(float(value), 6)
