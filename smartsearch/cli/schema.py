"""`smartsearch schema`: the contract of a reply, for programs that read it."""

from __future__ import annotations

from typing import Annotated, Literal

import typer

from smartsearch.errors import ExitCode
from smartsearch.output import stream
from smartsearch.output.record import Json

Name = Literal["query", "hit", "batch", "answer", "show", "doctor", "error", "mcp"]


def schema(
    name: Annotated[Name, typer.Argument(metavar="REPLY", help="Whose reply.", show_default=False)],
) -> int:
    """Print the JSON Schema of a reply: query, hit, batch, answer, show, doctor, error, mcp.

    `hit` is a line of --format jsonl, `mcp` what an agent's tools give. Within a schema version keys are only
    added: a program must pass by those that it does not know.
    """
    from smartsearch.output import contract

    stream.write_json(tools() if name == "mcp" else contract.schema(name))
    return ExitCode.FOUND


def tools() -> Json:
    """The JSON Schema of what the tools for agents give. Raises SmartsearchError without the extra `mcp`."""
    from smartsearch.output import contract
    from smartsearch.runtime import extras

    extras.require("mcp", "schema mcp")
    from smartsearch.serve.mcp.server import TOOLS, listed

    error = contract.schema("error")
    shapes = {name: listed(name).output_schema for name in TOOLS} | error.pop("$defs") | {"error": error}
    head = {"$schema": error.pop("$schema"), "title": error.pop("title").replace("error", "mcp")}
    return head | {"anyOf": [{"$ref": f"#/$defs/{name}"} for name in (*TOOLS, "error")], "$defs": shapes}
