"""The cut over arrays: which ranked turns stay, and why the others go; `truncate` for a million rankings.

Whole turns, stop at the first that does not fit or skip it, never fewer than one; a test holds this
and `smartsearch.rank.truncate` together.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.grid import Cut
from smartsearch.bench.scoring import Floats
from smartsearch.bench.types import Indices
from smartsearch.config import Config
from smartsearch.rank.compress import writing
from smartsearch.rank.excerpts import excerpted
from smartsearch.rank.features import logit
from smartsearch.rank.truncate import Tokenizer, truncate
from smartsearch.types import Corpus, Hit, Scores, Turn

KEPT, TOP_K, TAU, BUDGET = range(4)
REASONS = ("kept", "top_k", "tau", "budget")
"""The fates of a ranked turn, by code. `tau` covers every cut by score, also the controls'."""


@dataclass(frozen=True)
class Kept:
    """The fate of each ranked turn, shape (n,), as a place in REASONS, and the cost of the kept ones.

    `shown` are the kept turns, in parts, where the cut shows parts.
    """

    fate: NDArray[np.int8]
    words: int
    tokens: int
    shown: tuple[Turn, ...] = ()


def cut(
    order: Indices,
    ce: Floats | None,
    how: Cut,
    words: Indices,
    tokens: Indices,
    pinned: Set[int] = frozenset(),
) -> Kept:
    """Cut a ranked list `order` (n,) of places; `ce` (turns,) with NaN where unread.

    `words` and `tokens`, shape (turns,), are what each turn costs; the adaptive cut's score spares `pinned`.
    """
    fate = np.full(len(order), BUDGET, dtype=np.int8)
    alive = np.ones(len(order), dtype=bool)
    if how.kind == "adaptive":
        alive[how.top_k :] = False
        fate[how.top_k :] = TOP_K
    if ce is not None and len(order):
        gone = alive & ~_high_enough(ce[order], alive, how)
        if how.kind == "adaptive" and pinned:
            gone &= ~np.isin(order, list(pinned))
        fate[gone] = TAU
        alive &= ~gone
    rest = np.flatnonzero(alive)
    if how.fill == "skip" and how.words:
        rest = rest[_fitting(words[order[rest]], how.words)]
    spent = np.cumsum(words[order[rest]])
    count = int(np.searchsorted(spent, how.words, side="right")) if how.words else len(rest)
    count = max(count, min(1, len(rest)))
    if how.kind == "tail" and ce is not None and count:
        short = _head(ce[order[rest[:count]]], how.share)
        fate[rest[short:count]] = TAU
        count = short
    fate[rest[:count]] = KEPT
    used = int(spent[count - 1]) if count else 0
    cost = int(tokens[order[rest[:count]]].sum())
    if how.words and used > how.words:  # the first turn alone is too long: it is cut
        return Kept(fate, how.words, cost * how.words // used)
    return Kept(fate, used, cost)


def _fitting(costs: Indices, room: int) -> list[int]:
    """The places of the turns that fit, without those that do not; the first turn's place if none fits."""
    places = []
    for place, cost in enumerate(costs.tolist()):
        if cost <= room:
            places.append(place)
            room -= cost
    return places or [0][: len(costs)]


def _head(scores: Floats, share: float) -> int:
    """How many of the first turns hold at least 1 - `share` of the summed scores; never none."""
    held = np.cumsum(np.nan_to_num(scores))
    return max(1, int(np.searchsorted(held, (1.0 - share) * held[-1], side="left")) + 1)


def _high_enough(scores: Floats, alive: NDArray[np.bool_], how: Cut) -> NDArray[np.bool_]:
    """Which ranked turns a cut by score lets stay; the first always does.

    The adaptive cut keeps turns without a score, as `truncate` does; the floor does not.
    """
    stays = np.ones(len(scores), dtype=bool)
    known = alive & ~np.isnan(scores)
    if not known.any():
        return stays
    if how.kind == "adaptive":
        stays = ~(known & (scores < how.alpha * scores[known].max()))
    elif how.kind == "floor":
        stays = known & (logit(scores) > how.floor)
    elif how.kind == "cumulative":
        held = np.cumsum(np.nan_to_num(scores))
        stays[int(np.searchsorted(held, how.share * held[-1], side="right")) + 1 :] = False
    if not stays[alive].any():
        stays[np.flatnonzero(alive)[0]] = True
    return stays


def compressed(
    order: Indices,
    ce: Floats | None,
    how: Cut,
    corpus: Corpus,
    tokenizer: Tokenizer,
    pinned: Set[int] = frozenset(),
    question: str = "",
) -> Kept:
    """As `cut`, by `truncate` itself: written shorter, or in parts, a turn's cost depends on the others."""
    scores = np.full(len(corpus.turns), np.nan) if ce is None else ce
    hits = [
        Hit(
            rank,
            corpus.turns[place],
            Scores(ce=None if np.isnan(scores[place]) else float(scores[place])),
            index=place,
        )
        for rank, place in enumerate(order.tolist(), 1)
    ]
    config = Config(
        truncate=how.kind,
        budget=how.words,
        alpha=how.alpha,
        top_k=how.top_k,
        fill=how.fill,
        compress=how.compress,
    )
    found, budget = truncate(
        hits, config, tokenizer, pinned, partial(excerpted, question) if how.parts else None
    )
    fate = np.full(len(order), KEPT, dtype=np.int8)
    for dropped in budget.dropped:
        fate[dropped.rank - 1] = REASONS.index(dropped.reason)
    shown = tuple(hit.shown for hit in found) if how.parts else ()
    return Kept(fate, budget.used_words, budget.used_tokens, shown)


def text(turns: Sequence[Turn], how: Cut) -> str:
    """The text of the kept turns, best first, as a reader gets it."""
    written = writing(turns, how.compress)
    lines = []
    for turn in turns:
        line, written = written.adding(turn)
        lines.append(line)
    words = "\n".join(lines).split()
    too_long = how.words and len(words) > how.words  # then it is a single turn
    return " ".join(words[: how.words]) if too_long else "\n".join(lines)
