"""`smartsearch index`: an index for transcripts that outgrow scanning, made, shown and removed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from smartsearch.cli.groups import AsJson, chats_argument
from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import show, stream

if TYPE_CHECKING:
    from smartsearch.transcripts.large.indexing import Built

EXAMPLES = """Examples:

smartsearch index chats/

smartsearch index --status

smartsearch index chats/ --remove
"""


def index(
    paths: Annotated[list[str] | None, chats_argument("Folders and files, an index each.")] = None,
    status: Annotated[
        bool, typer.Option("--status", help="Show the indexes there are, of these PATHs or all.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Remove the indexes of these PATHs.")] = False,
    json: AsJson = False,
) -> int:
    """Make or update an index of each PATH: `query` uses it where there is more than 24 MiB.

    It is never needed: answers are those of the files, and a file that changed is read until the next
    `index`. It holds the text of the transcripts, below ~/.cache/smartsearch, for this user only.
    """
    if status and remove:
        raise UsageError("--status and --remove disagree", hint="give one of them")
    from smartsearch.transcripts.large import indexing
    from smartsearch.transcripts.named import resolved

    named = resolved(paths or ())
    if status:
        every = indexing.held(named)
        if every or json:
            show.table("index", every, as_json=json)
        else:
            stream.talk("there is no index; `smartsearch index PATH` makes one")
        return ExitCode.FOUND
    named = named or (".",)
    if remove:
        return _removed(named, as_json=json)
    made = [_built(path) for path in named]
    if json:
        rows = [{key: value for key, value in vars(b).items() if key != "skipped"} for b in made]
        show.table("index", rows, as_json=True)
    else:
        stream.write(map(_line, made))
    return ExitCode.FOUND


def _removed(paths: Sequence[str], *, as_json: bool) -> int:
    """Remove the indexes of `paths` and say which there were."""
    from smartsearch.transcripts.large import indexing

    gone = []
    for path in paths:
        held = indexing.remove(path, _waiting)
        if held:
            gone.append(held)
        else:
            stream.warn(f"there is no index of {path}")
    if as_json:
        show.table("index", gone, as_json=True)
    else:
        stream.write(
            f"removed the index of {held.path}: {held.turns:,} turns, {held.bytes / 1e6:,.1f} MB"
            for held in gone
        )
    return ExitCode.FOUND if gone else ExitCode.NOTHING


def _built(path: str) -> Built:
    from smartsearch.transcripts.large.indexing import build

    with stream.counted("files indexed") as step:
        built = build(path, step, _waiting)
    together = [entry for entry in built.skipped if entry.kind == "not_alone"]
    for entry in built.skipped:
        if entry not in together[1:]:
            more = len(together) - 1 if entry in together else 0
            stream.warn(f"left out: {entry.path}: {entry.reason}" + (f"; and {more:,} more" if more else ""))
    return built


def _waiting() -> None:
    stream.talk("waiting for another `smartsearch index` to end")


def _line(built: Built) -> str:
    return (
        f"{built.path}: {built.files:,} files, {built.turns:,} turns, {built.bytes / 1e6:,.1f} MB; "
        f"{built.new:,} new, {built.changed:,} changed, {built.removed:,} removed, "
        f"{built.unchanged:,} unchanged; {built.seconds:.1f} s"
    )
