"""The shipped rankers adapted to one's own chats: a short second training, measured on held-out turns.

Against forgetting, it starts from the shipped weights every time, at a fifth of the first learning rate; it
sees a question a few times at most; and half of what it sees are the labelled conversations of the shipped
rankers. Its effect on questions of other people's conversations is measured, and too large a loss there is
refused.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import random
import shutil
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from smartsearch import __version__
from smartsearch.config import Config
from smartsearch.models import manifest, profiles, trained
from smartsearch.rank.colbert import OnnxColbert
from smartsearch.runtime import extras
from smartsearch.training.chats import Chat, Group, Labelled
from smartsearch.training.evaluate import Ranks, mrr, ranks_of, summary
from smartsearch.training.groups import COMPLETE, Mix, make_groups, make_trials
from smartsearch.training.shipped import colbert_scorer, cross_scorer, load_config
from smartsearch.training.sources_own import Own
from smartsearch.training.sources_written import held_out, written_chats
from smartsearch.training.start import Clock, Learner, Plan, fit

SHARE = {"crossencoder": 0.6, "colbert": 0.4}
"""Share of the minutes for each ranker."""
PLANS = {"crossencoder": Plan(0.0, wrong=4, scale=0.2), "colbert": Plan(0.0, wrong=3, scale=0.2)}
"""The minutes are set later, from the wish."""
TIMES, SECONDS = 2.0, 0.35
"""How often a group may be seen, and its seconds on one slow core: few groups need less time than given."""
MOST_QUESTIONS, MOST_TRIALS, MOST_GENERAL, CANDIDATES = 6000, 200, 60, 64
"""Trained on, measured on, measured on other people's conversations; turns to choose from in each."""
DEAREST = 0.02
"""The most fused MRR that questions of other people's conversations may lose."""
LEFT_OVER = 86400
"""Seconds after which the working folder of a run that was killed is removed; no run takes as long."""

Stage = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""`stage(title, steps)` shows that something begins, and gives what counts one more step as done."""


@dataclass(frozen=True)
class Wish:
    """What is asked for: the profile's name, minutes of training at most, threads, seed.

    `overwrite`: an earlier profile of that name may be replaced.
    """

    name: str
    minutes: float = 20.0
    threads: int = 1
    seed: int = 13
    overwrite: bool = False


@dataclass(frozen=True)
class Measured:
    """One pair of rankers on the held-out questions, and on those of other people's conversations."""

    own: Ranks
    general: Ranks

    @property
    def mrr(self) -> float:
        """Fused, on the held-out questions."""
        return mrr(self.own["fused"])

    def record(self) -> dict[str, dict[str, dict[str, float]]]:
        """R@1, R@5, R@10 and MRR by ranker, for both sets of questions."""
        return {
            name: {role: summary(found) for role, found in ranks.items()}
            for name, ranks in (("held_out", self.own), ("general", self.general))
        }


@dataclass(frozen=True)
class Outcome:
    """The outcome: `about` is the profile's record, with all figures that were measured."""

    folder: Path
    written: bool
    reason: str
    about: dict[str, Any]

    @property
    def usable(self) -> bool:
        """Whether a profile of that name exists now, this one or an earlier one."""
        return (self.folder / trained.ABOUT).is_file()


def check_packages() -> None:
    """Check for the packages of the extra, before anything is read."""
    extras.require("train", "train")


