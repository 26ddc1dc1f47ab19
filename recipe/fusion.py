"""Fit the weights of the learned fusion (rank/features.py) on whole held-out chats.

Every right turn against all wrong ones of its question: softplus of the log-sum-exp of the wrong minus the
right, averaged over the right turns, then over the questions. Eight weights, so a few hundred questions do.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recipe.samples import Floats, Sample, read_lists
from smartsearch.models import manifest
from smartsearch.rank.features import FEATURES

PAST = 40
"""Turns by ColBERT that the cross-encoder reads in any case: a guess is for those behind."""
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


def fitted(lists: Sequence[Sample]) -> Floats:
    """The weights for these lists; a turn that only touches the matter counts as wrong."""
    starts = np.cumsum([0, *(len(one.right) for one in lists[:-1])])
    rows, right = (np.concatenate([getattr(one, name) for one in lists]) for name in ("rows", "right"))
    return fit(rows, right, starts)


def guess(lists: Sequence[Sample]) -> dict[str, float]:
    """The line from ColBERT's scores to the cross-encoder's logits, of the turns behind the first PAST."""
    seen, logits = [], []
    for one in lists:
        late, best = one.rows[:, FEATURES.index("colbert")], one.rows[:, FEATURES.index("colbert")].max()
        behind = np.argsort(-late, kind="stable")[PAST:]
        seen += [(1.0, late[place], best) for place in behind]
        logits += one.rows[behind, FEATURES.index("ce")].tolist()
    if not seen:
        return {}
    bias, colbert, best = np.linalg.lstsq(np.array(seen), np.array(logits), rcond=None)[0].round(5).tolist()
    return {"bias": bias, "colbert": colbert, "best": best}


def write(weights: Floats, line: dict[str, float], questions: int, out: Path) -> dict[str, float]:
    """Put the weights and the line into the file at `out`, beside what is in it already; they by name."""
    table = {name: round(float(weight), 5) for name, weight in zip(FEATURES, weights, strict=True)}
    kept = json.loads(out.read_text(encoding="utf-8")) if out.is_file() else {}
    kept |= {"weights": table, "guess": line, "questions": questions}
    out.write_text(json.dumps(kept) + "\n", encoding="utf-8")
    return table


def main(argv: Sequence[str]) -> int:
    """`python -m recipe fusion SAMPLES.npz... CROSSENCODER_FOLDER`: writes models/fusion.json."""
    parser = argparse.ArgumentParser(prog="recipe fusion", description=__doc__)
    parser.add_argument(
        "samples", type=Path, nargs="+", help="what `validate --out` kept, of this cross-encoder"
    )
    parser.add_argument("crossencoder", type=Path, help="its exported folder, calibrated or not")
    parser.add_argument("--out", type=Path, default=manifest.FUSION)
    options = parser.parse_args(argv)
    lists = [one for path in options.samples for one in read_lists(path, options.crossencoder)]
    print(json.dumps(write(fitted(lists), guess(lists), len(lists), options.out)))
    return 0
