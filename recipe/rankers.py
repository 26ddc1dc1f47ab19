"""A round of training of either ranker, from files of groups to a folder that `export` reads."""

from __future__ import annotations

import argparse
import math
import os
import random
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from recipe.data import read_groups
from recipe.pieces import OtherRun, Pieces
from smartsearch.training.chats import Group
from smartsearch.training.colbert import DISTIL, ColbertLearner
from smartsearch.training.crossencoder import CrossEncoderLearner
from smartsearch.training.evaluate import rank_of_first, summary
from smartsearch.training.shipped import Scorer, cross_scorer
from smartsearch.training.start import Clock, Learner, Plan, fit

TRIALS, WRONG = 50, 24
"""Trials tried while a round runs, and wrong texts of each."""
CHECKPOINTS = {"crossencoder": 0.12, "colbert": 0.2}
"""Share of the round after which the model is saved and tried."""
STATE = "state.pt"
"""Beside the trained model: what a round that was broken off goes on from."""
UNFINISHED = getattr(os, "EX_TEMPFAIL", 75)
"""The exit code where a piece is over and the work is not: the same command goes on."""


def trial_ranks(trials: Sequence[Group], scorer: Scorer, most: int = 1000) -> list[int]:
    """The rank of the right text in each trial, among at most `most` wrong ones."""
    return [rank_of_first(scorer(t.question, t.texts[: most + 1])) for t in trials]


def watcher(
    learner: Learner, out: Path, trials: Sequence[Group], every: float
) -> Callable[[Clock, float], None]:
    """What prints the running loss, and saves and tries the model now and then."""
    running, weight, saved = 0.0, 0.0, -1.0

    def watch(clock: Clock, loss: float) -> None:
        nonlocal running, weight, saved
        running, weight = 0.98 * running + 0.02 * loss, 0.98 * weight + 0.02
        if clock.done % 25 == 0:
            said = f"step {clock.done} ({clock.progress:.2f}) loss {running / weight:.3f}"
            print(f"{said}, {clock.seconds:.0f} s", flush=True)
        if saved < 0:
            saved = clock.progress
        if clock.progress - saved > every:
            saved = clock.progress
            learner.save(out)
            print("trial", summary(trial_ranks(trials, learner.score, WRONG)), flush=True)
        if clock.progress >= 1.0:
            print(f"done: {clock.done} steps, {clock.seconds / 60:.0f} minutes", flush=True)

    return watch


def main(argv: Sequence[str]) -> int:
    """`python -m recipe crossencoder|colbert DATA_FOLDER OUT_FOLDER --minutes 40`."""
    import torch

    parser = argparse.ArgumentParser(prog="recipe", description=__doc__)
    parser.add_argument("kind", choices=tuple(CHECKPOINTS))
    parser.add_argument("data", type=Path, help="folder with groups.jsonl and trials.jsonl")
    parser.add_argument("out", type=Path, help="folder for the trained model")
    parser.add_argument("--start", type=Path, help="weights to start from (default: the MiniLM package)")
    parser.add_argument("--minutes", type=float, default=40.0)
    parser.add_argument("--steps", type=int, default=0, help="instead of minutes: a run that repeats")
    parser.add_argument("--groups", type=int, default=16, help="groups a batch")
    parser.add_argument("--wrong", type=int, help="wrong texts a group (default: 4, of the ColBERT 3)")
    parser.add_argument("--scale", type=float, default=1.0, help="of both learning rates, for a later round")
    parser.add_argument("--seed", type=int, default=13)
    parser.add_argument("--teacher", type=Path, help="of the ColBERT: folder of the exported cross-encoder")
    parser.add_argument(
        "--distil", type=float, default=DISTIL, help="weight of the teacher's part of the loss"
    )
    parser.add_argument("--device", default="cpu", help="as torch names it, such as cuda")
    parser.add_argument(
        "--piece", type=float, default=math.inf, help="minutes after which it ends, to go on when run again"
    )
    options = parser.parse_args(argv)
    if options.device.startswith("cuda") and not torch.cuda.is_available():
        parser.error("torch sees no CUDA device here: --device cpu, or a build of torch with CUDA")
    rng = random.Random(options.seed)
    groups, trials = (read_groups(options.data / f"{name}.jsonl") for name in ("groups", "trials"))
    trials = rng.sample(trials, min(TRIALS, len(trials)))
    learner: Learner
    if options.kind == "crossencoder":
        learner = CrossEncoderLearner(options.start, options.seed, options.device)
    elif options.teacher is None:
        parser.error("a ColBERT needs a --teacher")
    else:
        teacher = cross_scorer(options.teacher, torch.get_num_threads())
        learner = ColbertLearner(options.start, options.seed, teacher, options.distil, options.device)
    wrong = options.wrong or (4 if options.kind == "crossencoder" else 3)
    plan = Plan(options.minutes, options.steps, options.groups, wrong, options.scale)
    about = {"plan": asdict(plan), "seed": options.seed, "groups": len(groups), "distil": options.distil}
    about |= {"kind": options.kind, "start": options.start.name if options.start else ""}
    pieces = Pieces(options.out / STATE, about, options.piece)
    watch = watcher(learner, options.out, trials, CHECKPOINTS[options.kind])
    try:
        whole = fit(learner, groups, plan, rng, watch, pieces)
    except OtherRun as error:
        parser.error(f"{error}; remove it, or take another folder")
    if not whole:
        print(f"not finished: the same command goes on from {pieces.path}", flush=True)
        return int(UNFINISHED)
    learner.save(options.out)
    pieces.path.unlink(missing_ok=True)
    return 0
