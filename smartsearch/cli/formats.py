"""`smartsearch formats`: what can be read, and what files are taken for."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, cast

import typer

from smartsearch.cli.groups import AsJson, chats_argument
from smartsearch.errors import ExitCode
from smartsearch.output import stream

if TYPE_CHECKING:
    from smartsearch.output.detected import Detected

formats = typer.Typer(
    help="List the transcript formats that are understood; --input-format takes their names."
)


@formats.callback(invoke_without_command=True)
def listed(context: typer.Context, json: AsJson = False) -> int:
    """List the transcript formats that are understood, and how to get such files."""
    if context.invoked_subcommand is not None:
        return ExitCode.FOUND
    from smartsearch import transcripts
    from smartsearch.output import detected

    detected.show_formats(transcripts.FORMATS, as_json=json)
    return ExitCode.FOUND


@formats.command()
def detect(
    paths: Annotated[
        list[str], chats_argument("Files, folders, archives; - is standard input.", "PATH...", False)
    ],
    json: AsJson = False,
) -> int:
    """Say what each file is taken for, and what was found in it: conversations, turns, speakers, days.

    Also how much of its lines, or of the texts in its JSON, the turns explain (by a sample of 400).

    Also what was left out and why. Exits with 1 where no turn was found, with 2 where nothing could be read.
    """
    from smartsearch.output import detected

    counts = Counter[str]()
    detected.show(_detected(paths, counts), as_json=json)
    if counts["turns"]:
        return ExitCode.FOUND
    return ExitCode.ERROR if counts["failed"] and not counts["read"] else ExitCode.NOTHING


@formats.command()
def places(json: AsJson = False) -> int:
    """List the names for chats: @NAME as a PATH is where a program keeps its sessions, or chats of your own.

    Your own stand in your settings file (`smartsearch config path`) below [chats]: family = "~/Chats/family".
    @all is every one that is there.
    """
    from smartsearch.output import show
    from smartsearch.transcripts import named
    from smartsearch.transcripts.files import find

    rows: list[dict[str, object]] = []
    for one in named.every():
        files = sum(isinstance(found, str) for found in find(one.there))
        told: dict[str, object] = {"name": f"@{one.name}", "paths": list(one.there or one.written)}
        if json:
            rows.append({**told, "there": bool(one.there), "files": files})
        else:
            rows.append({**told, "files": f"{files:,}" if one.there else "not there"})
    if json or sys.stdout.isatty():
        show.table("places", rows, as_json=json)
    else:
        paths = [
            (row["name"], row["files"], path) for row in rows for path in cast("list[str]", row["paths"])
        ]
        stream.write("\t".join(map(str, line)) for line in paths)
    return ExitCode.FOUND


def _detected(paths: list[str], counts: Counter[str]) -> Iterator[Detected]:
    """What each file is, one read after the other; `counts` has the turns, and files by how they went."""
    from smartsearch.output.detected import Detected
    from smartsearch.transcripts.corpus import read_explained
    from smartsearch.transcripts.files import find
    from smartsearch.transcripts.named import resolved
    from smartsearch.transcripts.outline import outline, span

    if "-" in paths and sys.stdin.isatty():
        stream.talk("reading standard input; end it with Ctrl-D")
    for entry in list(find(resolved(paths), lenient=True)):
        if not isinstance(entry, str):
            one = Detected(entry.path, skipped=(entry,))
        else:
            read, known, share = read_explained(entry, sys.stdin.buffer if entry == "-" else None)
            one = Detected(
                *(entry, known, len(outline(read.turns)), span(read.turns), read.skipped, read.warnings),
                share,
            )
        counts["turns"] += one.span.turns
        counts["failed" if one.failed else "read"] += 1
        yield one
