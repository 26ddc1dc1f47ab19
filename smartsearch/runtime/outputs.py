"""Writes files and folders to a place that the user names, and loses nothing that is there unasked.

A command refuses what is there; `overwrite` writes beside it and replaces it at the end. If the place is
changed meanwhile, the command ends and says where its work is. Standard output, devices and pipes hold no
finished work.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from smartsearch.errors import DENIED, UsageError
from smartsearch.runtime.private import locked, taken

if TYPE_CHECKING:
    import sqlite3

EXISTS = "exists"
"""The kind of the error where something is there already."""
DAY = 86_400.0
"""Seconds after which a temporary file counts as left behind, where locks cannot tell."""
FORMER = ".former"
"""The end of the name, after a dot, of an old folder until the new one is in its place."""
_STREAM = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/\w+/fd/\d+")
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")
_NEW_LINES = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)


@contextmanager
def telling(out: os.PathLike[str] | str, hint: str = "another --out") -> Iterator[None]:
    """Turn an OSError of the block, which writes to `out`, into a UsageError "output"."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            hint = "room on that disk"
        elif error.errno in DENIED:
            hint = "a place that you may write to"
        said = f"{os.fspath(out)} cannot be written: {error.strerror}"
        raise UsageError(said, hint=hint, kind="output") from error


def is_stream(out: Path) -> bool:
    """Whether `out` is standard output, a device, a pipe or a socket, which hold nothing to lose."""
    found = _facts(out)
    plain = found is None or stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)
    return not plain or _STREAM.fullmatch(os.fspath(out)) is not None


def _facts(path: Path) -> os.stat_result | None:
    """What lies at `path`; None for nothing. Raises OSError where that cannot be told."""
    try:
        return path.stat()
    except (FileNotFoundError, NotADirectoryError):
        return None


def _state(found: os.stat_result | None) -> tuple[int, ...] | None:
    """A value that changes when a file is changed or replaced; of a folder, only when it is replaced."""
    if found is None or stat.S_ISDIR(found.st_mode):
        return found and (found.st_dev, found.st_ino)
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def temporary(path: str) -> str:
    """A new hidden name beside `path`."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name}.{secrets.token_hex(8)}.tmp"


def is_temporary(name: str) -> bool:
    """Whether a file's name is one of `temporary`."""
    return _TEMPORARY.fullmatch(name) is not None


