"""`smartsearch schema`: the contract of a reply, for programs that read it."""

from __future__ import annotations

from typing import Annotated

import typer

from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import contract, stream
from smartsearch.output.record import Json

REPLIES = ", ".join(contract.NAMES)


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="REPLY",
            help=f"Whose reply: {REPLIES}.",
            show_default=False,
            autocompletion=lambda: list(contract.NAMES),
        ),
    ],
) -> int:
    """Print the JSON Schema of a reply.

    `hit` is a line of --format jsonl, `prompt` what answer --show-prompt prints, `detect` and `places` are of
    formats, and `mcp` is what an agent's tools give. Within a schema version keys are only added: a program
    must ignore those that it does not know.
    """
    if name not in contract.NAMES:
        raise UsageError(f"no reply is called {name!r}", hint=REPLIES)
    stream.write_json(tools() if name == "mcp" else contract.schema(name))
    return ExitCode.FOUND


def tools() -> Json:
    """The JSON Schema of what the tools for agents give. Raises SmartsearchError without the extra `mcp`."""
    from smartsearch.runtime import extras

    extras.require("mcp", "schema mcp")
    from smartsearch.serve.mcp.server import TOOLS, listed

    error = contract.schema("error")
    shapes = {name: listed(name).output_schema for name in TOOLS} | error.pop("$defs") | {"error": error}
    head = {"$schema": error.pop("$schema"), "title": error.pop("title").replace("error", "mcp")}
    return head | {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in (*TOOLS, "error")], "$defs": shapes}
