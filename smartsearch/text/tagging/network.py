"""spaCy's network by numpy: hash embeddings, four convolutions, a tag a word, entities by transitions.

Layers and names as in spaCy 3.8: `MultiHashEmbed`, `MaxoutWindowEncoder`, `Tagger`, `TransitionBasedParser`
(over three words of a state, greedy). The numbers are read where they stand in spaCy's own files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.text.tagging.rules import Entity
from smartsearch.text.tagging.words import Word

Floats = NDArray[np.float32]
EDGE = 4
"""Rows of nothing between texts, and how many neighbours a word's vector depends on: one a convolution."""
BLOCK = 512
"""Rows that go through the convolutions at once: they stay in the processor's cache."""


class Damaged(ValueError):
    """A file of weights is not as long as it was."""


class Network:
    """The weights, and the vectors of words that were met."""

    def __init__(self, folder: Path, tables: dict[str, Any]) -> None:
        arrays = {name: _array(folder, *where) for name, where in tables["arrays"].items()}
        self._tables = [(arrays[f"embed{i}"], seed) for i, seed in enumerate(tables["seeds"])]
        self._layers = [_Maxout(arrays, f"layer{i}") for i in range(EDGE + 1)]
        self._tag = arrays["tag.W"].T, arrays["tag.b"]
        self._reduce = arrays["ner.reduce.W"].T, arrays["ner.reduce.b"]
        lower = arrays["ner.lower.W"]  # of a state's words, hidden, pieces, in
        self._lower = lower.reshape(len(lower), -1, lower.shape[-1]).transpose(0, 2, 1)
        self._bias = arrays["ner.lower.b"].reshape(-1)
        self._pad = arrays["ner.pad"].reshape(len(lower), -1)
        self._upper = arrays["ner.upper.W"].T, arrays["ner.upper.b"]
        self._moves = [tuple(move.split("-", 1)) if "-" in move else (move, "") for move in tables["moves"]]
        self._number = {move: i for i, move in enumerate(self._moves)}
        begins = [i for i, (move, label) in enumerate(self._moves) if move == "B"]
        units = [i for i, (move, label) in enumerate(self._moves) if move == "U" and label]
        self._outside = self._number["O", ""]
        self._first = sorted([*begins, *units, self._outside])
        self._vectors: Floats = np.zeros((1024, len(arrays["layer0.G"])), np.float32)
        self._met = 0

    def forget(self) -> None:
        """No word was met."""
        self._met = 0

    def read(self, texts: Sequence[Sequence[Word]], words: Sequence[Word]) -> tuple[Floats, NDArray[np.intp]]:
        """The vectors of all words of all texts, one after the other, and the number of each one's tag.

        `words` are all that were met, by their numbers.
        """
        self._embed(words)
        starts = np.cumsum([EDGE, *(len(text) + EDGE for text in texts)])
        rows = np.zeros((starts[-1], self._vectors.shape[1]), np.float32)
        for start, text in zip(starts, texts):
            rows[start : start + len(text)] = self._vectors[[word.number for word in text]]
        read = np.empty_like(rows)
        for start in range(0, len(rows), BLOCK):
            before = min(start, EDGE)
            block = self._convolved(rows[start - before : start + BLOCK + EDGE])
            read[start : start + BLOCK] = block[before : before + BLOCK]
        inside = np.concatenate([np.arange(start, start + len(text)) for start, text in zip(starts, texts)])
        vectors = read[inside]
        weights, bias = self._tag
        return vectors, (vectors @ weights + bias).argmax(1)

    def entities(self, vectors: Floats, words: Sequence[Word], there: Sequence[Entity]) -> list[Entity]:
        """The entities of one text, given the words' vectors and those that rules found before. In order."""
        weights, bias = self._reduce
        reduced = vectors @ weights + bias
        own = reduced @ self._lower[0] + self._bias
        scores = self._scored(own + self._pad[1] + self._pad[2])
        firsts = np.asarray(self._first)[scores[:, self._first].argmax(1)]
        kept = {i: (start, end) for start, end, _ in there for i in range(start, end)}
        starts = {start for start, _, _ in there}
        found = list(there)
        end = 0
        for at in np.flatnonzero(firsts != self._outside).tolist():
            if at < end or at in kept:
                continue
            move, label = self._open(
                scores[at], words[at].is_space, at + 1 < len(words) and at + 1 not in starts
            )
            if move == "O":
                continue
            end = at + 1
            while move in "BI":
                going = end + 1 < len(words) and end + 1 not in starts
                move = "I" if going and self._goes_on(own, reduced, at, end, label) else "L"
                end += 1
            found.append((at, end, label))
        return sorted(found)

    def _open(self, scores: Floats, space: bool, follows: bool) -> tuple[str, str]:
        """The best move at a word outside: white space is no entity, and none begins where none can go on."""
        valid = [
            i
            for i in self._first
            if i == self._outside or (not space and (follows or self._moves[i][0] == "U"))
        ]
        return self._moves[max(valid, key=lambda i: scores[i])]

    def _goes_on(self, own: Floats, reduced: Floats, start: int, at: int, label: str) -> bool:
        """Whether the entity from `start` goes on behind the word `at`, or ends with it."""
        state = own[at] + reduced[start] @ self._lower[1] + reduced[at - 1] @ self._lower[2]
        scores = self._scored(state[None])[0]
        return bool(scores[self._number["I", label]] >= scores[self._number["L", label]])

    def _scored(self, states: Floats) -> Floats:
        weights, bias = self._upper
        scores: Floats = states.reshape(len(states), len(weights), -1).max(2) @ weights + bias
        return scores

    def _embed(self, words: Sequence[Word]) -> None:
        new = words[self._met :]
        if not new:
            return
        keys = np.array([word.keys for word in new], np.uint64)
        parts = [
            sum(table[row] for row in _rows(keys[:, i], seed, len(table)))
            for i, (table, seed) in enumerate(self._tables)
        ]
        if len(words) > len(self._vectors):
            longer = np.zeros((2 * len(words), self._vectors.shape[1]), np.float32)
            longer[: self._met] = self._vectors[: self._met]
            self._vectors = longer
        self._vectors[self._met : len(words)] = self._layers[0](np.concatenate(parts, axis=1))
        self._met = len(words)

    def _convolved(self, rows: Floats) -> Floats:
        width = rows.shape[1]
        window = np.zeros((len(rows), 3 * width), np.float32)
        for layer in self._layers[1:]:
            window[1:, :width] = rows[:-1]
            window[:, width : 2 * width] = rows
            window[:-1, 2 * width :] = rows[1:]
            rows = rows + layer(window)
        return rows


