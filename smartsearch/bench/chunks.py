"""Packs whole turns into chunks, the unit of QRRanker's recall (its paper, table 2)."""

from __future__ import annotations

import numpy as np

from smartsearch.bench.types import Indices
from smartsearch.rank.truncate import CountTokens
from smartsearch.types import Corpus, Turn

CHUNK_TOKENS = 258
"""The most tokens of a chunk of several turns."""


def chunk_numbers(corpus: Corpus, count_tokens: CountTokens, most: int = CHUNK_TOKENS) -> Indices:
    """The number of each turn's chunk, shape (turns,).

    Turns of a session are packed until the next would bring them over `most` tokens; a longer turn is a
    chunk by itself.
    """
    numbers = np.zeros(len(corpus.turns), dtype=np.int64)
    chunk, used = -1, 0
    for place, (turn, before) in enumerate(zip(corpus.turns, corpus.previous, strict=True)):
        cost = count_tokens(_line(turn))
        if before < 0 or used + cost > most:
            chunk, used = chunk + 1, 0
        numbers[place] = chunk
        used += cost
    return numbers


def _line(turn: Turn) -> str:
    return f"{turn.speaker}: {turn.captioned}" if turn.speaker else turn.captioned
