"""What reading costs, counted: steps of Python, characters, look-ups of files, members, rows of a store.

A call that grows faster than its input in any of these is told by `growth`. None of them reads a clock.
"""

from __future__ import annotations

import os
import re
import sqlite3
import sys
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from smartsearch.transcripts import stores
from tests.counting import FEW, steps

WHOLE = frozenset(
    (
        "split",
        "rsplit",
        "splitlines",
        "partition",
        "rpartition",
        "replace",
        "casefold",
        "lower",
        "encode",
        "decode",
    )
)
"""Methods of a text that look at all of it."""
MACHINE = 100
"""Steps of SQLite's machine between two counts."""


class Watched:
    """A pattern that counts the characters it passes over: where it finds nothing, all that are left."""

    def __init__(self, pattern: re.Pattern[str], seen: Counter[str]) -> None:
        self._pattern, self._seen = pattern, seen

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pattern, name)

    def _one(self, found: re.Match[str] | None, text: str, pos: int) -> re.Match[str] | None:
        self._seen["characters"] += 1 + (found.end() if found else len(text)) - pos
        return found

    def match(self, text: str, pos: int = 0, *end: int) -> re.Match[str] | None:
        return self._one(self._pattern.match(text, pos, *end), text, pos)

    def fullmatch(self, text: str, pos: int = 0, *end: int) -> re.Match[str] | None:
        return self._one(self._pattern.fullmatch(text, pos, *end), text, pos)

    def search(self, text: str, pos: int = 0, *end: int) -> re.Match[str] | None:
        return self._one(self._pattern.search(text, pos, *end), text, pos)

    def _all(self, text: str) -> None:
        self._seen["characters"] += 1 + len(text)

    def finditer(self, text: str, *ends: int) -> Iterator[re.Match[str]]:
        self._all(text)
        return self._pattern.finditer(text, *ends)

    def findall(self, text: str, *ends: int) -> list[Any]:
        self._all(text)
        return self._pattern.findall(text, *ends)

    def split(self, text: str, maxsplit: int = 0) -> list[Any]:
        self._all(text)
        return self._pattern.split(text, maxsplit)

    def sub(self, by: Any, text: str, count: int = 0) -> str:
        self._all(text)
        return self._pattern.sub(by, text, count=count)


def watched(value: Any, seen: Counter[str]) -> Any:
    """A pattern, or a table of patterns, that counts; anything else as it is."""
    if isinstance(value, re.Pattern) and isinstance(value.pattern, str):
        return Watched(value, seen)
    if isinstance(value, tuple) and type(value) is tuple and any(isinstance(x, re.Pattern) for x in value):
        return tuple(watched(one, seen) for one in value)
    if isinstance(value, dict) and any(isinstance(one, re.Pattern) for one in value.values()):
        return {key: watched(one, seen) for key, one in value.items()}
    return value


def profiled(call: Callable[..., object], given: tuple[object, ...], seen: Counter[str]) -> None:
    """Call, with the characters counted that methods of texts look at."""

    def profile(_frame: object, event: str, function: Any) -> None:
        if event == "c_call" and function.__name__ in WHOLE:
            whole = getattr(function, "__self__", None)
            seen["characters"] += len(whole) if isinstance(whole, str | bytes) else 0

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        call(*given)
    finally:
        sys.setprofile(before)


def watch_patterns(patch: pytest.MonkeyPatch, seen: Counter[str]) -> None:
    """From now on the patterns of the modules that are loaded count the characters that they look at."""
    for name, module in list(sys.modules.items()):
        for key, value in list(vars(module).items()) if name.startswith("smartsearch.") else ():
            if (other := watched(value, seen)) is not value:
                patch.setattr(module, key, other)


def watch_system(patch: pytest.MonkeyPatch, seen: Counter[str]) -> None:
    """From now on what is asked of the system is counted.

    Files looked up, files and members opened, bytes of members unpacked, statements and steps of SQLite.
    """

    def counting(name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            seen[name] += 1
            return real(*given, **named)

        return call

    def connected(*given: Any) -> sqlite3.Connection:
        store = connect(*given)
        store.set_trace_callback(lambda _: seen.update(("statements",)))
        store.set_progress_handler(lambda: seen.update({"rows": MACHINE}), MACHINE)
        return store

    def unpacked(file: zipfile.ZipExtFile, *given: Any) -> bytes:
        data = read(file, *given)
        seen["unpacked"] += len(data)
        return data

    connect, read = sqlite3.connect, zipfile.ZipExtFile.read
    for name in ("stat", "lstat", "open", "scandir"):
        patch.setattr(os, name, counting(name, getattr(os, name)))
    patch.setattr(zipfile.ZipFile, "open", counting("members", zipfile.ZipFile.open))
    patch.setattr(zipfile.ZipFile, "__init__", counting("archives", zipfile.ZipFile.__init__))
    patch.setattr(zipfile.ZipExtFile, "read", unpacked)
    patch.setattr(stores.sqlite3, "connect", connected)


@contextmanager
def working() -> Iterator[Callable[..., dict[str, int]]]:
    """What counts all that can be counted of a call, by name; modules have to be loaded before."""
    seen = Counter[str]()

    def work(call: Callable[..., object], *given: object) -> dict[str, int]:
        seen.clear()
        count = steps(profiled, call, given, seen)
        return {**seen, "steps": count}

    with pytest.MonkeyPatch.context() as patch:
        watch_system(patch, seen)
        watch_patterns(patch, seen)
        yield work


def growth(costs: list[dict[str, int]], slack: float = 0.25) -> dict[str, tuple[int, ...]]:
    """Of costs at n, 2n and 4n those that grow from 2n to 4n by more than twice as from n to 2n."""
    names = {name for cost in costs for name in cost}
    found = {name: tuple(cost.get(name, 0) for cost in costs) for name in names}
    return {
        name: (few, more, many)
        for name, (few, more, many) in found.items()
        if many - more > 2 * max(0, more - few) * (1 + slack) + FEW
    }
