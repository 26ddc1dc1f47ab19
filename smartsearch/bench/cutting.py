"""The cut over arrays: which ranked turns stay, and why the others go. `truncate` for a million rankings.

Whole turns, stop at the first that does not fit, never fewer than one (seeds 1.5); a test holds this
and `smartsearch.rank.truncate` together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.grid import Cut
from smartsearch.bench.scoring import Floats
from smartsearch.bench.types import Indices

KEPT, TOP_K, TAU, BUDGET = range(4)
REASONS = ("kept", "top_k", "tau", "budget")
"""What became of a ranked turn, by code. `tau` stands for every cut by score, the controls' too."""


@dataclass(frozen=True)
class Costs:
    """What passages cost a budget under one rendering, in one unit (words or tokens).

    `each` is shape (turns,), `header` (sessions,): charged with a session's first turn; `legend` once.
    """

    each: Indices
    header: Indices
    legend: int


@dataclass(frozen=True)
class Kept:
    """What became of each ranked turn, shape (n,), as a place in REASONS, and what those kept cost."""

    fate: NDArray[np.int8]
    words: int
    tokens: int


def cut(order: Indices, ce: Floats | None, how: Cut, words: Costs, tokens: Costs, sessions: Indices) -> Kept:
    """Cut a ranked list `order` (n,) of places; `ce` (turns,) with NaN where unread; `sessions` (turns,)."""
    fate = np.full(len(order), BUDGET, dtype=np.int8)
    alive = np.ones(len(order), dtype=bool)
    if how.kind == "adaptive":
        alive[how.top_k :] = False
        fate[how.top_k :] = TOP_K
    if ce is not None and len(order):
        gone = alive & ~_high_enough(ce[order], alive, how)
        fate[gone] = TAU
        alive &= ~gone
    rest = np.flatnonzero(alive)
    spent = running(order[rest], words, sessions)
    count = int(np.searchsorted(spent, how.words, side="right")) if how.words else len(rest)
    count = max(count, min(1, len(rest)))
    if how.kind == "cumulative" and ce is not None and count:
        short = _head(ce[order[rest[:count]]], how.share)
        fate[rest[short:count]] = TAU
        count = short
    fate[rest[:count]] = KEPT
    used = int(spent[count - 1]) if count else 0
    cost = _together(order[rest[:count]], tokens, sessions)
    if how.words and used > how.words:  # the first passage alone is too long: it is cut
        return Kept(fate, how.words, cost * how.words // used)
    return Kept(fate, used, cost)


def _head(scores: Floats, share: float) -> int:
    """How many of the first turns hold all but less than `share` of the summed scores; one at least."""
    held = np.cumsum(np.nan_to_num(scores))
    return max(1, int(np.searchsorted(held, (1.0 - share) * held[-1], side="left")) + 1)


def _high_enough(scores: Floats, alive: NDArray[np.bool_], how: Cut) -> NDArray[np.bool_]:
    """Which ranked turns a cut by score lets stay; the first always does.

    The adaptive cut lets stay what has no score, as `truncate` does; the floor does not.
    """
    stays = np.ones(len(scores), dtype=bool)
    known = alive & ~np.isnan(scores)
    if not known.any():
        return stays
    if how.kind == "adaptive":
        stays = ~(known & (scores < how.alpha * scores[known].max()))
    elif how.kind == "floor":
        stays = known & (scores > how.floor)
    if not stays[alive].any():
        stays[np.flatnonzero(alive)[0]] = True
    return stays


def _together(kept: Indices, costs: Costs, sessions: Indices) -> int:
    """What passages cost together: their own, the headers of their sessions, the legend."""
    if not len(kept):
        return 0
    total = int(costs.each[kept].sum()) + costs.legend
    if costs.header.any():
        total += int(costs.header[np.unique(sessions[kept])].sum())
    return total


def running(order: Indices, costs: Costs, sessions: Indices) -> Indices:
    """What the ranked turns up to each one cost together, shape (n,)."""
    each = costs.each[order].copy()
    if costs.header.any():
        _, first = np.unique(sessions[order], return_index=True)
        each[first] += costs.header[sessions[order[first]]]
    if len(each):
        each[0] += costs.legend
    return np.cumsum(each)
