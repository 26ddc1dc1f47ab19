"""From the paths a user typed to the files behind them, in a stable order, and their bytes."""

from __future__ import annotations

import difflib
import errno
import os
import select
import stat
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath
from typing import BinaryIO

from smartsearch.errors import InputError, listed
from smartsearch.transcripts import archive, opening
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.jsontext import LINE_SUFFIXES
from smartsearch.types import Skipped

SUFFIXES = (
    *(".json", ".jsonl", ".ndjson", ".txt", ".md", ".markdown", ".log"),
    *(".mbox", ".eml", ".emlx", ".msg", ".vtt", ".srt", ".sbv", ".ass", ".docx", ".rtf", ".weechatlog"),
    *(".html", ".htm", ".csv", ".tsv"),
)
"""Of the files in a folder or an archive; `.gz` and `.zst` may follow them."""
_NAMES = (
    *("direct-messages*.js", "sms-*.xml"),
    *("state.vscdb", "opencode.db"),
)
"""Chat files with ambiguous suffixes: X's messages, those of SMS Backup & Restore; SQLite stores."""

_PATIENCE = 1.0
"""Seconds in which whoever writes into a named pipe begins, once it is open here."""


@dataclass(frozen=True)
class Limits:
    """Sizes beyond which a file is refused rather than read, in bytes.

    A file is held in memory, JSON at about four times its size: 1 GiB is what a laptop can take. 64 MiB is
    far beyond any real message, and a longer line is a dump that was never meant to be lines.
    """

    file: int = 1 << 30
    line: int = 1 << 26


@dataclass(frozen=True)
class Selection:
    """Which files of a folder are meant: with no globs those of known suffixes, else those a glob fits."""

    globs: Sequence[str] = ()
    excludes: Sequence[str] = ()
    own: Sequence[str] = ()  # real paths of files and folders that are the command's own: never a transcript

    def takes(self, path: str, relative: str) -> bool:
        """Whether the file at `path`, which is `relative` to the folder that is walked, is meant."""
        if self.globs:
            return any(_fits(glob, path, relative) for glob in self.globs)
        plain = PurePath(archive.plain_name(path))
        return plain.suffix.lower() in SUFFIXES or any(fnmatchcase(plain.name, glob) for glob in _NAMES)

    def is_own(self, real: str) -> bool:
        """Whether the file at a real path is one of the command's own."""
        return any(real == own or real.startswith(f"{own}/") for own in self.own)

    def refuse_own(self, paths: Sequence[str]) -> None:
        """Raise InputError `own` for a path that is, or lies in, a folder of the command's own."""
        folders = [own for own in self.own if Path(own).is_dir()]
        for path in paths if folders else ():
            real = os.path.realpath(path)
            if path != "-" and any(f"{real}/".startswith(f"{own}/") for own in folders):
                hint = "write to a folder of its own"
                raise InputError(f"{path} lies where the command writes to", hint=hint, kind="own")

    def drops(self, path: str, relative: str) -> bool:
        """Whether a file or folder is excluded."""
        return any(_fits(glob.rstrip("/"), path, relative) for glob in self.excludes)

    def drops_within(self, top: str, path: str, relative: str) -> bool:
        """Whether a file in the archive `top` is excluded, or a folder on the way to it."""
        return any(_fits_within(glob.rstrip("/"), top, path, relative) for glob in self.excludes)


ANY = Selection()


def _fits(glob: str, path: str, relative: str) -> bool:
    """Whether a glob without a slash matches a name at any depth; with one the path below, or as shown."""
    if "/" not in glob:
        return fnmatchcase(PurePath(path).name, glob)
    plain = glob.removeprefix("./")
    return (
        fnmatchcase(relative, plain)
        or fnmatchcase(path.removeprefix("./"), plain)
        or (glob.startswith("**/") and _fits(glob[3:], path, relative))
    )


def _fits_within(glob: str, top: str, path: str, relative: str) -> bool:
    """Whether a glob fits a file below `top` or a folder above the file: each path is looked at once."""
    if "/" not in glob:
        return any(fnmatchcase(part, glob) for part in relative.split("/"))
    inside = f"{glob}/*"  # a star stands for slashes too
    return _fits(glob, path, relative) or (_fits(inside, path, relative) and not _fits(inside, top, ""))


