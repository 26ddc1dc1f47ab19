"""Writes files and folders to a place that the user names, and loses nothing that is there unasked.

A command continues a file only if every byte of it is ours, under a lock. It refuses any other; `overwrite`
writes beside it and replaces it at the end. If the file is removed or replaced meanwhile, the command ends
and says where its work is. Standard output, devices and pipes hold no finished work.
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
from types import TracebackType
from typing import TYPE_CHECKING, BinaryIO, Generic, TypeVar

from smartsearch.errors import DENIED, InputError, UsageError
from smartsearch.runtime.private import locked, taken

if TYPE_CHECKING:
    import sqlite3

EXISTS = "exists"
"""The kind of the error where something is there already."""
DAY = 86_400.0
"""Seconds after which a temporary file counts as left behind, where locks cannot tell."""
FORMER = ".former"
"""The end of the name, after a dot, of an old folder until the new one is in its place."""
_HEAD = 1 << 12
"""Bytes of a file that tell whether it may be ours at all."""
_STREAM = re.compile(r"/dev/(stdout|stderr|fd/\d+)|/proc/\w+/fd/\d+")
_TEMPORARY = re.compile(r"\..+\.[0-9a-f]{16}\.tmp")
_OPTIONS = os.O_RDWR | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)

T = TypeVar("T")


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


def is_input(found: os.stat_result, inputs: Iterable[str]) -> bool:
    """Whether a file or folder is one of `inputs`, lies below one or holds one, by whatever name.

    For a name in an archive the archive counts. Hidden entries of folders do not count.
    """
    for name in filter(None, inputs):
        there = next(path for path in (Path(name), *Path(name).absolute().parents) if path.exists())
        if there != Path(name) and there.is_dir():
            continue
        real = Path(os.path.realpath(there))
        if any(os.path.samestat(found, path.stat()) for path in (real, *real.parents)):
            return True
        for folder, below, files in os.walk(real):
            below[:] = [one for one in below if not one.startswith(".")]
            for file in (*below, *files):
                with contextlib.suppress(OSError):
                    if os.path.samestat(found, Path(folder, file).stat()):
                        return True
    return False


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
        if is_input(found, inputs):
            raise UsageError(f"{self._name} is one of the inputs", hint=self._hint, kind=EXISTS)
        if not (any(self.path.iterdir()) if self._ours else found.st_size):
            return
        if not overwrite:
            hint = f"{self._hint}, or --overwrite"
            raise UsageError(f"{self._name} is there already", hint=hint, kind=EXISTS)
        if self._ours and not self._ours(self.path):
            said = f"{self._name} is there and holds something else, which is not overwritten"
            raise UsageError(said, hint=self._hint, kind=EXISTS)

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


class Lines(Generic[T]):
    """A file of lines that only this process writes while the block runs: a new one, or one continued.

    `read` makes `held` of the whole lines in the file, and raises InputError at one that is not ours; `torn`
    tells whether bytes begin as our lines do. A last line of ours without its end is cut, to be written anew.
    With `overwrite` the lines go to NAME.new beside it, which is continued in the same way and replaces the
    other when the block has ended without an error.

    Entering raises UsageError: "exists" for what is there and is not `resume`d or not ours, "busy" where
    another process writes to it, "output" where it cannot be written.
    """

    def __init__(
        self,
        out: Path,
        read: Callable[[Iterable[bytes]], T],
        torn: Callable[[bytes], bool],
        *,
        resume: bool = False,
        overwrite: bool = False,
    ) -> None:
        self.out, self.path, self._read, self._torn = out, out.absolute(), read, torn
        self._resume, self._stream, self._made = resume, is_stream(out), False
        self._overwrite = overwrite and not self._stream
        self._opened: list[BinaryIO] = []
        self._place: Place | None = None
        self._foreign: os.stat_result | None = None
        self.held = read(())

    def __enter__(self) -> Lines[T]:
        try:
            with telling(self.out):
                if self._stream:
                    self._opened.append(self.out.open("ab"))
                else:
                    self._begin()
        except BaseException:
            self._close(failed=True)
            raise
        return self

    def _begin(self) -> None:
        real = Path(os.path.realpath(self.path))
        if not real.parent.is_dir():
            hint = "make it, or another --out"
            raise UsageError(f"there is no folder {self.out.parent}", hint=hint, kind="output")
        if self._overwrite:
            if _facts(real) is not None:
                self._take(real)
                if self._fault(cut=False):
                    self._foreign = os.fstat(self._opened[-1].fileno())
            self._place = Place(real, overwrite=True, name=str(self.out))
            self.path = real.with_name(f"{real.name}.new")
            self._take(self.path)
        else:
            self._take(real)
        fault = self._fault(cut=self._resume)
        if fault:
            hint = f"move {self.path} away" if self._place else "another --out, or --overwrite"
            raise UsageError(fault, hint=hint, kind=EXISTS)
        if not self._resume and self._size():
            if not self._place:
                hint = "--resume goes on with it, --overwrite begins anew"
                raise UsageError(f"{self.out} holds an earlier run's answers", hint=hint, kind=EXISTS)
            self._opened[-1].truncate(0)
            self.held = self._read(())

    def _take(self, path: Path) -> None:
        """Open the file at `path`, made if need be, under its lock."""
        absent = _facts(path) is None
        descriptor = taken(path, _OPTIONS | os.O_CREAT)
        if descriptor is None:
            hint = "wait for it, or another --out"
            raise UsageError(f"another process writes to {self.out}", hint=hint, kind="busy")
        self._opened.append(os.fdopen(descriptor, "ab+"))
        self._made = absent

    def _fault(self, *, cut: bool) -> str:
        """Why the file is not ours, or "": then `held` is of it, and with `cut` its torn end is cut."""
        file, size, tail = self._opened[-1], 0, b""

        def lines() -> Iterator[bytes]:
            nonlocal size, tail
            for raw in file:
                if raw.endswith(b"\n"):
                    size += len(raw)
                    yield raw
                else:
                    tail = raw

        file.seek(0)
        head = file.read(_HEAD)
        file.seek(0)
        try:
            if head and not self._torn(head):
                raise InputError("line 1 is not one")
            self.held = self._read(lines())
            if tail and not self._torn(tail):
                raise InputError("its last line is not one, and has no end")
        except InputError as error:
            name = self.path if self._place else self.out
            return f"{name} is there and holds something else than answers: {error.message}"
        if tail and cut:
            file.truncate(size)
        return ""

    @property
    def beside(self) -> bool:
        """Whether the lines go to another file until they are all there."""
        return self._place is not None

    def _size(self) -> int:
        return os.fstat(self._opened[-1].fileno()).st_size

    def spare(self, inputs: Iterable[str]) -> None:
        """Raise UsageError if the file to be overwritten is not ours and is one of the inputs."""
        if self._foreign is not None and is_input(self._foreign, inputs):
            hint = "another --out: of what is read only earlier answers are overwritten"
            raise UsageError(f"--out {self.out} is one of the inputs", hint=hint, kind=EXISTS)

    def put(self, line: bytes) -> None:
        """Write a line and flush it. Raises UsageError where it cannot be written."""
        with telling(self.out):
            self._stay()
            self._opened[-1].write(line + b"\n")
            self._opened[-1].flush()

    def _stay(self) -> None:
        """Raise UsageError if the path leads to another file now; it says where this one's lines are."""
        now, file = _facts(self.path), self._opened[-1]
        if self._stream or (now is not None and os.path.samestat(now, os.fstat(file.fileno()))):
            return
        where, hint = "nothing had been written to it", "the same command again"
        for folder in (self.path.parent, tempfile.gettempdir()) if self._size() else ():
            with contextlib.suppress(OSError):
                descriptor, kept = tempfile.mkstemp(self.out.suffix, f"{self.out.stem}-", folder)
                with os.fdopen(descriptor, "wb") as copy:
                    file.seek(0)
                    shutil.copyfileobj(file, copy)
                where, hint = f"what it held is in {kept}", f"--out {kept} --resume"
                break
        said = f"{self.path} was removed or replaced while it was written; {where}"
        raise UsageError(said, hint=hint, kind="output")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        failed = True
        try:
            if kind is None:
                with telling(self.out):
                    self._stay()
                    if self._place:
                        os.fsync(self._opened[-1].fileno())
                        self._place.settle(self.path)
                failed = False
        finally:
            self._close(failed=failed)

    def _close(self, *, failed: bool) -> None:
        """Close the files; after a failure, remove one that was made here and has no line."""
        with contextlib.suppress(OSError):
            if failed and self._made and not self._size() and not self._stream:
                mine = os.fstat(self._opened[-1].fileno())
                place = Path(os.path.realpath(self.path))
                if os.path.samestat(mine, place.stat()):
                    place.unlink()
        for file in self._opened:
            with contextlib.suppress(OSError):  # all is flushed, or it was told that it cannot be
                file.close()


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
