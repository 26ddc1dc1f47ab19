"""The profiles that `smartsearch train` made: where they lie, and how one is put in place whole.

A profile is a folder with `crossencoder/`, `colbert/` (as `training export` writes them) and `profile.json`,
which tells how it was made. They lie in the user's data folder, `$XDG_DATA_HOME/smartsearch/profiles` or
`~/.local/share/smartsearch/profiles`, one folder per name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from smartsearch.config import anchored, is_path
from smartsearch.errors import UsageError
from smartsearch.runtime import outputs, xdg

ABOUT = "profile.json"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")


def home() -> Path:
    """The folder of the user's profiles; it need not exist."""
    return xdg.folder("XDG_DATA_HOME", ".local/share") / "smartsearch" / "profiles"


def names() -> list[str]:
    """The user's profiles by name; none where this user may not look."""
    try:
        there = [path.name for path in home().iterdir()]
    except OSError:
        return []
    known = {name.removeprefix(".").removesuffix(outputs.FORMER) for name in there}
    return sorted(name for name in known if NAME.fullmatch(name) and find(name))


def find(name: str) -> Path | None:
    """The folder of a profile by name, or by path if `name` is written as one; None if it is not there.

    A bare name never means a folder of the current directory, which may be somebody else's.
    """
    if is_path(name):
        folder = Path(anchored(name))
    elif NAME.fullmatch(name):
        folder = home() / name
        outputs.recover(folder, _whole)
    else:
        return None
    return folder if _whole(folder) else None


def _whole(folder: Path) -> bool:
    """Whether a profile is there, as far as this user can see."""
    try:
        return (folder / ABOUT).is_file()
    except OSError:
        return False


def target(name: str) -> Path:
    """Where the profile of that name lies or would lie. Raises UsageError for an invalid name."""
    if not NAME.fullmatch(name):
        raise UsageError(
            f"{name!r} is no name for a profile", hint="letters, digits, '-', '_' and '.', up to 64"
        )
    return home() / name


@contextmanager
def workshop() -> Iterator[Path]:
    """An empty folder beside the profiles that is gone afterwards, whatever happens."""
    try:
        home().mkdir(parents=True, exist_ok=True)
        folder = TemporaryDirectory(prefix=".train-", dir=home())
    except OSError as error:
        raise UsageError(
            f"{home()} cannot be written: {error.strerror}", hint="set XDG_DATA_HOME", kind="output"
        ) from error
    with folder as path:
        yield Path(path)


def place(name: str, *, overwrite: bool = False) -> outputs.Place:
    """Where the profile of that name will be put. Raises UsageError, also where one is that may not go."""
    said, hint = f"the profile {name!r}", "another --name"
    return outputs.Place(target(name), overwrite=overwrite, ours=_whole, name=said, hint=hint)


def install(made: Path, place: outputs.Place, about: dict[str, Any]) -> None:
    """Put the finished profile `made`, in a workshop, at its place: whole or not at all."""
    (made / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    place.settle(made)