def adapt(own: Own, wish: Wish, stage: Stage) -> Outcome:
    """Train, measure before and after, and write the profile if it is the best there is.

    Held-out questions are the same whatever the seed. Until the profile is whole it lies in a folder that
    is removed however this ends.
    """
    goal = trained.place(wish.name, overwrite=wish.overwrite)
    place = trained.target(wish.name)
    remove_leftovers(trained.home())
    trials = make_trials(own.held_out, MOST_TRIALS, CANDIDATES, random.Random(0))
    unseen = [chat for chat in written_chats() if held_out(chat)]
    general = make_trials(unseen, MOST_GENERAL, CANDIDATES, random.Random(0))
    with trained.workshop() as work, _quiet():
        figures = {"shipped": _measured(manifest.SHIPPED, "shipped", trials, general, wish, stage)}
        if (place / trained.ABOUT).is_file():
            figures["present"] = _measured(place, wish.name, trials, general, wish, stage)
        counts, minutes = _train(own, work, wish, stage)
        figures["adapted"] = _measured(work / "new", "adapted", trials, general, wish, stage)
        present = figures.get("present", figures["shipped"])
        reason = refusal(present, figures["shipped"], figures["adapted"])
        before = better_of(present, figures["shipped"])
        about = {
            "format": 1,
            "name": wish.name,
            "tool_version": __version__,
            "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
            "start": profiles.fingerprints(Config()),
            "seed": wish.seed,
            "minutes": minutes,
            "turns": own.turns,
            "questions": dict(zip(("trained", "held_out"), own.questions, strict=True)),
            "groups": counts,
            "held_out_sha256": _hash(trials),
            "metrics": {name: found.record() for name, found in figures.items()},
            "better_worse": better_worse(before.own["fused"], figures["adapted"].own["fused"]),
        }
        if not reason:
            trained.install(work / "new", goal, about)
    return Outcome(place, not reason, reason, about)


def better_of(present: Measured, shipped: Measured) -> Measured:
    """The rankers to surpass: an earlier profile may be worse than the shipped ones."""
    return max(shipped, present, key=lambda measured: measured.mrr)


def refusal(present: Measured, shipped: Measured, adapted: Measured) -> str:
    """The reason not to keep the adapted rankers, or an empty text."""
    bar = better_of(present, shipped).mrr
    if adapted.mrr <= bar:
        return f"fused MRR on the held-out turns is {adapted.mrr:.4f}, not above the {bar:.4f} there was"
    lost = mrr(shipped.general["fused"]) - mrr(adapted.general["fused"])
    if lost > DEAREST:
        return f"fused MRR on other people's conversations fell by {lost:.4f}, more than {DEAREST}"
    return ""


def remove_leftovers(home: Path) -> None:
    """Remove the working folders below `home` that runs which were killed left there a day ago or earlier."""
    for folder in home.glob(".train-*"):
        if folder.is_dir() and time.time() - folder.stat().st_mtime > LEFT_OVER:
            shutil.rmtree(folder, ignore_errors=True)


def better_worse(before: Sequence[int], after: Sequence[int]) -> tuple[int, int]:
    """The numbers of trials in which the right text ranks higher, and lower, than before."""
    pairs = list(zip(before, after, strict=True))
    return sum(b > a for b, a in pairs), sum(b < a for b, a in pairs)


