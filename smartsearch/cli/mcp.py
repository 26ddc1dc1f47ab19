"""`smartsearch mcp`: the tools for agents, over standard input and output until the client goes."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from smartsearch.cli import consent
from smartsearch.cli.groups import chats_argument
from smartsearch.cli.options import FilterOptions, SearchOptions
from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import stream
from smartsearch.runtime import extras

if TYPE_CHECKING:
    from smartsearch.runtime.worker import Worker
    from smartsearch.serve.mcp.roots import Location

EXAMPLES = """Examples:

smartsearch mcp ~/chats

smartsearch mcp ~/.claude/projects --exclude '*secret*'
"""


LOADER = "smartsearch.models.loading:load_tools"
"""What loads the models, in the process that holds them. Tests put their fakes here."""


def mcp(
    paths: Annotated[list[str] | None, chats_argument("What may be searched: files and folders.")] = None,
    *,
    search: SearchOptions,
    filters: FilterOptions,
) -> int:
    """Serve `search`, `expand` and `status` to an agent, over the Model Context Protocol.

    It speaks over standard input and output, as clients start it; docs/mcp.md has the line for each of them.
    Nothing but PATH and what lies below can be read. A call is given up after 50 s unless --timeout is set;
    --budget and --tokens hold for a search where they are set, for its lines are short anyway.
    It needs `pip install 'smartsearch-cli[mcp]'`.
    """
    extras.require("mcp", "mcp")
    from smartsearch.runtime import streams
    from smartsearch.serve.mcp.roots import Roots

    if not paths and Path.cwd() == Path.cwd().parent:
        raise UsageError(
            f"the current folder is {Path.cwd()}: that is everything", hint="name a PATH to serve"
        )
    config = consent.ready(search.config(), asks=False)
    roots = Roots(paths or ["."], filters.written.scope(None, config).selection)
    if sys.stdin.isatty():
        stream.talk("this speaks the Model Context Protocol and waits for a client; Ctrl-D ends it")
    stdin, stdout = streams.taken()
    from smartsearch.runtime.worker import Worker
    from smartsearch.serve.mcp import worker

    setup = worker.Setup(roots, filters.written, config, os.getcwd(), LOADER, {})  # noqa: PTH109
    first = Worker(worker.__name__, replace(setup, eager=True))  # it loads while the SDK is imported
    from smartsearch.serve.mcp.server import Door

    def hired(places: Mapping[str, Location]) -> Worker:
        return Worker(worker.__name__, replace(setup, places=dict(places)))

    Door(roots, config, hired, first).serve(stdin, stdout)
    return ExitCode.FOUND
