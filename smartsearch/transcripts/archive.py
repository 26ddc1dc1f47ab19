"""Compressed files: members of a `.zip` or `.tar.gz` as of a folder, `.gz` and `.zst` as what is inside them.

A member's path is the archive's path with the member's name after it: `export.zip/conversations.json`.
Nothing is ever written out. What unpacks to more than the limits allow is refused before memory goes to it.
"""

from __future__ import annotations

import errno
import gzip
import os
import re
import stat
import sys
import time
import warnings
import zipfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from smartsearch.errors import SmartsearchError
from smartsearch.transcripts import opening
from smartsearch.transcripts.faults import FormatError
from smartsearch.types import Skipped

SUFFIXES = (".zip", ".tar", ".tgz", ".tar.gz")
TAR = 1 << 28
"""Bytes that a tar archive may unpack to: it is read from its beginning, so all of it is kept."""
PACKED = (".gz", ".zst")
MEMBERS = 200_000
"""Files in one archive: a Slack export of a decade has some ten thousand."""
RATIO = 100
"""Bytes that one packed byte may become, beyond `FREE` bytes: chats pack to a tenth, bombs to less."""
FREE = 1 << 22
"""What a packed file, or all members of an archive together, may come to in any case."""
WRITTEN = 120.0
"""Seconds after which a change is on the disk by itself: Linux, as it comes, takes 35."""
_OTHERS = (FormatError, SmartsearchError, MemoryError)
"""Errors that say something else than that an archive is damaged, as all others of an unpacker do."""
_LAST = "only the last was read; unpack it to read the others"
_WITHIN = re.compile(r"\.(?:zip|tar|tgz|tar\.gz)/", re.I | re.A)
_HERE = re.compile(r"^(?:\./)*")
_HEADER = 30
"""Bytes before a member's name."""
_OPEN = 4
"""Archives kept open, with the lists of their members."""
_BLOCK = 1 << 20


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def plain_name(path: str) -> str:
    """The name of what a path holds once unpacked: `chat.json` of `chat.json.gz`."""
    lower = path.lower()
    return next((path[: -len(end)] for end in PACKED if lower.endswith(end)), path)


def is_archive(path: str) -> bool:
    """Whether a path is named as an archive of files."""
    return path.lower().endswith(SUFFIXES)


def is_within(path: str) -> bool:
    """Whether a path is written as one of a file in an archive."""
    return _WITHIN.search(path) is not None


def split(path: str) -> tuple[str, str] | None:
    """The archive and the member that a path names; None for any path that is not inside an archive."""
    for found in _WITHIN.finditer(path):
        at = found.end()
        if Path(path[: at - 1]).is_file():
            return path[: at - 1], path[at:]
    return None


def file_of(path: str) -> str:
    """The file on disk that holds what `path` names: itself, or the archive it is in."""
    inside = split(path)
    return inside[0] if inside else path


def age(path: str) -> float:
    """Seconds since that file was changed, below 0 where its clock is ahead. Raises OSError."""
    return time.time() - os.stat(file_of(path)).st_ctime  # noqa: PTH116 - the path as it is


def flush(path: str) -> None:
    """Have the system write what a program changed of that file through a memory map that it still holds.

    Such a change shows in the file's times only where it is the first in its page since that was written. So
    whoever does this, looks at the times and then reads, will see by them that the file changed afterwards;
    but on file systems in memory (tmpfs), which never write.
    """
    with suppress(OSError):
        if age(path) < WRITTEN:
            with opening.opened(file_of(path)) as file:
                os.fsync(file)


def members(path: str) -> Sequence[str | Skipped]:
    """The names of the files in an archive, sorted; hidden ones and those of macOS's own left out.

    A leading `./` is no part of a name. A name that leads out of the archive, and one that several files
    have, is reported: of those only the last can be read.
    """
    try:
        return _listed(_archive(path), path)
    except OSError as error:
        return (Skipped(path, "unreadable", error.strerror or str(error)),)
    except FormatError as error:
        return (Skipped(path, error.kind, str(error)),)


def below(path: str, name: str) -> Sequence[str | Skipped]:
    """Of the members of an archive the one called `name` and those in the folder of that name.

    One fault, without a member's name, where the archive as a whole cannot be read.
    """
    every = members(path)
    if len(every) == 1 and not _name(every[0], path):
        return every
    folder = name.rstrip("/")
    ends = (name, f"{name}\0", f"{folder}/", f"{folder}0")  # "0" comes right behind "/"
    at = [bisect_left(every, end, key=lambda one: _name(one, path)) for end in ends]
    return (*every[at[0] : at[1]], *every[at[2] : at[3]])


def _name(member: str | Skipped, path: str) -> str:
    return member if isinstance(member, str) else member.path[len(path) + 1 :]


@lru_cache(maxsize=_OPEN)
def _listed(archive: zipfile.ZipFile, path: str) -> tuple[str | Skipped, ...]:
    return tuple(_members(archive, path))


def _members(archive: zipfile.ZipFile, path: str) -> Iterator[str | Skipped]:
    names = sorted(_short(info.filename) for info in archive.infolist() if not info.is_dir())
    if len(names) > MEMBERS:
        yield Skipped(path, "too_large", f"{len(names):,} files in one archive, the limit is {MEMBERS:,}")
        return
    left = most = allowed(archive.fp.seek(0, os.SEEK_END) if archive.fp else 0)
    for name, count in Counter(names).items():
        parts = [part for part in name.split("/") if part != "."]
        if ".." in parts:
            yield Skipped(
                f"{path}/{name}", "unsafe_name", "its name leads out of the archive; unpack it yourself"
            )
            continue
        if any(part.startswith(".") or part == "__MACOSX" for part in parts):
            continue
        if count > 1:
            yield Skipped(
                f"{path}/{name}", "same_name", f"{count:,} files in the archive have this name; {_LAST}"
            )
        info = archive.getinfo(name)
        if info.file_size > allowed(info.compress_size):
            yield name  # refused by itself
        elif info.file_size > left:
            said = f"with it the archive unpacks to more than the limit of {most:,} bytes; unpack it yourself"
            yield Skipped(f"{path}/{name}", "too_large", said)
        else:
            left -= info.file_size
            yield name


