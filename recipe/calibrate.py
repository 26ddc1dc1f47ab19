"""Fit the cross-encoder's calibration, so that its sigmoid is the chance that a turn answers.

Platt scaling over whole held-out chats: one logistic regression of "is right" on the logit, over every turn
the cross-encoder read for every question. Without it alpha of the adaptive cut (paper 3.6) cuts nothing,
because a ranker trained on one right among five gives hundreds of turns a high score.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recipe.samples import Floats, read_samples
from smartsearch.rank.crossencoder import sigmoid


def fit(logits: Floats, right: Floats, weights: Floats) -> tuple[float, float]:
    """(scale, shift) that maximise the weighted likelihood of `right` (0 or 1)."""
    from scipy.optimize import minimize

    inputs = np.stack([logits, np.ones_like(logits)])

    def loss(found: Floats) -> tuple[float, Floats]:
        value = found @ inputs
        slope = inputs @ (weights * (sigmoid(value) - right))
        return float(weights @ (np.logaddexp(0.0, value) - right * value)), slope

    found = minimize(loss, np.zeros(2), jac=True, method="BFGS", options={"gtol": 1e-9}).x
    return float(found[0]), float(found[1])


def main(argv: Sequence[str]) -> int:
    """`python -m recipe calibrate SAMPLES.npz... CROSSENCODER_FOLDER`: writes its config.json."""
    parser = argparse.ArgumentParser(prog="recipe calibrate", description=__doc__)
    parser.add_argument(
        "samples", type=Path, nargs="+", help="what `validate --out` kept, of this cross-encoder"
    )
    parser.add_argument("crossencoder", type=Path, help="folder of the exported cross-encoder")
    options = parser.parse_args(argv)
    path = options.crossencoder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    parts = [read_samples(path, options.crossencoder) for path in options.samples]
    kept = {name: np.concatenate([part[name] for part in parts]) for name in ("logits", "right", "weights")}
    if "calibration" in config:
        raise SystemExit(f"{path} is calibrated already; export again before validate")
    scale, shift = fit(kept["logits"], kept["right"], kept["weights"])
    config["calibration"] = [round(scale, 6), round(shift, 6)]
    path.write_text(json.dumps(config) + "\n", encoding="utf-8")
    counts = {"turns": len(kept["logits"]), "questions": round(kept["weights"].sum())}
    print(json.dumps({"scale": scale, "shift": shift, **counts}))
    return 0
