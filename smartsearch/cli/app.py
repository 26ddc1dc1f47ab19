"""Which command is meant, and the one place where errors become exit codes.

A command's module is imported when the command is: a prompt must not wait for what it does not use.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from inspect import cleandoc
from itertools import takewhile
from types import ModuleType
from typing import Annotated, Any, NoReturn

import typer

from smartsearch import __version__
from smartsearch.cli import words
from smartsearch.errors import ExitCode, InputError, SmartsearchError, UsageError, unexpected
from smartsearch.output import masking, stream
from smartsearch.runtime import ending
from smartsearch.runtime.lean import module, standing_in

HELP = {"help_option_names": ["-h", "--help"]}
REFUSED = typer.BadParameter.__mro__[1]
"""click's UsageError: newer Typer carries its own copy of click, older Typer imports click's."""


COMMANDS = {
    "query": "Print the turns that answer QUESTION, best first.",
    "show": "Open turns in their conversation, by the places that query prints.",
    "live": "Ask one question after another: hits as you type, Enter opens one in its chat.",
    "answer": "Let a language model answer QUESTION from the turns that are found, and cite them.",
    "batch": "Answer many questions: a line each in, a JSON result each out, in the same order; "
    "or a run folder.",
    "bench": "Measure retrieval, ranking and the cut on DATA with known answers, as the paper's tables do.",
    "mcp": "Serve `search`, `expand` and `status` to an agent, over the Model Context Protocol.",
    "setup": "Give the coding agents on this machine a memory: the MCP server over their own sessions.",
    "formats": "List the transcript formats that are understood; --input-format takes their names.",
    "schema": "Print the JSON Schema of a reply.",
    "index": "Make or update an index of each PATH: `query` uses it where there is more than 24 MiB.",
    "serve": "Keep the models in memory and answer for `query`, until no question comes any more.",
    "doctor": "Check install, settings, models, cache, indexes, warm process and terminal, "
    "and say what to do.",
    "config": "Show the settings and where each value came from.",
    "train": "Adapt the rankers to your own chats: no labels, no network, about half an hour of CPU.",
    "models": "List, fetch and check the models that the profiles use.",
    "cache": "Show, fill or clear the vectors of turns that are kept for the next questions.",
    "memory": "Build, show or remove what a system keeps of your chats.",
    "qrranker": "Fetch a language model for --system qrranker, and find its heads.",
}
"""The commands, each with the first line of its help."""
PLACES = {"query": ("search", "query"), "batch": ("search", "batch_command")}
"""The module and the name of those that are not in a module of their name."""
UPKEEP = ("train", "models", "cache", "memory", "qrranker")
"""Commands that `--help` lists apart: upkeep, and what belongs to one system."""


DOUBTFUL = ("usage", "path_not_found", "input", "package", "config", "llm_missing")
"""Kinds of errors after which the words behind a command may have been meant as a question."""
SHORT = ("query", "answer", "batch", "live", "mcp")
"""Commands with more options than fit on a screen: `--help` lists those used most, `--help-all` all."""


def application(arguments: Sequence[str], *, whole: bool = False) -> typer.Typer:
    """The commands as far as `arguments` need them: the one that is named, else all by name and summary.

    With `whole`, every command with all its options.
    """
    named = next((a for a in arguments if not a.startswith("-")), "")
    short = named in SHORT and bool({"-h", "--help"} & set(arguments))
    app = typer.Typer(
        name="smartsearch",
        help="Find the few turns in raw chat transcripts that answer a question: no index, no LLM, offline.",
        context_settings=HELP,
        rich_markup_mode=None if short else "rich",
        pretty_exceptions_enable=False,
    )
    app.callback(invoke_without_command=True)(start)
    for name in [named] if named in COMMANDS and not whole else COMMANDS:
        if whole or name == named:
            _add(app, name, short=short)
        else:
            panel = "Upkeep, and other systems" if name in UPKEEP else None
            app.command(name, help=COMMANDS[name], rich_help_panel=panel)(_no_command)
    if not short:
        _show_brackets(app)
    return app


def _show_brackets(app: typer.Typer) -> None:
    """Let the help of commands show `smartsearch-cli[hub]`, in which Rich would find a style."""
    for command in app.registered_commands:
        if command.help is None and command.callback is not None:
            command.help = cleandoc(command.callback.__doc__ or "").replace("[", "\\[")
    for group in app.registered_groups:
        if group.typer_instance is not None:
            _show_brackets(group.typer_instance)


def _add(app: typer.Typer, name: str, *, short: bool) -> None:
    module, command = _imported(name)
    if isinstance(command, typer.Typer):
        app.add_typer(command, name=name)
    else:
        from smartsearch.cli.options import takes_records

        examples = getattr(module, f"{name.upper()}_EXAMPLES", getattr(module, "EXAMPLES", ""))
        if short:  # \b: click keeps these lines as they are
            lines = [line for line in examples.splitlines() if line]
            examples = "\b\n" + "\n  ".join(
                [*lines, "", f"smartsearch {name} --help-all   lists every option"]
            )
        app.command(name, epilog=examples or None)(takes_records(command, short=short))


def _imported(name: str) -> tuple[ModuleType, Any]:
    """The module of a command, and the command."""
    module, inside = PLACES.get(name, (name, name))
    found = import_module(f"smartsearch.cli.{module}")
    return found, getattr(found, inside)


def _below(name: str) -> list[str]:
    """The commands below a command, by name."""
    _, command = _imported(name)
    below = command.registered_commands if isinstance(command, typer.Typer) else []
    return [one.name or getattr(one.callback, "__name__", "").replace("_", "-") for one in below]


def _no_command() -> None:
    """Stands for a command that is listed and not imported."""


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


def _prepare_help(arguments: Sequence[str]) -> None:
    """If help is wanted, import its renderer without the parts that our help never uses: half of its time."""
    if arguments and not {"-h", "--help"} & set(arguments):
        return
    unused = {
        "attr": None,
        "rich.markdown": module("rich.markdown", Markdown=type("Markdown", (), {})),
        "rich.traceback": module("rich.traceback", Traceback=type("Traceback", (), {})),
    }
    with standing_in(unused):
        drawing: Any = import_module("typer.rich_utils")
    coloured = stream.coloured("auto")
    drawing.FORCE_TERMINAL, drawing.COLOR_SYSTEM = coloured or None, "auto" if coloured else None


def typed() -> list[str]:
    """What a shell that wants completions says was typed so far, after the program's name; else nothing."""
    if not any(name.endswith("_COMPLETE") for name in os.environ if name.startswith("_SMARTSEARCH")):
        return []
    if split := re.findall(r"\s@(?=\s\S)", os.environ.get("COMP_WORDS", "")):  # bash parts a name from its @
        os.environ["COMP_WORDS"] = re.sub(r"(\s@)\s(?=\S)", r"\1", os.environ["COMP_WORDS"])
        os.environ["COMP_CWORD"] = str(int(os.environ["COMP_CWORD"]) - len(split))
    return (os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or "").split()[1:]


