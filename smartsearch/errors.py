"""Named errors that speak the user's words, and the exit codes scripts branch on."""

from __future__ import annotations

import errno
from enum import IntEnum

DENIED = (errno.EACCES, errno.EPERM, errno.EROFS)
"""Error numbers of a refused write."""


class ExitCode(IntEnum):
    """Exit codes, as grep and ripgrep have them."""

    FOUND = 0
    NOTHING = 1
    ERROR = 2
    INTERRUPTED = 130


class SmartsearchError(Exception):
    """An error a user can act on: what was wrong and where (`message`), what to try (`hint`).

    `kind` is the stable word scripts branch on; `retryable` says whether the same call may succeed later.
    """

    kind = "error"
    retryable = False

    def __init__(self, message: str, *, hint: str = "", kind: str = "", retryable: bool = False) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.kind = kind or type(self).kind
        self.retryable = retryable or type(self).retryable


class InputError(SmartsearchError):
    """A path, file or record that cannot be read."""

    kind = "input"


class UsageError(SmartsearchError):
    """An option or a combination of options that makes no sense."""

    kind = "usage"


class ConfigError(SmartsearchError):
    """A configuration file or environment variable that cannot be used."""

    kind = "config"


class ModelError(SmartsearchError):
    """A model that is missing, damaged or not of the kind asked for. Never a silent downgrade."""

    kind = "model"


class CacheError(SmartsearchError):
    """A cache folder that is not the user's own, or that is nowhere. A search does without it."""

    kind = "cache"


class SearchTimeout(SmartsearchError):
    """The time limit of `--timeout` ran out."""

    kind = "timeout"
    retryable = True


def listed(*lines: str) -> str:
    """A message of these lines: a newline in one of them, such as in a file's name, begins none."""
    return "\n  ".join(line.replace("\n", "\\n") for line in lines)


def unexpected(error: Exception) -> SmartsearchError:
    """An unforeseen error as one that a script can branch on."""
    said = str(error).strip().splitlines()
    if isinstance(error, MemoryError) or said == ["can't start new thread"]:
        return SmartsearchError(
            f"there is not enough memory ({said[0] if said else type(error).__name__})",
            hint="a higher limit (ulimit -v, ulimit -u), --threads 1, or fewer and smaller transcripts",
            kind="memory",
            retryable=True,
        )
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, *DENIED):
        where = f"{error.filename}: " if error.filename else ""
        full = error.errno not in DENIED
        hint = "room on that disk" if full else "rights to read and write it, or another place"
        return SmartsearchError(f"{where}{error.strerror}", hint=hint, kind="output", retryable=full)
    return SmartsearchError(
        f"{type(error).__name__}: {said[0] if said else 'no message'}",
        hint="SMARTSEARCH_DEBUG=1 shows where; please report it",
        kind="internal",
    )
