"""Transcripts that lie in object storage, fetched to a temporary folder so that the reader can map them.

The folder is `smartsearch-stage-PID-...` in the temporary folder (`TMPDIR`). `sweep` removes it once its
process has ended, however that was: the process that started it calls `sweep`, and so does the next Staging.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

from smartsearch.ask.runs.faults import StorageError, faults
from smartsearch.ask.runs.remote import Remote
from smartsearch.ask.runs.storage import is_uri, shown
from smartsearch.errors import InputError
from smartsearch.runtime.private import locked
from smartsearch.transcripts.archive import is_archive
from smartsearch.transcripts.files import Selection
from smartsearch.types import Result, Skipped, changed

PREFIX = "smartsearch-stage-"
LIMIT = 4 << 30
"""Bytes of copies that are kept: room for a few of the largest readable files."""
_AT_ONCE = 8
"""Files fetched at the same time: the round trips of small objects take most of the time."""
_BLOCK = 1 << 20


@dataclass(frozen=True)
class _Copy:
    """What a URI holds, on this disk at `local` in `bytes`; `refused` has what could not be."""

    uri: str
    local: Path
    bytes: int = 0
    refused: tuple[Skipped, ...] = ()


class Staging:
    """Copies of remote transcripts for one process and thread; the last are kept up to `limit` bytes.

    What is kept is not asked for again: a process answers all its questions over the same bytes. Of a folder
    only what a search would read is fetched: the usual suffixes, and with `globs` what they fit.
    """

    def __init__(self, limit: int = LIMIT, globs: Sequence[str] = ()) -> None:
        self._limit = limit
        self._wanted = (Selection(), Selection(globs))
        self._kept: OrderedDict[str, _Copy] = OrderedDict()
        self._folder: Path | None = None
        self._made = 0
        self._asked: tuple[str, ...] = ()

    def local(self, paths: Sequence[str]) -> tuple[str, ...]:
        """The paths with each URI, of a file or a folder, replaced by that of its copy, fetched if need be.

        Raises InputError as storage's readers do, and StorageError `disk_full` for the temporary folder.
        """
        self._asked = tuple(dict.fromkeys(path for path in paths if is_uri(path)))
        for uri in self._asked:
            if uri not in self._kept:
                self._kept[uri] = self._copy(uri)
            self._kept.move_to_end(uri)
        return tuple(str(self._kept[path].local) if is_uri(path) else path for path in paths)

    def named(self, text: str) -> str:
        """A text with the names of copies turned into what the user calls them: the URI without its query."""
        if self._folder is None or str(self._folder) not in text:
            return text
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
        try:
            return self._fetched(uri)
        except StorageError as error:
            if error.kind != "disk_full" or not self._make_room(0, 0):
                raise
        return self._fetched(uri)  # the disk was smaller than the limit

    def _fetched(self, uri: str) -> _Copy:
        """A copy of what is at a URI, whole; one that fails leaves nothing."""
        remote = Remote(uri)
        listed = remote.below()
        names, refused = self._chosen(listed, shown(uri))
        self._make_room(sum(listed[name] or 0 for name in names), self._limit)
        folder = self._home()
        where = f"{folder} (TMPDIR)"
        self._made += 1
        making, made = folder / f"{self._made:06d}.part", folder / f"{self._made:06d}"
        base = _base(uri)
        try:
            with faults(where):
                making.mkdir()
                if "" not in listed:
                    (making / base).mkdir()
                count = _together(remote, {name: making / base / name for name in names}, listed, where)
                making.rename(made)
        except BaseException:
            shutil.rmtree(making, ignore_errors=True)
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

    def _make_room(self, more: int, limit: int) -> bool:
        """Drop the copies used longest ago, but none that is asked for now; whether any was dropped."""
        held = sum(copy.bytes for copy in self._kept.values())
        dropped = False
        for uri in [uri for uri in self._kept if uri not in self._asked]:
            if held + more > limit:
                copy = self._kept.pop(uri)
                held -= copy.bytes
                shutil.rmtree(copy.local.parent, ignore_errors=True)
                dropped = True
        return dropped

    def _home(self) -> Path:
        if self._folder is None:
            with faults(f"{tempfile.gettempdir()} (TMPDIR)"):
                sweep()
                self._folder = _held()
        return self._folder


def _base(uri: str) -> str:
    """The name of a URI's copy: its own last part, which tells the reader the format."""
    base = shown(uri).rpartition("/")[2]
    if fault := _unsafe(base, frozenset()):
        raise InputError(f"{shown(uri)}: {fault}", hint="name a file or folder")
    return base


def _unsafe(name: str, folders: Iterable[str]) -> str:
    """Why a name cannot be that of a file below a folder here; empty where it can."""
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


def _together(remote: Remote, places: dict[str, Path], listed: dict[str, int | None], where: str) -> int:
    """Fetch files side by side, in bytes; the first fault ends it. Raises InputError and StorageError."""
    pool = ThreadPoolExecutor(_AT_ONCE)
    try:
        return sum(pool.map(lambda name: _fetch(remote, name, places[name], listed[name], where), places))
    finally:
        pool.shutdown(cancel_futures=True)


def _fetch(remote: Remote, name: str, place: Path, size: int | None, where: str) -> int:
    count = 0
    with faults(where):
        place.parent.mkdir(parents=True, exist_ok=True)
        with place.open("xb") as out:
            for block in _blocks(remote, name):
                count += out.write(block)
    if size is not None and count != size:
        raise InputError(
            f"{remote.where(name)}: {count:,} bytes came of {size:,}",
            hint="was it being written? try again",
            kind="torn",
            retryable=True,
        )
    return count


def _blocks(remote: Remote, name: str) -> Iterator[bytes]:
    """The bytes of a file; errors of reading are told as the storage's, not as the disk's."""
    with remote.open_read(name) as file:
        while block := file.read(_BLOCK):
            yield block


def _held() -> Path:
    """A new folder, locked as long as this process lives, so that `sweep` leaves it."""
    while True:
        folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-", dir=_top()))
        with contextlib.suppress(FileNotFoundError):  # swept before it was locked
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
            locked(lock)
            if folder.exists():
                return folder
            os.close(lock)


def _top() -> Path:
    return Path(os.path.realpath(tempfile.gettempdir()))


def sweep() -> None:
    """Remove this user's folders whose process is gone: what a kill left."""
    for left in _top().glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):
            lock = os.open(left, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                if os.fstat(lock).st_uid == os.geteuid() and locked(lock):  # without locks it stays
                    shutil.rmtree(left, ignore_errors=True)
            finally:
                os.close(lock)
