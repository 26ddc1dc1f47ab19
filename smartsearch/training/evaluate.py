"""Validation on held-out chats: where the right turn ranks among the candidates, alone and fused."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

from smartsearch.training.chats import Group

Scorer = Callable[[str, list[str]], list[float]]
RRF_K, WEIGHTS = 60, (0.7, 0.3)
"""The paper's fusion (section 3.3): cross-encoder 0.7, ColBERT 0.3."""


def rank_of_first(scores: Sequence[float]) -> int:
    """The 1-based rank of item 0; ties count against it."""
    return 1 + sum(score >= scores[0] for score in scores[1:])


def ranks_of(scores: Sequence[float]) -> list[int]:
    """The 1-based rank of each item, the highest score first."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    ranks = [0] * len(scores)
    for rank, i in enumerate(order, 1):
        ranks[i] = rank
    return ranks


def fused(first: Sequence[float], second: Sequence[float]) -> list[float]:
    """Weighted reciprocal rank fusion of two lists of scores."""
    pairs = zip(ranks_of(first), ranks_of(second), strict=True)
    return [WEIGHTS[0] / (RRF_K + a) + WEIGHTS[1] / (RRF_K + b) for a, b in pairs]


def trial_ranks(trials: Sequence[Group], scorer: Scorer, most: int = 1000) -> list[int]:
    """The rank of the right text in each trial, among at most `most` wrong ones."""
    return [rank_of_first(scorer(t.question, [t.right, *t.wrong[:most]])) for t in trials]


def summary(ranks: Sequence[int]) -> dict[str, float]:
    """R@1, R@5, R@10 and MRR of a list of ranks."""
    total = len(ranks) or 1
    cuts = {f"R@{k}": round(sum(rank <= k for rank in ranks) / total, 4) for k in (1, 5, 10)}
    return {"n": len(ranks), **cuts, "MRR": round(sum(1 / rank for rank in ranks) / total, 4)}


def compare(
    trials: Sequence[Group], cross: Scorer, colbert: Scorer
) -> dict[str, dict[str, dict[str, float]]]:
    """Metrics of both rankers and their fusion, over all trials and by source."""
    found: dict[str, dict[str, list[int]]] = {}
    for trial in trials:
        texts = [trial.right, *trial.wrong]
        one, two = cross(trial.question, texts), colbert(trial.question, texts)
        for name, scores in (("crossencoder", one), ("colbert", two), ("rrf", fused(one, two))):
            for part in ("all", trial.source):
                found.setdefault(part, {}).setdefault(name, []).append(rank_of_first(scores))
    return {part: {name: summary(ranks) for name, ranks in rows.items()} for part, rows in found.items()}


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training evaluate DATA_FOLDER CROSSENCODER_FOLDER COLBERT_FOLDER`."""
    from smartsearch.training.data import read_groups
    from smartsearch.training.shipped import colbert_scorer, cross_scorer

    parser = argparse.ArgumentParser(prog="smartsearch.training evaluate", description=__doc__)
    parser.add_argument("data", type=Path, help="folder with trials.jsonl")
    parser.add_argument("crossencoder", type=Path, help="folder of the exported cross-encoder")
    parser.add_argument("colbert", type=Path, help="folder of the exported ColBERT")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args(argv)
    cross = cross_scorer(options.crossencoder, options.threads)
    colbert = colbert_scorer(options.colbert, options.threads)
    for part, rows in compare(read_groups(options.data / "trials.jsonl"), cross, colbert).items():
        for name, row in rows.items():
            print(json.dumps({"part": part, "ranker": name, **row}))
    return 0
