"""A folder of object storage, HDFS or another service by its URI, as fsspec opens it.

An object store makes or replaces an object in one put, so no reader sees half of it. Where there are folders
and renames (HDFS, sftp) a temporary file is moved; HDFS cannot move onto a file, so the old one goes first.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from smartsearch.ask.runs.faults import StorageError
from smartsearch.ask.runs.faults import faults as _faults
from smartsearch.ask.runs.storage import Files, Local, checked, is_uri, shown
from smartsearch.runtime import extras
from smartsearch.runtime.outputs import DAY, is_temporary, temporary

_OBJECTS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az", "oci", "oss", "tos", "memory"})
"""Schemes whose put is atomic."""
_IN_MEMORY = 1 << 23
"""Bytes of a file to be put that are held in memory; a longer one lies on the local disk until it is."""


def storage(place: str) -> Local | Remote:
    """The storage at a path or URI. Nothing is made there yet.

    Raises StorageError for a URI that cannot be read, and for a scheme whose package is not installed
    (`package`).
    """
    if not is_uri(place):
        return Local(place)
    if place.lower().startswith("file://"):
        return Local(unquote(urlsplit(place).path))
    return Remote(place)


faults = partial(_faults, of=Exception)
"""Turn any error of a library in the block into one that a user can act on."""


class Remote(Files):
    """A folder by its URI."""

    def __init__(self, place: str) -> None:
        """Raises StorageError for an unknown scheme and for a missing package or bucket."""
        super().__init__(place)
        self._system, self._base = _opened(place)

    def where(self, name: str = "") -> str:
        """The URI without what it takes to get there."""
        return f"{shown(self.place)}/{checked(name)}" if name else shown(self.place)

    @contextmanager
    def open_read(self, name: str) -> Iterator[BinaryIO]:
        """A file to read from its beginning."""
        with faults(self.where(name), reading=True):
            try:
                found = self._system.open(self._path(name), "rb")
            except FileNotFoundError:
                self._need_bucket()
                raise
            with found as file:
                yield cast("BinaryIO", file)

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """Make or replace a file, by one put when the block has ended."""
        path = self._path(name)
        with _faults(tempfile.gettempdir()):
            spool = tempfile.SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - its making has its own faults
        with spool:
            yield cast("BinaryIO", spool)
            spool.seek(0)
            # In a thread, which Ctrl-C does not interrupt: a stream dropped half way would be committed.
            with faults(self.where(name)), ThreadPoolExecutor(1) as uninterrupted:
                uninterrupted.submit(self._put, path, cast("BinaryIO", spool)).result()

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        with faults(self.where(name)):
            return self._kind(self._path(name)) == "file"

    def names(self, folder: str = "") -> list[str]:
        """The files of one folder, sorted; what writers left in it a day ago goes."""
        found = []
        with faults(self.where(folder)):
            for info in self._listed(self._path(folder)):
                name = info["name"].rpartition("/")[2]
                if not is_temporary(name):
                    found.append(f"{folder}/{name}" if folder else name)
                elif 0 < _changed(info) < time.time() - DAY:
                    self._system.rm_file(info["name"])
        return sorted(found)

    def below(self) -> dict[str, int | None]:
        """Every file under the URI by its name there, and its bytes where the storage tells.

        `{"": bytes}` where it is a file itself. Raises InputError where there is nothing.
        """
        with faults(self.where(), reading=True):
            kind = self._kind(self._base)
            if kind == "file" and not self.place.endswith("/"):
                return {"": self._system.info(self._base)["size"]}
            found = self._listed(self._base, deep=True)
            if not kind and not found:
                self._need_bucket()
                raise FileNotFoundError("nothing by that name")
            start = len(self._base) + 1 if self._base else 0
            return {name[start:]: size for name, size in sorted((one["name"], one["size"]) for one in found)}

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        with faults(self.where(name)), contextlib.suppress(FileNotFoundError):
            self._system.rm_file(self._path(name))

    def remove_folder(self, name: str) -> None:
        """Remove a folder and all in it, if there is one."""
        with faults(self.where(name)), contextlib.suppress(FileNotFoundError):
            self._system.rm(self._path(name), recursive=True)

    def _path(self, name: str) -> str:
        return "/".join(part for part in (self._base, checked(name)) if part)

    def _kind(self, path: str) -> str:
        """What lies at `path` now: "file", "directory", or nothing. fsspec's `isfile` hides all errors."""
        self._system.invalidate_cache()
        try:
            return str(self._system.info(path)["type"])
        except FileNotFoundError:
            return ""

    def _listed(self, path: str, *, deep: bool = False) -> list[dict[str, Any]]:
        """The files in a folder now, or all below: fsspec caches lists, and others write there."""
        self._system.invalidate_cache()
        with contextlib.suppress(FileNotFoundError):
            if not deep:
                found = self._system.ls(path, detail=True)
            elif self._flat:
                found = self._system.find(path, detail=True).values()
            else:
                found = self._system.find(path, detail=True, on_error="raise").values()
            return [one for one in found if one["type"] == "file"]
        return []

    def _need_bucket(self) -> None:
        """Raise OSError if the bucket is missing: for a file in it, S3 says only that the file is missing."""
        bucket = self._base.partition("/")[0]
        if "s3" in self._system.protocol and not self._system.exists(bucket):
            raise OSError("NoSuchBucket")

    @property
    def _flat(self) -> bool:
        """Whether there are no folders, only names."""
        kinds = self._system.protocol
        return not _OBJECTS.isdisjoint((kinds,) if isinstance(kinds, str) else kinds)

    def _put(self, path: str, data: BinaryIO) -> None:
        if self._flat:
            self._system.pipe_file(path, data.read())
        else:
            self._moving(path, data)

    def _moving(self, path: str, data: BinaryIO) -> None:
        held = temporary(path)
        self._system.makedirs(path.rpartition("/")[0], exist_ok=True)
        try:
            with self._system.open(held, "wb") as out:
                shutil.copyfileobj(data, out, _IN_MEMORY)
            try:
                self._system.mv(held, path)
            except Exception:
                if self._kind(path) != "file":
                    raise
                self._system.rm_file(path)
                self._system.mv(held, path)
        except BaseException:
            with contextlib.suppress(Exception):
                self._system.rm_file(held)
            raise


