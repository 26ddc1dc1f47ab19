"""What commands with subcommands, such as `cache`, share; it loads quickly."""

from __future__ import annotations

from typing import Annotated, Any

import typer

AsJson = Annotated[bool, typer.Option("--json", help="As JSON.")]


def group(help: str) -> typer.Typer:
    """A command with subcommands, which prints its help if none is given."""
    made = typer.Typer(help=help)

    @made.callback(invoke_without_command=True)
    def start(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return made


def chats(incomplete: str) -> list[str]:
    """For a shell's completion of a PATH: names of chats that are there; for all else it offers files."""
    if not incomplete.startswith("@"):
        return []
    from smartsearch.transcripts.named import ALL, every

    return [*(f"@{named.name}" for named in every() if named.there), f"@{ALL}"]


def chats_argument(help: str, metavar: str = "PATH", shown: str | bool = ".") -> Any:
    """The argument that takes files, folders and names of chats; `shown` says what is meant without one."""
    return typer.Argument(metavar=metavar, help=help, show_default=shown, autocompletion=chats)


Paths = Annotated[list[str] | None, chats_argument("Files, folders, @NAMES.")]
