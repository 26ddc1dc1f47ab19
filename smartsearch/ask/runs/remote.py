"""A folder of object storage or HDFS by its URI: pyarrow's file systems, then fsspec's for other schemes.

One put makes or replaces an object, so it is never seen half written. Where there are folders and renames
(HDFS, sftp) a temporary file is moved; HDFS cannot move onto a file, so the old one goes a moment earlier.
"""

from __future__ import annotations

import contextlib
import io
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from typing import Any, BinaryIO, cast
from urllib.parse import quote

from smartsearch.ask.runs.faults import StorageError
from smartsearch.ask.runs.faults import faults as _faults
from smartsearch.ask.runs.storage import DAY, checked, is_temporary, shown, temporary
from smartsearch.runtime import extras

_OBJECTS = frozenset({"s3", "gcs", "abfs", "az", "oci", "oss", "tos", "s3a", "gs", "memory"})
"""File systems whose put is atomic: pyarrow's by type, fsspec's by protocol."""
_NOT_PYARROW = frozenset({"abfs", "abfss", "az"})
"""Azure: pyarrow makes an empty blob before it writes, which takes the old one away; adlfs puts at once."""
_WAITS = {"gs": "retry_limit_seconds=60", "gcs": "retry_limit_seconds=60", "s3": "allow_delayed_open=true"}
"""What a scheme's query says unless the user's does: Google's retries for 15 minutes, and Amazon's first asks
for an upload in parts where one put would do."""
_BLOCK = 1 << 20


def faults(where: str, *, reading: bool = False) -> AbstractContextManager[None]:
    """What any library raises while the block runs, as an error a user can act on."""
    return _faults(where, reading=reading, of=Exception)


class Remote:
    """A folder by its URI; its query (`?region=...&endpoint_override=...`) holds for every file in it."""

    def __init__(self, place: str) -> None:
        """Raises StorageError: no such scheme, a package or bucket that is missing."""
        self.place = place
        self._system, self._base = _opened(place)

    def where(self, name: str = "") -> str:
        """The URI without what it takes to get there."""
        return f"{shown(self.place)}/{checked(name)}" if name else shown(self.place)

    def read(self, name: str) -> bytes:
        """A file's bytes."""
        with self.open_read(name) as file:
            return file.read()

    def open_read(self, name: str) -> BinaryIO:
        """A file to read from its beginning; the caller closes it. An empty name is the URI itself."""
        with faults(self.where(name), reading=True):
            try:
                found = self._system.open_input_stream(self._path(name), compression=None)
            except FileNotFoundError:
                self._need_bucket()
                raise
        return cast("BinaryIO", io.BufferedReader(_Reading(found, self.where(name)), _BLOCK))

    def exists(self, name: str) -> bool:
        """Whether there is a file of that name."""
        with faults(self.where(name)):
            self._forget()
            return bool(self._system.get_file_info(self._path(name)).is_file)

    def write(self, name: str, data: bytes) -> None:
        """Make or replace a file. What fails leaves it as it was."""
        self._put(name, io.BytesIO(data))

    @contextmanager
    def writing(self, name: str) -> Iterator[BinaryIO]:
        """As `write`, what the block writes; until it has ended, that lies in a local temporary file."""
        with _faults(tempfile.gettempdir()):
            spool = tempfile.TemporaryFile()  # noqa: SIM115 - closed below; its making has its own faults
        with spool:
            yield cast("BinaryIO", spool)
            spool.seek(0)
            self._put(name, cast("BinaryIO", spool))

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
        if (system := self._fsspec()) is not None:
            system.invalidate_cache()

    def _fsspec(self) -> Any:
        return getattr(getattr(self._system, "handler", None), "fs", None)

    def _put(self, name: str, data: BinaryIO) -> None:
        """In a thread, which Ctrl-C does not interrupt: a stream dropped half way would be committed."""
        with faults(self.where(name)), ThreadPoolExecutor(1) as apart:
            apart.submit(self._putting, self._path(name), data).result()

    def _putting(self, path: str, data: BinaryIO) -> None:
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
            shutil.copyfileobj(data, out, 1 << 23)


class _Reading(io.RawIOBase):
    """A file of pyarrow's as Python's; what goes wrong half way is told as at the beginning."""

    def __init__(self, source: Any, where: str) -> None:
        self._source = source
        self._where = where

    def readable(self) -> bool:
        """It can be."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Fill a buffer; the bytes that were read. Raises InputError."""
        with faults(self._where, reading=True):
            return int(self._source.readinto(buffer))

    def close(self) -> None:
        """Close both."""
        if not self.closed:
            self._source.close()
        super().close()


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
    scheme = path.partition("://")[0].lower()
    given = _WAITS.get(scheme, "")
    said = [query] if query else []
    if given and given.partition("=")[0] not in query:
        said.append(given)
    escaped = quote(path, safe="%/:@!$&'()*+,;=~[]")
    return f"{escaped}?{'&'.join(said)}" if said else escaped


def _by_fsspec(place: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs
    from fsspec.registry import known_implementations

    scheme = place.partition("://")[0].rpartition("::")[2]
    try:
        return cast("tuple[Any, str]", url_to_fs(place))
    except ImportError as error:
        known = known_implementations.get(scheme, {})
        package = str(known.get("class", "")).partition(".")[0]
        packages = re.findall(r'"([\w-]+)"', known.get("err") or "") if package == "fsspec" else [package]
        raise StorageError(
            f"{shown(place)}: {scheme}:// needs a package that is not installed",
            hint=f"pip install {' '.join(packages)}" if packages else str(error),
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
