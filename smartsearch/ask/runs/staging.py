"""Transcripts that lie in object storage, fetched to the temporary folder so that the reader can map them.

A worker's temporary folder is its own, and goes when it has ended, however that was (supervise.py).
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from smartsearch.ask.runs.faults import StorageError, faults
from smartsearch.ask.runs.remote import Remote
from smartsearch.ask.runs.storage import is_uri, shown
from smartsearch.errors import InputError
from smartsearch.transcripts.archive import is_archive
from smartsearch.transcripts.files import Selection
from smartsearch.types import Result, Skipped, changed

LIMIT = 4 << 30
"""Bytes of copies that are kept: room for a few of the largest readable files."""
_AT_ONCE = 8
"""Files fetched at the same time: the round trips of small objects take most of the time."""


@dataclass(frozen=True)
class _Copy:
    """The copy of a URI: at `local` on this disk, of size `bytes`; `refused` lists what was not copied."""

    uri: str
    local: Path
    bytes: int = 0
    refused: tuple[Skipped, ...] = ()


class Staging:
    """Copies of remote transcripts for one process and thread; they are kept up to `limit` bytes.

    What is kept is not asked for again: a process answers all its questions over the same bytes. Of a folder
    only what a search would read is fetched: the usual suffixes, and with `globs` what they fit.
    """

    def __init__(self, limit: int = LIMIT, globs: Sequence[str] = ()) -> None:
        self._limit = limit
        self._wanted = (Selection(), Selection(globs))
        self._kept: dict[str, _Copy] = {}
        self._asked: tuple[str, ...] = ()

    def local(self, paths: Sequence[str]) -> tuple[str, ...]:
        """The paths with each URI, of a file or a folder, replaced by that of its copy, fetched if need be.

        Raises InputError as storage's readers do, and StorageError `disk_full` for the temporary folder.
        """
        self._asked = tuple(dict.fromkeys(path for path in paths if is_uri(path)))
        for uri in self._asked:
            if uri not in self._kept:
                self._kept[uri] = self._copy(uri)
        return tuple(str(self._kept[path].local) if is_uri(path) else path for path in paths)

    def named(self, text: str) -> str:
        """A text with the names of copies turned into what the user calls them: the URI without its query."""
        for copy in self._kept.values():
            text = text.replace(str(copy.local), shown(copy.uri))
        return text

    def restored(self, result: Result) -> Result:
        """A result over copies as one over the URIs that `local` was last asked for."""
        if not self._asked:
            return result
        refused = [skipped for uri in self._asked for skipped in self._kept[uri].refused]
        skipped = [Skipped(self.named(one.path), one.kind, self.named(one.reason)) for one in result.skipped]
        told: Result = changed(result, lambda turn: replace(turn, path=self.named(turn.path)))
        return replace(told, skipped=(*skipped, *refused), warnings=tuple(map(self.named, result.warnings)))

    def _copy(self, uri: str) -> _Copy:
        """A copy of what is at a URI, whole; one that fails leaves nothing."""
        remote = Remote(uri)
        listed = remote.below()
        names, refused = self._chosen(listed, shown(uri))
        self._make_room(sum(listed[name] or 0 for name in names))
        where, base = f"{tempfile.gettempdir()} (TMPDIR)", _base(uri)
        with faults(where):
            made = Path(os.path.realpath(tempfile.mkdtemp(prefix="smartsearch-")))
        try:
            with faults(where):
                if "" not in listed:
                    (made / base).mkdir()
                count = _together(remote, {name: made / base / name for name in names}, listed)
        except BaseException as error:
            shutil.rmtree(made, ignore_errors=True)
            if isinstance(error, InputError) and error.kind == "disk_full":
                raise StorageError(f"{where}: no space left", hint=error.hint, kind=error.kind) from error
            raise
        return _Copy(uri, made / base, count, tuple(refused))

    def _chosen(self, listed: Iterable[str], uri: str) -> tuple[list[str], list[Skipped]]:
        """The files to fetch, and those whose names no disk can hold."""
        everything = sorted(listed)
        folders = {name[:at] for name in everything for at, char in enumerate(name) if char == "/"}
        names, refused = [], []
        for name in everything:
            if name and (fault := _unsafe(name, folders)):
                refused.append(Skipped(f"{uri}/{name}", "unsafe_name", f"not fetched: {fault}"))
            elif not name or self._wants(name):
                names.append(name)
        return names, refused

    def _wants(self, name: str) -> bool:
        if any(part.startswith(".") for part in name.split("/")):
            return False
        return is_archive(name) or any(selection.takes(name, name) for selection in self._wanted)

    def _make_room(self, more: int) -> None:
        """Drop the copies that are not asked for now, where there is no room for `more` bytes."""
        if sum(copy.bytes for copy in self._kept.values()) + more > self._limit:
            for uri in self._kept.keys() - set(self._asked):
                shutil.rmtree(self._kept.pop(uri).local.parent, ignore_errors=True)


def _base(uri: str) -> str:
    """The name of a URI's copy: the last part of the URI, from which the reader tells the format."""
    base = shown(uri).rpartition("/")[2]
    if fault := _unsafe(base, frozenset()):
        raise InputError(f"{shown(uri)}: {fault}", hint="name a file or folder")
    return base


def _unsafe(name: str, folders: Iterable[str]) -> str:
    """Why a file below a folder here cannot have this name; empty if it can."""
    parts = name.split("/")
    if ".." in parts or "\0" in name:
        return "its name leads out of the folder"
    if "" in parts or "." in parts:
        return "its name has a part that is empty"
    if any(len(os.fsencode(part)) > 255 for part in parts) or len(os.fsencode(name)) > 3000:
        return "its name is too long for a disk"
    if name in folders:
        return "other names lie below it as if it were a folder"
    return ""


def _together(remote: Remote, places: dict[str, Path], listed: dict[str, int | None]) -> int:
    """Fetch files side by side; their size in bytes. Raises InputError or OSError at the first fault."""

    def fetch(name: str) -> int:
        places[name].parent.mkdir(parents=True, exist_ok=True)
        count, size = remote.fetch(name, places[name]), listed[name]
        if size is not None and count != size:
            raise InputError(
                f"{remote.where(name)}: {count:,} bytes came of {size:,}",
                hint="was it being written? try again",
                kind="torn",
                retryable=True,
            )
        return count

    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        return sum(pool.map(fetch, places))
    finally:
        pool.shutdown(cancel_futures=True)
