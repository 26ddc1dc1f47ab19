"""Private folders in the user's cache: where they are, who owns them, who writes to them.

Unix only.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from smartsearch.errors import CacheError
from smartsearch.runtime import xdg


def home(kind: str, variable: str = "XDG_CACHE_HOME", usual: str = ".cache") -> Path:
    """Where this user's `colbert` or `index` is; it need not exist. Raises CacheError where none can be."""
    base = xdg.folder(variable, usual)
    if base.is_relative_to(xdg.NOWHERE):
        raise CacheError("there is no home folder", hint=f"set {variable} to an absolute path")
    if not hasattr(os, "geteuid"):  # pragma: no cover - Windows
        raise CacheError("the cache needs a Unix system")
    return base / "smartsearch" / kind


def make(folder: Path) -> None:
    """Make a folder of `home` and those above it, for this user only. Raises CacheError and OSError."""
    folder.parents[2].mkdir(mode=0o700, parents=True, exist_ok=True)
    for level in levels(folder):
        level.mkdir(mode=0o700, exist_ok=True)
        check((level,))


def check(folders: Iterable[Path]) -> None:
    """Check that the user owns these folders, links and their targets, and close them to others.

    Raises CacheError, and OSError where one is not there.
    """
    for folder in folders:
        facts = folder.stat()
        if {facts.st_uid, folder.lstat().st_uid} != {os.geteuid()}:
            raise CacheError(f"{folder} belongs to another user", hint="remove it, or set XDG_CACHE_HOME")
        if stat.S_IMODE(facts.st_mode) & 0o077:
            with contextlib.suppress(OSError):
                folder.chmod(0o700)


def levels(folder: Path) -> tuple[Path, Path, Path]:
    """A folder of `home`, after those of our folders that it lies in."""
    return folder.parents[1], folder.parents[0], folder


def locked(descriptor: int) -> bool | None:
    """Whether the lock of an open file or folder is ours now; None where the system has no locks."""
    try:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True


def taken(path: Path, flags: int, mode: int = 0o666) -> int | None:
    """The file at `path`, opened as os.open does and under its lock; None where another has the lock.

    A file that another process removes between its opening and its lock is opened, or made, again. Without
    locks it is taken. Raises OSError.
    """
    while True:
        descriptor = os.open(path, flags, mode)
        mine = locked(descriptor)
        with contextlib.suppress(FileNotFoundError):
            if mine is not False and os.path.samestat(path.stat(), os.fstat(descriptor)):
                return descriptor
        os.close(descriptor)
        if mine is False:
            return None


@contextmanager
def alone(root: Path, *, wait: bool) -> Iterator[bool]:
    """Whether no other process changes what is in `root` while the block runs."""
    import fcntl

    descriptor = os.open(root / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        mine = False
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            mine = True
        yield mine
    finally:
        os.close(descriptor)