def _short(name: str) -> str:
    """A member's name without the `./` that some archivers write before it; Windows' `\\` is `/`."""
    name = name if "/" in name else name.replace("\\", "/")
    return _HERE.sub("", name, count=1)


def size(path: str, name: str) -> int:
    """Bytes of a member, unpacked, as the archive tells it. Raises OSError, FormatError, KeyError."""
    return _archive(path).getinfo(name).file_size


def load(path: str, name: str, limit: int) -> bytes:
    """The bytes of a member. Raises OSError, and FormatError for one that cannot or must not be unpacked."""
    archive = _archive(path)
    try:
        info = archive.getinfo(name)
    except KeyError:
        raise FileNotFoundError(2, f"no {name} in the archive") from None
    if info.flag_bits & 1:
        raise FormatError("encrypted; unpack it with its password first", kind="encrypted")
    if info.file_size > (most := min(limit, allowed(info.compress_size))):
        raise _too_large(most)
    try:
        with archive.open(info) as file:
            return _bounded(file, most)
    except (OSError, *_OTHERS):
        raise
    except Exception as error:
        raise FormatError(f"damaged archive: {error}", kind="damaged_archive") from None


def unpacked(data: bytes, path: str, limit: int) -> bytes:
    """What a `.gz` or `.zst` file holds; the bytes themselves for any other name. Raises FormatError."""
    if plain_name(path) == path:
        return data
    import io

    most = min(limit, allowed(len(data)))
    packed = io.BytesIO(data)
    try:
        if path.lower().endswith(".gz"):
            return _bounded(gzip.GzipFile(fileobj=packed), most)
        with _zstd().ZstdFile(packed) as stream:
            return _bounded(stream, most)
    except _OTHERS:
        raise
    except Exception as error:
        raise FormatError(f"damaged: {error}", kind="damaged_archive") from None


def _zstd() -> Any:
    """Python's own reader of zstd, which came with 3.14, or the same for earlier versions."""
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _bounded(file: _Readable, most: int) -> bytes:
    """All of a stream. Raises FormatError `too_large` as soon as it is more than `most` bytes."""
    parts, total = [], 0
    while block := file.read(_BLOCK):
        total += len(block)
        if total > most:
            raise _too_large(most)
        parts.append(block)
    return b"".join(parts)


def allowed(packed: int, ratio: int = RATIO) -> int:
    """Bytes that so many packed ones may become."""
    return FREE + ratio * packed


def _too_large(most: int) -> FormatError:
    reason = f"unpacks to more than the limit of {most:,} bytes; unpack it yourself if it can be trusted"
    return FormatError(reason, kind="too_large")


def _archive(path: str) -> zipfile.ZipFile:
    """The archive, open. Raises OSError, FormatError."""
    found = os.stat(path)  # noqa: PTH116 - the path as it is
    if not stat.S_ISREG(found.st_mode):
        raise FormatError("a pipe, a socket or a device, not a file", kind="not_a_file")
    return _opened(path, opening.bounds(), _state(found))


def _state(found: os.stat_result) -> tuple[int, ...]:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


@lru_cache(maxsize=_OPEN)
def _opened(path: str, _bounds: tuple[str, ...], state: tuple[int, ...]) -> zipfile.ZipFile:
    file = opening.opened(path)
    if _state(os.fstat(file.fileno())) != state:
        raise OSError(errno.EAGAIN, "it changed while it was opened")
    try:
        archive = zipfile.ZipFile(file if path.lower().endswith(".zip") else _rezipped(file, state[2]))
        _check_apart(archive)
        archive.NameToInfo = {_short(info.filename): info for info in archive.infolist()}
    except (OSError, *_OTHERS):
        raise
    except Exception as error:
        kind = "zip" if path.lower().endswith(".zip") else "tar"
        raise FormatError(f"not a readable {kind} archive: {error}", kind="damaged_archive") from None
    return archive


def _rezipped(file: BinaryIO, packed: int) -> BinaryIO:
    """The files of a tar archive as a zip archive in memory, whose members can be read in any order."""
    import io
    import tarfile

    made, left = io.BytesIO(), (most := min(TAR, allowed(packed)))
    with file:
        data = _bounded(file, TAR)
    data = unpacked(data, "a.gz" if data.startswith(b"\x1f\x8b") else "a", most)
    with (
        tarfile.open(fileobj=io.BytesIO(data), mode="r:") as tar,
        zipfile.ZipFile(made, "w") as archive,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")  # of names that stand twice, which are reported
        for info in tar:
            left -= info.size if info.isfile() else 0
            if left < 0:
                raise _too_large(most)
            if info.isfile() and (held := tar.extractfile(info)):
                archive.writestr(info.name, held.read())
    return made


def _check_apart(archive: zipfile.ZipFile) -> None:
    """Raise BadZipFile where files lie in one another: a few bytes would be unpacked again and again."""
    end = 0
    for info in sorted(archive.infolist(), key=lambda one: one.header_offset):
        if info.header_offset < end:
            raise zipfile.BadZipFile(f"{info.filename} overlaps another file in it")
        end = info.header_offset + _HEADER + len(info.orig_filename) + info.compress_size
