"""Runs one benchmark from data to record: the grid, warm queries, failures, accuracy."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from smartsearch.bench import cutting, failures, grid, live, presets, rivals
from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.results import SCHEMA_VERSION, summary
from smartsearch.bench.run import Outcome, Spec, run
from smartsearch.bench.scoring import Scoring
from smartsearch.bench.store import digest
from smartsearch.bench.types import BenchQuestion, Dataset
from smartsearch.config import BESIDE, Config
from smartsearch.errors import InputError, UsageError
from smartsearch.models.tools import Tools
from smartsearch.rank.static import WHOLE
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems import base as systems
from smartsearch.types import fold

Stage = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Begins a stage by its title and number of steps; the caller calls what it yields after each step."""


@dataclass(frozen=True)
class Request:
    """What is asked for. Names are those of `grid`, `presets` and `rivals`; `live` counts warm queries.

    `like` is the preset whose row is the reference, unless one is named. With `reads` a reader answers, so
    that data without gold will do, and with `answer_all` from every row.
    """

    path: str
    format: str = "auto"
    every: int = 1
    grids: tuple[str, ...] = ()
    retrievals: tuple[str, ...] = ()
    rankers: tuple[str, ...] = ()
    cuts: tuple[str, ...] = ()
    rivals: tuple[str, ...] = ()
    like: str = ""
    reference: str = ""
    reads: bool = False
    answer_all: bool = False
    live: int = 0


@dataclass(frozen=True)
class Plan:
    """A checked request with its open data and its rows."""

    request: Request
    dataset: Dataset
    spec: Spec


def plan(request: Request, config: Config) -> Plan:
    """Check the whole request and open the data, before a model is loaded or a question asked.

    Raises UsageError for an unknown name, InputError for data that cannot be read.
    """
    own: list[grid.Row] = []
    brought, naive = presets.rivals(request.grids, config), presets.naive(request.grids)
    loaded = rivals.load([*request.rivals, *brought, *naive], llm=config.llm, config=config)
    names = [rival.name for rival in loaded if rival.name not in naive or rival.name in request.rivals]
    if request.retrievals or request.rankers or request.cuts:
        cuts = request.cuts or ("B1:2000",)
        own += grid.rows(request.retrievals or ("I3",), request.rankers or ("cascade",), cuts, config)
        own += grid.rival_rows(names, cuts)
    if request.grids or not own:
        unsaid = "index-free" if request.like == "index-free" else "default"
        own += presets.rows(request.grids or (unsaid,), names, config, request.cuts)
    rows = tuple(dict.fromkeys(own))
    if not any(row.ranker.kind != "rival" for row in rows):
        raise UsageError(
            "no row is left: a cut by score needs a ranking with the cross-encoder",
            hint="--rank cascade, or --cut B1:2000",
        )
    idle = [name for name in names if name not in {row.ranker.name for row in rows}]
    if idle:
        raise UsageError(
            f"rival {', '.join(idle)} has no row: these cuts need the cross-encoder's scores",
            hint="add a cut such as B1:2000 or B2:0:60:4000",
        )
    known = [row.name for row in rows]
    reference = presets.REFERENCES[request.like]
    reference = reference if reference in known else known[0]
    if request.reference:
        reference = grid.row(request.reference, config)
    if reference not in known:
        raise UsageError(f"no row {reference!r}", hint=f"one of {', '.join(known[:8])}, ...")
    dataset = open_dataset(request.path, format=request.format, every=request.every)
    if not (dataset.with_gold or request.reads):
        lost = [f"{reason}: {item}" for reason, items in dataset.dropped.items() for item in items[:3]]
        raise InputError(
            "\n  ".join([f"{request.path}: no question has gold to find", *lost]),
            hint="--reader MODEL, or in the data the turns or sessions that answer each question "
            "(docs/benchmarks.md)",
            kind="dataset",
        )
    answered = tuple(known) if request.answer_all else (reference,)
    return Plan(request, dataset, Spec(rows, reference, tuple(loaded), answered))


def asking(planned: Plan, scoring: Scoring) -> dict[str, systems.Plan]:
    """An estimate per rival of what it will send to a language model; sends nothing."""
    found: dict[str, systems.Plan] = {}
    for rival in planned.spec.rivals:
        if rival.asks:
            system, folder = rival.open(scoring.config, scoring.tools), scoring.store.path.parent
            for group in planned.dataset.groups():
                haystack = Haystack(group.corpus)
                making, question = rivals.Running(system, haystack, scoring.config, folder).plans()
                before = found.get(rival.name, systems.Plan())
                found[rival.name] = before.plus(making).plus(question, len(group.questions))
    return found


