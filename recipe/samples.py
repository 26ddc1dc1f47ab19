"""What `validate` keeps for `calibrate`, `fusion` and `set_encoder`: scores and labels of the turns read."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.crossencoder import sigmoid
from smartsearch.rank.features import FEATURES, features
from smartsearch.rank.set_encoder import Listed, listed
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.export import sha256
from smartsearch.types import Corpus

Floats = NDArray[np.float64]
LISTED = ("told", "place", "session", "speaker")
"""The arrays of a list, which are kept."""


@dataclass(frozen=True)
class Asked:
    """A question over a chat with the scores of both rankers.

    `candidates` holds indices into the chat's turns; `colbert` and `logit` have a value a turn, NaN where it
    was not read.
    """

    chat: Chat
    labelled: Labelled
    candidates: NDArray[np.int64]
    colbert: Floats
    logit: Floats


def samples(questions: Sequence[Asked]) -> tuple[Floats, Floats, Floats]:
    """Logits, labels and weights of all turns read; a question weighs one, whatever it read.

    Turns that only touch the matter are left out.
    """
    logits, right, weights = [], [], []
    for asked in questions:
        read = [
            int(i)
            for i in asked.candidates
            if not np.isnan(asked.logit[i]) and i not in asked.labelled.related
        ]
        logits += [asked.logit[i] for i in read]
        right += [float(i in asked.labelled.gold) for i in read]
        weights += [1.0 / len(read)] * len(read)
    return np.array(logits), np.array(right), np.array(weights)


@dataclass(frozen=True)
class Sample:
    """What both rankers read for a question: the list, features (n, 8) and labels (n,) of its turns.

    `counts` is false for a turn that only touches the matter.
    """

    listed: Listed
    rows: Floats
    right: NDArray[np.bool_]
    counts: NDArray[np.bool_]

    @property
    def teaches(self) -> bool:
        """Whether there is a right and a wrong turn."""
        return bool(self.right.any() and (self.counts & ~self.right).any())


def sample_of(asked: Asked) -> Sample:
    """The list of a question, in the order of its turns."""
    read, corpus = np.flatnonzero(~np.isnan(asked.logit)), Corpus(asked.chat.turns)
    ce = np.full(len(asked.logit), np.nan)
    ce[read] = sigmoid(asked.logit[read])
    rows = features(corpus.previous, {"ce": ce, "colbert": asked.colbert}, read)
    right = np.isin(read, asked.labelled.gold)
    related = np.isin(read, list(asked.labelled.related)) & ~right
    seen = listed(asked.labelled.question, corpus.turns, corpus.previous, read)
    return Sample(seen, rows, right, ~related)


def write_samples(path: Path, questions: Sequence[Asked], crossencoder: Path) -> None:
    """Keep what calibration and fusion are fitted on as `.npz`, and of which cross-encoder it is.

    The logits are the model's own output, before a calibration that it may have already.
    """
    config = json.loads((crossencoder / "config.json").read_text(encoding="utf-8"))
    scale, shift = config.get("calibration", (1.0, 0.0))
    questions = [replace(asked, logit=(asked.logit - shift) / scale) for asked in questions]
    logits, right, weights = samples(questions)
    lists = [sample_of(asked) for asked in questions if not np.isnan(asked.logit).all()]
    told: dict[str, Any] = {
        name: np.concatenate([getattr(one.listed, name) for one in lists]) for name in LISTED
    }
    np.savez(
        path,
        **told,
        logits=logits,
        right=right,
        weights=weights,
        rows=np.concatenate([one.rows for one in lists]),
        row_right=np.concatenate([one.right for one in lists]),
        row_counts=np.concatenate([one.counts for one in lists]),
        starts=np.cumsum([0, *(len(one.right) for one in lists[:-1])]),
        model=np.array(sha256(crossencoder / "model.onnx")),
    )


def calibrated(rows: Floats, calibration: Sequence[float]) -> Floats:
    """Rows with the cross-encoder's logits as the calibrated model gives them."""
    scale, shift = calibration
    changed = rows.copy()
    for n, name in enumerate(FEATURES):
        if name.startswith("ce"):
            changed[:, n] = scale * rows[:, n] + shift
    return changed


def read_lists(path: Path, crossencoder: Path) -> Iterator[Sample]:
    """The lists that were kept, with features as the calibrated cross-encoder gives them."""
    kept = read_samples(path, crossencoder)
    config = json.loads((crossencoder / "config.json").read_text(encoding="utf-8"))
    rows = calibrated(kept["rows"], config.get("calibration", (1.0, 0.0)))
    starts = kept["starts"].astype(int)
    for part in map(slice, starts, [*starts[1:], len(rows)]):
        seen = Listed(*(kept[name][part] for name in LISTED))
        yield Sample(seen, rows[part], kept["row_right"][part], kept["row_counts"][part])


def read_samples(path: Path, crossencoder: Path) -> dict[str, NDArray[Any]]:
    """The arrays that were kept. Raises SystemExit where they are another cross-encoder's."""
    with np.load(path, allow_pickle=False) as kept:
        if str(kept["model"]) != sha256(crossencoder / "model.onnx"):
            raise SystemExit(f"{path} holds scores of another model; run validate again")
        return {name: kept[name] for name in kept.files if name != "model"}
