"""Static token embeddings, the first stage: one vector per word piece, so that no text is encoded.

A turn's score: for each piece of the question the best match among the turn's pieces, or a share of it where
the match stands in a turn beside; the mean of these, weighted by what the piece says and how rare it is; less
for long turns; and shares of the scores of turns up to four places away, all within a session. It chooses the
turns that ColBERT reads and finds those that share no word with the question (docs/decisions/0002). The
vectors began as ColBERT's own of each piece alone; recipe/static.py trained them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.text import body
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Turn

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Tokens = Callable[[Sequence[str]], Sequence[Sequence[int]]]
"""The word pieces of each text."""

BESIDE = (-4, -3, -2, -1, 1, 2, 3, 4)
"""How far the turns stand that add a share of their scores."""
NOTHING = 103
"""The piece [MASK], for a turn that has none."""
WHOLE = 30_000
"""Turns of a haystack that are all scored: a second and a half on one core the first time, a tenth later."""
SAMPLE = 4_000
"""Of a larger one the turns, evenly apart, that say how rare a piece is."""


@dataclass(frozen=True)
class Pieces:
    """Those of all turns in a row, each once a turn; where each turn begins in it; the number of its stretch,
    in which one turn follows the other in a session."""

    flat: Ints
    starts: Ints
    stretches: Ints


class Static:
    """The arrays of a file that `recipe static` writes, and what cuts a text into pieces."""

    def __init__(self, file: Path, tokens: Tokens) -> None:
        with np.load(file, allow_pickle=False) as kept:
            self._bytes, self._scale = kept["vectors"], kept["scale"].astype(np.float32)
            others = set(kept.files) - {"vectors", "scale"}
            self._weights: dict[str, Any] = {name: kept[name].astype(np.float32) for name in others}
        self._tokens = tokens
        self._held: WeakKeyDictionary[Haystack, Pieces] = WeakKeyDictionary()
        self._scored: WeakKeyDictionary[Haystack, tuple[str, Floats]] = WeakKeyDictionary()

    def __call__(self, question: str, haystack: Haystack, turns: Sequence[int]) -> Floats:
        """The score of each of `turns`, shape (turns,), higher is better; they are indices that ascend."""
        asked = np.array(self._tokens([question])[0], dtype=np.int64)
        if not len(asked) or not len(turns):
            return np.zeros(len(turns), np.float32)
        held = self._held.get(haystack)
        if len(haystack.corpus.turns) <= WHOLE:
            every = held or self._pieces(haystack, range(len(haystack.corpus.turns)))
            self._held[haystack] = every
            last = self._scored.get(haystack)
            if last is None or last[0] != question:
                last = question, self.scores(asked, every, every.flat, len(every.starts))
                self._scored[haystack] = last
            chosen: Floats = last[1][np.asarray(turns)]
            return chosen
        apart = -(-len(haystack) // SAMPLE)
        sample = held or self._pieces(haystack, haystack.indices[::apart])
        self._held[haystack] = sample
        return self.scores(asked, self._pieces(haystack, turns), sample.flat, len(sample.starts))

    def scores(self, asked: Ints, over: Pieces, seen: Ints, count: int) -> Floats:
        """The score of each turn of `over` for the pieces `asked`, shape (turns,).

        `seen` has the pieces of `count` turns, which say how rare a piece is.
        """
        w = self._weights
        vectors, shares = self.asked(asked)
        there = np.bincount(over.flat, minlength=len(self._scale)) > 0
        similar = vectors @ self.vectors(np.flatnonzero(there)).T + w["told"][there]
        flat = (np.cumsum(there) - 1)[over.flat]
        best = np.stack([np.maximum.reduceat(row[flat], over.starts) for row in similar], axis=1)
        having = np.bincount(seen, minlength=len(self._scale))[asked]
        shares = shares * np.log1p(count / np.maximum(having, 0.5)) ** w["rarity"]
        near = [shifted(best, over.stretches, by) * part for by, part in zip((-1, 1), w["near"], strict=True)]
        mean = np.maximum(best, np.maximum(*near)) @ (shares / shares.sum())
        length = np.diff(np.append(over.starts, len(over.flat)))
        own: Floats = w["loud"] * mean - w["length"] * np.log(length, dtype=np.float32)
        added = [
            part * shifted(own, over.stretches, by) for by, part in zip(BESIDE, w["beside"], strict=True)
        ]
        found: Floats = own + np.sum(added, axis=0)
        return found

    def vectors(self, pieces: Ints) -> Floats:
        """The vector of each piece, shape (pieces, dimensions); only these become floats."""
        found: Floats = self._bytes[pieces] * self._scale[pieces, None]
        return found

    def asked(self, pieces: Ints) -> tuple[Floats, Floats]:
        """A question's pieces as unit vectors, shape (pieces, dimensions), and what each weighs."""
        w, own = self._weights, self.vectors(pieces)
        none = np.zeros_like(own[:1])
        before, after = np.concatenate((none, own[:-1])), np.concatenate((own[1:], none))
        seen = np.concatenate((own, before, after, np.broadcast_to(own.mean(axis=0), own.shape)), axis=1)
        hidden = np.maximum(seen @ w["layer"] + w["bias"], 0)
        weights = 1 / (1 + np.exp(-(w["asked"][pieces] + hidden @ w["weigh"])))
        return unit(own @ w["turned"] + hidden @ w["back"]), weights

    def _pieces(self, haystack: Haystack, turns: Sequence[int]) -> Pieces:
        corpus = haystack.corpus
        rows = self._tokens([said(corpus.turns[index]) for index in turns])
        flat = [list(dict.fromkeys(row)) or [NOTHING] for row in rows]
        sizes = np.array([0, *map(len, flat)])
        follows = [corpus.previous[index] == last for last, index in zip((-2, *turns), turns, strict=False)]
        return Pieces(
            np.concatenate([np.array(row, dtype=np.int64) for row in flat]),
            np.cumsum(sizes)[:-1],
            np.cumsum(~np.array(follows)),
        )


def said(turn: Turn) -> str:
    """What is cut into pieces: who speaks, and what."""
    return f"{turn.speaker}: {body(turn)}" if turn.speaker else body(turn)


def unit(rows: Floats) -> Floats:
    """Rows of length one."""
    found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
    return found


def shifted(rows: Floats, stretches: Ints, by: int) -> Floats:
    """At i what `rows` has at i + `by`, nought where that is another stretch or none."""
    found = np.zeros_like(rows)
    to, at = (slice(-by, None), slice(None, by)) if by < 0 else (slice(None, -by), slice(by, None))
    same = stretches[to] == stretches[at]
    found[to] = rows[at] * (same if rows.ndim == 1 else same[:, None])
    return found
