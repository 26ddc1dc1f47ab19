"""`smartsearch bench`: options to a request, one measurement, the record to a file and the screen."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smartsearch.cli import consent
from smartsearch.cli.accuracy import AccuracyOptions, Readers
from smartsearch.cli.consent import ConsentOptions
from smartsearch.cli.options import DATA, GRID, OUTPUT, RUN, ModelOptions, ProgressOptions, option
from smartsearch.errors import ExitCode
from smartsearch.output import stream
from smartsearch.runtime import extras, outputs

if TYPE_CHECKING:
    from smartsearch.bench.session import Plan, Request
    from smartsearch.config import Config

DATASETS = ("auto", "locomo", "longmemeval", "beam", "documents", "folder")

EXAMPLES = """Examples:

smartsearch bench my-chats/questions.jsonl

smartsearch bench locomo10.json --grid paper,controls --rival all --out runs

smartsearch bench locomo10.json --rank cascade,rrf --cut B1:2000,B2:0:60:4000 --every 8
"""


@dataclass(frozen=True)
class DataOptions:
    """Which questions are asked, and what rankers see of a turn."""

    dataset: str = option(DATA, "What the data is.", default="auto", choices=DATASETS)
    every: int = option(DATA, "Take every Nth question only.", default=1, min=1, metavar="N")
    context: bool = option(
        DATA, "Let the rankers see the turn before.", "--context/--no-context", default=True
    )


@dataclass(frozen=True)
class GridOptions:
    """Which configurations are measured."""

    grid: str | None = option(
        GRID,
        "Named sets of rows: default, paper (its tables), models (its rankers, by hub id), controls (its "
        "negative controls), index-free, systems (published ones, docs/systems.md), full.",
        metavar="NAMES",
        show_default="default",
    )
    retrieval: str | None = option(
        GRID, "Retrievals, such as I3,IF0,IF3+A2.", metavar="NAMES", show_default="I3"
    )
    rank: str | None = option(
        GRID,
        "Rankings, such as cascade,rrf:.7:60,ce,rrf+plain,colbert,weight,corpus,zscore,product,mmr:.7,R4a.",
        metavar="NAMES",
        show_default="cascade",
    )
    cut: str | None = option(
        GRID,
        "Cuts, such as B0,B1:2000,B2:.03:60:4000,A1v1:.2,B1:2000+C1C2.",
        metavar="NAMES",
        show_default="B1:2000",
    )
    rival: str | None = option(
        GRID,
        "Other systems in the same run: names, also one of its ways (qrmem:te), all plain ones (all), of "
        "these what can run here (installed), your .py file.",
        "--rival",
        "--system",
        metavar="NAMES",
        show_default="none",
    )
    reference: str | None = option(
        GRID,
        "The row that others are compared with, such as 'I3 rrf B1:2000'.",
        metavar="ROW",
        show_default="what `query` does, else the first",
    )


@dataclass(frozen=True)
class ReportOptions:
    """Where the results go."""

    out: Path = option(  # noqa: RUF009 - a field
        OUTPUT,
        "The folder for scores and records.",
        "--out",
        "-o",
        default=Path("smartsearch-bench"),
        metavar="DIR",
    )
    store: Path | None = option(  # noqa: RUF009 - a field
        OUTPUT, "The file of scores.", metavar="FILE", show_default="scores.db in --out"
    )
    json: bool = option(OUTPUT, "Print the whole record as JSON.", "--json", default=False)

    live: int = option(
        RUN,
        "Warm queries through the whole pipeline: times, and a check of the kept scores.",
        default=40,
        min=0,
        metavar="N",
    )

    def folder(self) -> Path:
        """The folder, made if need be. Raises UsageError where that cannot be."""
        with outputs.telling(self.out):
            self.out.mkdir(parents=True, exist_ok=True)
        return self.out


def bench(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA",
            help="LoCoMo, LongMemEval, BEAM, QuALITY, LongBench, or your questions.jsonl.",
            show_default=False,
        ),
    ],
    *,
    which: DataOptions,
    rows: GridOptions,
    models: ModelOptions,
    llm: AccuracyOptions,
    agreed: ConsentOptions,
    report: ReportOptions,
    progress: ProgressOptions,
) -> int:
    """Measure retrieval, ranking and the cut on DATA with known answers, as the paper's tables do.

    Scores are computed once and kept: an interrupted run goes on where it was, another grid is quick.
    It needs `pip install 'smartsearch-cli[bench]'`.
    """
    extras.require("bench", "bench")
    from smartsearch.bench import console as table
    from smartsearch.bench import session

    config = consent.agreed_to(models.config(), yes=agreed.yes, asks=False)
    if not which.context:
        config = replace(config, beside=tuple(part for part in config.beside if part != "before"))
    readers = Readers(llm, asking=config.llm)
    request = _request(data, which, rows, report.live)
    reads = llm.reader is not None
    every = llm.all_rows or (reads and "systems" in request.grids)
    request = replace(request, like=models.like, reads=reads, answer_all=every)
    planned = session.plan(request, config)
    config = replace(config, llm=False)  # of the rivals alone, which know it now
    for warning in (*config.notes, *_warnings(planned)):
        stream.warn(warning)
    out = report.folder()
    store = report.store or out / "scores.db"
    record = _measured(planned, config, out, store, readers, progress.progress == "auto")
    for warning in _doubts(record):
        stream.warn(warning)
    written = _written(record, out)
    if report.json:
        stream.write_json(record)
    else:
        table.show(record)
    stream.talk(f"wrote {written}")
    if readers.stopped is not None:
        raise readers.stopped
    return ExitCode.FOUND


def _request(data: str, which: DataOptions, rows: GridOptions, live: int) -> Request:
    from smartsearch.bench import grid, rivals
    from smartsearch.bench.session import Request

    named = grid.split(rows.rival or "")
    groups = {"all": rivals.available(), "installed": rivals.available(installed=True)}
    wanted = [name for one in named for name in groups.get(one, [one])]
    return Request(
        path=data,
        format=which.dataset,
        every=which.every,
        grids=tuple(grid.split(rows.grid or "")),
        retrievals=tuple(grid.split(rows.retrieval or "")),
        rankers=tuple(grid.split(rows.rank or "")),
        cuts=tuple(grid.split(rows.cut or "")),
        rivals=tuple(dict.fromkeys(wanted)),
        reference=rows.reference or "",
        live=live,
    )


def _warnings(planned: Plan) -> Iterator[str]:
    """Warnings of data that could not be read, and of rows that cannot be made."""
    from smartsearch.bench import grid

    dataset = planned.dataset
    for reason, items in dataset.dropped.items():
        some = ", ".join(items[:3]) + (", ..." if len(items) > 3 else "")
        yield f"{dataset.path}: {len(items)} {reason}: {some}"
    request = planned.request
    scoreless = [name for name in request.rankers if name.split(":")[0] in ("weight", "corpus", "colbert")]
    pruning = [name for name in request.cuts if grid.cut(name).by_score]
    if scoreless and pruning:
        both = f"{', '.join(pruning)} with {', '.join(scoreless)}"
        yield f"left out: {both}, which need the cross-encoder's scores"


FEW = 30
"""Questions under which an interval says little."""


def _doubts(record: dict[str, Any]) -> Iterator[str]:
    """Doubts that a reader of the figures should know."""
    asked = record["questions"]["with_gold"]
    if asked < FEW:
        yield f"only {asked} questions with gold: an interval over so few says little, least of all at 1.000"
    whole = [r for r in record["rows"] if r["passages"] and r["passages"] >= 0.95 * r["candidates"]]
    cuts = dict.fromkeys(r["cut"] for r in whole if not r["cut"].startswith("B0"))
    if cuts:
        some = f"{', '.join(list(cuts)[:3])}{', ...' if len(cuts) > 3 else ''}"
        yield f"some lists fit into {some} whole: `kept` does not tell their rankings apart, R@5 and R@10 do"


def _measured(
    planned: Plan, config: Config, out: Path, store: Path, readers: Readers, progress: bool
) -> dict[str, Any]:
    """The signed record. What was scored stays in the store, however this ends."""
    from smartsearch.bench import models as bench_models
    from smartsearch.bench import session
    from smartsearch.bench.receipt import receipt
    from smartsearch.bench.scoring import Scoring
    from smartsearch.bench.store import Store
    from smartsearch.models import loading, profiles
    from smartsearch.models.profiles import SCORERS

    @contextmanager
    def stage(title: str, total: int) -> Iterator[Callable[[], None]]:
        with stream.progress(total, wanted=progress, title=title) as step:
            yield step

    named = {name for row in planned.spec.rows for name, _ in row.ranker.scorers} - set(SCORERS)
    others, known = bench_models.opened(sorted(named), config)
    with Store(store) as kept:
        with stream.status("loading the models", wanted=progress):
            tools = loading.load_tools(config, cache=False)
        origin = receipt(["smartsearch", *sys.argv[1:]], config, tools.models)  # the code as it was loaded
        scoring = Scoring(tools, kept, config, {**profiles.fingerprints(config), **known}, others)
        readers.tell(session.asking(planned, scoring), planned, config)
        try:
            record, outcome = session.measure(planned, scoring, stage)
            answered = readers.accuracy(planned, outcome, tools, out, stage)
            record["accuracy"] = answered.get(planned.spec.reference)
            if len(answered) > 1:
                parts = ("overall", "usage")
                record["answered"] = {
                    name: {part: one[part] for part in parts} for name, one in answered.items()
                }
            verdicts = record["accuracy"]["verdicts"] if record["accuracy"] and readers.judged else {}
            record["failures"] = session.blamed(planned, outcome, verdicts)
        except KeyboardInterrupt:
            stream.talk(f"stopped; what was scored is kept in {store}: the same command goes on from there")
            raise
        return session.signed(record, planned, origin, tools)


def _written(record: dict[str, Any], out: Path) -> Path:
    """The record as JSON, in a file of its own named by date and data."""
    from smartsearch.output.record import dumps

    stamp = record["run"]["date"][:19].replace(":", "").replace("-", "").replace("T", "-")
    stem = f"{stamp}-{record['dataset']['name']}"
    names = chain([stem], (f"{stem}-{number}" for number in count(2)))
    place = outputs.Place(next(path for name in names if not (path := out / f"{name}.json").exists()))
    place.put(f"{dumps(record)}\n".encode())
    return place.out
