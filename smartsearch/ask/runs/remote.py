"""A folder of object storage, or of another service, by its URI, as fsspec opens it.

An object store makes or replaces an object in one put, so no reader sees half of it. Other services (HDFS,
sftp) are only read.
"""

from __future__ import annotations

import contextlib
import io
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, cast
from urllib.parse import unquote, urlsplit

from smartsearch.ask.runs.faults import StorageError
from smartsearch.ask.runs.faults import faults as _faults
from smartsearch.ask.runs.storage import Files, Local, checked, is_uri, shown
from smartsearch.runtime import extras

_OBJECTS = frozenset({"s3", "s3a", "gs", "gcs", "abfs", "az", "oci", "oss", "tos", "memory"})
"""Schemes whose put is atomic."""


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
        """The URI without password and query."""
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
        """Make or replace a file, by one put when the block has ended; until then memory holds it."""
        path, held = self._path(name), io.BytesIO()
        if not self._flat:
            raise StorageError(
                f"{self.where(name)}: there no file can be put whole",
                hint="a run folder on a disk or in object storage (s3://, gs://, abfs://)",
            )
        yield held
        with faults(self.where(name)):
            self._system.pipe_file(path, held.getvalue())

    def fetch(self, name: str, place: Path) -> int:
        """Copy a file to a new one of this disk; its size in bytes."""
        with faults(self.where(name), reading=True):
            self._system.get_file(self._path(name), str(place))
            return place.stat().st_size

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        with faults(self.where(name)):
            return self._kind(self._path(name)) == "file"

    def names(self, folder: str = "") -> list[str]:
        """The files of one folder, sorted."""
        with faults(self.where(folder)):
            names = [info["name"].rpartition("/")[2] for info in self._listed(self._path(folder))]
        return sorted(f"{folder}/{name}" if folder else name for name in names)

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
