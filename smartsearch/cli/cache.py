"""`smartsearch cache`: ColBERT's vectors of turns that are kept on disk, how many, and away with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from smartsearch.errors import ExitCode
from smartsearch.output import show

if TYPE_CHECKING:
    from smartsearch.rank.cache.vector_folder import Usage

cache = typer.Typer(help="Show or clear the vectors of turns that are kept for the next questions.")

AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


@cache.callback(invoke_without_command=True)
def start(context: typer.Context) -> None:
    """Print the help where no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@cache.command()
def status(json: AsJson = False) -> int:
    """Show where the cache lies, what it holds, and how many bytes it may take (0: it is off)."""
    from smartsearch.config import build
    from smartsearch.rank.cache import vector_folder

    limit = build().cache_bytes
    _print(vector_folder.usage(), json, limit=limit)
    return ExitCode.FOUND


@cache.command()
def clear(json: AsJson = False) -> int:
    """Remove what the cache holds, and show what that was."""
    from smartsearch.rank.cache import vector_folder

    _print(vector_folder.clear(), json)
    return ExitCode.FOUND


def _print(usage: Usage, as_json: bool, **more: object) -> None:
    import dataclasses

    from smartsearch.rank.cache.vector_folder import home

    show.table("cache", [{"path": str(home()), **dataclasses.asdict(usage), **more}], as_json=as_json)
