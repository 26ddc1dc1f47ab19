"""`smartsearch bench`: options to a request, one measurement, the record to files and the screen."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from smartsearch.errors import ExitCode, SmartsearchError, UsageError
from smartsearch.options import DATA, GRID, LLM, OUTPUT, RUN, ModelOptions, ProgressOptions, option
from smartsearch.output import stream

if TYPE_CHECKING:
    from smartsearch.bench.accuracy import Accuracy, Price
    from smartsearch.bench.run import Outcome
    from smartsearch.bench.session import Plan, Request
    from smartsearch.config import Config
    from smartsearch.pipeline import Tools

DATASETS = ("auto", "locomo", "longmemeval", "beam", "folder")
PROTOCOLS = ("memos", "evermemos")

EXAMPLES = """Examples:

smartsearch bench my-chats/questions.jsonl

smartsearch bench locomo10.json --grid paper,controls --rival all --oracle --out runs

smartsearch bench locomo10.json --rank cascade,rrf --cut B1:2000,B2:0:60:4000 --every 8
"""


@dataclass(frozen=True)
class DataOptions:
    """Which questions are asked, of passages cut how."""

    dataset: str = option(DATA, "What the data is.", default="auto", choices=DATASETS)
    every: int = option(DATA, "Take every Nth question only.", "--every", default=1, min=1, metavar="N")
    unit: str = option(
        DATA,
        "The passage: turn, pair, window:N turns, or chunk:N tokens.",
        "--unit",
        default="turn",
        metavar="UNIT",
    )
    context: bool = option(
        DATA, "Let the rankers see the turn before.", "--context/--no-context", default=True
    )


@dataclass(frozen=True)
class GridOptions:
    """Which configurations are measured."""

    grid: str | None = option(
        GRID,
        "Named sets of rows: default, paper (its tables), controls (its negative controls), full.",
        "--grid",
        metavar="NAMES",
        show_default="default",
    )
    retrieval: str | None = option(
        GRID, "Retrievals, such as I3,IF0,IF3+A2.", "--retrieval", metavar="NAMES", show_default="I3"
    )
    rank: str | None = option(
        GRID,
        "Rankings, such as cascade,rrf:.7:60,ce,colbert,weight,corpus,zscore,product,mmr:.7.",
        "--rank",
        metavar="NAMES",
        show_default="cascade",
    )
    cut: str | None = option(
        GRID,
        "Cuts, such as B0,B1:2000,B2:.03:60:4000,A1v1:.2,B1:2000+C1C2.",
        "--cut",
        metavar="NAMES",
        show_default="B1:2000",
    )
    rival: str | None = option(
        GRID,
        "Rivals in the same run: names, all, or the path of your own .py file.",
        "--rival",
        metavar="NAMES",
        show_default="none",
    )
    reference: str | None = option(
        GRID,
        "The row that others are compared with, such as 'I3 rrf B1:2000'.",
        "--reference",
        metavar="ROW",
        show_default="what `query` does, else the first",
    )
    oracle: bool = option(GRID, "Also find the shortest path of hops to the gold.", default=False)


@dataclass(frozen=True)
class AccuracyOptions:
    """Whether a language model answers from what the reference row leaves, and another judges."""

    reader: str | None = option(
        LLM,
        "Let this model answer (address and key: SMARTSEARCH_LLM_BASE_URL, SMARTSEARCH_LLM_KEY).",
        "--reader",
        metavar="MODEL",
        show_default="no accuracy",
    )
    judge: str | None = option(
        LLM,
        "Let this model judge (SMARTSEARCH_JUDGE_BASE_URL, SMARTSEARCH_JUDGE_KEY).",
        "--judge",
        metavar="MODEL",
        show_default="the reader",
    )
    protocol: str = option(
        LLM, "Short answer and binary judge, or seven steps.", default="memos", choices=PROTOCOLS
    )
    votes: int = option(LLM, "Votes of the judge, an odd number.", "--votes", default=1, min=1, metavar="N")
    jobs: int = option(LLM, "Requests at a time.", "--jobs", default=4, min=1, metavar="N")
    price: str | None = option(
        LLM,
        "USD per million tokens, read/written, such as 0.15/0.60; the judge's after a comma.",
        "--price",
        metavar="IN/OUT",
        show_default="not told",
    )


@dataclass(frozen=True)
class ReportOptions:
    """Where the results go."""

    out: Path = option(  # noqa: RUF009 - a field
        OUTPUT,
        "The folder for scores and reports.",
        "--out",
        "-o",
        default=Path("smartsearch-bench"),
        metavar="DIR",
    )
    store: Path | None = option(  # noqa: RUF009 - a field
        OUTPUT, "The file of scores.", "--store", metavar="FILE", show_default="scores.db in --out"
    )
    json: bool = option(OUTPUT, "Print the whole record as JSON.", "--json", default=False)

    live: int = option(
        RUN,
        "Warm queries through the whole pipeline: times, and a check of the kept scores.",
        "--live",
        default=40,
        min=0,
        metavar="N",
    )

    def folder(self) -> Path:
        """The folder, made if need be. Raises UsageError where that cannot be."""
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            said = f"--out {self.out} cannot be made: {error.strerror}"
            raise UsageError(said, hint="another folder", kind="output") from error
        return self.out


def bench(
    data: Annotated[
        str,
        typer.Argument(
            metavar="DATA", help="LoCoMo, LongMemEval, BEAM, or your questions.jsonl.", show_default=False
        ),
    ],
    *,
    which: DataOptions,
    rows: GridOptions,
    models: ModelOptions,
    llm: AccuracyOptions,
    report: ReportOptions,
    progress: ProgressOptions,
) -> int:
    """Measure retrieval, ranking and the cut on DATA with known answers, as the paper's tables do.

    Scores are computed once and kept: an interrupted run goes on where it was, another grid is quick.
    """
    _check_extra()
    from smartsearch.bench import session
    from smartsearch.output import bench as table

    config = models.models()
    readers = _Readers(llm)
    planned = session.plan(_request(data, which, rows, report.live), config)
    for warning in _warnings(planned):
        stream.warn(warning)
    out = report.folder()
    store = report.store or out / "scores.db"
    record = _measured(planned, config, out, store, readers, progress.progress == "auto")
    for warning in _doubts(record):
        stream.warn(warning)
    paths = _written(record, out)
    if report.json:
        stream.write_json(record)
    else:
        table.show(record)
    stream.talk(f"wrote {' and '.join(str(path) for path in paths)}")
    if readers.stopped is not None:
        raise readers.stopped
    return ExitCode.FOUND


def _check_extra() -> None:
    """Say at once, not after an hour, that a package of the extra is missing."""
    missing = [name for name in ("ir_measures", "scipy", "matplotlib", "jinja2") if find_spec(name) is None]
    if missing:
        raise SmartsearchError(
            f"bench needs {', '.join(missing)}", hint="pip install 'smartsearch[bench]'", kind="extra_missing"
        )


def _request(data: str, which: DataOptions, rows: GridOptions, live: int) -> Request:
    from smartsearch.bench import grid, rivals
    from smartsearch.bench.session import Request

    named = grid.split(rows.rival or "")
    wanted = [name for one in named for name in (rivals.available() if one == "all" else [one])]
    return Request(
        path=data,
        format=which.dataset,
        every=which.every,
        grids=tuple(grid.split(rows.grid or "")),
        retrievals=tuple(grid.split(rows.retrieval or "")),
        rankers=tuple(grid.split(rows.rank or "")),
        cuts=tuple(grid.split(rows.cut or "")),
        rivals=tuple(dict.fromkeys(wanted)),
        unit=which.unit,
        context=which.context,
        reference=rows.reference or "",
        oracle=rows.oracle,
        live=live,
    )


def _warnings(planned: Plan) -> Iterator[str]:
    """What the data lost when it was read, and what the request asks for in vain."""
    from smartsearch.bench import grid

    dataset = planned.dataset
    for reason, items in dataset.dropped.items():
        some = ", ".join(items[:3]) + (", ..." if len(items) > 3 else "")
        yield f"{dataset.path}: {len(items)} {reason}: {some}"
    request, spec = planned.request, planned.spec
    if spec.unit != "turn" or not spec.context:
        yield "warm queries and failure classes are of whole turns with context: left out"
        if request.oracle:
            yield "oracle traces are of whole turns, whatever --unit and --context are"
    scoreless = [name for name in request.rankers if name.split(":")[0] in ("weight", "corpus", "colbert")]
    pruning = [name for name in request.cuts if grid.cut(name).by_score]
    if scoreless and pruning:
        both = f"{', '.join(pruning)} with {', '.join(scoreless)}"
        yield f"left out: {both}, for want of the cross-encoder's scores"


FEW = 30
"""Questions under which an interval says little."""


def _doubts(record: dict[str, Any]) -> Iterator[str]:
    """What a reader of the figures should know before believing them."""
    asked = record["questions"]["with_gold"]
    if asked < FEW:
        yield f"only {asked} questions with gold: an interval over so few says little, least of all at 1.000"
    whole = [r for r in record["rows"] if r["passages"] and r["passages"] >= 0.95 * r["candidates"]]
    cuts = dict.fromkeys(r["cut"] for r in whole if not r["cut"].startswith("B0"))
    if cuts:
        some = f"{', '.join(list(cuts)[:3])}{', ...' if len(cuts) > 3 else ''}"
        yield f"some lists fit into {some} whole: `kept` does not tell their rankings apart, R@5 and R@10 do"


def _measured(
    planned: Plan, config: Config, out: Path, store: Path, readers: _Readers, progress: bool
) -> dict[str, Any]:
    """The signed record. What was scored stays in the store, however this ends."""
    from smartsearch.bench import session
    from smartsearch.bench.receipt import receipt
    from smartsearch.bench.scoring import Scoring
    from smartsearch.bench.store import Store
    from smartsearch.models import profiles

    @contextmanager
    def stage(title: str, total: int) -> Iterator[Callable[[], None]]:
        with stream.progress(total, wanted=progress, title=title) as step:
            yield step

    with Store(store) as kept:
        with stream.status("loading the models", wanted=progress):
            tools = profiles.load(config)
        origin = receipt(["smartsearch", *sys.argv[1:]], config, tools.models)  # the code as it was loaded
        scoring = Scoring(tools, kept, config, profiles.fingerprints(config))
        try:
            record, outcome = session.measure(planned, scoring, stage)
            record["accuracy"] = readers.accuracy(planned, outcome, tools, out, stage)
            verdicts = record["accuracy"]["verdicts"] if record["accuracy"] else {}
            record["failures"] = session.blamed(planned, outcome, verdicts)
        except KeyboardInterrupt:
            stream.talk(f"stopped; what was scored is kept in {store}: the same command goes on from there")
            raise
        return session.signed(record, planned, origin, tools)


def _written(record: dict[str, Any], out: Path) -> list[Path]:
    """The record as JSON and as a page, in files of their own named by date and data."""
    from smartsearch.bench import html
    from smartsearch.output.record import dumps

    stamp = record["run"]["date"][:19].replace(":", "").replace("-", "").replace("T", "-")
    path = out / f"{stamp}-{record['dataset']['name']}.json"
    page = path.with_suffix(".html")
    try:
        path.write_text(dumps(record) + "\n", encoding="utf-8")
        page.write_text(html.page([record]), encoding="utf-8")
    except OSError as error:
        said = f"{error.filename} cannot be written: {error.strerror}"
        raise UsageError(said, hint="another --out") from error
    return [path, page]


class _Readers:
    """The language models of the options, known to be set up before anything is measured."""

    def __init__(self, options: AccuracyOptions) -> None:
        self._options = options
        self.stopped: SmartsearchError | None = None
        if options.reader is None:
            idle = [name for name in ("judge", "price") if getattr(options, name) is not None]
            idle += ["votes"] * (options.votes != 1)
            if idle:
                raise UsageError(f"--{idle[0]} needs --reader", hint=f"--reader MODEL --{idle[0]} ...")
            return
        from smartsearch import llm

        if options.votes % 2 == 0:
            raise UsageError(f"--votes {options.votes} may end in a tie", hint="an odd number")
        self._reader = llm.reader_endpoint(model=options.reader)
        self._judge = llm.judge_endpoint(self._reader, model=options.judge or "")
        self._prices = _prices(options.price)

    def accuracy(
        self, planned: Plan, outcome: Outcome, tools: Tools, out: Path, stage: Callable[..., Any]
    ) -> dict[str, Any] | None:
        """Accuracy from what the reference row keeps, its cost told before and after."""
        if self._options.reader is None:
            return None
        from smartsearch import llm
        from smartsearch.bench import accuracy, session

        count = tools.tokenizer.count
        items = [accuracy.Item(q, text) for q, text in session.contexts(planned, outcome, count)]
        asked = [item for item in items if item.question.answer]
        if len(asked) < len(items):
            stream.warn(f"{len(items) - len(asked)} questions have no answer to judge by: not asked")
        if not asked:
            return None
        items = asked
        before = accuracy.estimate(
            items, count, self._options.protocol, votes=self._options.votes, prices=self._prices
        )
        stream.talk(_told(before))
        cache = llm.ReplyCache(out / "replies.db")
        reader = llm.Client(self._reader, cache, count=count)
        judge = llm.Client(self._judge, cache, count=count)
        try:
            with stage("answers", len(items)) as step:
                found = accuracy.measure(
                    items,
                    reader,
                    judge,
                    self._options.protocol,
                    jobs=self._options.jobs,
                    votes=self._options.votes,
                    step=step,
                )
        except KeyboardInterrupt:
            stream.talk(f"the replies so far are kept in {cache.path} and will not be asked for again")
            raise
        record = _accuracy_record(found, self._prices)
        record["reader"] = record["reader"] or [self._reader.model]
        record["judge"] = record["judge"] or [self._judge.model]
        stream.talk(_spent(record))
        if found.stopped is not None:
            stream.warn("stopped asking; the answers so far are kept and counted")
            self.stopped = found.stopped
        record["left_out"] = {"reader": sorted(reader.unsupported), "judge": sorted(judge.unsupported)}
        return record


def _prices(text: str | None) -> dict[str, Price] | None:
    """USD per million tokens by role, from `0.15/0.60` or `0.15/0.60,2/8`."""
    if text is None:
        return None
    from smartsearch.bench.accuracy import JUDGE, READER, Price

    try:
        pairs = [[float(number) for number in part.split("/")] for part in text.split(",")]
        prices = [Price(*pair) for pair in pairs]
    except (ValueError, TypeError):
        prices = []
    if not 1 <= len(prices) <= 2 or any(price.input < 0 or price.output < 0 for price in prices):
        raise UsageError(f"--price is {text!r}", hint="USD per million tokens, read/written: 0.15/0.60")
    return {READER: prices[0], JUDGE: prices[-1]}


def _told(before: Any) -> str:
    tokens = [f"{role} {t.prompt:,} in, {t.completion:,} out" for role, t in before.tokens.items()]
    cost = f"; ${before.cost:.2f}, at most ${before.cost_limit:.2f}" if before.cost is not None else ""
    calls = f"{before.questions:,} questions, {before.calls:,} calls"
    return f"{calls}, tokens: {'; '.join(tokens)}{cost}; {before.assumptions}"


def _spent(record: dict[str, Any]) -> str:
    new = sum(u["new_prompt_tokens"] + u["new_completion_tokens"] for u in record["usage"].values())
    cost = record["cost"]
    dollars = f", ${cost['new']:.2f} of ${cost['total']:.2f} in all" if cost else ""
    return f"spent {new:,} tokens now{dollars}"


def _accuracy_record(found: Accuracy, prices: dict[str, Price] | None) -> dict[str, Any]:
    """Accuracy as the record keeps it: counts, tokens, and per question the verdict, without any text."""
    from smartsearch.bench import accuracy

    def tally(counted: Any) -> dict[str, Any]:
        return {**dataclasses.asdict(counted), "questions": counted.questions, "accuracy": counted.accuracy}

    return {
        "protocol": found.protocol,
        "reader": list(found.reader),
        "judge": list(found.judge),
        "overall": tally(found.overall),
        "by_category": {name: tally(counted) for name, counted in found.by_category.items()},
        "usage": {role: dataclasses.asdict(usage) for role, usage in found.usage.items()},
        "cost": dataclasses.asdict(accuracy.cost(found.usage, prices)) if prices else None,
        "verdicts": {outcome.id: outcome.verdict for outcome in found.outcomes},
        "errors": {outcome.id: outcome.error.kind for outcome in found.outcomes if outcome.error},
        "stopped": {"kind": found.stopped.kind, "message": found.stopped.message} if found.stopped else None,
    }