def measure(planned: Plan, scoring: Scoring, stage: Stage) -> tuple[dict[str, Any], Outcome]:
    """The record of the benchmark, all but the receipt, and the outcome it sums up."""
    dataset, spec = planned.dataset, planned.spec
    started = time.perf_counter()
    record: dict[str, Any] = {"schema_version": SCHEMA_VERSION, "kind": "smartsearch bench"}
    record["dataset"] = {
        "name": dataset.name,
        "format": dataset.format,
        "path": dataset.path,
        "sha256": dataset.sha256,
        "questions": dataset.questions,
        "every": planned.request.every,
        "dropped": dataset.dropped,
        "notes": list(dataset.notes),
    }
    record["latency"] = None
    if planned.request.live:  # first: nothing is warm yet, stale scores stop it early
        wanted, like = min(planned.request.live, dataset.questions), planned.request.like
        with stage("warm queries", wanted) as step:
            record["latency"] = live.measure(dataset, scoring, spec.rivals, wanted, step, like)
    with stage("questions", dataset.questions) as step:
        outcome = run(dataset, spec, scoring, scoring.tools.tokenizer, step)
    record |= summary(outcome)
    if outcome.without_dense:
        left_out = f"{outcome.without_dense} questions have no dense fallback: more than"
        record["dataset"]["notes"].append(f"{left_out} {WHOLE:,} turns to search")
    record["systems"] = {name: digest(*fingerprints) for name, fingerprints in outcome.systems.items()}
    record["asked"] = outcome.asked
    record["seconds"] = round(time.perf_counter() - started, 1)
    record["pairs_scored"] = scoring.pairs
    return record, outcome


def signed(record: dict[str, Any], planned: Plan, origin: Mapping[str, Any], tools: Tools) -> dict[str, Any]:
    """The record with its receipt: `origin` as `receipt` made it when the run began, and what was run."""
    spec, run_record = planned.spec, dict(origin)
    context = "before" in run_record["config"].get("beside", BESIDE)
    run_record |= {"unit": "turn", "context": context, "tokenizer": tools.tokenizer.name}
    run_record |= {key: record.pop(key) for key in ("seconds", "pairs_scored", "systems", "asked")}
    return {**record, "reference": spec.reference, "run": run_record}


def contexts(planned: Plan, outcome: Outcome, name: str) -> Iterator[tuple[BenchQuestion, str]]:
    """Each question with the text that a row leaves a reader, what a memory tells before: what an LLM is
    asked with."""
    row = next(row for row in planned.spec.rows if row.name == name)
    for group in planned.dataset.groups():
        for question in group.questions:
            said = cutting.text(outcome.answered[name, question.id], row.cut)
            yield question, "\n".join((*outcome.told[name, question.id], said))


def blamed(planned: Plan, outcome: Outcome, verdicts: Mapping[str, bool | None]) -> dict[str, Any] | None:
    """Why the reference row fails where it does, by the all-gold and the any-gold rule.

    `verdicts` of a judge by question; without them no error of inference is told apart. None for a rival.
    Questions of abstention, and those whose gold is only sessions, are left out.
    """
    row = next(row for row in planned.spec.rows if row.name == planned.spec.reference)
    if row.ranker.kind == "rival" or not planned.dataset.with_gold:
        return None
    found: list[tuple[str, failures.Outcome]] = []
    dropped = planned.dataset.dropped
    named = [item for reason in ("absent", "ambiguous", "malformed") for item in dropped.get(reason, [])]
    for group in planned.dataset.groups():
        said = fold("\n".join(turn.rendered for turn in group.corpus.turns))
        for question in group.questions:
            if question.abstention or (question.gold_sessions and not question.gold):
                continue
            order, kept = outcome.kept[question.id]
            happened = failures.Outcome(
                gold=question.gold,
                ranked=order,
                fate=kept.fate,
                read=outcome.read.get(question.id),
                missing=sum(
                    item.startswith(f"{question.id}: ") and not item.startswith(f"{question.id}: session ")
                    for item in named
                ),
                right=verdicts.get(question.id),
                judged=bool(verdicts),
                answer_absent=failures.answer_absent(question.answer, said),
            )
            found.append((question.category, happened))
    return {"reference": row.name} | {rule: failures.summary(found, rule) for rule in failures.RULES}