def wants_json(arguments: Sequence[str]) -> bool:
    """Whether errors are to be JSON, judged by the bare arguments, for they may not even parse."""
    own = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    value = own[own.index("--format") + 1 :][:1] if "--format" in own else []
    value += [a.removeprefix("--format=") for a in own if a.startswith("--format=")]
    to_stdout = not any(a.startswith(("--out", "-o")) for a in own)
    return (
        "--json" in own or any(v in ("json", "jsonl") for v in value) or (own[:1] == ["batch"] and to_stdout)
    )


def wants_masks(arguments: Sequence[str]) -> bool:
    """Whether what is printed is to be masked, judged by the bare arguments and the settings.

    Where the settings cannot be read, the error is masked too.
    """
    own = list(arguments[: arguments.index("--")] if "--" in arguments else arguments)
    said = [a for a in own if a in ("--redact", "--no-redact")]
    if said or not own or own[0] in ("-h", "--help", "-V", "--version") or typed():
        return said[-1:] == ["--redact"]
    from smartsearch.config import build

    try:
        return build({}).redact
    except SmartsearchError:
        return True


def run(arguments: Sequence[str]) -> int:
    """Run one command line; the single error boundary. Returns the exit code."""
    stream.prepare()
    with masking.during(wants_masks(arguments), arguments):
        return _run(arguments)


def _run(arguments: Sequence[str]) -> int:
    try:
        try:
            arguments = words.commanded(_live(arguments), COMMANDS, _below)
            command = typer.main.get_command(application(typed() or arguments))
            if "--help-all" in arguments:
                arguments = [*takewhile(lambda word: word != "--help-all", arguments), "--help"]
            _prepare_help(arguments)
            code = command.main(args=list(arguments), prog_name="smartsearch", standalone_mode=False)
            return int(code or 0)
        except Exception as error:
            if isinstance(error, stream.PipeClosed | typer.Abort | typer.Exit):
                raise
            if os.environ.get("SMARTSEARCH_DEBUG"):
                import traceback

                stream.talk(traceback.format_exc())
            named = _named(error)
            if named.kind in DOUBTFUL and (other := words.doubted(arguments, COMMANDS, _below)):
                named.hint = "; ".join(filter(None, (named.hint, other)))
            stream.fail(named, as_json=wants_json(arguments))
            return ExitCode.ERROR
    except stream.PipeClosed:
        return ExitCode.FOUND
    except typer.Exit as left:
        return left.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED


def _live(arguments: Sequence[str]) -> Sequence[str]:
    """Put `live` for `-i`, and for an empty command line at a terminal in a folder of chats."""
    if arguments[:1] in (["-i"], ("-i",)):
        return ["live", *arguments[1:]]
    if arguments or typed() or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return arguments
    from smartsearch.cli.live import is_here

    return ["live"] if is_here() else arguments


def _named(error: Exception) -> SmartsearchError:
    if isinstance(error, SmartsearchError):
        return error
    if isinstance(error, REFUSED):
        context = getattr(error, "ctx", None)
        path = context.command_path if context else "smartsearch"
        said = str(error.format_message()).replace("Value error, ", "")  # type: ignore[attr-defined]
        return UsageError(said, hint=f"{path} --help")
    if isinstance(error, FileNotFoundError) and not _in_a_folder():
        return InputError("the current folder was removed", hint="cd to one that is there", kind="no_folder")
    return unexpected(error)


def _in_a_folder() -> bool:
    try:
        return bool(os.getcwd())  # noqa: PTH109 - a name, not a path
    except OSError:
        return False


def main() -> NoReturn:
    """The entry point. The system frees all memory at once: Python's own end takes a tenth of a second, and
    waits for models that still load."""
    code = int(ExitCode.INTERRUPTED)
    with contextlib.suppress(KeyboardInterrupt):
        ending.heed_interrupts()
        code = run(sys.argv[1:])
        stream.finish()
    ending.finish()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    stream.finish()
    os._exit(code)