def _changed(info: dict[str, Any]) -> float:
    """When a file last changed, in seconds; 0 where the storage does not tell."""
    at = info.get("mtime") or 0.0
    return float(at.timestamp() if hasattr(at, "timestamp") else at)


def _opened(place: str) -> tuple[Any, str]:
    """The file system of a URI and the path in it, without a slash at the end. Raises StorageError."""
    if "fsspec" in extras.lacking("batch"):
        extras.require("batch", shown(place))
    from fsspec.core import url_to_fs
    from fsspec.registry import known_implementations

    scheme = place.partition("://")[0].rpartition("::")[2].lower()
    if scheme in _OBJECTS and ("?" in place or shown(place) != place.rstrip("/")):
        raise StorageError(
            f"{shown(place)}: a URI holds no options and no keys",
            hint="set those of the storage: AWS_ENDPOINT_URL, AWS_DEFAULT_REGION, AWS_ACCESS_KEY_ID ...",
        )
    with faults(shown(place)):
        try:
            system, path = url_to_fs(place)
        except ImportError as error:
            package = str(known_implementations.get(scheme, {}).get("class", "fsspec")).partition(".")[0]
            raise StorageError(
                f"{shown(place)}: {scheme}:// needs a package that is not installed",
                hint=str(error) if package == "fsspec" else f"pip install {package}",
                kind="package",
            ) from error
        except ValueError as error:
            if "Protocol not known" not in str(error):
                raise
            raise StorageError(
                f"{shown(place)}: nothing here can open {scheme}://",
                hint="a local path, s3://, gs://, abfs://, hdfs://, or a scheme that fsspec knows",
                kind="package",
            ) from error
        return system, path.rstrip("/")
