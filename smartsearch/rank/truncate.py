"""The ranked list cut to what a reader can hold: not at all, to a fixed budget, or by score (paper 3.6)."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING

from smartsearch.config import Config
from smartsearch.rank.compress import Writing, writing
from smartsearch.rank.excerpts import FIRST, GAP, LEAST, LONG, SIZES
from smartsearch.types import Budget, Dropped, Hit, Turn

if TYPE_CHECKING:
    from smartsearch.text.redact import Together

CountTokens = Callable[[str], int]
Excerpt = Callable[[Turn, tuple[int, int]], Turn]
"""Shortens a long turn to one of SIZES."""

_SENTENCES = re.compile(r"(?<=[.!?…])\s+")


@dataclass(frozen=True)
class Tokenizer:
    """A named way to count tokens."""

    name: str
    count: CountTokens


def truncate(
    hits: Sequence[Hit],
    config: Config,
    tokenizer: Tokenizer,
    pinned: Set[int] = frozenset(),
    excerpt: Excerpt | None = None,
) -> tuple[tuple[Hit, ...], Budget]:
    """The hits that fit, in rank order and whole, and how they were chosen.

    `adaptive`: of the best `top_k`, those whose cross-encoder score is at least tau = alpha times the
    best such score, and those whose `index` is `pinned`, up to the word ceiling. `fixed`: up to the word
    ceiling. Below `min_score` a cross-encoder score keeps no turn; without it one turn always stays, cut
    where it is longer than the ceiling, and `Budget.cut_text` says so. `limit` then shows fewer; what it
    hides is neither dropped nor counted as used. With `compress`, words and tokens are those of the shorter
    writing. `excerpt` shortens long turns: by those it is told what fits, and the best is never left out.
    """
    adaptive = config.truncate == "adaptive"
    dropped: list[Dropped] = []
    rest = list(hits)
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
    mask = _masks(rest, config)
    room = _Room(words or None, config.tokens or None, tokenizer, start, mask)
    if excerpt:
        first = rest[: min(config.limit or FIRST, FIRST)]
        size = next((one for one in SIZES if room.fits(_excerpted(first, excerpt, one, mask))), SIZES[-1])
        rest = _excerpted(rest, excerpt, size, mask)
        for pieces in LEAST:
            if rest and not room.after(rest[0]):
                rest[:1] = _excerpted(rest[:1], excerpt, (pieces, 1), mask)
    kept = _filled(rest, config.fill, room, best=bool(excerpt))
    ranks = {hit.rank for hit in kept}
    dropped += [_drop(hit, "budget") for hit in rest if hit.rank not in ranks]
    kept, hidden = (kept[: config.limit], kept[config.limit :]) if config.limit else (kept, [])
    kept = [_apart(hit, {other.index for other in kept}) for hit in kept]
    whole = {hit.rank: hit for hit in hits}
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
        cut_text=any(
            one.turn is not given.turn for hit in kept for one, given in _both(hit, whole[hit.rank])
        ),
        hidden=tuple(hidden),
    )
    return tuple(kept), budget


def _written(hits: Sequence[Hit], so_far: Writing) -> list[str]:
    """What each hit adds to the text that a reader gets."""
    texts = []
    for hit in hits:
        for turn in _turns(hit):
            text, so_far = so_far.adding(turn)
            texts.append(text)
    return texts


def _turns(hit: Hit) -> list[Turn]:
    """What a reader gets of a hit: the turn, and the reply to it."""
    return [one.shown for one in (hit, hit.reply) if one]


def _both(hit: Hit, given: Hit) -> list[tuple[Hit, Hit]]:
    """A hit and its reply, each with what it was cut from."""
    return [(hit, given), *([(hit.reply, given.reply)] if hit.reply and given.reply else [])]


def _apart(hit: Hit, others: Container[int]) -> Hit:
    """A hit without its reply where that is among `others`, hits by index."""
    return replace(hit, reply=None) if hit.reply and hit.reply.index in others else hit


def threshold(hits: Sequence[Hit], alpha: float) -> float:
    """tau = alpha * max over the hits of the sigmoid score; 0 where no cross-encoder ran."""
    scores = [hit.scores.ce for hit in hits if hit.scores.ce is not None]
    return alpha * max(scores) if scores else 0.0


def _drop(hit: Hit, reason: str) -> Dropped:
    return Dropped(hit.rank, reason, hit.turn, hit.scores)


def _masks(hits: Sequence[Hit], config: Config) -> Callable[[Turn], Turn]:
    """What masks a turn before it is cut: the beginning of a secret alone looks like none."""

    @cache
    def together() -> Together:
        from smartsearch.text.redact import Together

        return Together([hit.turn for hit in hits])

    def mask(turn: Turn) -> Turn:
        return together().turn(turn)

    return mask if config.redact else lambda turn: turn


def _excerpted(
    hits: Sequence[Hit], excerpt: Excerpt, size: tuple[int, int], mask: Callable[[Turn], Turn]
) -> list[Hit]:
    """The hits with excerpts of the long ones, masked before: a secret may reach over two parts."""

    def told(hit: Hit) -> Hit:
        reply = told(hit.reply) if hit.reply else None
        whole = mask(hit.turn) if hit.turn.words > LONG else hit.turn
        short = excerpt(whole, size)
        return replace(hit, reply=reply, excerpt=None if short is whole else short)

    return list(map(told, hits))


def _filled(hits: Sequence[Hit], fill: str, left: _Room, *, best: bool) -> list[Hit]:
    """Whole turns in order until the next overflows (`stop`), or past it (`skip`, `cut`).

    With `best` the first is kept, cut if it must be.
    """
    kept: list[Hit] = []
    told: dict[int, bool] = {}  # by index what is kept already, and whether whole
    for n, given in enumerate(hits):
        hit = _apart(given, told)
        if hit.index in told:
            kept += [hit] if told[hit.index] else []
            continue
        if not left.after(hit):
            alone = replace(hit, reply=None)
            hit = (left.with_reply(hit, hits) or left.cut(alone)) if best and not n else alone
        rest = left.after(hit)
        if rest is not None:
            kept.append(hit)
            told |= {one.index: one.turn is old.turn for one, old in _both(hit, given) if one.index >= 0}
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
        words, tokens, written = self.words, self.tokens, self.writing
        for turn in _turns(hit):
            text, written = written.adding(turn)
            words = None if words is None else words - len(text.split())
            tokens = None if tokens is None else tokens - self.tokenizer.count(text)
        fits = (words is None or words >= 0) and (tokens is None or tokens >= 0)
        return replace(self, words=words, tokens=tokens, writing=written) if fits else None

    def fits(self, hits: Sequence[Hit]) -> bool:
        """Whether all of them fit."""
        left: _Room | None = self
        for hit in hits:
            left = left.after(hit) if left else None
        return left is not None

    def with_reply(self, hit: Hit, hits: Sequence[Hit]) -> Hit | None:
        """A hit that does not fit with its reply, with as much of its last sentence, which asks, as does.

        As it is, where only a reply fits that is among `hits`; else with as much of the reply as fits.
        """
        if not hit.reply:
            return None
        turn = self.mask(hit.shown)
        words = _SENTENCES.split(turn.text.strip())[-1].split()
        if not words:
            return None
        for n in range(len(words)):
            asked = replace(turn, text=" ".join([GAP, *words[n:]]), caption="")
            brief = replace(hit, excerpt=asked)
            if self.after(brief):
                return brief
        if self.after(hit.reply):
            return hit if any(other.index == hit.reply.index for other in hits) else None
        rest = self.after(replace(brief, reply=None))
        brief = replace(brief, reply=rest.cut(hit.reply)) if rest and not rest.full else hit
        return brief if self.after(brief) else None

    def cut(self, hit: Hit) -> Hit:
        """The hit with its text cut at a word so that it fits, its caption gone; something always stays."""
        bare = replace(self.mask(hit.shown), caption="")
        body = bare.text.split()
        if self.words is not None:
            body = body[: max(1, self.words - (len(self.writing.adding(bare)[0].split()) - len(body)))]
        shorter = replace(bare, text=" ".join(body))
        while self.tokens is not None and self.tokenizer.count(self.writing.adding(shorter)[0]) > self.tokens:
            short = shorter.text[: len(shorter.text) * 9 // 10]
            if not short:
                break
            shorter = replace(bare, text=short.rsplit(None, 1)[0] if " " in short else short)
        return replace(hit, turn=shorter, excerpt=None)
