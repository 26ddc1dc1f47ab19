"""Fit the cross-encoder's calibration, so that its sigmoid is the chance that a turn answers.

Platt scaling over whole held-out chats: one logistic regression of "is right" on the logit, over every turn
the cross-encoder read for every question. Without it alpha of the adaptive cut (paper 3.4) cuts nothing,
because a ranker trained on one right among five gives hundreds of turns a high score.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from smartsearch.rank.crossencoder import sigmoid
from smartsearch.rank.learned import features
from smartsearch.training.export import sha256
from smartsearch.training.validate import Asked
from smartsearch.types import Corpus

Floats = NDArray[np.float64]


def fit(logits: Floats, right: Floats, weights: Floats) -> tuple[float, float]:
    """(scale, shift) that maximise the weighted likelihood of `right` (0 or 1), by damped Newton steps."""
    inputs = np.stack([logits, np.ones_like(logits)])

    def loss(found: Floats) -> float:
        value = found @ inputs
        return float(weights @ (np.logaddexp(0.0, value) - right * value))

    found = np.zeros(2)
    for _ in range(100):
        chance = sigmoid(found @ inputs)
        slope = inputs @ (weights * (right - chance))
        curve = (inputs * (weights * chance * (1.0 - chance))) @ inputs.T + 1e-12 * np.eye(2)
        step = np.linalg.solve(curve, slope)
        size = 1.0
        while loss(found + size * step) > loss(found) and size > 1e-6:
            size /= 2
        found = found + size * step
        if np.abs(step).max() < 1e-9:
            break
    return float(found[0]), float(found[1])


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
        if not read:
            continue
        logits += [asked.logit[i] for i in read]
        right += [float(i in asked.gold) for i in read]
        weights += [1.0 / len(read)] * len(read)
    return np.array(logits), np.array(right), np.array(weights)


def model_hash(folder: Path) -> str:
    """Which exported model: the SHA-256 of its `model.onnx`."""
    return sha256(folder / "model.onnx")


def fusion_rows(questions: Sequence[Asked]) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """Features (turns, 6) of what both rankers read, labels, and where each question's turns begin."""
    rows, right, starts, total = [], [], [], 0
    for asked in questions:
        read = np.flatnonzero(~np.isnan(asked.logit))
        if len(read):
            previous = Corpus(asked.chat.turns).previous
            ce = np.full(len(asked.logit), np.nan)
            ce[read] = sigmoid(asked.logit[read])
            rows.append(features(previous, ce, asked.colbert, read))
            right.append(np.isin(read, asked.gold).astype(np.float64))
            starts.append(total)
            total += len(read)
    return np.concatenate(rows), np.concatenate(right), np.array(starts, dtype=np.int64)


def write_samples(path: Path, questions: Sequence[Asked], crossencoder: Path) -> None:
    """Keep what calibration and fusion are fitted on as `.npz`, and of which cross-encoder it is."""
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
        model=np.array(model_hash(crossencoder)),
    )


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training calibrate SAMPLES.npz CROSSENCODER_FOLDER`: writes its config.json."""
    parser = argparse.ArgumentParser(prog="smartsearch.training calibrate", description=__doc__)
    parser.add_argument("samples", type=Path, help="what `validate --out` kept, of this cross-encoder")
    parser.add_argument("crossencoder", type=Path, help="folder of the exported cross-encoder")
    options = parser.parse_args(argv)
    path = options.crossencoder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    with np.load(options.samples, allow_pickle=False) as kept:
        if str(kept["model"]) != model_hash(options.crossencoder):
            raise SystemExit(f"{options.samples} holds scores of another model; run validate again")
        logits, right, weights = kept["logits"], kept["right"], kept["weights"]
    if "calibration" in config:
        raise SystemExit(f"{path} is calibrated already; export again before validate")
    scale, shift = fit(logits, right, weights)
    config["calibration"] = [round(scale, 6), round(shift, 6)]
    path.write_text(json.dumps(config) + "\n", encoding="utf-8")
    print(
        json.dumps({"scale": scale, "shift": shift, "turns": len(logits), "questions": round(weights.sum())})
    )
    return 0
