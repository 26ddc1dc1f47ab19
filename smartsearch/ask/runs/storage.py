"""Where a run's files lie: a local folder (NFS too), or a URI of object storage (remote.py).

A file is written whole or not at all: who reads it sees what was there before or what is there now.
"""

from __future__ import annotations

import contextlib
import os
import re
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO, Protocol
from urllib.parse import unquote, urlsplit

from smartsearch.ask.runs.faults import StorageError, faults
from smartsearch.runtime.private import locked

_URI = re.compile(r"[A-Za-z][\w+.:-]*://")
_SECRET = re.compile(r"(://[^/:@]*):[^/@]*@")
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")
DAY = 86_400.0
"""Seconds after which a temporary file is nobody's, where locks cannot tell."""


class Storage(Protocol):
    """A folder of files. Names are relative to `place`, with slashes: `parts/00000012.jsonl`.

    Every method raises StorageError, those that read InputError, whose `kind` says what is wrong: `disk_full`
    and `unreachable` (worth another try), `denied`, `credentials`, `no_bucket`, `package`, `path_not_found`.
    """

    place: str

    def where(self, name: str = "") -> str:
        """What a user is told of a file: without the passwords and the query of a URI."""
        ...

    def read(self, name: str) -> bytes:
        """A file's bytes."""
        ...

    def open_read(self, name: str) -> BinaryIO:
        """A file to read from its beginning; the caller closes it."""
        ...

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Make or replace a file, and the folders above it. What fails leaves it as it was."""
        ...

    def writing(self, name: str) -> AbstractContextManager[BinaryIO]:
        """As `write`, what the block writes; the file is there when the block has ended without an error."""
        ...

    def names(self, folder: str = "") -> list[str]:
        """The files of one folder, sorted, each as `read` takes it; none where there is no such folder."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        ...

    def remove_folder(self, name: str) -> None:
        """Remove a folder and all in it, if there is one."""
        ...


def storage(place: str) -> Storage:
    """The storage at a path or URI. Nothing is made there yet.

    Raises StorageError: a URI that is none, or whose scheme needs a package (`package`), and with s3 without
    a region what asking for the bucket's finds.
    """
    if not is_uri(place):
        return Local(place)
    if place.lower().startswith("file://"):
        return Local(unquote(urlsplit(place).path))
    from smartsearch.ask.runs.remote import Remote

    return Remote(place)


def is_uri(place: str) -> bool:
    """Whether a path is a URI: `s3://bucket/run`."""
    return _URI.match(place) is not None


def shown(place: str) -> str:
    """A path or URI as a user is told it and records name it: no password, no query, no slash at the end."""
    if not is_uri(place):
        return place
    return _SECRET.sub(r"\1@", place.partition("?")[0]).rstrip("/")


def apart(place: str) -> tuple[Storage, str]:
    """The storage of the folder that a file lies in, and the file's name there. Raises as `storage`."""
    path, mark, query = place.partition("?") if is_uri(place) else (place, "", "")
    folder, slash, name = path.rpartition("/")
    return storage((folder or slash or ".") + mark + query), name


def checked(name: str) -> str:
    """A name that stays in its folder. Raises StorageError for any other."""
    parts = name.split("/")
    if name and (any(part in ("", ".", "..") for part in parts) or "\0" in name):
        raise StorageError(f"{name!r} is no name of a file in a run's folder")
    return name


def temporary(path: str) -> str:
    """A name beside `path` that nobody else writes to and that no list shows."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.{secrets.token_hex(8)}.tmp"


def is_temporary(name: str) -> bool:
    """Whether a file's name is one of `temporary`."""
    return _TEMPORARY.fullmatch(PurePosixPath(name).name) is not None


class Local:
    """A folder of this machine or one that it has mounted."""

    def __init__(self, place: str) -> None:
        self.place = place

    def where(self, name: str = "") -> str:
        """The path."""
        return str(self._path(name))

    def read(self, name: str) -> bytes:
        """A file's bytes."""
        with faults(self.where(name), reading=True):
            return self._path(name).read_bytes()

    def open_read(self, name: str) -> BinaryIO:
        """A file to read from its beginning; the caller closes it."""
        with faults(self.where(name), reading=True):
            return self._path(name).open("rb")

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        with faults(self.where(name)):
            return self._path(name).is_file()

    def write(self, name: str, data: bytes) -> None:
        """Make or replace a file, and the folders above it. What fails leaves it as it was."""
        with self.writing(name) as out:
            out.write(data)

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """As `write`, what the block writes: on the disk when the block has ended."""
        path = self._path(name)
        with faults(self.where(name)):
            path.parent.mkdir(parents=True, exist_ok=True)
            out, held = _held(path)
            try:
                with out:
                    yield out
                    out.flush()
                    os.fsync(out.fileno())
                    held.replace(path)
            except BaseException:
                held.unlink(missing_ok=True)
                raise
            _sync(path.parent)

    def names(self, folder: str = "") -> list[str]:
        """The files of one folder, sorted; what killed writers left in it goes."""
        found = []
        with faults(self.where(folder)), contextlib.suppress(FileNotFoundError):
            for path in self._path(folder).iterdir():
                if is_temporary(path.name):
                    _sweep(path)
                elif path.is_file():
                    found.append(f"{folder}/{path.name}" if folder else path.name)
        return sorted(found)

    def remove(self, name: str) -> None:
        """Remove a file, if there is one, and what killed writers of it left."""
        path = self._path(name)
        with faults(self.where(name)):
            path.unlink(missing_ok=True)
            for left in path.parent.glob(f".{path.name}.*.tmp"):
                _sweep(left)

    def remove_folder(self, name: str) -> None:
        """Remove a folder and all in it, if there is one."""
        with faults(self.where(name)), contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._path(name))

    def _path(self, name: str) -> Path:
        return Path(self.place) / checked(name)


def _held(path: Path) -> tuple[BinaryIO, Path]:
    """A new temporary file beside `path`, open and locked: as long as it is, nobody sweeps it."""
    while True:
        held = Path(temporary(os.fspath(path)))
        out = held.open("xb")
        locked(out.fileno())
        if held.exists():  # it was swept if the lock came too late
            return out, held
        out.close()


def _sweep(left: Path) -> None:
    """Remove a temporary file whose writer is gone."""
    with contextlib.suppress(OSError), left.open("rb+") as file:
        ours = locked(file.fileno())
        if ours or (ours is None and time.time() - os.fstat(file.fileno()).st_mtime > DAY):
            left.unlink()


def _sync(folder: Path) -> None:
    """Have the folder's entries on the disk, where the file system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
