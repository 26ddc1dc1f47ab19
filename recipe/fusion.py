"""Fit the weights of the learned fusion (rank/learned.py) on whole held-out chats.

Every right turn against all wrong ones of its question: softplus of the log-sum-exp of the wrong minus the
right, averaged over the right turns, then over the questions. Eight weights, so a few hundred questions do.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recipe.samples import Floats, read_samples
from smartsearch.models import manifest
from smartsearch.rank.learned import FEATURES

DECAY = 1e-3
"""L2 on the weights of the standardised features."""


def fit(rows: Floats, right: Floats, starts: Floats) -> Floats:
    """Weights of the columns of `rows` (turns, 8); `starts` says where each question's turns begin."""
    import torch

    spread = rows.std(axis=0) + 1e-9
    inputs = torch.from_numpy(rows / spread)
    labels = torch.from_numpy(right) > 0
    ends = starts[1:].tolist()
    parts = [
        (part, own)
        for part, own in zip(inputs.tensor_split(ends), labels.tensor_split(ends), strict=True)
        if own.any() and not own.all()
    ]
    weights = torch.zeros(rows.shape[1], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([weights], max_iter=300, line_search_fn="strong_wolfe")

    def loss() -> torch.Tensor:
        optimizer.zero_grad()
        total = DECAY * (weights**2).sum()
        for part, own in parts:
            sums = part @ weights
            wrong = torch.logsumexp(sums[~own], 0)
            total = total + torch.nn.functional.softplus(wrong - sums[own]).mean() / len(parts)
        total.backward()
        return total

    optimizer.step(loss)
    found: Floats = weights.detach().numpy() / spread
    return found


def calibrated(rows: Floats, calibration: Sequence[float]) -> Floats:
    """Rows with the cross-encoder's logits as the calibrated model gives them."""
    scale, shift = calibration
    changed = rows.copy()
    for n, name in enumerate(FEATURES):
        if name.startswith("ce"):
            changed[:, n] = scale * rows[:, n] + shift
    return changed


def main(argv: Sequence[str]) -> int:
    """`python -m recipe fusion SAMPLES.npz... CROSSENCODER_FOLDER`: writes models/fusion.json."""
    parser = argparse.ArgumentParser(prog="recipe fusion", description=__doc__)
    parser.add_argument(
        "samples", type=Path, nargs="+", help="what `validate --out` kept, of this cross-encoder"
    )
    parser.add_argument("crossencoder", type=Path, help="its exported folder, calibrated or not")
    parser.add_argument("--out", type=Path, default=manifest.FUSION)
    options = parser.parse_args(argv)
    config = json.loads((options.crossencoder / "config.json").read_text(encoding="utf-8"))
    kept = [read_samples(path, options.crossencoder) for path in options.samples]
    rows = calibrated(np.concatenate([one["rows"] for one in kept]), config.get("calibration", (1.0, 0.0)))
    begins = np.cumsum([0, *(len(one["rows"]) for one in kept)])
    starts = np.concatenate([one["starts"] + begin for one, begin in zip(kept, begins, strict=False)])
    weights = fit(rows, np.concatenate([one["row_right"] for one in kept]), starts)
    questions = len(starts)
    table = {name: round(float(weight), 5) for name, weight in zip(FEATURES, weights, strict=True)}
    fitted = json.loads(options.out.read_text(encoding="utf-8")) if options.out.is_file() else {}
    fitted |= {"weights": table, "questions": questions}
    options.out.write_text(json.dumps(fitted) + "\n", encoding="utf-8")
    print(json.dumps(table))
    return 0