@contextmanager
def whole(path: Path, put: Callable[[Path], object] | None = None) -> Iterator[BinaryIO]:
    """Make or replace a file by what the block writes; it is on the disk when the block has ended.

    After an error the file is as it was. `put` moves the file that was written beside `path` there. Raises
    OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    out, held = _held(path)
    try:
        with out:
            yield out
            out.flush()
            os.fsync(out.fileno())
            held.replace(path) if put is None else put(held)
    except BaseException:
        held.unlink(missing_ok=True)
        raise
    with contextlib.suppress(OSError):  # the folder's entry, where the file system can
        descriptor = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _held(path: Path) -> tuple[BinaryIO, Path]:
    """A new temporary file beside `path`, open and locked, so that `sweep` leaves it."""
    while True:
        held = Path(temporary(os.fspath(path)))
        out = held.open("xb")
        locked(out.fileno())
        if held.exists():  # it was swept if the lock came too late
            return out, held
        out.close()


def sweep(left: Path) -> None:
    """Remove a temporary file whose writer is gone."""
    with contextlib.suppress(OSError), left.open("rb+") as file:
        ours = locked(file.fileno())
        if ours or (ours is None and time.time() - os.fstat(file.fileno()).st_mtime > DAY):
            left.unlink()


class Place:
    """A place where a file or folder is put whole: it is empty, or `overwrite` gives up what is there.

    `ours` tells whether a folder is of the kind that is put there; without it the place is for a file. Errors
    call the place `name` and suggest `hint`.
    """

    def __init__(
        self,
        out: Path,
        *,
        overwrite: bool = False,
        ours: Callable[[Path], bool] | None = None,
        inputs: Iterable[str] = (),
        name: str = "",
        hint: str = "another --out",
    ) -> None:
        """Raises UsageError: "exists" for what is there and may not be replaced, "output"."""
        self.out, self._name, self._hint = out, name or str(out), hint
        self.path = out if is_stream(out) else Path(os.path.realpath(out))
        self._stream, self._ours = is_stream(out), ours
        with telling(self._name, hint):
            if ours and not self._stream:
                recover(self.path, ours)
            self._before = None if self._stream else _facts(self.path)
            self._look(overwrite=overwrite, inputs=inputs)

    def _look(self, *, overwrite: bool, inputs: Iterable[str]) -> None:
        found = self._before
        if self._stream:
            return
        if found is None:
            above = self.path.parent
            while self._ours and not above.exists():  # it is made
                above = above.parent
            os.stat(f"{above}/.")  # noqa: PTH116 - as a folder
            if not os.access(above, os.W_OK):
                raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
            return
        if (self._ours is None) == stat.S_ISDIR(found.st_mode):
            number = errno.EISDIR if self._ours is None else errno.ENOTDIR
            raise OSError(number, os.strerror(number))
        if any(self.path.is_relative_to(os.path.realpath(name)) for name in filter(None, inputs)):
            raise UsageError(f"{self._name} is one of the inputs", hint=self._hint, kind=EXISTS)
        if not (any(self.path.iterdir()) if self._ours else found.st_size):
            return
        if not overwrite:
            hint = f"{self._hint}, or --overwrite"
            raise UsageError(f"{self._name} is there already", hint=hint, kind=EXISTS)
        if self._ours and not self._ours(self.path):
            said = f"{self._name} is there and holds something else, which is not overwritten"
            raise UsageError(said, hint=self._hint, kind=EXISTS)

    @property
    def beside(self) -> bool:
        """Whether there is a file to be overwritten, beside which its lines lie until they are all there."""
        return self._before is not None and self._before.st_size > 0

    @contextmanager
    def lines(self) -> Iterator[Callable[[bytes], None]]:
        """Yields what writes a line of the file, which is there at once unless it lies `beside`.

        Raises UsageError, as `settle`, "busy" where another process writes to the file, and for what the
        system refuses in the block.
        """
        with (
            telling(self._name, self._hint),
            whole(self.path, self.settle) if self.beside else self._new() as file,
        ):

            def put(line: bytes) -> None:
                self._stay(file)
                file.write(line + b"\n")
                file.flush()

            yield put
            self._stay(file)

    def _new(self) -> BinaryIO:
        if self._stream:
            return self.path.open("ab")
        descriptor = taken(self.path, _NEW_LINES)
        if descriptor is None:
            hint = "wait for it, or another --out"
            raise UsageError(f"another process writes to {self._name}", hint=hint, kind="busy")
        file = os.fdopen(descriptor, "ab+")
        if os.fstat(descriptor).st_size:
            file.close()
            raise UsageError(f"{self._name} is there already", hint=self._hint, kind=EXISTS)
        return file

    def _stay(self, file: BinaryIO) -> None:
        """Raise UsageError if the path leads away from the new file; it says where the lines are."""
        now = None if self._stream or self.beside else _facts(self.path)
        if self._stream or self.beside or (now and os.path.samestat(now, os.fstat(file.fileno()))):
            return
        where, hint = "nothing had been written to it", "the same command again"
        for folder in (self.path.parent, tempfile.gettempdir()) if os.fstat(file.fileno()).st_size else ():
            with contextlib.suppress(OSError):
                descriptor, kept = tempfile.mkstemp(self.path.suffix, f"{self.path.stem}-", folder)
                with os.fdopen(descriptor, "wb") as copy:
                    file.seek(0)
                    shutil.copyfileobj(file, copy)
                where, hint = f"what it held is in {kept}", f"another --out; {kept} keeps these"
                break
        said = f"{self._name} was removed or replaced while it was written; {where}"
        raise UsageError(said, hint=hint, kind="output")

    def put(self, data: bytes) -> None:
        """Write the file, whole or not at all. Raises UsageError, as `settle`."""
        with telling(self._name, self._hint):
            if self._stream:
                self.path.write_bytes(data)
                return
            with whole(self.path, self.settle) as file:
                if self._before:  # what only its owner may read is read by nobody meanwhile
                    Path(file.name).chmod(stat.S_IMODE(self._before.st_mode))
                file.write(data)

    @contextmanager
    def making(self) -> Iterator[Path]:
        """A new folder beside the place, which is put there when the block has ended without an error.

        Raises UsageError, as `settle`, also for what the system refuses in the block.
        """
        part = Path(temporary(str(self.path)))
        with telling(self._name, self._hint):
            part.mkdir(parents=True)
            try:
                yield part
            except BaseException:
                shutil.rmtree(part, ignore_errors=True)
                raise
        self.settle(part)

    def settle(self, made: Path) -> None:
        """Move what was made beside the place into it. Raises UsageError if the place has changed meanwhile.

        After an error what was made stays beside the place; the error says where.
        """
        why = "was made, removed or replaced meanwhile"
        try:
            found = _facts(self.path)
            move = self._folder if self._ours else self._file
            if _state(self._before) == _state(found) and move(made, found):
                return
        except OSError as error:
            why = f"cannot be written: {error.strerror}"
        kept = self.path.with_name(f"{self.path.stem}-{secrets.token_hex(4)}{self.path.suffix}")
        with telling(self._name, self._hint):
            made.rename(kept)
        said = f"{self._name} {why}; what was made now is in {kept}"
        raise UsageError(said, hint=f"look at both, then `mv {kept} {self.path}`", kind=EXISTS)

    def _file(self, made: Path, found: os.stat_result | None) -> bool:
        """Move a file there; False if another came first."""
        if found is not None:
            made.chmod(stat.S_IMODE(found.st_mode))
        else:
            try:
                os.link(made, self.path)
            except FileExistsError:
                return False
            except OSError:  # a file system without such links
                pass
            else:
                made.unlink()
                return True
        made.replace(self.path)
        return True

    def _folder(self, made: Path, found: os.stat_result | None) -> bool:
        """As `_file`, for a folder; the old one waits beside it until the new one is there."""
        former = _former(self.path)
        if found is not None:
            self.path.rename(former)
        try:
            made.rename(self.path)
        except BaseException as error:
            if found is not None:
                former.rename(self.path)
            if isinstance(error, OSError) and error.errno in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                return False
            raise
        shutil.rmtree(former, ignore_errors=True)
        return True


def _former(place: Path) -> Path:
    """Where the earlier folder waits until the new one is in its place."""
    return place.with_name(f".{place.name}{FORMER}")


def recover(place: Path, ours: Callable[[Path], bool]) -> None:
    """Put the earlier folder back where a process was killed before the new one was in its place."""
    former = _former(place)
    with contextlib.suppress(OSError):
        if not former.is_dir() or not ours(former):
            return
        if ours(place):
            shutil.rmtree(former, ignore_errors=True)
        else:
            former.rename(place)


def database(path: Path, table: str, schema: str, columns: Iterable[str]) -> sqlite3.Connection:
    """Open the SQLite file at `path` with our table, made if need be. Another database is left alone.

    Raises sqlite3.Error, also for a database without that table and these columns, and OSError.
    """
    import sqlite3

    path.parent.mkdir(parents=True, exist_ok=True)
    opened = sqlite3.connect(path, isolation_level=None, timeout=60.0, check_same_thread=False)
    try:
        tables = [name for (name,) in opened.execute("select name from sqlite_master")]
        there = {name for _, name, *_ in opened.execute(f"pragma table_info({table})")}
        if tables and not there.issuperset(columns):
            some = ", ".join(sorted(tables)[:3])
            raise sqlite3.DatabaseError(f"a database of something else ({some})")
        opened.execute("pragma journal_mode = wal")
        opened.execute("pragma synchronous = normal")
        opened.execute(schema)
    except BaseException:
        opened.close()
        raise
    return opened
