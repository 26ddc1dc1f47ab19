"""The ranked list cut to what a reader can hold: not at all, to a fixed budget, or by score (paper 3.4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from smartsearch.config import Config
from smartsearch.types import Budget, Dropped, Hit

CountTokens = Callable[[str], int]


@dataclass(frozen=True)
class Tokenizer:
    """A named way to count tokens."""

    name: str
    count: CountTokens


def truncate(hits: Sequence[Hit], config: Config, tokenizer: Tokenizer) -> tuple[tuple[Hit, ...], Budget]:
    """The hits that fit, in rank order and whole, and how they were chosen.

    `adaptive`: of the best `top_k`, those whose cross-encoder score is at least tau = alpha times the
    best such score, up to the word ceiling. `fixed`: up to the word ceiling. Never fewer than one
    turn; a first turn longer than the ceiling is cut, and `Budget.cut_text` says so. `limit` then
    shows fewer; what it hides is neither dropped nor counted as used.
    """
    adaptive = config.truncate == "adaptive"
    dropped: list[Dropped] = []
    rest = list(hits)
    tau = 0.0
    if adaptive:
        dropped += [_drop(hit, "top_k") for hit in rest[config.top_k :]]
        rest = rest[: config.top_k]
        tau = threshold(rest, config.alpha)
        below = [h for h in rest if h.scores.ce is not None and h.scores.ce < tau]
        dropped += [_drop(hit, "tau") for hit in below]
        gone = {hit.rank for hit in below}
        rest = [hit for hit in rest if hit.rank not in gone]
    words = 0 if config.truncate == "none" else config.word_budget
    kept = _filled(rest, words, config.tokens, config.fill, tokenizer)
    ranks = {hit.rank for hit in kept}
    dropped += [_drop(hit, "budget") for hit in rest if hit.rank not in ranks]
    kept = kept[: config.limit] if config.limit else kept
    whole = {hit.rank: hit.turn.text for hit in hits}
    budget = Budget(
        truncate=config.truncate,
        words=words,
        top_k=config.top_k if adaptive else 0,
        alpha=config.alpha if adaptive and "ce" in config.rank else 0.0,
        tau=tau,
        used_words=sum(hit.turn.words for hit in kept),
        used_tokens=sum(tokenizer.count(hit.turn.rendered) for hit in kept),
        tokenizer=tokenizer.name,
        dropped=tuple(sorted(dropped, key=lambda d: d.rank)),
        cut_text=any(hit.turn.text != whole[hit.rank] for hit in kept),
    )
    return tuple(kept), budget


def threshold(hits: Sequence[Hit], alpha: float) -> float:
    """tau = alpha * max over the hits of the sigmoid score; 0 where no cross-encoder ran (seeds 1.5)."""
    scores = [hit.scores.ce for hit in hits if hit.scores.ce is not None]
    return alpha * max(scores) if scores else 0.0


def _drop(hit: Hit, reason: str) -> Dropped:
    return Dropped(hit.rank, reason, hit.turn)


def _filled(hits: Sequence[Hit], words: int, tokens: int, fill: str, tokenizer: Tokenizer) -> list[Hit]:
    """Whole turns in order until the next would overflow (`stop`), or past it (`skip`, `cut`)."""
    kept: list[Hit] = []
    used_words = used_tokens = 0
    for hit in hits:
        cost_words = hit.turn.words
        cost_tokens = tokenizer.count(hit.turn.rendered) if tokens else 0
        over = (words and used_words + cost_words > words) or (tokens and used_tokens + cost_tokens > tokens)
        if not over:
            kept.append(hit)
            used_words += cost_words
            used_tokens += cost_tokens
            continue
        if fill == "skip":
            continue
        if fill == "cut" and kept:
            kept.append(_cut(hit, words - used_words, tokens - used_tokens, tokenizer))
        break
    return kept or [_cut(hit, words, tokens, tokenizer) for hit in hits[:1]]


def _cut(hit: Hit, words: int, tokens: int, tokenizer: Tokenizer) -> Hit:
    """The hit with its text cut at a word so that the rendered turn fits; at least one word stays."""
    body = hit.turn.text.split()
    if words > 0:
        body = body[: max(1, words - (hit.turn.words - len(body)))]
    shorter = replace(hit.turn, text=" ".join(body), caption="")
    while tokens > 0 and len(body) > 1 and tokenizer.count(shorter.rendered) > tokens:
        body = body[: len(body) * 9 // 10]
        shorter = replace(shorter, text=" ".join(body))
    return replace(hit, turn=shorter)
