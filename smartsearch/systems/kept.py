"""The folder that a system keeps the memory of some transcripts in, and how its files are written."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from smartsearch.errors import CacheError
from smartsearch.runtime import private


@contextmanager
def alone_in(folder: Path | None, name: str, *, of: str) -> Iterator[Path | None]:
    """The file `name` of a system's folder, whose files are `of` this pattern; None without a folder.

    No other process has it, and the other files go: one of other settings could quote what was deleted since.
    """
    if folder is None:
        yield None
        return
    with private.alone(folder, wait=True):
        for path in folder.glob(of):
            if path.name.removesuffix("-wal").removesuffix("-shm") != name:  # these two are SQLite's
                path.unlink(missing_ok=True)
        yield folder / name


def written_whole(path: Path, content: bytes) -> None:
    """Write a file for this user alone, whole or not at all. Raises CacheError."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        part.touch(mode=0o600)
        part.write_bytes(content)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise CacheError(f"{path} cannot be written: {error.strerror}", hint="room on that disk") from error
