"""`smartsearch models`: what the profiles use, where it lies, whether it is whole, and how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from smartsearch.cli.groups import AsJson, group
from smartsearch.errors import ExitCode, ModelError
from smartsearch.output import show, stream

if TYPE_CHECKING:
    from smartsearch.models.profiles import ModelStatus

models = group("List, fetch and check the models that the profiles use.")

Profile = Annotated[str | None, typer.Argument(help="A profile.", show_default="all")]


@models.command("list")
def list_command(profile: Profile = None, json: AsJson = False) -> int:
    """Show every model of a profile: id, revision, precision, size, and whether it is here."""
    from smartsearch.models import profiles

    rows = [row for name in _names(profile) for row in profiles.status(name)]
    show.table("models", rows, as_json=json)
    return ExitCode.FOUND


@models.command()
def pull(
    name: Annotated[
        str, typer.Argument(help="A profile, or the id of a ranker: OWNER/NAME.", show_default=False)
    ],
    revision: Annotated[
        str, typer.Option(help="A branch, tag or commit of that ranker.", show_default="main")
    ] = "",
    json: AsJson = False,
) -> int:
    """Fetch the models of a profile, or any cross-encoder or ColBERT, from the model hub.

    Its size is told before. What an interrupted pull has fetched stays, and the next one goes on from there.
    A ranker is then named as --crossencoder or --colbert OWNER/NAME, of a revision OWNER/NAME@REVISION.
    """
    from smartsearch.models import profiles

    show.table("models", profiles.pull(name, stream.talk, revision), as_json=json)
    return ExitCode.FOUND


@models.command()
def verify(profile: Profile = None, json: AsJson = False) -> int:
    """Compare the model files with their hashes. A missing model counts only if its profile is named."""
    from smartsearch.models import profiles

    rows = [row for name in _names(profile) for row in profiles.status(name, deep=True)]
    bad = [row for row in rows if row.state == "damaged" or (profile and row.state != "ok")]
    if not (json and bad):
        show.table("models", rows, as_json=json)
    if bad:
        raise _unsound(bad[0])
    return ExitCode.FOUND


@models.command()
def path(
    profile: Annotated[str, typer.Argument(help="A profile.", show_default=False)],
    role: Annotated[str, typer.Argument(help="parser, crossencoder or colbert.", show_default=False)],
) -> int:
    """Print the folder of one model."""
    from smartsearch.models import profiles

    stream.write([str(profiles.path(profile, role))])
    return ExitCode.FOUND


def _names(profile: str | None) -> list[str]:
    from smartsearch.models import profiles

    return [profile] if profile else profiles.names()


def _unsound(first: ModelStatus) -> ModelError:
    return ModelError(
        f"the {first.role} of profile {first.profile} is {first.state}",
        hint=f"smartsearch models pull {first.profile}, or install smartsearch-cli again",
        kind=f"model_{first.state}",
    )
