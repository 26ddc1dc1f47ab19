"""`smartsearch formats`: what can be read."""

from __future__ import annotations

from typing import Annotated

import typer

from smartsearch.errors import ExitCode
from smartsearch.output import show


def formats(json: Annotated[bool, typer.Option("--json", help="As JSON.")] = False) -> int:
    """List the transcript formats that are understood; --input-format takes their names."""
    from smartsearch import transcripts

    rows: list[dict[str, object]] = [
        {"name": f.name, "extensions": list(f.extensions), "description": f.description}
        for f in transcripts.FORMATS
    ]
    show.table("formats", rows, as_json=json)
    return ExitCode.FOUND
