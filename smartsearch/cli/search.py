"""`smartsearch query` and `smartsearch batch`: options to Config, one call, output."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NoReturn

import typer

from smartsearch import systems
from smartsearch.ask import batch
from smartsearch.ask.door import Door, Found, Opening
from smartsearch.ask.library import STDIN_BYTES, Library, in_background
from smartsearch.ask.scope import Request, Scope
from smartsearch.cli import consent, hits, words
from smartsearch.cli.consent import ConsentOptions
from smartsearch.cli.options import (
    FilterOptions,
    FixedOptions,
    OutputOptions,
    Overwrite,
    Paths,
    QueryOptions,
    Question,
    RunOptions,
    SearchOptions,
    TalkOptions,
    without_markup,
)
from smartsearch.config import Config
from smartsearch.errors import ExitCode, InputError, SearchTimeout, UsageError
from smartsearch.output import record, show, stream
from smartsearch.output.show import View
from smartsearch.runtime import ending
from smartsearch.runtime.deadline import deadline
from smartsearch.runtime.extras import needs
from smartsearch.systems.base import Progress, System
from smartsearch.transcripts.files import require
from smartsearch.types import Result

if TYPE_CHECKING:
    from smartsearch.runtime import outputs

JSON_FORMATS = ("json", "jsonl")

QUERY_EXAMPLES = """Examples:

smartsearch query "When did Caroline join the support group?" chats/

smartsearch query "who adopted a dog?" export.json --json | jq '.hits[0].text'

cat chat.txt | smartsearch query "the wifi password" - --format context
"""

BATCH_EXAMPLES = """Examples:

smartsearch batch questions.jsonl chats/ > answers.jsonl

smartsearch batch questions.jsonl chats/ --out answers.jsonl

