"""Of a long turn the part that answers: what is shown and counted (docs/decisions/0006)."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache

from smartsearch.rank.windows import WINDOW_PIECES, cut, likeliest
from smartsearch.text.parse import stop_words
from smartsearch.types import Turn

LONG = 120
"""Words of a turn up to which it is shown whole."""
SIZES = ((WINDOW_PIECES, 2), (WINDOW_PIECES, 1), (WINDOW_PIECES // 2, 1))
"""Sizes of an excerpt, the first that fits: the most pieces (rank/windows.py) of a part, and how many parts
are shown."""
LEAST = (WINDOW_PIECES // 4, WINDOW_PIECES // 8)
"""The most pieces of the one part that is shown of the best turn, where no more fits."""
FIRST = 20
"""A size fits if so many of the best turns do."""
MOST = 0.75
"""An excerpt is shown if it is at most this share of the turn's text."""
GAP = "[...]"
"""Stands for what is left out."""
_WORD = re.compile(r"\w+")


def excerpted(question: str, turn: Turn, size: tuple[int, int]) -> Turn:
    """`turn`, of a long one only the parts of its text that share most words with `question`, in its order.

    `size` has the most pieces of a part and how many there are. They end with a sentence or a line where one
    ends; the caption stays.
    """
    if turn.words <= LONG or not turn.text.strip():
        return turn
    room, most = size
    spans = cut(turn.text, room, room)
    chosen = likeliest(_asked(question), [turn.text[begin:end] for begin, end in spans], most)
    text, last = "", 0
    for begin, end in sorted(spans[n] for n in chosen):
        left_out = turn.text[last:begin]
        text += (f" {GAP} " if left_out.strip() else left_out) + turn.text[begin:end]
        last = end
    text += f" {GAP}" if turn.text[last:].strip() else ""
    return turn if len(text) > MOST * len(turn.text) else replace(turn, text=text.lstrip(" "))


@lru_cache(maxsize=16)
def _asked(question: str) -> frozenset[str]:
    """The question's words that say something, however short: a code of three letters is looked for too."""
    words = frozenset(_WORD.findall(question.casefold()))
    return words - stop_words() or words