class _Maxout:
    """The largest of three linear layers for each output, made to mean 0 and variance 1, scaled and moved."""

    def __init__(self, arrays: dict[str, Floats], name: str) -> None:
        weights = arrays[f"{name}.W"]  # out, pieces, in
        self._weights = weights.transpose(2, 1, 0).reshape(weights.shape[2], -1)
        self._bias = arrays[f"{name}.B"].T.reshape(-1)
        self._scale, self._move = arrays[f"{name}.G"], arrays[f"{name}.b"]

    def __call__(self, rows: Floats) -> Floats:
        pieces = rows @ self._weights
        pieces += self._bias
        width = len(self._scale)
        best: Floats = np.maximum(pieces[:, :width], pieces[:, width : 2 * width])
        np.maximum(best, pieces[:, 2 * width :], out=best)
        best -= best.mean(1, keepdims=True)
        best /= np.sqrt((best * best).mean(1, keepdims=True) + np.float32(1e-8))
        best *= self._scale
        best += self._move
        return best


def _array(folder: Path, file: str, offset: int, shape: Sequence[int]) -> Floats:
    """The next `count` 32-bit floats of a file. Raises Damaged where too few are left."""
    count = int(np.prod(shape))
    numbers = np.fromfile(folder / file, "<f4", count, offset=offset)
    if len(numbers) < count:
        raise Damaged(f"{folder / file} ends too early")
    return numbers.reshape(shape)


def _rows(keys: NDArray[np.uint64], seed: int, count: int) -> Iterable[NDArray[np.intp]]:
    """Four rows of a table for each 64-bit key: thinc's MurmurHash3 of it, in parts of 32 bits."""
    one, two, start = (np.uint64(n) for n in (0x87C37B91114253D5, 0x4CF5AD432745937F, seed ^ 8))
    first = keys * one
    first = ((first << np.uint64(31)) | (first >> np.uint64(33))) * two ^ start
    first = first + start
    second = first + start
    first, second = _mixed(first), _mixed(second)
    first = first + second
    second = second + first
    low, half = np.uint64(0xFFFFFFFF), np.uint64(32)
    for part in (first & low, first >> half, second & low, second >> half):
        yield (part % np.uint64(count)).astype(np.intp)


def _mixed(key: NDArray[np.uint64]) -> NDArray[np.uint64]:
    half = np.uint64(33)
    key = (key ^ key >> half) * np.uint64(0xFF51AFD7ED558CCD)
    key = (key ^ key >> half) * np.uint64(0xC4CEB9FE1A85EC53)
    return key ^ key >> half
