"""The one way to a transcript's bytes and to the names in a folder, and the bounds that may be set to it.

Inside `confined` nothing is opened but what lies below some roots. What was looked at by name a moment ago
may be a link now, so each folder on the way is opened from the one before it and no link is followed.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import BinaryIO

_roots: ContextVar[tuple[str, ...]] = ContextVar("roots", default=())
_STEP = getattr(os, "O_PATH", os.O_RDONLY) | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_LAST = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
_BY_STEPS = os.open in os.supports_dir_fd and hasattr(os, "O_NOFOLLOW")


@contextmanager
def confined(roots: Sequence[str]) -> Iterator[None]:
    """The block, in which only files below `roots`, real paths, can be opened; not in threads it starts."""
    token = _roots.set(tuple(roots))
    try:
        yield
    finally:
        _roots.reset(token)


def bounds() -> tuple[str, ...]:
    """The roots that hold here, none where everything may be read."""
    return _roots.get()


def allowed(real: str) -> bool:
    """Whether a file at that real path may be read."""
    roots = _roots.get()
    return not roots or any(Path(real).is_relative_to(root) for root in roots)


def real(path: str) -> str:
    """The real path of `path`; the full path as it stands where a link on it vanishes at that moment."""
    try:
        return os.path.realpath(path)
    except OSError:
        return os.path.abspath(path)  # noqa: PTH100 - without links


def opened(path: str) -> BinaryIO:
    """The file at `path`, open for reading. Raises OSError, also for a file that must not be read."""
    if not _roots.get():
        return Path(path).open("rb")
    descriptor = _descriptor(path, _LAST)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file")
    return os.fdopen(descriptor, "rb")


def names(folder: str) -> list[str]:
    """The names in a folder, sorted. Raises OSError, also for a folder that must not be read."""
    if not _roots.get() or os.scandir not in os.supports_fd:
        if _roots.get():
            _check(real(folder))
        with os.scandir(folder) as entries:
            return sorted(entry.name for entry in entries)
    descriptor = _descriptor(folder, _LAST)
    try:
        with os.scandir(descriptor) as entries:
            return sorted(entry.name for entry in entries)
    finally:
        os.close(descriptor)


def _check(path: str) -> None:
    if not allowed(path):
        raise PermissionError(errno.EACCES, "it leads out of what is served")


def _descriptor(path: str, flags: int) -> int:
    """What lies at `path`, open. Raises OSError."""
    there = real(path)
    _check(there)
    return _by_steps(there, flags) if _BY_STEPS else _by_name(there, flags)


def _by_steps(path: str, flags: int) -> int:
    """Open a path that had no link on it a moment ago; one that has come since is not followed."""
    *above, last = Path(path).parts
    if not above:
        return os.open(last, flags)
    at = os.open(above[0], _STEP)
    try:
        for name in above[1:]:
            below = os.open(name, _STEP, dir_fd=at)
            os.close(at)
            at = below
        return os.open(last, flags, dir_fd=at)
    finally:
        os.close(at)


def _by_name(path: str, flags: int) -> int:
    """As `_by_steps` where the system has no such steps: what was opened must be what the real path names."""
    descriptor = os.open(path, flags)
    if real(path) == path and os.path.samestat(os.fstat(descriptor), os.lstat(path)):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.ELOOP, "it became a link while it was opened")
