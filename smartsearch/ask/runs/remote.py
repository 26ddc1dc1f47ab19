"""A folder of object storage or HDFS by its URI: pyarrow's file systems, then fsspec's for other schemes.

One put makes or replaces an object, so it is never seen half written. Where there are folders and renames
(HDFS, sftp) a temporary file is moved; HDFS cannot move onto a file, so the old one goes a moment earlier.
"""

from __future__ import annotations

import contextlib
import io
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO, cast
from urllib.parse import quote, unquote, urlsplit

from smartsearch.ask.runs.faults import StorageError
from smartsearch.ask.runs.faults import faults as _faults
from smartsearch.ask.runs.storage import Files, Local, checked, is_uri, shown
from smartsearch.runtime import extras
from smartsearch.runtime.outputs import DAY, is_temporary, temporary

_OBJECTS = frozenset({"s3", "gcs", "abfs", "az", "oci", "oss", "tos", "s3a", "gs", "memory"})
"""File systems whose put is atomic: pyarrow's by type, fsspec's by protocol."""
_NOT_PYARROW = frozenset({"abfs", "abfss", "az"})
"""Azure: pyarrow makes an empty blob before it writes, which takes the old one away; adlfs puts at once."""
_WAITS = {"gs": "retry_limit_seconds=60", "gcs": "retry_limit_seconds=60", "s3": "allow_delayed_open=true"}
"""What a scheme's query says unless the user's does: Google's retries for 15 minutes, and Amazon's first asks
for an upload in parts where one put would do."""
_IN_MEMORY = 1 << 23
"""Bytes of a file to be put that are held in memory; a longer one lies on the local disk until it is."""


def storage(place: str) -> Local | Remote:
    """The storage at a path or URI. Nothing is made there yet.

    Raises StorageError for a URI that cannot be read, and for a scheme whose package is not installed
    (`package`). S3 without a region asks for the bucket's, which may fail as any request does.
    """
    if not is_uri(place):
        return Local(place)
    if place.lower().startswith("file://"):
        return Local(unquote(urlsplit(place).path))
    return Remote(place)


faults = partial(_faults, of=Exception)
"""What any library raises while the block runs, as an error a user can act on."""


