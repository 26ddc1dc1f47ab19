"""`smartsearch mcp`: the tools for agents, over standard input and output until the client goes."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO

import typer

from smartsearch import ending
from smartsearch.config import Config
from smartsearch.errors import ExitCode, SmartsearchError, UsageError
from smartsearch.options import FilterOptions, SearchOptions
from smartsearch.output import stream

if TYPE_CHECKING:
    from smartsearch.pipeline import Tools

EXAMPLES = """Examples:

smartsearch mcp ~/chats

smartsearch mcp ~/.claude/projects --exclude '*secret*'
"""


def load_tools(config: Config) -> Tools:
    """The models of the config's profile. Tests put their fakes here."""
    from smartsearch.models import profiles

    return profiles.load_cached(config)


def mcp(
    paths: Annotated[
        list[str] | None,
        typer.Argument(metavar="PATH", help="What may be searched: files and folders.", show_default="."),
    ] = None,
    *,
    search: SearchOptions,
    filters: FilterOptions,
) -> int:
    """Serve `search`, `expand` and `status` to an agent, over the Model Context Protocol.

    It speaks over standard input and output, as clients start it; docs/mcp.md has the line for each of them.
    Nothing but PATH and what lies below can be read. A call is given up after 50 s unless --timeout is set;
    --budget and --tokens hold for a search where they are set, for its lines are short anyway.
    """
    if find_spec("mcp") is None:
        raise SmartsearchError(
            "mcp needs the package mcp", hint="pip install 'smartsearch[mcp]'", kind="package"
        )
    from smartsearch.mcp.roots import Roots
    from smartsearch.transcripts.files import Selection

    if not paths and Path.cwd() == Path.cwd().parent:
        raise UsageError(
            f"the current folder is {Path.cwd()}: that is everything", hint="name a PATH to serve"
        )
    config = search.config()
    scope = replace(filters.source(paths), indexed=config.cache)
    roots = Roots(scope.paths, Selection(scope.globs, scope.excludes))
    if sys.stdin.isatty():
        stream.talk("this speaks the Model Context Protocol and waits for a client; Ctrl-D ends it")
    stdin, stdout = _protocol()
    from smartsearch.mcp.desk import Desk
    from smartsearch.mcp.server import Door
    from smartsearch.mcp.tools import Answers, Models

    desk = Desk()
    for number in {signal.SIGTERM, getattr(signal, "SIGHUP", signal.SIGTERM)}:
        signal.signal(number, lambda _number, _frame: desk.close())
    models = Models(config, load_tools)
    door = Door(Answers(roots, scope, config, models), models, desk)
    door.open(stdin, stdout)
    desk.run(idle=ending.finish)
    if door.failure is not None:
        raise door.failure
    return ExitCode.FOUND


def _protocol() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for the protocol alone, never closed: a thread may be reading at the end.

    Whatever else writes to descriptor 1 from now on, a library in C or a process that is started, writes to
    standard error, and what reads descriptor 0 reads nothing.
    """
    sys.stdout.flush()
    own_in, own_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(nothing, 1)
    os.close(nothing)
    return os.fdopen(own_in, "rb", closefd=False), os.fdopen(own_out, "wb", closefd=False)
