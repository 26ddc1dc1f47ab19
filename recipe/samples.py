"""What `validate` keeps for `calibrate` and `fusion`: scores and labels of the turns read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.crossencoder import sigmoid
from smartsearch.rank.learned import features
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.export import sha256
from smartsearch.types import Corpus

Floats = NDArray[np.float64]


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


def fusion_rows(questions: Sequence[Asked]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Features (turns, 8) of what both rankers read, labels, and where each question's turns begin."""
    rows, right, starts, total = [], [], [], 0
    for asked in questions:
        read = np.flatnonzero(~np.isnan(asked.logit))
        if len(read):
            previous = Corpus(asked.chat.turns).previous
            ce = np.full(len(asked.logit), np.nan)
            ce[read] = sigmoid(asked.logit[read])
            rows.append(features(previous, ce, asked.colbert, read))
            right.append(np.isin(read, asked.labelled.gold).astype(np.float64))
            starts.append(total)
            total += len(read)
    return np.concatenate(rows), np.concatenate(right), np.array(starts, dtype=np.int64)


def write_samples(path: Path, questions: Sequence[Asked], crossencoder: Path) -> None:
    """Keep what calibration and fusion are fitted on as `.npz`, and of which cross-encoder it is.

    The logits are the model's own output, before a calibration that it may have already.
    """
    config = json.loads((crossencoder / "config.json").read_text(encoding="utf-8"))
    scale, shift = config.get("calibration", (1.0, 0.0))
    questions = [replace(asked, logit=(asked.logit - shift) / scale) for asked in questions]
    logits, right, weights = samples(questions)
    rows, row_right, starts = fusion_rows(questions)
    np.savez(
        path,
        logits=logits,
        right=right,
        weights=weights,
        rows=rows,
        row_right=row_right,
        starts=starts,
        model=np.array(sha256(crossencoder / "model.onnx")),
    )


def read_samples(path: Path, crossencoder: Path) -> dict[str, NDArray[np.float64]]:
    """The arrays that were kept. Raises SystemExit where they are another cross-encoder's."""
    with np.load(path, allow_pickle=False) as kept:
        if str(kept["model"]) != sha256(crossencoder / "model.onnx"):
            raise SystemExit(f"{path} holds scores of another model; run validate again")
        return {name: kept[name] for name in kept.files if name != "model"}