class Remote(Files):
    """A folder by its URI; its query (`?region=...&endpoint_override=...`) holds for every file in it."""

    def __init__(self, place: str) -> None:
        """Raises StorageError: no such scheme, a package or bucket that is missing."""
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
                found = self._system.open_input_file(self._path(name))
            except FileNotFoundError:
                self._need_bucket()
                raise
            with io.BufferedReader(found, 1 << 20) as file:
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
            self._forget()
            return bool(self._system.get_file_info(self._path(name)).is_file)

    def names(self, folder: str = "") -> list[str]:
        """The files of one folder, sorted; what writers left in it a day ago goes."""
        found = []
        with faults(self.where(folder)):
            for info in self._listed(self._path(folder), recursive=False):
                if not is_temporary(info.base_name):
                    found.append(f"{folder}/{info.base_name}" if folder else info.base_name)
                elif info.mtime is not None and time.time() - info.mtime.timestamp() > DAY:
                    self._system.delete_file(info.path)
        return sorted(found)

    def below(self) -> dict[str, int | None]:
        """Every file under the URI by its name there, and its bytes where the storage tells.

        `{"": bytes}` where it is a file itself. Raises InputError where there is nothing.
        """
        from pyarrow.fs import FileType

        with faults(self.where(), reading=True):
            itself = self._system.get_file_info(self._base)
            if itself.is_file and not self.place.partition("?")[0].endswith("/"):
                return {"": itself.size}
            found = self._listed(self._base, recursive=True)
            if itself.type == FileType.NotFound and not found:
                self._need_bucket()
                raise FileNotFoundError("nothing by that name")
            start = len(self._base) + 1 if self._base else 0
            return {info.path[start:]: info.size for info in sorted(found, key=lambda info: info.path)}

    def remove(self, name: str) -> None:
        """Remove a file, if there is one."""
        with faults(self.where(name)), contextlib.suppress(FileNotFoundError):
            self._system.delete_file(self._path(name))

    def remove_folder(self, name: str) -> None:
        """Remove a folder and all in it, if there is one."""
        with faults(self.where(name)), contextlib.suppress(FileNotFoundError):
            self._system.delete_dir(self._path(name))

    def _path(self, name: str) -> str:
        return "/".join(part for part in (self._base, checked(name)) if part)

    def _listed(self, path: str, *, recursive: bool) -> list[Any]:
        from pyarrow.fs import FileSelector

        self._forget()
        chosen = FileSelector(path, recursive=recursive, allow_not_found=True)
        return [info for info in self._system.get_file_info(chosen) if info.is_file]

    def _need_bucket(self) -> None:
        """That the bucket is there: of a file in it, S3 says only that it is not. Raises OSError."""
        from pyarrow.fs import FileType

        bucket = self._base.partition("/")[0]
        if self._system.type_name == "s3" and self._system.get_file_info(bucket).type == FileType.NotFound:
            raise OSError("NO_SUCH_BUCKET")

    def _forget(self) -> None:
        """Have fsspec ask again: it keeps lists of folders, and other machines write to them."""
        if (other := self._fsspec()) is not None:
            other.invalidate_cache()

    def _fsspec(self) -> Any:
        return getattr(getattr(self._system, "handler", None), "fs", None)

    def _put(self, path: str, data: BinaryIO) -> None:
        other = self._fsspec()
        kinds = self._system.type_name if other is None else other.protocol
        if _OBJECTS.isdisjoint((kinds,) if isinstance(kinds, str) else kinds):
            self._moving(path, data)
        elif other is not None:
            other.pipe_file(path, data.read())
        else:
            self._streaming(path, data)

    def _moving(self, path: str, data: BinaryIO) -> None:
        held = temporary(path)
        self._system.create_dir(path.rpartition("/")[0], recursive=True)
        try:
            self._streaming(held, data)
            try:
                self._system.move(held, path)
            except Exception:
                if not self._system.get_file_info(path).is_file:
                    raise
                self._system.delete_file(path)
                self._system.move(held, path)
        except BaseException:
            with contextlib.suppress(Exception):
                self._system.delete_file(held)
            raise

    def _streaming(self, path: str, data: BinaryIO) -> None:
        with self._system.open_output_stream(path, compression=None) as out:
            shutil.copyfileobj(data, out, _IN_MEMORY)


def _opened(place: str) -> tuple[Any, str]:
    """The file system of a URI and the path in it, without a slash at the end. Raises StorageError."""
    extras.require("batch", shown(place))
    import pyarrow
    from pyarrow.fs import FileSystem, FSSpecHandler, PyFileSystem

    with faults(shown(place)):
        if place.partition("://")[0].lower() not in _NOT_PYARROW:
            try:
                system, path = FileSystem.from_uri(_plain(place))
                return system, path.rstrip("/")
            except pyarrow.ArrowInvalid as error:
                if "Unrecognized filesystem" not in str(error):
                    # what pyarrow says repeats the URI, which may hold a password
                    said = str(error).replace(_plain(place), shown(place)).splitlines()[0]
                    raise StorageError(
                        f"{shown(place)} is no place for files: {said}",
                        hint="s3://bucket/folder?region=eu-west-1; spaces are written %20",
                    ) from None
        other, path = _by_fsspec(place)
        return PyFileSystem(FSSpecHandler(other)), path.rstrip("/")


def _plain(place: str) -> str:
    """The URI as pyarrow takes it: what people type unescaped is escaped."""
    path, _, query = place.partition("?")
    given = _WAITS.get(path.partition("://")[0].lower(), "")
    added = given if given.partition("=")[0] not in query else ""
    escaped = quote(path, safe="%/:@!$&'()*+,;=~[]")
    return "?".join(part for part in (escaped, "&".join(part for part in (query, added) if part)) if part)


def _by_fsspec(place: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs
    from fsspec.registry import known_implementations

    scheme = place.partition("://")[0].rpartition("::")[2]
    try:
        return cast("tuple[Any, str]", url_to_fs(place))
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
