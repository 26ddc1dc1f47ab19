"""The commands: options to Config, one call, output; and the one place where errors become exit codes."""

from __future__ import annotations

import io
import os
import sys
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, NoReturn

import typer

from smartsearch import __version__, batch, ending
from smartsearch.ask import STDIN_BYTES, Library, Scope, ask, unexpected
from smartsearch.bench_cli import EXAMPLES as BENCH_EXAMPLES
from smartsearch.bench_cli import bench
from smartsearch.cache_cli import cache
from smartsearch.config import Config
from smartsearch.deadline import deadline
from smartsearch.errors import ExitCode, SearchTimeout, SmartsearchError, UsageError
from smartsearch.models_cli import models
from smartsearch.options import (
    FilterOptions,
    OutputOptions,
    ProgressOptions,
    QueryOptions,
    SearchOptions,
    takes_records,
)
from smartsearch.output import record, show, stream
from smartsearch.output.nearby import Nearby, nearby
from smartsearch.output.show import View
from smartsearch.serve_cli import EXAMPLES as SERVE_EXAMPLES
from smartsearch.serve_cli import serve
from smartsearch.train_cli import EXAMPLES as TRAIN_EXAMPLES
from smartsearch.train_cli import train
from smartsearch.types import Result

if TYPE_CHECKING:
    from smartsearch.pipeline import Tools

HELP = {"help_option_names": ["-h", "--help"]}
REFUSED = typer.BadParameter.__mro__[1]
"""click's UsageError: newer Typer carries its own copy of click, older Typer imports click's."""

app = typer.Typer(
    name="smartsearch",
    help="Find the few turns in raw chat transcripts that answer a question: no index, no LLM, offline.",
    context_settings=HELP,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
)
app.add_typer(models, name="models")
app.add_typer(cache, name="cache")

QUERY_EXAMPLES = """Examples:

smartsearch query "When did Caroline join the support group?" chats/

smartsearch query "who adopted a dog?" export.json --json | jq '.hits[0].text'

cat chat.txt | smartsearch query "the wifi password" - --format context
"""

BATCH_EXAMPLES = """Examples:

smartsearch batch questions.jsonl chats/ > answers.jsonl

smartsearch batch questions.jsonl chats/ --out answers.jsonl --resume
"""


def load_tools(config: Config) -> Tools:
    """The models of the config's profile. Tests put their fakes here."""
    from smartsearch.models import profiles

    return profiles.load(config, cache=True)


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version and exit.")] = False,
) -> None:
    """Print the version, or the help where no command is given."""
    if version:
        stream.write([f"smartsearch {__version__}"])
        raise typer.Exit()
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command(epilog=QUERY_EXAMPLES)
@takes_records
def query(
    question: Annotated[
        str, typer.Argument(metavar="QUESTION", help="What you want to know.", show_default=False)
    ],
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Files and folders; - is standard input.", show_default="."),
    ] = None,
    *,
    search: QueryOptions,
    filters: FilterOptions,
    out: OutputOptions,
    progress: ProgressOptions,
) -> int:
    """Print the turns that answer QUESTION, best first."""
    if not question.strip():
        raise UsageError("the question is empty", hint='smartsearch query "When did ...?" chats/')
    view = out.view()
    config = search.config()
    source = filters.source(paths)
    stdin = _standard_input(source.paths)
    with (
        deadline(config.timeout, lambda error: _stop(error, as_json=view.format in JSON_FORMATS)),
        stream.status("searching", wanted=progress.progress == "auto"),
    ):
        answer, around = _answer(_utf8(question), source, config, view, stdin)
    show.show(answer, around, config, view)
    return ExitCode.FOUND if answer.hits else ExitCode.NOTHING


def _answer(
    question: str, source: Scope, config: Config, view: View, stdin: BinaryIO | None
) -> tuple[Result, Sequence[Nearby]]:
    """What the warm process answers, if the options want one and there is one; else what this one does."""
    cold = ""
    if config.daemon != "never":
        from smartsearch.warm import client, wire

        try:
            told = client.ask(
                wire.Request(question, source, config, view.before, view.after, view.explain), stdin
            )
            return told.result, told.around
        except client.NotWarm as error:
            cold = str(error)
            if stdin is not None and error.piped:
                stdin = io.BytesIO(error.piped + stdin.read(STDIN_BYTES))
    library = Library(stdin)
    result = ask(question, source, config, _loading(config), library)
    corpus = library.haystack(source).corpus
    around = nearby(corpus, result.hits, view.before, view.after) if view.before or view.after else ()
    return (_noted(result, f"answered without the warm process: {cold}") if cold else result), around


def _noted(result: Result, said: str) -> Result:
    return replace(result, trace=replace(result.trace, degraded=(*result.trace.degraded, said)))


