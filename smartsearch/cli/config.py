"""`smartsearch config`: the settings as they are, and where each value came from."""

from __future__ import annotations

from typing import Annotated

import typer

from smartsearch.cli.groups import AsJson, group
from smartsearch.errors import ExitCode, UsageError
from smartsearch.output import show, stream

config = group("Show the settings and where each value came from.")


@config.command("show")
def show_command(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="NAME", help="Only these settings.", show_default="all")
    ] = None,
    changed: Annotated[bool, typer.Option("--changed", help="Only those that are not the default.")] = False,
    json: AsJson = False,
) -> int:
    """Print every setting as it is here, before options: from the environment, a file, or by default.

    The command line wins over SMARTSEARCH_NAME, that over .smartsearch.toml in the current folder, that over
    the user's own file, that over the default. A project's file may not choose models, caches or processes.
    """
    from smartsearch.config import project_faults, settings, unknown_variables

    every = settings()
    known = {setting.name for setting in every}
    for name in names or ():
        if name not in known:
            raise UsageError(f"no setting named {name!r}", hint=_near(name, sorted(known)))
    wanted = [s for s in every if (not names or s.name in names) and (not changed or s.origin != "default")]
    rows: list[dict[str, object]] = [
        {"name": s.name, "value": s.value, "default": s.default, "origin": s.origin} for s in wanted
    ]
    show.table("settings", rows if json else list(map(_shown, rows)), as_json=json)
    for fault in project_faults():
        stream.warn(fault)
    for variable, near in unknown_variables().items():
        stream.warn(f"{variable} sets nothing" + (f"; did you mean {near}?" if near else ""))
    return ExitCode.FOUND


@config.command()
def path() -> int:
    """Print where the user's own file is, or would be."""
    from smartsearch.config import user_file

    stream.write([str(user_file())])
    return ExitCode.FOUND


def _shown(row: dict[str, object]) -> dict[str, object]:
    """A row for reading: the default only where it is not the value, an empty value as `-`."""
    from smartsearch.config import written

    other = "" if row["origin"] == "default" else f" (default {written(row['default'])})"
    return {"name": row["name"], "value": written(row["value"]), "origin": f"{row['origin']}{other}"}


def _near(name: str, known: list[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name.lower().replace("-", "_"), known, n=3, cutoff=0.5)
    return f"did you mean {', '.join(near)}?" if near else "`smartsearch config show` lists them"