class Reals:
    """The real paths of many files: what is real of a folder, or of an archive, is asked once."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, path: str) -> str:
        """As `opening.real`."""
        inside = archive.split(path)
        if inside:
            return f"{self._kept(inside[0])}/{os.path.normpath(inside[1])}"
        folder, slash, name = path.rpartition("/")
        if name in ("", ".", "..") or os.path.islink(path):  # noqa: PTH114 - as it is
            return opening.real(path)
        return f"{self._kept(folder or slash or '.').rstrip('/')}/{name}"

    def _kept(self, path: str) -> str:
        if path not in self._known:
            self._known[path] = opening.real(path)
        return self._known[path]


def find(
    paths: Sequence[str], selection: Selection = ANY, *, lenient: bool = False
) -> Iterator[str | Skipped]:
    """Every file that the paths name, once, as the user would type it; `-` is standard input.

    Folders and archives are walked by name, hidden entries left out; globs choose among what a walk finds,
    excludes hold for files the user named too. Raises InputError `path_not_found`, where `lenient` only if
    no path is there, and `own` for a path in a folder that the command writes to.
    """
    selection.refuse_own(paths)
    seen: set[str] = set()
    reals = Reals()
    for found in _there(paths, selection) if lenient else every(paths, selection):
        key = found if found == "-" or isinstance(found, Skipped) else reals.of(found)
        if isinstance(key, Skipped) or not (key in seen or selection.is_own(key)):
            yield found
        if isinstance(key, str):
            seen.add(key)


def require(paths: Sequence[str]) -> None:
    """Raise InputError `path_not_found` for the first of the paths that is not there."""
    for path in paths:
        next(every([path], ANY), None)


def every(paths: Sequence[str], selection: Selection) -> Iterator[str | Skipped]:
    """As `find`, but each path that leads to a file, however many do."""
    for path in paths:
        yield from [path] if path == "-" else _named(path, selection)


def _there(paths: Sequence[str], selection: Selection) -> Iterator[str | Skipped]:
    """As `every`, but a path that is not there is skipped if another one is."""
    missing: list[InputError] = []
    for path in paths:
        try:
            yield from every([path], selection)
        except InputError as error:  # noqa: PERF203 - of each path
            if error.kind != "path_not_found" or not path:
                raise
            missing.append(error)
            if len(missing) == len(paths):
                raise missing[0] from None
            hint = f" ({error.hint})" if error.hint.startswith("did you mean") else ""
            yield Skipped(path, error.kind, f"no such file or folder{hint}")


def _named(path: str, selection: Selection) -> Iterator[str | Skipped]:
    if not path:
        raise InputError(
            "a path is empty", hint="is a variable not set? . is the current folder", kind="path_not_found"
        )
    try:
        mode = Path(path).stat().st_mode
    except (FileNotFoundError, NotADirectoryError, ValueError):
        if inside := archive.split(path):
            yield from _inside(*inside, path)
            return
        message = listed(f"no such file or folder: {path}")
        raise InputError(message, hint=_nearest(path), kind="path_not_found") from None
    except OSError as error:
        yield Skipped(path, "unreadable", error.strerror or str(error))
        return
    if stat.S_ISDIR(mode):
        yield from _walk(path, selection)
    elif selection.drops(path, path):
        return
    elif archive.is_archive(path.rstrip("/")):  # a shell completes an archive that it takes for a folder so
        yield from _unzipped(path.rstrip("/"), "", selection)
    else:
        yield path


def _inside(outer: str, name: str, path: str) -> Iterator[str | Skipped]:
    """The file, or the files of the folder, that was named inside an archive. Raises InputError."""
    found = archive.below(outer, name)
    if not found:
        hint = f"`smartsearch formats detect {outer}` lists what is in it"
        raise InputError(listed(f"no such file in the archive: {path}"), hint=hint, kind="path_not_found")
    yield from (one for one in found if isinstance(one, Skipped))
    yield from (f"{outer}/{n}" for n in found if isinstance(n, str) and (n == name or ANY.takes(n, n)))


def _unzipped(path: str, relative: str, selection: Selection) -> Iterator[str | Skipped]:
    """The files of an archive, chosen as those of a folder are; archives in it are reported."""
    for name in archive.members(path):
        if isinstance(name, Skipped):
            yield name
            continue
        full, inner = f"{path}/{name}", _join(relative, name)
        if selection.drops_within(path, full, inner):
            continue
        if archive.is_archive(name):
            yield Skipped(full, "nested_archive", "an archive in an archive is not opened; unpack it first")
        elif selection.takes(full, inner):
            yield full


def _nearest(path: str) -> str:
    """The hint for a path that does not exist: its closest neighbour, or how far the path does exist."""
    parent, slash, name = path.rstrip("/").rpartition("/")
    folder = parent or slash
    try:
        names = sorted(entry.name for entry in Path(folder or ".").iterdir())
    except (OSError, ValueError):
        return "check the spelling; a path is relative to the folder you run smartsearch in"
    if name in names:
        return "it is a link to what is not there"
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.6)
    if close:
        return f"did you mean {_join(folder, close[0])}?"
    where = folder or "the current folder"
    return f"there is no {name} in {where}; name a file, a folder, or - for standard input"


def _walk(top: str, selection: Selection) -> Iterator[str | Skipped]:
    """The files under a folder, depth first, by name. A link to a file is followed, to a folder reported."""
    stack = [("" if top == "." else top, "")]
    while stack:
        folder, relative = stack.pop()
        if relative and not os.path.isdir(folder):  # noqa: PTH112 - as in `_entry`
            if archive.is_archive(folder):
                yield from _unzipped(folder, relative, selection)
            else:
                yield folder
            continue
        try:
            names = opening.names(folder or ".")
        except OSError as error:
            yield Skipped(folder or ".", "unreadable", error.strerror or str(error))
            continue
        below: list[tuple[str, str]] = []
        for name in names:
            path, inner = _join(folder, name), _join(relative, name)
            if name.startswith(".") or selection.drops(path, inner):
                continue
            found = _entry(path, inner, selection)
            if isinstance(found, Skipped):
                yield found
            elif found:
                below.append((path, inner))
        stack.extend(reversed(below))


def _join(folder: str, name: str) -> str:
    """A path as a user would type it: `Path` would drop a leading `./`."""
    return f"{folder.rstrip('/')}/{name}" if folder else name


def _entry(path: str, relative: str, selection: Selection) -> Skipped | bool:
    """Whether a folder's entry is to be visited, or why it cannot be."""
    try:
        mode = os.stat(path).st_mode  # noqa: PTH116 - a path is not taken apart for each folder
    except OSError as error:
        # A path that is too long may be that of a folder: nobody can look.
        told = selection.takes(path, relative) or error.errno == errno.ENAMETOOLONG
        return Skipped(path, "unreadable", error.strerror or str(error)) if told else False
    if stat.S_ISDIR(mode):
        if os.path.islink(path):  # noqa: PTH114 - as above
            return Skipped(path, "folder_link", "a link to a folder is not followed; name it to search it")
        return True
    if opening.bounds() and Path(path).is_symlink() and not opening.allowed(opening.real(path)):
        return False
    if not (archive.is_archive(path) or selection.takes(path, relative)):
        return False
    if not stat.S_ISREG(mode):
        return Skipped(path, "not_a_file", "a pipe, a socket or a device, not a file")
    return True


