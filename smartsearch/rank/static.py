"""Static token embeddings, the first stage: one vector per word piece, so that no text is encoded.

A turn's score: for each piece of the question the best match among the turn's pieces, or a share of it where
the match stands in a turn beside; the mean of these, weighted by what the piece says and how rare it is; less
for long turns; and shares of the scores of turns up to four places away, all within a session. It chooses the
turns that ColBERT reads and finds those that share no word with the question (docs/decisions/0002). The
vectors began as ColBERT's own of each piece alone; recipe/static.py trained them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.text import body
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Met, Turn, fold

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
Tokens = Callable[[Sequence[str]], Sequence[Sequence[int]]]
"""The word pieces of each text."""

STATIC = "static"
"""The name of this score among a turn's scores."""
BESIDE = (-4, -3, -2, -1, 1, 2, 3, 4)
"""How far the turns stand that add a share of their scores."""
NOTHING = 103
"""The piece [MASK], for a turn that has none."""
WHOLE = 30_000
"""Turns of a haystack that are all scored: a second and a half on one core the first time, a tenth later."""
SAMPLE = 4_000
"""So many turns, evenly apart, say how rare a piece is in a larger haystack."""
TOLD, TOLD_FROM = 3, 0.15
"""The most words of a turn that are told to stand for words of the question, and the least that each counts:
its cosine times the weight of the question's word."""
_WORD = re.compile(r"\w+|[^\w\s]")
"""A word or a sign: no piece reaches over its end."""


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
            self._small, self._scale = kept["vectors"], kept["scale"].astype(np.float32)
            others = [name for name in kept.files if name not in ("vectors", "scale")]
            self._weights: dict[str, Any] = {name: kept[name].astype(np.float32) for name in others}
        self._tokens = tokens
        self._held: WeakKeyDictionary[Haystack, Pieces] = WeakKeyDictionary()
        self._last: WeakKeyDictionary[Haystack, tuple[str, Floats]] = WeakKeyDictionary()

    def __call__(self, question: str, haystack: Haystack, turns: Sequence[int]) -> Floats:
        """The score of each of `turns`, shape (turns,), higher is better; they are indices that ascend."""
        if not len(turns):
            return np.zeros(0, np.float32)
        if len(haystack) > WHOLE:
            return self._scored(question, haystack, haystack.indices[:: -(-len(haystack) // SAMPLE)], turns)
        corpus = haystack.corpus.turns
        every = range(len(corpus)) if len(corpus) <= WHOLE else haystack.indices  # what is left out lends too
        asked, scores = self._last.get(haystack, ("", np.zeros(0, np.float32)))
        if asked != question:
            scores = self._scored(question, haystack, every)
            self._last[haystack] = question, scores
        chosen: Floats = scores[np.searchsorted(every, turns)]
        return chosen

    def _scored(
        self, question: str, haystack: Haystack, known: Sequence[int], turns: Sequence[int] | None = None
    ) -> Floats:
        """The score of each of `turns`, or of the turns `known`, whose pieces are held."""
        asked = np.array(self._tokens([question])[0], dtype=np.int64)
        if not len(asked):
            return np.zeros(len(known if turns is None else turns), np.float32)
        if haystack not in self._held:
            self._held[haystack] = self._pieces(haystack, known)
        held = self._held[haystack]
        over = held if turns is None else self._pieces(haystack, turns)
        return self.scores(asked, over, held.flat, len(held.starts))

    def scores(self, asked: Ints, over: Pieces, seen: Ints, count: int) -> Floats:
        """The score of each turn of `over` for the pieces `asked`, shape (turns,).

        `seen` has the pieces of `count` turns, which say how rare a piece is.
        """
        w = self._weights
        vectors, shares = self.asked(asked)
        stands = np.bincount(over.flat, minlength=len(self._small)) > 0
        kinds, place = np.flatnonzero(stands), np.cumsum(stands) - 1
        similar, flat = vectors @ self.vectors(kinds).T + w["told"][kinds], place[over.flat]
        best = np.stack([np.maximum.reduceat(row[flat], over.starts) for row in similar], axis=1)
        having = np.bincount(seen, minlength=len(self._small))[asked]
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

    def asked(self, pieces: Ints) -> tuple[Floats, Floats]:
        """A question's pieces as unit vectors, shape (pieces, dimensions), and what each weighs."""
        w, own = self._weights, self.vectors(pieces)
        none = np.zeros_like(own[:1])
        before, after = np.concatenate((none, own[:-1])), np.concatenate((own[1:], none))
        seen = np.concatenate((own, before, after, np.broadcast_to(own.mean(axis=0), own.shape)), axis=1)
        hidden = np.maximum(seen @ w["layer"] + w["bias"], 0)
        weights = 1 / (1 + np.exp(-(w["asked"][pieces] + hidden @ w["weigh"])))
        return unit(own @ w["turned"] + hidden @ w["back"]), weights

    def vectors(self, pieces: Ints) -> Floats:
        """The vectors of some pieces, of length one, shape (pieces, dimensions)."""
        found: Floats = self._small[pieces] * self._scale[pieces, None]
        return found

    def met(self, question: str, texts: Sequence[str]) -> list[tuple[Met, ...]]:
        """For each text its words that stand for other words of the question, what counts most first."""
        words, pieces, starts = self._words(question)
        if not words:
            return [()] * len(texts)
        vectors, weights = self.asked(pieces)
        sizes = np.diff(np.append(starts, len(pieces)))[:, None]
        shares = np.maximum.reduceat(weights, starts)

        def of(text: str) -> Iterator[Met]:
            others, theirs, begins = self._words(text)
            if not others:
                return
            near = np.maximum.reduceat(vectors @ self.vectors(theirs).T, begins, axis=1)
            near = np.add.reduceat(near, starts, axis=0) / sizes
            counts = near.max(axis=1) * shares
            for n in np.argsort(-counts)[: sum(counts >= TOLD_FROM)]:
                at = near[n].argmax()
                if fold(words[n]) != fold(others[at]) and words[n][0].isalnum() and others[at][0].isalnum():
                    yield Met(words[n], others[at], float(near[n, at]))

        return [tuple(islice(of(text), TOLD)) for text in texts]

    def _words(self, text: str) -> tuple[list[str], Ints, Ints]:
        """The words of a text, their pieces in a row, and where each word begins in it."""
        words = _WORD.findall(text)
        known = [(word, row) for word, row in zip(words, self._tokens(words), strict=True) if len(row)]
        sizes = np.array([0, *(len(row) for _, row in known)])
        flat = np.array([piece for _, row in known for piece in row], dtype=np.int64)
        return [word for word, _ in known], flat, np.cumsum(sizes)[:-1]

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
