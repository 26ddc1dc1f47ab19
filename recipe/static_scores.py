"""What `static` trains, computed by numpy alone: scores of turns for a question, no text encoded.

For each piece of the question the best match among the pieces of a turn, or a share of it where it stands in
a turn beside; of these the mean, weighted by what the piece says and how rare it is; less for long turns; and
shares of what turns up to four places away have, all within a session.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Ints = NDArray[np.int64]
BESIDE = (-4, -3, -2, -1, 1, 2, 3, 4)
"""How far the turns stand that add a share of their scores."""


def unit(rows: Floats) -> Floats:
    """Rows of length one."""
    found: Floats = rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-9)
    return found


def shifted(rows: Floats, sessions: Ints, by: int) -> Floats:
    """At i what `rows` has at i + `by`, nought where that is another session or none."""
    found = np.zeros_like(rows)
    to, at = (slice(-by, None), slice(None, by)) if by < 0 else (slice(None, -by), slice(by, None))
    same = sessions[to] == sessions[at]
    found[to] = rows[at] * (same if rows.ndim == 1 else same[:, None])
    return found


class StaticScorer:
    """The arrays of a file that `static` wrote."""

    def __init__(self, file: Path) -> None:
        with np.load(file, allow_pickle=False) as kept:
            w: dict[str, Any] = {name: kept[name].astype(np.float32) for name in kept.files}
        self.vectors: Floats = w.pop("vectors") * w.pop("scale")[:, None]
        self._w = w

    def asked(self, ids: Ints) -> tuple[Floats, Floats]:
        """Unit vectors (pieces, dimensions) of a question's pieces and what each weighs before its rarity."""
        w, own = self._w, self.vectors[ids]
        none = np.zeros_like(own[:1])
        mean = np.broadcast_to(own.mean(axis=0), own.shape)
        seen = np.concatenate(
            (own, np.concatenate((none, own[:-1])), np.concatenate((own[1:], none)), mean), 1
        )
        hidden = np.maximum(seen @ w["layer"] + w["bias"], 0)
        weights = 1 / (1 + np.exp(-(w["asked"][ids] + hidden @ w["weigh"])))
        return unit(own @ w["turned"] + hidden @ w["back"]), weights

    def __call__(self, ids: Ints, flat: Ints, starts: Ints, sessions: Ints) -> Floats:
        """Scores (n,) of turns: the pieces of each, once, in a row, where it begins, its session's number."""
        w, count = self._w, len(starts)
        vectors, weights = self.asked(ids)
        similar = vectors @ self.vectors.T + w["told"]
        best = np.stack([np.maximum.reduceat(row[flat], starts) for row in similar], axis=1)
        having = np.array([np.count_nonzero(flat == piece) for piece in ids])
        weights = weights * np.log1p(count / np.maximum(having, 0.5)) ** w["rarity"]
        near = [shifted(best, sessions, by) * share for by, share in zip((-1, 1), w["near"], strict=True)]
        mean = np.maximum(best, np.maximum(*near)) @ (weights / weights.sum())
        length = np.diff(np.append(starts, len(flat)))
        scores: Floats = w["loud"] * mean - w["length"] * np.log(length, dtype=np.float32)
        found = scores.copy()
        for by, share in zip(BESIDE, w["beside"], strict=True):
            found += share * shifted(scores, sessions, by)
        return found
