"""The ranked list cut to what a reader can hold: not at all, to a fixed budget, or by score (paper 3.6)."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

from smartsearch.config import Config
from smartsearch.rank.compress import Writing, merged, writing
from smartsearch.types import Budget, Dropped, Hit, Turn

CountTokens = Callable[[str], int]


@dataclass(frozen=True)
class Tokenizer:
    """A named way to count tokens."""

    name: str
    count: CountTokens


def truncate(
    hits: Sequence[Hit], config: Config, tokenizer: Tokenizer, pinned: Set[int] = frozenset()
) -> tuple[tuple[Hit, ...], Budget]:
    """The hits that fit, in rank order and whole, and how they were chosen.

    `adaptive`: of the best `top_k`, those whose cross-encoder score is at least tau = alpha times the
    best such score, and those whose `index` is `pinned`, up to the word ceiling. `fixed`: up to the word
    ceiling. Below `min_score` a cross-encoder score keeps no turn; without it one turn always stays, cut
    where it is longer than the ceiling, and `Budget.cut_text` says so. `limit` then shows fewer; what it
    hides is neither dropped nor counted as used. With `compress`, words and tokens are those of the shorter
    writing.
    """
    adaptive = config.truncate == "adaptive"
    dropped: list[Dropped] = []
    rest = list(hits)
    if "repeats" in config.compress:
        rest, dropped = merged(rest)
    if config.min_score:
        dropped += [_drop(hit, "min_score") for hit in rest if (hit.scores.chance or 0.0) < config.min_score]
        rest = [hit for hit in rest if (hit.scores.chance or 0.0) >= config.min_score]
    tau = 0.0
    if adaptive:
        dropped += [_drop(hit, "top_k") for hit in rest[config.top_k :]]
        rest = rest[: config.top_k]
        tau = threshold(rest, config.alpha)
        scored = [(hit.scores.chance, hit) for hit in rest if hit.index not in pinned]
        below = [hit for chance, hit in scored if chance is not None and chance < tau]
        dropped += [_drop(hit, "tau") for hit in below]
        gone = {hit.rank for hit in below}
        rest = [hit for hit in rest if hit.rank not in gone]
    words = 0 if config.truncate == "none" else config.word_budget
    start = writing([hit.turn for hit in rest], config.compress)
    room = _Room(words or None, config.tokens or None, tokenizer, start, _masks(rest, config))
    kept = _filled(rest, config.fill, room)
    ranks = {hit.rank for hit in kept}
    dropped += [_drop(hit, "budget") for hit in rest if hit.rank not in ranks]
    kept, hidden = (kept[: config.limit], kept[config.limit :]) if config.limit else (kept, [])
    whole = {hit.rank: hit.turn for hit in hits}
    texts = _written(kept, start)
    budget = Budget(
        truncate=config.truncate,
        words=words,
        top_k=config.top_k if adaptive else 0,
        alpha=config.alpha if adaptive and "ce" in config.rank else 0.0,
        tau=tau,
        used_words=sum(len(text.split()) for text in texts),
        used_tokens=sum(map(tokenizer.count, texts)),
        tokenizer=tokenizer.name,
        dropped=tuple(sorted(dropped, key=lambda d: d.rank)),
        cut_text=any(hit.turn is not whole[hit.rank] for hit in kept),
        hidden=tuple(hidden),
    )
    return tuple(kept), budget


def _written(hits: Sequence[Hit], so_far: Writing) -> list[str]:
    """What each hit adds to the text that a reader gets."""
    texts = []
    for hit in hits:
        text, so_far = so_far.adding(hit.turn)
        texts.append(text)
    return texts


def threshold(hits: Sequence[Hit], alpha: float) -> float:
    """tau = alpha * max over the hits of the sigmoid score; 0 where no cross-encoder ran."""
    scores = [hit.scores.ce for hit in hits if hit.scores.ce is not None]
    return alpha * max(scores) if scores else 0.0


def _drop(hit: Hit, reason: str) -> Dropped:
    return Dropped(hit.rank, reason, hit.turn, hit.scores)


def _masks(hits: Sequence[Hit], config: Config) -> Callable[[Turn], Turn]:
    """What masks a turn before it is cut: the beginning of a secret alone looks like none."""

    def mask(turn: Turn) -> Turn:
        from smartsearch.text.redact import Together

        return Together([hit.turn for hit in hits]).turn(turn)

    return mask if config.redact else lambda turn: turn


def _filled(hits: Sequence[Hit], fill: str, left: _Room) -> list[Hit]:
    """Whole turns in order until the next overflows (`stop`), or past it (`skip`, `cut`)."""
    kept: list[Hit] = []
    for hit in hits:
        rest = left.after(hit)
        if rest is not None:
            kept.append(hit)
            left = rest
        elif fill == "skip":
            continue
        else:
            if fill == "cut" and kept and not left.full:
                kept.append(left.cut(hit))
            break
    return kept or [left.cut(hit) for hit in hits[:1]]


@dataclass(frozen=True)
class _Room:
    """What is left of the ceilings, None for no ceiling; `mask` masks a turn before it is cut."""

    words: int | None
    tokens: int | None
    tokenizer: Tokenizer
    writing: Writing
    mask: Callable[[Turn], Turn]

    @property
    def full(self) -> bool:
        return self.words == 0 or self.tokens == 0

    def after(self, hit: Hit) -> _Room | None:
        """The room behind `hit`, or None if it does not fit whole."""
        text, after = self.writing.adding(hit.turn)
        words = None if self.words is None else self.words - len(text.split())
        tokens = None if self.tokens is None else self.tokens - self.tokenizer.count(text)
        fits = (words is None or words >= 0) and (tokens is None or tokens >= 0)
        return replace(self, words=words, tokens=tokens, writing=after) if fits else None

    def cut(self, hit: Hit) -> Hit:
        """The hit with its text cut at a word so that it fits, its caption gone; something always stays."""
        bare = replace(self.mask(hit.turn), caption="")
        body = bare.text.split()
        if self.words is not None:
            body = body[: max(1, self.words - (len(self.writing.adding(bare)[0].split()) - len(body)))]
        shorter = replace(bare, text=" ".join(body))
        while self.tokens is not None and self.tokenizer.count(self.writing.adding(shorter)[0]) > self.tokens:
            short = shorter.text[: len(shorter.text) * 9 // 10]
            if not short:
                break
            shorter = replace(bare, text=short.rsplit(None, 1)[0] if " " in short else short)
        return replace(hit, turn=shorter)
