"""What an agent may read: the paths given on the command line and what lies below them, nothing else."""

from __future__ import annotations

import os
import re
from collections import Counter, OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from smartsearch.errors import InputError, SmartsearchError
from smartsearch.serve.mcp import brief
from smartsearch.transcripts.archive import file_of, is_archive
from smartsearch.transcripts.files import Selection
from smartsearch.transcripts.named import resolved
from smartsearch.transcripts.opening import real

REMEMBERED = 4096
"""Ids of hits that `expand` knows; the longest unused are forgotten."""
OUTSIDE = "outside_roots"
NOT_SERVED = "not_served"
_SEPARATORS = re.escape("".join({"/", os.sep}))


@dataclass(frozen=True)
class Location:
    """A turn as an agent names it: a file, and a line of it or a pointer into it."""

    path: str
    line: int = 0
    pointer: str = ""


class Locations(OrderedDict[str, Location]):
    """The turns that ids stand for: the last used, up to a number."""

    def keep(self, more: Mapping[str, Location]) -> None:
        """Remember these, and forget the longest unused beyond the number."""
        for name, place in more.items():
            self[name] = place
            self.move_to_end(name)
        while len(self) > REMEMBERED:
            self.popitem(last=False)


class Roots:
    """The paths that are served, by their real paths, and the short names agents see for what is in them.

    Names are relative to the one root; where there are several they begin with the root's own name. `missing`
    says which `@names` lead to nothing yet and which paths have gone. Raises InputError `path_not_found` for
    a path that is not there at the start, and `unknown_chats`.
    """

    paths: tuple[str, ...]
    missing: tuple[str, ...]

    def __init__(self, paths: Sequence[str], selection: Selection | None = None) -> None:
        self._selection = selection or Selection()
        for path in paths:
            if path == "-" or not (path.startswith("@") or Path(path).exists()):
                hint = "a file or folder that is there; the current folder where none is given"
                raise InputError(f"no such file or folder: {path}", hint=hint, kind="path_not_found")
        self._given = [path if path.startswith("@") else os.path.realpath(path) for path in paths]
        self.look()

    def look(self) -> None:
        """See what is there now: an agent's first session comes after its server has started."""
        found = [_there(path) for path in self._given]
        self.missing = tuple(one for one in found if isinstance(one, str))
        paths = (os.path.realpath(path) for one in found if not isinstance(one, str) for path in one)
        self.paths = tuple(dict.fromkeys(paths))
        names = Counter(Path(path).name for path in self.paths)
        if len(self.paths) == 1 and Path(self.paths[0]).is_dir():
            self._names = {self.paths[0]: ""}
        else:
            self._names = {p: n if names[n := Path(p).name] == 1 else p for p in self.paths}

    def shown(self, path: str) -> str:
        """The name of a file or folder below a root."""
        root = self._root_of(path)
        if root is None:
            return path
        return "/".join(filter(None, [self._names[root], path[len(root) :].lstrip(f"/{os.sep}")])) or "."

    def shortened(self, text: str) -> str:
        """A message with the roots' paths in it as agents see them."""
        for root, name in self._names.items():
            if root != os.path.dirname(root):  # noqa: PTH120 - not the root of all
                label = name.replace("\\", "\\\\")
                text = re.sub(rf"{re.escape(root)}[{_SEPARATORS}]", f"{label}/" if label else "", text)
                text = re.sub(rf"{re.escape(root)}(?![\w.-])", label or "the root", text)
        return text

    def worded(self, error: SmartsearchError) -> SmartsearchError:
        """An error with paths as agents see them, and not longer than anybody reads."""
        message, hint = (brief.clipped(self.shortened(text), 1000) for text in (error.message, error.hint))
        return SmartsearchError(message, hint=hint, kind=error.kind, retryable=error.retryable)

    def resolve(self, name: str) -> str:
        """The real path of a file or folder an agent named, by its short name or in full.

        Raises InputError `outside_roots` for one that lies, or leads by a link, anywhere else, and
        `not_served` for one that a search of the roots leaves out: hidden, excluded, no transcript by name.
        """
        try:
            tried = list(dict.fromkeys(real(path) for path in self._meant(name)))
        except (ValueError, RuntimeError):  # no path; a home folder that is not there
            raise self._refused(name) from None
        inside = [path for path in tried if self._root_of(path) is not None]
        if not inside:
            raise self._refused(name)
        path = next((path for path in inside if Path(file_of(path)).exists()), inside[0])
        self._check(path, name)
        return path

    def place(self, text: str) -> Location:
        """The turn that `path:line` or `path#pointer` names. Raises InputError as `resolve`; `no_place`."""
        for at in (n for n in range(len(text)) if text.startswith("#/", n)):
            file = self.resolve(text[:at])
            if Path(file_of(file)).is_file():
                return Location(file, 0, text[at + 1 :])
        name, colon, line = text.rpartition(":")
        if colon and line.isdecimal() and len(line) < 12:
            file = self.resolve(name)
            if not Path(file).is_dir() and not is_archive(file):
                return Location(file, int(line))
        raise InputError(
            f"neither an id nor a place: {text[:100]!r}",
            hint="ids and places stand in the hits of `search`; a place is path:line or path#pointer",
            kind="no_place",
        )

    def _meant(self, name: str) -> Iterator[str]:
        """The paths that a name may stand for."""
        given = Path(name).expanduser() if name.startswith("~/") else Path(name)
        if given.is_absolute():
            yield str(given)
            return
        for root, label in self._names.items():
            first, *rest = given.parts or ("",)
            if label and first == label:
                yield str(Path(root, *rest))
            if Path(root).is_dir():
                yield str(Path(root, name))

    def _check(self, path: str, name: str) -> None:
        """Raise InputError if the walk of a root would skip `path`."""
        root = self._root_of(path) or path
        parts = Path(path).relative_to(root).parts
        if not parts:
            return
        above = ["/".join(parts[: n + 1]) for n in range(len(parts))]
        hidden = any(part.startswith(".") for part in parts)
        dropped = any(self._selection.drops(f"{root}/{inner}", inner) for inner in above)
        read = Path(path).is_dir() or is_archive(path) or self._selection.takes(path, above[-1])
        if hidden or dropped or (Path(file_of(path)).exists() and not read):
            raise InputError(
                f"{name[:200]!r} is not served: hidden, excluded, or not named as a transcript",
                hint="what can be named stands in the places of hits; leave `paths` out to search all of it",
                kind=NOT_SERVED,
            )

    def _root_of(self, path: str) -> str | None:
        return next((root for root in self.paths if Path(path).is_relative_to(root)), None)

    def _refused(self, name: str) -> InputError:
        names = sorted(filter(None, self._names.values()))[:8] or self.missing
        served = ", ".join(names) or "the folder itself"
        return InputError(
            f"{name[:200]!r} is not below what is served",
            hint=f"leave `paths` out to search all of it; served: {served}",
            kind=OUTSIDE,
        )


def _there(path: str) -> list[str] | str:
    """What a path or an `@name` stands for, or why that is nothing. Raises InputError `unknown_chats`."""
    try:
        return list(filter(os.path.exists, resolved([path]))) or f"no such file or folder: {path}"
    except InputError as error:
        if error.kind != "path_not_found":
            raise
        return error.message
