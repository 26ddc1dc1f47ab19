"""Validation on held-out chats: where the right turn ranks among some sixty, by each ranker and by both."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from recipe.data import read_groups
from smartsearch.training.chats import Group
from smartsearch.training.evaluate import ranks_of, summary
from smartsearch.training.shipped import Scorer, colbert_scorer, cross_scorer


def compare(trials: Sequence[Group], cross: Scorer, late: Scorer) -> dict[str, dict[str, dict[str, float]]]:
    """Metrics of both rankers and their fusion, over all trials and by source."""
    found = ranks_of(trials, cross, late)
    sources = [trial.source for trial in trials]
    return {
        part: {
            role: summary([rank for rank, source in zip(ranks, sources) if part in ("all", source)])
            for role, ranks in found.items()
        }
        for part in ("all", *dict.fromkeys(sources))
    }


def main(argv: Sequence[str]) -> int:
    """`python -m recipe evaluate DATA_FOLDER CROSSENCODER_FOLDER COLBERT_FOLDER`."""
    parser = argparse.ArgumentParser(prog="recipe evaluate", description=__doc__)
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