def _hash(trials: Sequence[Group]) -> str:
    text = json.dumps([asdict(trial) for trial in trials], ensure_ascii=False, sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _measured(
    folder: Path, name: str, trials: Sequence[Group], general: Sequence[Group], wish: Wish, stage: Stage
) -> Measured:
    """The rankers in `folder` on both sets of questions."""
    cross = cross_scorer(folder / "crossencoder", wish.threads)
    late = colbert_scorer(folder / "colbert", wish.threads)

    with stage(f"measuring the {name} rankers", len(trials) + len(general)) as step:
        return Measured(ranks_of(trials, cross, late, step), ranks_of(general, cross, late, step))


def _train(own: Own, work: Path, wish: Wish, stage: Stage) -> tuple[dict[str, int], dict[str, float]]:
    """Both rankers into `work/new`; how many groups there were, and the minutes each took."""
    import torch

    from smartsearch.training.export import export
    from smartsearch.training.restore import restore

    torch.set_num_threads(wish.threads)
    known = [chat for chat in written_chats() if not held_out(chat)]
    with stage("making training groups", len(own.trained) + len(known)) as step:
        mine, rehearsed = _groups(own, known, wish, step)
    groups = [*mine, *rehearsed]
    random.Random(wish.seed).shuffle(groups)
    enough = len(groups) * TIMES * SECONDS / 60
    spent = {}
    for kind, plan in PLANS.items():
        minutes = spent[kind] = round(min(wish.minutes * SHARE[kind], enough), 4)
        restore(kind, manifest.SHIPPED / kind, work / f"{kind}-start")
        learner = _learner(kind, work, wish)
        with stage(f"training the {kind}, seconds", round(minutes * 60)) as step:
            fit(learner, groups, replace(plan, minutes=minutes), random.Random(wish.seed), _ticking(step))
        learner.save(work / kind)
        notes = {"profile": wish.name, "minutes": minutes, "groups": len(groups), "seed": wish.seed}
        with stage(f"exporting the {kind}", 1) as step:
            export(kind, work / kind, work / "new" / kind, notes)
            step()
    keep_calibration(work / "new" / "crossencoder")
    return {"own": len(mine), "written": len(rehearsed)}, spent


def _learner(kind: str, work: Path, wish: Wish) -> Learner:
    """The restored ranker; a ColBERT learns from the cross-encoder that was adapted before it."""
    from smartsearch.training.colbert import ColbertLearner
    from smartsearch.training.crossencoder import CrossEncoderLearner

    start = work / f"{kind}-start"
    if kind == "crossencoder":
        return CrossEncoderLearner(start, wish.seed)
    return ColbertLearner(start, wish.seed, cross_scorer(work / "new" / "crossencoder", wish.threads))


def _ticking(step: Callable[[], None]) -> Callable[[Clock, float], None]:
    """A watch that counts a step for each second of the run."""
    told = 0

    def watch(clock: Clock, _loss: float) -> None:
        nonlocal told
        while told < int(clock.seconds):
            told += 1
            step()

    return watch


def keep_calibration(folder: Path) -> None:
    """Give an adapted cross-encoder the shipped calibration: its logits went on from the shipped ones.

    So its scores, and alpha, mean what they mean without the profile.
    """
    config = load_config(folder)
    shipped = load_config(manifest.SHIPPED / "crossencoder")
    if "calibration" in shipped:
        config["calibration"] = shipped["calibration"]
    (folder / "config.json").write_text(json.dumps(config) + "\n", encoding="utf-8")


def _groups(
    own: Own, known: Sequence[Chat], wish: Wish, step: Callable[[], None]
) -> tuple[list[Group], list[Group]]:
    """Groups of one's own questions, and at most as many of the conversations in `known` as rehearsal.

    Only the latter have complete labels: in one's own chats a turn that a ColBERT ranks high may be right.
    """
    rng = random.Random(wish.seed)
    mine: list[Group] = []
    for chat, asked in _drawn(own.trained, MOST_QUESTIONS, rng):
        mine += make_groups(chat, asked, Mix(), rng)
        step()
    miner = OnnxColbert(manifest.SHIPPED / "colbert", wish.threads)
    rehearsed: list[Group] = []
    for chat, asked in _drawn(known, len(mine), rng):
        rehearsed += make_groups(chat, asked, COMPLETE, rng, miner)
        step()
    return mine, rng.sample(rehearsed, min(len(rehearsed), len(mine)))


def _drawn(chats: Sequence[Chat], most: int, rng: random.Random) -> Iterator[tuple[Chat, list[Labelled]]]:
    """Each chat with its part of a sample of at most `most` of all their questions."""
    pool = [(i, asked) for i, chat in enumerate(chats) for asked in chat.questions]
    drawn: dict[int, list[Labelled]] = {}
    for i, asked in rng.sample(pool, min(len(pool), most)):
        drawn.setdefault(i, []).append(asked)
    for i, chat in enumerate(chats):
        yield chat, drawn.get(i, [])


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence the trainers' output and the libraries' warnings."""
    with Path(os.devnull).open("w", encoding="utf-8") as nowhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        logging.disable(logging.WARNING)
        try:
            with contextlib.redirect_stdout(nowhere):
                yield
        finally:
            logging.disable(logging.NOTSET)
