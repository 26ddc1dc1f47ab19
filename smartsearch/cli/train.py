"""`smartsearch train`: transcripts to questions, one adaptation, the figures before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from smartsearch.cli.options import DATA, OUTPUT, RUN, FilterOptions, Paths, ProgressOptions, option, setting
from smartsearch.config import Config, build
from smartsearch.errors import ExitCode, InputError, UsageError
from smartsearch.output import show, stream
from smartsearch.output.plain import clipped, one_line
from smartsearch.output.record import HEAD, SCHEMA_VERSION
from smartsearch.runtime import extras

if TYPE_CHECKING:
    from smartsearch.training.adapt import Outcome
    from smartsearch.training.sources_own import Own
    from smartsearch.types import Turn

EXAMPLES = """Examples:

smartsearch train chats/ --dry-run

smartsearch train chats/ --name work --minutes 30

smartsearch query "What did Maya say about the lease?" chats/ --profile work
"""

FEW = 100
"""Held-out questions under which a gain may be chance."""
SHOWN = 20
"""Questions a dry run shows."""


@dataclass(frozen=True)
class TrainOptions:
    """How long, on what, and under which name."""

    name: str = option(
        OUTPUT, "The profile's name, for `query --profile NAME`.", default="mine", metavar="NAME"
    )
    overwrite: bool = option(
        OUTPUT,
        "Replace an earlier profile of that name, if the new one is better.",
        "--overwrite",
        default=False,
    )
    json: bool = option(OUTPUT, "As JSON.", "--json", default=False)
    dry_run: bool = option(
        DATA, "Only show how many questions there would be, and some of them.", "--dry-run", default=False
    )
    minutes: float = option(
        RUN,
        "Minutes of training at most; little data takes fewer.",
        default=20.0,
        min=0.01,
        max=6000,
        metavar="N",
    )
    seed: int = option(RUN, "Of the order in which questions are seen.", default=13, min=0, metavar="N")
    threads: int | None = setting("threads")


def train(
    paths: Paths = None, *, wanted: TrainOptions, filters: FilterOptions, progress: ProgressOptions
) -> int:
    """Adapt the rankers to your own chats: no labels, no network, about half an hour of CPU.

    Questions are made by rule from what people said. What is measured is held out from training. A profile is
    written only where it ranks the held-out turns better than the shipped rankers and than an earlier profile
    of that name, which --overwrite gives up. Exit code 0: the profile is there; 1: the shipped rankers are
    the better ones, and none was.
    It needs `pip install 'smartsearch-cli[train]'`, but for --dry-run.
    """
    from smartsearch.models import profiles, trained
    from smartsearch.training import adapt, sources_own

    trained.target(wanted.name)
    if wanted.name in profiles.PROFILES:
        raise UsageError(f"the profile {wanted.name!r} is not yours to train", hint="another --name")
    if not wanted.dry_run:
        trained.place(wanted.name, overwrite=wanted.overwrite)
        extras.require("train", "train")  # before anything is read
    own = sources_own.read_own(_turns(filters, paths))
    if wanted.dry_run:
        return _dry_run(own, wanted.json)
    sources_own.check(own)
    _talk_of(own)
    cores = build({"threads": wanted.threads}).cores
    wish = adapt.Wish(wanted.name, wanted.minutes, cores, wanted.seed, wanted.overwrite)
    shown = partial(stream.progress, wanted=progress.progress == "auto")
    outcome = adapt.adapt(own, wish, lambda title, total: shown(total, title=title))
    _print(outcome, wanted.json)
    return ExitCode.FOUND if outcome.usable else ExitCode.NOTHING


def _turns(filters: FilterOptions, paths: Sequence[str] | None) -> tuple[Turn, ...]:
    """The turns that `query` would search, with the same warnings."""
    from smartsearch import transcripts
    from smartsearch.ask.library import filtered

    source = filters.written.scope(paths, Config())
    corpus = transcripts.read(
        list(source.paths), input_format=source.input_format, selection=source.selection
    )
    chosen = filtered(corpus, source)
    for text in (*chosen.warnings, *(f"left out: {s.path}: {s.reason}" for s in corpus.skipped)):
        stream.warn(text)
    return tuple(chosen.turns)


def _talk_of(own: Own) -> None:
    train, measure = own.questions
    stream.talk(f"{own.turns} turns gave {train} questions to train on and {measure} held out to measure on")


def _dry_run(own: Own, as_json: bool) -> int:
    """Counts, and some questions of each side with the turns they were made of."""
    from smartsearch.training import sources_own

    rows = [
        {"use": use, "question": asked.question, "turn": chat.turns[asked.gold[0]].rendered}
        for use, chats in (("train", own.trained), ("measure", own.held_out))
        for chat, asked in _spread([(chat, asked) for chat in chats for asked in chat.questions])
    ]
    train, measure = own.questions
    warnings = []
    try:
        sources_own.check(own)
    except InputError as error:
        warnings.append(f"too little to train on: {error.message}")
    if as_json:
        counts = {"turns": own.turns, "trained": train, "held_out": measure}
        stream.write_json({**HEAD, "counts": counts, "questions": rows, "warnings": warnings})
    else:
        short = [{**row, "turn": clipped(one_line(row["turn"]), 100)} for row in rows]
        show.table("questions", short, as_json=False)
        _talk_of(own)
    for text in warnings:
        stream.warn(text)
    return ExitCode.FOUND


def _spread(items: list[Any]) -> list[Any]:
    """Half of the shown ones, from all over."""
    return items[:: max(1, len(items) // (SHOWN // 2))][: SHOWN // 2]


def _print(outcome: Outcome, as_json: bool) -> None:
    """Print the figures on standard output, and tell what became of the profile."""
    about = outcome.about
    held_out = about["metrics"]["adapted"]["held_out"]["fused"]["n"]
    chance = f"over only {held_out} held-out questions a difference may be chance"
    warnings = [chance] if held_out < FEW else []
    for text in warnings:
        stream.warn(text)
    if as_json:
        decided = {"written": outcome.written, "usable": outcome.usable, "reason": outcome.reason}
        head = {"schema_version": SCHEMA_VERSION, "profile": outcome.about["name"]}
        stream.write_json({**head, "folder": str(outcome.folder), **decided, "warnings": warnings, **about})
        return
    rows = [
        {"questions": which, "rankers": rankers, "ranker": ranker, **figures}
        for which in ("held_out", "general")
        for rankers, found in about["metrics"].items()
        for ranker, figures in found[which].items()
        if figures["n"]
    ]
    show.table("metrics", rows, as_json=False)
    better, worse = about["better_worse"]
    stream.talk(
        f"{better} of {held_out} held-out questions rank their turn higher than before, {worse} lower"
    )
    if outcome.written:
        stream.talk(f"wrote {outcome.folder}; use it with --profile {about['name']}")
    else:
        kept = "the earlier profile stays" if outcome.usable else "no profile was written"
        stream.talk(f"{kept}: {outcome.reason}")
