"""Packs whole turns into chunks, the unit of QRRanker's recall (its paper, table 2)."""

from __future__ import annotations

import numpy as np

from smartsearch.bench.types import Indices
from smartsearch.rank.truncate import CountTokens
from smartsearch.systems.pieces import packed
from smartsearch.types import Corpus, Turn

CHUNK_TOKENS = 258
"""The most tokens of a chunk of several turns."""


def chunk_numbers(corpus: Corpus, count_tokens: CountTokens, most: int = CHUNK_TOKENS) -> Indices:
    """The number of each turn's chunk, shape (turns,).

    Turns of a session are packed until the next would bring them over `most` tokens; a longer turn is a
    chunk by itself.
    """
    costs = [count_tokens(_line(turn)) for turn in corpus.turns]
    runs = packed(costs, most, lambda place: corpus.previous[place] < 0)
    return np.array([number for number, run in enumerate(runs) for _ in run], dtype=np.int64)


def _line(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.captioned}" if turn.speaker else turn.captioned
