"""The user's cache of token vectors: where it lies, whose it is, and keeping it small (docs/decisions/0009).

`$XDG_CACHE_HOME/smartsearch/colbert`, else below `~/.cache`: a folder a model, files that are written once
(`vector_segment`). Only merging, trimming and clearing take a lock; who does not get it leaves that to the
next. Unix only.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from smartsearch.errors import CacheError
from smartsearch.rank.cache.vector_segment import PART, SUFFIX, Damaged, Segment, merge
from smartsearch.runtime import private
from smartsearch.runtime.private import alone, check

LARGEST = 32 * 2**20
"""Bytes that merging stops at: what trimming drops at a time, and what one merge may cost."""
SMALL = 16
"""Files smaller than half of LARGEST that a model may have before some are merged."""
STALE = 600.0
"""Seconds after which an unfinished file is what a killed process left."""


@dataclass(frozen=True)
class Usage:
    """What the cache holds: models, files, turns (one may lie in two files) and bytes."""

    models: int
    segments: int
    turns: int
    bytes: int


def home() -> Path:
    """The cache of this user; it need not exist. Raises CacheError where there can be none."""
    return private.home("colbert")


def tidy(root: Path, folder: Path, limit: int) -> None:
    """Merge the small files of `folder` if they are many, and drop the least used of all beyond `limit`.

    Leaves it all to another process that is at it. Raises OSError.
    """
    with alone(root, wait=False) as mine:
        if not mine:
            return
        small = sorted(
            (size, path) for path, size, _ in _facts(folder.glob(f"*{SUFFIX}")) if size < LARGEST // 2
        )
        if len(small) > SMALL:
            _merge(_group(small), folder)
        for path, _, used in _facts(root.glob(f"*/*{PART}")):
            if abs(time.time() - used) > STALE:  # a clock that was set back leaves files of the future
                unlink(path)
        files = sorted(_facts(root.glob(f"*/*{SUFFIX}")), key=lambda facts: facts[2])
        total = sum(size for _, size, _ in files)
        for path, size, _ in files:
            if total > limit:
                unlink(path)
                total -= size
                if path.parent != folder:
                    _remove_if_empty(path.parent)


def _facts(paths: Iterable[Path]) -> Iterator[tuple[Path, int, float]]:
    """Path, bytes and time of last use of each of them that is still there."""
    for path in paths:
        with contextlib.suppress(OSError):
            facts = path.stat()
            yield path, facts.st_size, facts.st_mtime


def _group(small: Sequence[tuple[int, Path]]) -> list[Path]:
    """The smallest of them, at least two, but none that outweighs those before it: few are copied often."""
    group: list[Path] = []
    total = 0
    for size, path in small:
        if total + size > LARGEST or (len(group) >= max(2, SMALL // 2) and size > total):
            break
        group.append(path)
        total += size
    return group


def _merge(paths: Sequence[Path], folder: Path) -> None:
    """One file instead of several; damaged ones are dropped, and the others left to the next time."""
    try:
        merge([Segment(path) for path in paths], folder / new_name())
    except Damaged as damaged:
        unlink(Path(damaged.args[0]))
    else:
        for path in paths:
            unlink(path)


def usage() -> Usage:
    """What the user's cache holds. Raises CacheError where it is another's or closed to the user."""
    root = home()
    try:
        with contextlib.suppress(FileNotFoundError):
            check((root.parent, root, *(path for path in root.iterdir() if path.is_dir())))
    except OSError as error:
        hint = "make it readable, or set XDG_CACHE_HOME"
        raise CacheError(f"{error.filename} cannot be read: {error.strerror}", hint=hint) from error
    files = list(_facts(root.glob(f"*/*{SUFFIX}")))
    turns = 0
    for path, _, _ in files:
        with contextlib.suppress(OSError, Damaged):
            turns += Segment(path).count
    return Usage(
        len({path.parent for path, _, _ in files}), len(files), turns, sum(size for _, size, _ in files)
    )


def clear() -> Usage:
    """Remove what the user's cache holds, and say what that was. Raises CacheError."""
    root, held = home(), usage()
    try:
        with alone(root, wait=True):
            for path in [*root.glob(f"*/*{SUFFIX}"), *root.glob(f"*/*{PART}")]:
                path.unlink(missing_ok=True)
                _remove_if_empty(path.parent)
    except FileNotFoundError:
        return held  # there is no cache
    except OSError as error:
        raise CacheError(f"{error.filename} cannot be removed: {error.strerror}") from error
    return held


def new_name() -> str:
    """What no other file of any process is called."""
    return f"{secrets.token_hex(8)}{SUFFIX}"


def unlink(path: Path) -> None:
    """Remove a file, if that can be done."""
    with contextlib.suppress(OSError):
        path.unlink()


def _remove_if_empty(folder: Path) -> None:
    with contextlib.suppress(OSError):
        folder.rmdir()
