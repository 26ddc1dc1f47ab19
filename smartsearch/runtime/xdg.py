"""Where this user's own files are, by the XDG base directories or below the home folder."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

NOWHERE = Path(os.devnull)
"""Stands for a missing home folder: nothing is in it, and nothing can be made there."""


def folder(variable: str, usual: str, env: Mapping[str, str] | None = None, home: Path | None = None) -> Path:
    """What `variable` names, else `usual` in the home folder; it need not exist.

    A relative path does not count, nor a relative home folder: the current folder may be somebody else's.
    """
    named = Path((os.environ if env is None else env).get(variable, ""))
    return named if named.is_absolute() else (home or user_home()) / usual


def user_home() -> Path:
    """The home folder of this user, or `NOWHERE`."""
    try:
        found = Path.home()
    except RuntimeError:  # no HOME, and no user of that number
        return NOWHERE
    return found if found.is_absolute() and os.environ.get("HOME") != "" else NOWHERE