smartsearch batch questions.jsonl chats/ --out run/ --workers 8
"""


def query(
    question: Question = "",
    paths: Paths = None,
    *,
    fixed: FixedOptions,
    search: QueryOptions,
    filters: FilterOptions,
    agreed: ConsentOptions,
    out: OutputOptions,
    progress: TalkOptions,
) -> int:
    """Print the turns that answer QUESTION, best first."""
    config = fixed.config(consent.ready(search.config(), yes=agreed.yes))
    question, paths = fixed.asked(question, paths or [])
    view = out.view(few=not (search.sets("limit") or fixed))
    view = replace(view, quiet=progress.quiet, named=tuple(paths or ()))
    config = replace(config, limit=view.most(config.limit), wanted=view.wanted)
    found = searched(question, paths, config, filters, view, progress)
    missed = out.strict and found.result.weak
    numbered = show.show(found.result, found.around, config, replace(view, none=missed and view.files))
    if numbered and config.cache:
        sources = dict(zip((hit.rank for hit in found.result.hits), found.sources, strict=False))
        turns = [sources.get(hit.rank, hit.turn) for hit in numbered]
        hits.remember(found.result.query, turns, exact=not config.redact)
    return ExitCode.FOUND if found.result.hits and not missed else ExitCode.NOTHING


def searched(
    question: str,
    paths: list[str] | None,
    config: Config,
    filters: FilterOptions,
    view: View,
    progress: TalkOptions,
) -> Found:
    """The answer to one question typed at a prompt, within its time limit."""
    if not question.strip():
        raise UsageError("QUESTION is missing", hint='smartsearch query "When did ...?" chats/')
    typed = [question, *(paths or [])]
    question, paths = words.asked(question, paths or [])
    if not (paths or view.quiet) and (other := words.near_path(typed)):
        stream.talk(other)
    scope = filters.written.scope(paths, config)
    stdin = _standard_input(scope.paths)
    if not (paths or view.quiet) and words.piped():
        stream.talk("standard input is not read: - as a PATH reads it")

    def here(stdin: BinaryIO | None) -> Door:
        tell, agree = saying(config, quiet=view.quiet), consent.agreeing(config)
        return Door(loading(config, quiet=view.quiet), Library(stdin), tell, agree)

    with (
        deadline(config.timeout, lambda error: _stop(error, as_json=view.format in JSON_FORMATS)),
        stream.status("searching", wanted=progress.progress == "auto" and not consent.asked_for(config)),
    ):
        asked = Request(_utf8(question), scope, config, view.before, view.after, view.traced)
        return answered(asked, here, stdin, quiet=view.quiet)


def answered(
    asked: Request,
    here: Callable[[BinaryIO | None], Door],
    stdin: BinaryIO | None = None,
    *,
    quiet: bool = False,
) -> Found:
    """The answer of the warm process, if one is wanted and runs, else of the door of this process.

    `here` gives that door, with what is left of `stdin`. At a terminal that leaves a warm process behind when
    this one ends.
    """
    config, cold = asked.config, ""
    # A warm process keeps what it reads; its time zone and its settings of a language model may differ.
    asks = config.daemon == "always" or (config.daemon == "auto" and config.cache)
    if asks and not config.llm:
        from smartsearch.serve.warm import client, wire

        try:
            day = replace(config, now=config.now or date.today().isoformat())
            return client.ask(wire.Request(**vars(replace(asked, config=day))), stdin)
        except client.NotWarm as error:
            if stdin is not None and error.piped:
                stdin = io.BytesIO(error.piped + stdin.read(STDIN_BYTES))
            cold = str(error)
    found = here(stdin).find(asked, (f"answered without the warm process: {cold}",) if cold else ())
    if sys.stdout.isatty() and config.daemon == "auto":
        from smartsearch.serve.warm import spare, wire

        if spare.wanted(left := wire.Request(**vars(asked))):
            ending.add(partial(spare.leave, left, None if quiet else stream.talk))
    return found


def batch_command(
    questions: Annotated[
        str,
        typer.Argument(
            metavar="QUESTIONS",
            help="A file of JSON lines, or of plain text, a question per line; - is standard input.",
            show_default=False,
        ),
    ],
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Where to search when a line has no paths.", show_default="."),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            help=without_markup(
                "Write the records to this file, such as answers.jsonl; or to a run folder: any name that "
                f"has no such ending, or a URI such as s3://bucket/run, which {needs('batch')}. The same "
                "command goes on with a run folder."
            ),
            metavar="FILE|FOLDER",
            show_default="stdout",
            rich_help_panel="Output",
        ),
    ] = None,
    overwrite: Overwrite = False,
    *,
    search: SearchOptions,
    filters: FilterOptions,
    agreed: ConsentOptions,
    folder: RunOptions,
    progress: TalkOptions,
) -> int:
    """Answer many questions: a line each in, a JSON result each out, in the same order; or a run folder.

    A line is a question as text, its number the id; or {"id": "q1", "question": "..."}, and if need be
    "paths": [...] and filters of its own, in the place of those given as options: "conversation", "session",
    "since", "until", "now", "speaker", "only_speaker", "role".
    """
    out = None if out == "-" else out
    if out is None and overwrite:
        raise UsageError("--overwrite needs --out", hint="--out answers.jsonl --overwrite")
    config = consent.ready(search.config(), yes=agreed.yes, asks=False)
    if out is not None and _is_folder(out):
        from smartsearch.cli import runs as runs_cli

        if overwrite:
            raise UsageError("a run folder is not overwritten", hint="another --out, or remove that folder")
        wanted = progress.progress == "auto"
        return runs_cli.run(questions, paths, out, folder, filters, config, progress=wanted)
    if folder != RunOptions():
        raise UsageError(
            "the options of a run folder need one: --out is " + (f"the file {out}" if out else "not given"),
            hint=f"--out {out.rstrip('/') if out else 'FOLDER'}/",
        )
    source = filters.written.scope(paths, config, _own(questions, out))
    if questions == "-" and "-" in source.paths:
        raise UsageError(
            "- stands for the questions and for the transcripts", hint="give one of them as a file"
        )
    require(source.paths)
    answered_to = partial(_answer_all, questions, source, config, filters, progress)
    if out is None:
        return answered_to(None, lambda value: stream.write([record.dumps(value)], masked=True))
    from smartsearch.runtime import outputs

    place = outputs.Place(Path(out), overwrite=overwrite)
    if place.beside and not batch.has_answers(place.path):
        said = f"{out} holds something else than answers, which is not overwritten"
        raise UsageError(said, hint="another --out", kind=outputs.EXISTS)
    with place.lines() as put:
        return answered_to(place, lambda value: put(record.dumps(value).encode()))


def _answer_all(
    questions: str,
    source: Scope,
    config: Config,
    filters: FilterOptions,
    progress: TalkOptions,
    out: outputs.Place | None,
    put: Callable[[record.Json], None],
) -> int:
    """Answer the questions of a batch in this process and give each record to `put`; the exit code."""
    quiet = progress.quiet
    tell, agree = saying(config, quiet=quiet), consent.agreeing(config, many=True)
    library = Library(_standard_input(source.paths))
    door = Door(loading(config, quiet=quiet), library, tell, agree)
    complained: set[str] = set()

    def answer(question: batch.Question) -> Result:
        own, how = filters.written.own(question, source, config)
        with deadline(config.timeout):
            result = door.find(Request(question.text, own, how)).result
        if not quiet:
            read = library.haystack(own)
            general = (*config.notes, *read.corpus.warnings, *read.warnings)
            show.complain(result, own.paths, complained, of=(f"{question.id}: ", general))
        return result

    failed = count = 0
    said = "standard input" if questions == "-" else questions
    records_scroll_by = out is None and sys.stdout.isatty()
    with batch.lines(questions, _standard_input([questions])) as (lines, total, text):
        if text:
            stream.talk(f"{said}: {batch.TEXT}")
        wanted = progress.progress == "auto" and not records_scroll_by
        try:
            with stream.progress(total, wanted=wanted) as step:
                for outcome in batch.run(lines, answer):
                    put(record.outcome(outcome, config))
                    failed += outcome.error is not None
                    count += 1
                    step()
        except KeyboardInterrupt:
            of = "" if total is None else f" of {total:,}"
            stream.talk(f"{count:,}{of} done; {_kept(out)}")
            raise
    if out is not None and out.beside and failed == count:
        why = "every question failed" if count else "there is no question"
        hint = "another --out keeps their errors" if count else "questions, one per line"
        raise InputError(f"{said}: {why}; {out.out} stays as it was", hint=hint, kind="output")
    if failed:
        stream.talk(f"{said}: {failed:,} of {count:,} questions failed; their records hold `error`")
    return ExitCode.ERROR if failed else ExitCode.FOUND


def _kept(out: outputs.Place | None) -> str:
    """Says what a batch that was stopped leaves."""
    if out is None:
        return "with --out FOLDER they are kept, and the same command goes on"
    stays = f"{out.out} stays as it was" if out.beside else f"they are in {out.out}"
    return f"{stays}; with --out FOLDER the same command goes on"


def _own(questions: str, out: str | None) -> tuple[str, ...]:
    """The real paths of a batch's own files."""
    return tuple(os.path.realpath(name) for name in (questions, out) if name not in (None, "-"))


