"""A set encoder: what the whole list that was read says of each turn in it, added to the learned fusion.

The scorers see one turn at a time. In the list stand the turns beside it, others of its speaker, and turns
that are instances of the same thing: self-attention over the list, with a bias for where two turns stand to
each other (after "Set Transformer", arXiv 1810.00825, and relative positions, arXiv 1803.02155). It is
trained on whole lists of questions that the cross-encoder never saw (recipe/set_encoder.py).
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.features import FEATURES, Floats
from smartsearch.rank.text import asks
from smartsearch.types import Turn, fold

FACTS = 15
"""What is known of each turn of a list (`facts_of`): twelve facts of its scores, three of what is said.

Not how long it is: with that, long turns are preferred, and a budget of words keeps less."""
NEAR = 5
"""Turns apart that are told from farther ones."""
APART = 2 * NEAR + 1
"""The step between two turns of different sessions; one of the same is 0 to 2 NEAR, NEAR for itself."""
_PLACE = {name: n for n, name in enumerate(FEATURES)}
_NEIGHBOURS = FEATURES[2:8]  # those that it was trained with; later ones stand behind them
_NAME = re.compile(r"\w{3,}")


@dataclass(frozen=True)
class Listed:
    """What is said in a list of n turns.

    `told` (n, 3): whether a turn asks, whether the one before it does, and whether the question names its
    speaker. Its place in the transcript, its session and its speaker (n,) are numbers whose
    equality and difference alone matter.
    """

    told: Floats
    place: NDArray[np.int64]
    session: NDArray[np.int64]
    speaker: NDArray[np.int64]


def listed(question: str, turns: Sequence[Turn], previous: Sequence[int], read: NDArray[np.int64]) -> Listed:
    """The list of the turns at `read`; `previous` as `Corpus.previous` is."""
    before = np.asarray(previous, dtype=np.int64)
    said = [turns[i] for i in read.tolist()]
    asked_before = [before[i] >= 0 and asks(turns[before[i]]) for i in read.tolist()]
    asked = set(_NAME.findall(fold(question)))
    named = [not asked.isdisjoint(_NAME.findall(fold(turn.speaker))) for turn in said]
    told = np.array([[asks(turn) for turn in said], asked_before, named]).T
    return Listed(
        told.astype(np.float64),
        read.astype(np.int64),
        _numbered([turn.place for turn in said]),
        _numbered([turn.speaker for turn in said]),
    )


def _numbered(names: Sequence[Hashable]) -> NDArray[np.int64]:
    """The same number for the same."""
    number = {name: n for n, name in enumerate(dict.fromkeys(names))}
    return np.array([number[name] for name in names], dtype=np.int64)


def facts_of(one: Listed, rows: Floats) -> NDArray[np.float32]:
    """Shape (n, FACTS), of a list and its features `rows` (rank/features.py), shape (n, 8).

    Both scores, beside the list's best, by rank, and how far the neighbours' are from them; what is told.
    """
    own, late = rows[:, _PLACE["ce"]], rows[:, _PLACE["colbert"]]
    base = [own / 4, (late - 8) / 6]
    base += [(values - values.max(initial=-np.inf)) / 4 for values in (own, late)]
    base += [np.log1p(_rank(values)) / 3 for values in (own, late)]
    near = [(rows[:, _PLACE[name]] - (own if name.startswith("ce") else late)) / 4 for name in _NEIGHBOURS]
    return np.concatenate([np.stack(base + near, axis=1), one.told], axis=1).astype(np.float32)


def _rank(values: Floats) -> NDArray[np.int64]:
    return np.argsort(np.argsort(-values, kind="stable"), kind="stable")


def relations(one: Listed) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """The step from each turn to each, 0 to APART, and whether both have one speaker; each (n, n)."""
    apart = np.clip(one.place[None, :] - one.place[:, None], -NEAR, NEAR) + NEAR
    step = np.where(one.session[None, :] == one.session[:, None], apart, APART)
    return step, (one.speaker[None, :] == one.speaker[:, None]).astype(np.float32)


class SetEncoder:
    """The shipped one, from its file: pre-norm transformer layers, in numpy."""

    def __init__(self, file: Path) -> None:
        with np.load(file, allow_pickle=False) as kept:
            self._weights = {name: kept[name].astype(np.float32) for name in kept.files}
        layers = (name.split(".")[1] for name in self._weights if name.startswith("layers."))
        self._layers = 1 + max(map(int, layers))

    def __call__(self, one: Listed, rows: Floats) -> Floats:
        """What is added to the fused score of each turn of the list, shape (n,); `rows` as for `facts_of`."""
        step, same = relations(one)
        x = self._linear("facts", facts_of(one, rows))
        for n in range(self._layers):
            x = self._layer(f"layers.{n}.", x, step, same)
        return self._linear("out", self._norm("norm", x))[:, 0].astype(np.float64)

    def _layer(
        self, at: str, x: NDArray[np.float32], step: NDArray[np.int64], same: NDArray[np.float32]
    ) -> NDArray[np.float32]:
        table = self._weights[f"{at}steps.weight"]
        heads = table.shape[1]
        parts = self._linear(f"{at}qkv", self._norm(f"{at}norm1", x)).reshape(len(x), 3, heads, -1)
        q, k, v = parts.transpose(1, 2, 0, 3)
        bias = table[step].transpose(2, 0, 1) + self._weights[f"{at}same"][:, None, None] * same
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(np.float32(q.shape[-1])) + bias
        share = np.exp(scores - scores.max(axis=-1, keepdims=True))
        share /= share.sum(axis=-1, keepdims=True)
        x = x + self._linear(f"{at}mixed", (share @ v).transpose(1, 0, 2).reshape(x.shape))
        return x + self._linear(f"{at}down", _gelu(self._linear(f"{at}up", self._norm(f"{at}norm2", x))))

    def _linear(self, name: str, x: NDArray[np.float32]) -> NDArray[np.float32]:
        found: NDArray[np.float32] = x @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return found

    def _norm(self, name: str, x: NDArray[np.float32]) -> NDArray[np.float32]:
        middle = x.mean(axis=-1, keepdims=True)
        spread = np.sqrt(((x - middle) ** 2).mean(axis=-1, keepdims=True) + np.float32(1e-5))
        even = (x - middle) / spread
        found: NDArray[np.float32] = even * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return found


def _gelu(x: NDArray[np.float32]) -> NDArray[np.float32]:
    inside = np.float32(0.7978845608) * (x + np.float32(0.044715) * x**3)
    found: NDArray[np.float32] = x * np.float32(0.5) * (1 + np.tanh(inside))
    return found
