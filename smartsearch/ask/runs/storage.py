"""Files of a run: what every place can do with them, and a local folder (NFS too).

A file is written whole or not at all: a reader sees the old file or the new one.
"""

from __future__ import annotations

import contextlib
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO

from smartsearch.ask.runs.faults import StorageError, faults
from smartsearch.runtime import outputs

_URI = re.compile(r"[A-Za-z][\w+.:-]*://")
_SECRET = re.compile(r"(://[^/:@]*):[^/@]*@")


class Files:
    """A folder of files. Names are relative to `place`, with slashes: `parts/00000012.jsonl`.

    An empty name is the place itself, which may be a file. `open_read` reads a file from its beginning; an
    error in the block names this file. `writing` makes or replaces a file, and the folders above it, by what
    the block writes: it is there when the block has ended without an error, else it is as it was.

    Every method raises StorageError, those that read InputError, whose `kind` says what is wrong: `disk_full`
    and `unreachable` (worth another try), `denied`, `credentials`, `no_bucket`, `package`, `path_not_found`.
    """

    open_read: Callable[[str], AbstractContextManager[BinaryIO]]
    writing: Callable[[str], AbstractContextManager[BinaryIO]]

    def __init__(self, place: str) -> None:
        self.place = place

    def read(self, name: str) -> bytes:
        """A file's bytes."""
        with self.open_read(name) as file:
            return file.read()

    def write(self, name: str, data: bytes) -> None:
        """Make or replace a file, as `writing`."""
        with self.writing(name) as out:
            out.write(data)


def is_uri(place: str) -> bool:
    """Whether a path is a URI: `s3://bucket/run`."""
    return _URI.match(place) is not None


def shown(place: str) -> str:
    """A path or URI as a user is told it and records name it: no password, no query, no slash at the end."""
    if not is_uri(place):
        return place
    return _SECRET.sub(r"\1@", place.partition("?")[0]).rstrip("/")


def checked(name: str) -> str:
    """A name that stays in its folder. Raises StorageError for any other."""
    parts = name.split("/")
    if name and (any(part in ("", ".", "..") for part in parts) or "\0" in name):
        raise StorageError(f"{name!r} is no name of a file in a run's folder")
    return name


class Local(Files):
    """A folder of this machine or one that it has mounted."""

    def where(self, name: str = "") -> str:
        """The path."""
        return str(self._path(name))

    @contextmanager
    def open_read(self, name: str) -> Iterator[BinaryIO]:
        """A file to read from its beginning."""
        with faults(self.where(name), reading=True), self._path(name).open("rb") as file:
            yield file

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Make or replace a file: on the disk when the block has ended."""
        with faults(self.where(name)), outputs.whole(self._path(name)) as out:
            yield out

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        with faults(self.where(name)):
            return self._path(name).is_file()

    def names(self, folder: str = "") -> list[str]:
        """The files of one folder, sorted, each as `read` takes it. Removes what killed writers left."""
        found = []
        with faults(self.where(folder)), contextlib.suppress(FileNotFoundError):
            for path in self._path(folder).iterdir():
                if outputs.is_temporary(path.name):
                    outputs.sweep(path)
                elif path.is_file():
                    found.append(f"{folder}/{path.name}" if folder else path.name)
        return sorted(found)

    def remove_folder(self, name: str) -> None:
        """Remove a folder and all in it, if there is one."""
        with faults(self.where(name)), contextlib.suppress(FileNotFoundError):
            shutil.rmtree(self._path(name))

    def _path(self, name: str) -> Path:
        return Path(self.place) / checked(name)
