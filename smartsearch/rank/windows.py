"""Long turns in windows, because a scorer reads only the first 128 tokens of a text (docs/decisions/0006).

A turn that fits is one window, the very text of `rank.text`; a longer one is cut at sentence ends. The
rankers read the windows that share most words with the question; a turn scores what its best one does.
"""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import SHOWN, Shown, body, context_of, heading, scored_text, turns_before
from smartsearch.types import Corpus, Turn

WHOLE_PIECES = 132
"""A turn of up to so many pieces is one text: the 125 tokens that a scorer's 128 leave to it. A piece is
about .95 of a WordPiece token (over the training chats), a count that needs no tokenizer."""

WINDOW_PIECES = 110
"""The most pieces of a window: the 105 tokens that a question of 20 leaves to it."""

READ_WINDOWS = 1
"""The most windows of a turn that are read for a question; on training chats more found no more."""

_PIECE = re.compile(r"[A-Za-z]{1,7}|[0-9]{1,3}|\S")
_WORD = re.compile(r"\S{1,40}")
_SENTENCE_END = re.compile(r"[.!?…。！？][\"'”’)\]*]*$")
_ASKED = re.compile(r"\w{4,}")


def pieces(text: str) -> int:
    """About how many tokens a text has: runs of up to 7 letters or 3 digits, other characters alone."""
    return len(_PIECE.findall(text))


@lru_cache(maxsize=16384)
def windows(turn: Turn, before: tuple[Turn, ...] = (), show: Shown = SHOWN) -> tuple[str, ...]:
    """The texts that stand for a turn, in its order: one, as `scored_text`, unless it is too long for one.

    Each of several begins with `[date] Speaker:`; only the first shows the end of the turn before.
    """
    head, said = heading(turn, show), body(turn)
    short = len(head) + len(said) <= WHOLE_PIECES or pieces(head) + pieces(said) <= WHOLE_PIECES
    if short or not show.windows:
        return (scored_text(turn, before, show),)
    context = context_of(turn, before)
    room = max(WINDOW_PIECES - pieces(head), WINDOW_PIECES // 2)
    first = max(room - pieces(context), WINDOW_PIECES // 2)
    return tuple(
        " ".join(f"{head}{part}{'' if n else context}".split())
        for n, part in enumerate(said[begin:end] for begin, end in cut(said, first, room))
    )


def cut(text: str, first: int, room: int) -> list[tuple[int, int]]:
    """Where runs of at most `room` pieces, the first of at most `first`, begin and end in `text`.

    A run ends with the last sentence or line that ends in its second half, else with a word.
    """
    words = list(_WORD.finditer(text))
    sizes = [pieces(word.group()) for word in words]
    parts: list[tuple[int, int]] = []
    start = 0
    while start < len(words):
        stop, left = start, room if parts else first
        while stop < len(words) and sizes[stop] <= left:
            left -= sizes[stop]
            stop += 1
        if stop < len(words):
            middle = (start + stop) // 2
            stop = next((i for i in range(stop, middle, -1) if _ends(text, words[i - 1], words[i])), stop)
        parts.append((words[start].start(), words[stop - 1].end()))
        start = stop
    return parts


def _ends(text: str, word: re.Match[str], following: re.Match[str]) -> bool:
    """Whether a sentence or a line ends between two words."""
    return "\n" in text[word.end() : following.start()] or bool(_SENTENCE_END.search(word.group()))


def all_windows(
    corpus: Corpus, indices: Sequence[int], show: Shown = SHOWN, without: Set[int] = frozenset()
) -> list[tuple[str, ...]]:
    """The windows of each turn in `indices`, the turns at `without` not shown before them."""
    return [windows(corpus.turns[i], turns_before(corpus, i, show, without), show) for i in indices]


def scored_windows(
    question: str,
    corpus: Corpus,
    indices: Sequence[int],
    show: Shown = SHOWN,
    without: Set[int] = frozenset(),
) -> list[list[str]]:
    """What is read of each turn in `indices` for `question`: its windows, the likeliest first, never none.

    Of more than READ_WINDOWS those with most of the question's words stay: every word of four letters and
    more counts once, wherever it stands in the text. Equal ones keep the turn's order.
    """
    windows = all_windows(corpus, indices, show, without)
    asked = set(_ASKED.findall(question.casefold()))
    return [[texts[n] for n in likeliest(asked, texts, READ_WINDOWS)] for texts in windows]


def likeliest(asked: Set[str], texts: Sequence[str], most: int) -> list[int]:
    """The places of those `most` of `texts` that hold most of the words `asked`, the likeliest first."""
    if len(texts) == 1:
        return [0]
    shared = [sum(word in text for word in asked) for text in map(str.casefold, texts)]
    return sorted(range(len(texts)), key=lambda n: -shared[n])[:most]


def turn_scores(
    question: str,
    corpus: Corpus,
    indices: Sequence[int],
    scorer: Scorer,
    show: Shown = SHOWN,
    without: Set[int] = frozenset(),
) -> NDArray[np.float64]:
    """The score of each turn in `indices`, shape (turns,), as a search reads it: that of its best window.

    The turns at `without` are not shown before others.
    """
    if scorer.of_turns is not None:
        return scorer.of_turns(question, indices, show, without)
    windows = scored_windows(question, corpus, indices, scorer.seeing(show), without)
    if not windows:
        return np.zeros(0)
    values = scorer.call(question, [text for some in windows for text in some])
    starts = np.cumsum([0, *map(len, windows[:-1])])
    return np.maximum.reduceat(np.asarray(values, dtype=np.float64), starts)