def _is_folder(out: str) -> bool:
    """Whether `--out` is a run folder: one that is there, a URI, or a name that is not a file's."""
    if "://" in out or out.endswith("/") or Path(out).is_dir():
        return True
    return not (Path(out).suffix or Path(out).exists())


def _utf8(argument: str) -> str:
    """An argument as typed: Python holds bytes that a non-UTF-8 locale cannot read as lone surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument


def _standard_input(paths: Sequence[str]) -> BinaryIO | None:
    """Standard input if `-` asks for it; a user at a terminal is told to type it."""
    if "-" not in paths:
        return None
    if sys.stdin.isatty():
        stream.talk("reading standard input; end it with Ctrl-D")
    return sys.stdin.buffer


def saying(config: Config, *, quiet: bool) -> Progress:
    """A progress callback that prints once how much the system must take in before it answers."""
    told = quiet

    def progress(_done: int, of: int) -> None:
        nonlocal told
        if not told:
            asking = " --llm" if config.llm else ""
            ahead = f"`smartsearch memory build PATH --system {config.system}{asking}` does that ahead"
            stream.talk(f"{config.system} takes in what is new first, {of:,} parts; {ahead}")
        told = True

    return progress


def loading(config: Config, *, quiet: bool = True) -> Opening:
    """Begin to load the system and its models in the background; its notice is printed once."""
    from smartsearch.models import loading

    opening, told = in_background(lambda: systems.load(config, loading.load_tools)), quiet

    def opened() -> System:
        nonlocal told
        system = opening()
        if (notice := getattr(system, "notice", "")) and not told:
            stream.talk(notice)
        told = True
        return system

    return opened


def _stop(error: SearchTimeout, *, as_json: bool) -> NoReturn:
    """End the process though a model is still busy."""
    stream.show_cursor()
    stream.fail(error, as_json=as_json)
    stream.finish()
    ending.finish()
    os._exit(ExitCode.ERROR)
