"""`smartsearch batch --out FOLDER`: a run folder, by worker processes of this machine or by Ray."""

from __future__ import annotations

import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path
from types import FrameType

from smartsearch.ask import batch
from smartsearch.ask.runs import manifest, plan, pool
from smartsearch.ask.runs.folder import RunFolder
from smartsearch.ask.runs.manifest import Json, Session
from smartsearch.ask.runs.remote import storage
from smartsearch.ask.runs.run import Engine, Shift
from smartsearch.ask.runs.storage import is_uri, shown
from smartsearch.ask.runs.types import Setup
from smartsearch.cli.options import FilterOptions, RunOptions
from smartsearch.config import Config
from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import stream
from smartsearch.output.plain import counted
from smartsearch.runtime import extras
from smartsearch.transcripts.files import Selection, require

LOADER = Setup.loader
"""What loads the models in a worker. Tests put their fakes here."""


def run(
    questions: str,
    paths: Sequence[str] | None,
    out: str,
    options: RunOptions,
    filters: FilterOptions,
    config: Config,
    *,
    progress: bool,
) -> int:
    """Answer one shard of `questions` into the folder `out`, or go on with it. Returns the exit code."""
    if questions == "-" or "-" in (paths or ()):
        raise UsageError(
            "a run folder needs files: standard input cannot be read again",
            hint="--out answers.jsonl, or files",
        )
    for uri in filter(is_uri, (questions, out, *(paths or ()))):
        extras.require("batch", shown(uri))
    shard = plan.Shard.parse(options.shard)
    folder = RunFolder(out, shard, parquet=options.out_format == "parquet")
    config = replace(config, now=config.now or folder.now or date.today().isoformat())
    own = tuple(os.path.realpath(name) for name in (out, questions) if not is_uri(name))
    Selection(own=own).refuse_own([path for path in paths or () if not is_uri(path)])
    source = filters.written.scope(paths, config, own)
    require([path for path in source.paths if not is_uri(path)])
    setup = Setup(config, source, filters.written, str(Path.cwd()), options.stall, LOADER)
    from smartsearch.models.profiles import fingerprints

    with _fetched(questions) as file, folder.alone(), _terminated():
        planned = plan.Plan(plan.read(file))
        if planned.questions.text:
            stream.talk(f"{shown(questions)}: {batch.TEXT}")
        identity = manifest.identity(planned, shard, source, config, fingerprints(config))
        identity["questions"]["path"] = shown(questions)
        engine, session = _engine(options, setup, len(shard.range(len(planned))))
        shift = Shift(folder, planned, identity, session, options.retry_failed)
        whole = shift.begin()
        if whole is not None:
            stream.talk(f"complete already: {_said(whole)}")
        else:
            whole = _worked(shift, engine, progress=progress)
            stream.talk(f"{_said(whole)}; {shown(out)}")
    return ExitCode.ERROR if whole["counts"]["failed"] else ExitCode.FOUND


def _worked(shift: Shift, engine: Engine, *, progress: bool) -> Json:
    """The manifest when all is done; Ctrl-C says how far it is."""
    folder = shift.folder
    if folder.count:
        stream.talk(f"{folder.count:,} of {shift.lines:,} were done before")
    try:
        with stream.progress(
            shift.lines, wanted=progress, done=folder.count, failed=folder.failed, logged=True
        ) as step:
            shift.work(engine, lambda answer: step(bool(answer.kind)))
        return shift.finish()
    except KeyboardInterrupt:
        stream.talk(f"stopped: {folder.count:,} of {shift.lines:,} are done; the same command goes on")
        raise


def _engine(options: RunOptions, setup: Setup, tasks: int) -> tuple[Engine, Session]:
    """What does the tasks, and how it is written of."""
    if options.engine == "ray":
        from smartsearch.ask.runs import ray_engine

        threads = setup.config.threads or 1
        session = Session("ray", options.workers, threads)
        return (
            lambda numbers, load: ray_engine.run(
                numbers, load, setup, address=options.address, workers=options.workers, threads=threads
            ),
            session,
        )
    if options.address:
        raise UsageError("--address is Ray's", hint="--engine ray")
    cores = pool.usable_cores(setup.config.cores)
    workers, threads = pool.sized(cores, max(1, tasks), options.workers)
    return (
        lambda numbers, load: pool.run(numbers, load, setup, min(workers, max(1, len(numbers))), threads),
        Session("local", workers, threads),
    )


@contextmanager
def _fetched(questions: str) -> Iterator[Path]:
    """The questions as a local file."""
    if not is_uri(questions):
        yield Path(questions)
        return
    with tempfile.TemporaryDirectory(prefix="smartsearch-") as folder:
        local = Path(folder) / "questions.jsonl"
        local.write_bytes(storage(questions).read(""))
        yield local


@contextmanager
def _terminated() -> Iterator[None]:
    """In the block SIGTERM is as Ctrl-C: a run can go on after a scheduler took the machine back."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _said(whole: Json) -> str:
    counts = whole["counts"]
    failed = "".join(f", {number:,} {kind}" for kind, number in counts["failed_by_kind"].items())
    skipped = counts["skipped_transcripts"]
    left_out = f"; {counted(skipped, 'transcript')} left out" if skipped else ""
    return (
        f"{counts['in']:,} in, {counts['out']:,} out: {counts['answered']:,} answered, "
        f"{counts['failed']:,} failed{f' ({failed[2:]})' if failed else ''}{left_out}"
    )
