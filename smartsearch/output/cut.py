"""What became of every ranked turn: for the page, and how figures are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smartsearch.config import Config
from smartsearch.types import Result, Scores, Turn

SHOWN, HIDDEN = "shown", "hidden"
FELL = ("tau", "budget", "top_k")
DIGITS = {"ce": 4, "colbert": 2, "fused": 3, "rrf": 5, "match": 2}
"""Decimal places of each score."""


@dataclass(frozen=True)
class Ranked:
    """A ranked turn and its `fate`: shown, hidden by `limit`, or the rule that dropped it."""

    rank: int
    fate: str
    turn: Turn
    scores: Scores

    @property
    def stayed(self) -> bool:
        """Whether the cut let it through."""
        return self.fate not in FELL


def ranked(answer: Result) -> list[Ranked]:
    """Every ranked turn, best first."""
    cut = answer.budget
    every = [
        *(Ranked(hit.rank, SHOWN, hit.turn, hit.scores) for hit in answer.hits),
        *(Ranked(hit.rank, HIDDEN, hit.turn, hit.scores) for hit in cut.hidden),
        *(Ranked(d.rank, d.reason, d.turn, d.scores) for d in cut.dropped),
    ]
    return sorted(every, key=lambda one: one.rank)


def ceiling(answer: Result, config: Config) -> str:
    """The ceilings of the budget: `4000 words, 1000 tokens`."""
    words = f"{answer.budget.words or 'any number of'} words"
    return f"{words}, {config.tokens} tokens" if config.tokens else words


def decided(rows: Sequence[Ranked]) -> str:
    """The score that made the order: `fused` where any turn has one, else `rrf`."""
    return "fused" if any(row.scores.fused is not None for row in rows) else "rrf"


def duration(milliseconds: float) -> str:
    """`5.78 s`, `224 ms`, `0.4 ms`."""
    if milliseconds >= 1000.0:
        return f"{milliseconds / 1000.0:.2f} s"
    return f"{milliseconds:.0f} ms" if milliseconds >= 10.0 else f"{milliseconds:.1f} ms"
