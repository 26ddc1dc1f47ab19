"""Exports a trained ranker, and tells how far the int8 file is from the float one, and how fast it is."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recipe.data import read_groups
from smartsearch.training.chats import Group
from smartsearch.training.export import EXACT, export
from smartsearch.training.shipped import SCORERS, Scorer


def parity(exact: Scorer, small: Scorer, trials: Sequence[Group]) -> dict[str, float]:
    """Mean and worst Spearman a question, and the share of questions with the same first turn.

    A trial of one text says nothing; empty where there is no other.
    """
    from scipy.stats import spearmanr

    trials = [trial for trial in trials if len(trial.texts) > 1]
    if not trials:
        return {}
    found, same = [], 0
    for trial in trials:
        one, two = exact(trial.question, trial.texts), small(trial.question, trial.texts)
        found.append(float(spearmanr(one, two).statistic))
        same += one.index(max(one)) == two.index(max(two))
    return {
        "spearman_mean": round(sum(found) / len(found), 4),
        "spearman_min": round(min(found), 4),
        "same_first": same / len(found),
    }


def latency_ms(scorer: Scorer, pairs: int = 128, tokens: int = 80, runs: int = 5) -> float:
    """Median milliseconds to score `pairs` texts of about `tokens` tokens with the question."""
    words = " ".join(["We went to the lake on Sunday and it was lovely."] * 10).split()[: tokens - 16]
    times = []
    for run in range(runs):
        start = time.perf_counter()
        texts = [" ".join([f"{run} {pair}", *words]) for pair in range(pairs)]  # ColBERT remembers texts
        scorer("When did Emma go to the lake?", texts)
        times.append((time.perf_counter() - start) * 1000)
    return round(sorted(times)[runs // 2], 1)


def main(argv: Sequence[str]) -> int:
    """`python -m recipe export KIND TRAINED_FOLDER OUT_FOLDER --data DATA_FOLDER`."""
    parser = argparse.ArgumentParser(prog="recipe export", description=__doc__)
    parser.add_argument("kind", choices=tuple(SCORERS))
    parser.add_argument("trained", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, help="folder with trials.jsonl, for the parity check")
    parser.add_argument(
        "--notes", type=json.loads, default={}, help="JSON about the training, kept in the config"
    )
    options = parser.parse_args(argv)
    report: dict[str, Any] = export(options.kind, options.trained, options.out, options.notes)
    load, work = SCORERS[options.kind], options.trained / "onnx"
    exact, small = load(work, model=EXACT), load(work)
    report["latency_ms_128x80"] = {"int8": latency_ms(small), "fp32": latency_ms(exact)}
    if options.data:
        report["parity"] = parity(exact, small, read_groups(options.data / "trials.jsonl")[::12])
    print(json.dumps(report, indent=1))
    return 0