@app.command("batch", epilog=BATCH_EXAMPLES)
@takes_records
def batch_command(
    questions: Annotated[
        str,
        typer.Argument(metavar="QUESTIONS", help="A JSONL file; - is standard input.", show_default=False),
    ],
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="Where to search when a line has no paths.", show_default="."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="Write the records here.", show_default="stdout", rich_help_panel="Output"
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option(
            "--resume", help="Skip ids that --out holds already, and go on.", rich_help_panel="Output"
        ),
    ] = False,
    *,
    search: SearchOptions,
    filters: FilterOptions,
    progress: ProgressOptions,
) -> int:
    """Answer many questions: JSONL in, one JSON result a line out, in the same order.

    A line is {"id": "q1", "question": "..."}, and if need be "paths": [...] and "conversation": "...".
    """
    if resume and out is None:
        raise UsageError("--resume needs --out", hint="--out answers.jsonl --resume")
    if out is not None and _same_file(out, [questions, *(paths or [])]):
        raise UsageError(f"--out {out} is one of the inputs", hint="another file")
    config = search.config()
    source = filters.source(paths)
    if questions == "-" and "-" in source.paths:
        raise UsageError(
            "- stands for the questions and for the transcripts", hint="give one of them as a file"
        )
    done = batch.resume(out) if resume and out else batch.Done()
    library = Library(_standard_input(source.paths))
    tools = _loading(config)
    complained: set[str] = set()

    def answer(question: batch.Question) -> Result:
        own = replace(
            source,
            paths=question.paths or source.paths,
            conversations=question.conversations or source.conversations,
        )
        with deadline(config.timeout):
            result = ask(question.text, own, config, tools, library)
        show.complain(result, complained)
        return result

    failed = done.failed
    records_scroll_by = out is None and sys.stdout.isatty()
    with batch.lines(questions, _standard_input([questions])) as (lines, total):
        left = None if total is None else max(total - len(done), 0)
        with (
            stream.sink(out, append=resume) as put,
            stream.progress(left, wanted=progress.progress == "auto" and not records_scroll_by) as step,
        ):
            for outcome in batch.run(lines, answer, done):
                put(record.outcome(outcome, config))
                failed += outcome.error is not None
                step()
    return ExitCode.ERROR if failed else ExitCode.FOUND


app.command(epilog=SERVE_EXAMPLES)(takes_records(serve))
app.command(epilog=BENCH_EXAMPLES)(takes_records(bench))
app.command(epilog=TRAIN_EXAMPLES)(takes_records(train))


@app.command()
def formats(json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> int:
    """List the transcript formats that are understood; --input-format takes their names."""
    from smartsearch import transcripts

    rows: list[dict[str, object]] = [
        {"name": f.name, "extensions": list(f.extensions), "description": f.description}
        for f in transcripts.FORMATS
    ]
    show.table("formats", rows, as_json=json)
    return ExitCode.FOUND


def _same_file(out: Path, inputs: Sequence[str]) -> bool:
    return out.exists() and any(Path(name).is_file() and out.samefile(name) for name in inputs)


def _utf8(argument: str) -> str:
    """An argument as typed: Python holds bytes that a non-UTF-8 locale cannot read as lone surrogates."""
    try:
        argument.encode()
    except UnicodeEncodeError:
        return os.fsencode(argument).decode("utf-8", "replace")
    return argument


def _standard_input(paths: Sequence[str]) -> BinaryIO | None:
    """Standard input if `-` asks for it, with a word to the person who has to type it."""
    if "-" not in paths:
        return None
    if sys.stdin.isatty():
        stream.talk("reading standard input; end it with Ctrl-D")
    return sys.stdin.buffer


def _loading(config: Config) -> Callable[[], Tools]:
    """Begin to load the models in the background; the call waits for them, and raises what went wrong."""
    future: Future[Tools] = Future()

    def work() -> None:
        try:
            future.set_result(load_tools(config))
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=work, daemon=True).start()
    return future.result


JSON_FORMATS = ("json", "jsonl")


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether errors are to be JSON, judged by the bare arguments, for they may not even parse."""
    own = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    value = own[own.index("--format") + 1 :][:1] if "--format" in own else []
    value += [a.removeprefix("--format=") for a in own if a.startswith("--format=")]
    to_stdout = not any(a.startswith(("--out", "-o")) for a in own)
    return "--json" in own or any(v in JSON_FORMATS for v in value) or (own[:1] == ["batch"] and to_stdout)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the single error boundary. Returns the exit code."""
    stream.prepare()
    try:
        try:
            command = typer.main.get_command(app)
            code = command.main(args=list(arguments), prog_name="smartsearch", standalone_mode=False)
            return int(code or 0)
        except Exception as error:
            if isinstance(error, stream.PipeClosed | typer.Abort | typer.Exit):
                raise
            if os.environ.get("SMARTSEARCH_DEBUG"):
                stream.talk(traceback.format_exc())
            stream.fail(_named(error), as_json=wants_json(arguments))
            return ExitCode.ERROR
    except stream.PipeClosed:
        return ExitCode.FOUND
    except typer.Exit as left:
        return left.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED


def _named(error: Exception) -> SmartsearchError:
    if isinstance(error, SmartsearchError):
        return error
    if isinstance(error, REFUSED):
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "smartsearch"
        said = str(error.format_message()).replace("Value error, ", "")  # type: ignore[attr-defined]
        return UsageError(said, hint=f"{path} --help")
    return unexpected(error)


def _stop(error: SearchTimeout, *, as_json: bool) -> NoReturn:
    """End the process though a model is still busy."""
    stream.show_cursor()
    stream.fail(error, as_json=as_json)
    stream.finish()
    ending.finish()
    os._exit(ExitCode.ERROR)


def main() -> NoReturn:
    """The entry point. Models that still load in the background do not hold up the end."""
    code = run(sys.argv[1:])
    stream.finish()
    ending.finish()
    if threading.active_count() > 1:
        os._exit(code)
    sys.exit(code)