def _opened(path: str) -> BinaryIO:
    """A file, open for reading. Raises OSError, and FormatError `not_a_file` for what may never end or begin.

    Devices and sockets are not opened at all; a named pipe is read where somebody writes into it already. A
    pipe that the shell made for this process, `<(command)` or `/dev/stdin`, is read as a file is.
    """
    mode, real = Path(path).stat().st_mode, ""
    if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
        real = os.path.realpath(path)
        if not stat.S_ISFIFO(mode) and real != os.devnull:
            what = "a socket" if stat.S_ISSOCK(mode) else "a device"
            raise FormatError(f"{what}, not a file", kind="not_a_file")
    own = real.rpartition("/")[0].endswith("/fd") and real.startswith(("/proc/", "/dev/"))
    named = stat.S_ISFIFO(mode) and not own and not opening.bounds()
    return _written(path) if named else opening.opened(path)


def _written(path: str) -> BinaryIO:
    """A named pipe into which somebody writes, open: to open it as a file waits for that without an end."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    if not select.select([descriptor], [], [], _PATIENCE)[0]:
        os.close(descriptor)
        reason = "a named pipe into which nobody writes; to wait for it: `- < PIPE`"
        raise FormatError(reason, kind="not_a_file")
    os.set_blocking(descriptor, True)
    return os.fdopen(descriptor, "rb")


def load(path: str, stdin: BinaryIO | None, limits: Limits) -> bytes:
    """The bytes of a file, or of standard input for `-`.

    Of a file in an archive, and of a packed one, those inside. Raises OSError, and FormatError: `too_large`
    for more than `limits.file` bytes, before memory goes to them, `not_a_file` for a device and its like,
    or what is wrong with the archive.
    """
    if path == "-":
        data = (stdin or sys.stdin.buffer).read(limits.file + 1)
    elif inside := archive.split(path):
        data = archive.load(*inside, limits.file)
    else:
        with _opened(path) as file:
            size = os.fstat(file.fileno()).st_size
            if size > limits.file:
                raise _too_large(limits)
            data = file.read(size + 1)  # no more: Python takes memory for all that is asked for
            if len(data) > size:  # it grew, or is a pipe
                data += file.read(limits.file + 1 - len(data))
    if len(data) > limits.file:
        raise _too_large(limits)
    return archive.unpacked(data, path, limits.file)


def lines_suffix(path: str) -> bool:
    """Whether a file's name promises one JSON value a line."""
    return archive.plain_name(path).lower().endswith(LINE_SUFFIXES)


def size(path: str) -> int:
    """Bytes of a file, unpacked where it is in an archive; 0 where that cannot be told."""
    try:
        if inside := archive.split(path):
            return archive.size(*inside)
        return Path(path).stat().st_size
    except (OSError, FormatError, KeyError):
        return 0


def neighbour(path: str, name: str, limits: Limits) -> bytes | None:
    """The bytes of the file `name`, relative to the folder of `path`; None where there is none.

    Beside a file in an archive only what is in the archive. A transcript's own words never choose `name`.
    """
    if path == "-":
        return None
    other = os.path.normpath(f"{os.path.dirname(path)}/{name}" if os.path.dirname(path) else name)  # noqa: PTH120
    inside = archive.split(path)
    if inside and not other.startswith(f"{os.path.normpath(inside[0])}/"):
        return None
    if not (inside or Path(other).is_file()):
        return None
    try:
        return load(other, None, limits)
    except (OSError, FormatError):
        return None


def _too_large(limits: Limits) -> FormatError:
    return FormatError(f"larger than the limit of {limits.file:,} bytes; split it", kind="too_large")
