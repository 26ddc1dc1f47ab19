"""Reads turns from an index instead of their files (docs/decisions/0012).

`opened` are the indexes of some paths. Each knows of a file whether it is still as it was indexed, and
`IndexedTurns` are the turns of some such files. All of it is one state of the database: what a build does
meanwhile is not seen.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from smartsearch.errors import CacheError
from smartsearch.runtime.private import check, levels
from smartsearch.transcripts.faults import IndexFault
from smartsearch.transcripts.filters import Facts
from smartsearch.transcripts.large import index_store as store
from smartsearch.transcripts.opening import allowed
from smartsearch.types import Skipped, Turn

FEW = 1024
"""Up to so many matches are checked for the text itself; beyond, its trigrams are enough."""

Run = tuple[int, int]
"""The first row and the number of rows of turns that follow each other."""


@dataclass(frozen=True)
class IndexedFile:
    """A file in an index: the rows of its turns, and what reading it reported."""

    index: Index
    number: int
    path: str
    runs: tuple[Run, ...]
    facts: tuple[str, str, str]
    ids: bytes = b""
    """What tells its turns from those of other files of its folder (`onefile.id_of`), if that is needed."""

    @property
    def speakers(self) -> set[str]:
        """The folded names of those who speak in it."""
        return set(orjson.loads(self.facts[0]))

    @property
    def skipped(self) -> list[Skipped]:
        """What could not be read."""
        return [Skipped(self.path, kind, reason) for kind, reason in orjson.loads(self.facts[1])]

    @property
    def said(self) -> list[str]:
        """The warnings of reading it."""
        return list(orjson.loads(self.facts[2]))

    def without(self, shown: Sequence[bool]) -> IndexedFile:
        """The file with those of its turns alone that are `shown`."""
        rows = [row for first, count in self.runs for row in range(first, first + count)]
        kept = [row for row, here in zip(rows, shown, strict=True) if here]
        firsts = [n for n, row in enumerate(kept) if not n or row != kept[n - 1] + 1]
        ends = (*firsts[1:], len(kept))
        return replace(self, runs=tuple((kept[n], end - n) for n, end in zip(firsts, ends)))


class Index:
    """One index, open for reading. Raises IndexFault where it cannot be used."""

    def __init__(self, root: str, folder: Path) -> None:
        self.root, self._folder = root, folder
        if (folder / store.DAMAGED).exists():
            raise IndexFault(store.damaged(root))
        self._lock = threading.Lock()
        self._last: tuple[str, store.Rows | None] | None = None
        with store.faults(folder, root):
            self._database = store.connect(folder / store.NAME)
            weakref.finalize(self, self._database.close)
            self._database.execute("BEGIN")
            if not store.stamped(self._database):
                raise IndexFault(
                    f"the index of {root} is of another version and was left aside; "
                    f"`{store.command(root)}` makes it anew"
                )

    @cached_property
    def _files(self) -> dict[str, tuple[int, str, int, tuple[str, str, str], bytes]]:
        """Number, state, turns, what reading said, and ids of turns, by real path."""
        every = self._all("SELECT path, id, state, turns, speakers, skipped, warnings, ids FROM files")
        return {
            os.fsdecode(path): (file, state, n, (a, b, c), i) for path, file, state, n, a, b, c, i in every
        }

    @cached_property
    def _runs(self) -> dict[int, list[Run]]:
        runs: dict[int, list[Run]] = {}
        for file, first, count in self._all("SELECT file, first, count FROM runs ORDER BY file, position"):
            runs.setdefault(file, []).append((first, count))
        return runs

    @property
    def command(self) -> str:
        """The command that updates it."""
        return store.command(self.root)

    def holds(self, real: str) -> bool:
        """Whether a file, by its real path, lies below the root."""
        return real == self.root or real.startswith(f"{self.root.rstrip(os.sep)}{os.sep}")

    def apart(self, real: str) -> bool:
        """Whether a file, by its real path, cannot be indexed."""
        held = self._files.get(real)
        return held is not None and held[1].startswith(store.APART)

    def file(self, path: str, real: str) -> IndexedFile | None:
        """The file at `path`, really `real`, if it is as it was when it was indexed. Raises IndexFault.

        None under another name, for readers take ids from the names of files and their folders.
        """
        held = self._files.get(real)
        try:
            if held is None or held[1] != store.state_of(real):
                return None
        except OSError:
            return None
        if Path(path).absolute().parts[-2:] != Path(real).parts[-2:]:
            return None
        number, _, turns, facts, ids = held
        runs = tuple(self._runs.get(number, ()))
        with store.faults(self._folder, self.root):
            if sum(count for _, count in runs) != turns:
                raise ValueError("runs")
        return IndexedFile(self, number, path, runs, facts, ids)

    def turn(self, row: int, file: int, path: str) -> Turn:
        """The turn in a row, of the file of that number, shown as `path`. Raises IndexFault."""
        with store.faults(self._folder, self.root), self._lock:
            found = self._database.execute("SELECT record FROM turns WHERE id = ?", (row,)).fetchone()
            return store.turn_of(found[0], file, row, path)

    def facts(self, rows: Sequence[int], file: int) -> Iterator[Facts]:
        """What filters ask of the turns in these rows, ascending, of one file. Raises IndexFault."""
        asked = "SELECT id, record FROM turns WHERE id BETWEEN ? AND ?"
        for at in range(0, len(rows), FEW):
            some = rows[at : at + FEW]
            wanted = set(some)
            with store.faults(self._folder, self.root), self._lock:
                found = self._database.execute(asked, (some[0], some[-1])).fetchall()
                known = [store.facts_of(record, file, row) for row, record in found if row in wanted]
                if len(known) < len(some):
                    raise ValueError("rows")
            yield from known

    def rows_with(self, text: str) -> store.Rows | None:
        """The rows that may contain `text`, ascending; None: any may. Raises IndexFault."""
        with store.faults(self._folder, self.root), self._lock:
            if self._last is None or self._last[0] != text:
                self._last = text, store.rows_with(self._database, text)
            return self._last[1]

    def _all(self, asked: str) -> list[Any]:
        with store.faults(self._folder, self.root), self._lock:
            return self._database.execute(asked).fetchall()


class IndexedTurns:
    """The turns of some files of one index, by position."""

    def __init__(self, files: Sequence[IndexedFile]) -> None:
        self._index = files[0].index
        self.speakers = {name for file in files for name in file.speakers}
        runs = [(first, count, file) for file in files for first, count in file.runs]
        self._files = [(file.number, file.path) for _, _, file in runs]
        self._firsts = np.array([first for first, _, _ in runs], dtype=np.int64)
        self._counts = np.array([count for _, count, _ in runs], dtype=np.int64)
        self._bases = np.cumsum([0, *(count for _, count, _ in runs)])

    def __len__(self) -> int:
        return int(self._bases[-1])

    def turn(self, position: int) -> Turn:
        """The turn at a position. Raises IndexFault."""
        run = int(np.searchsorted(self._bases, position, side="right")) - 1
        row = int(self._firsts[run]) + position - int(self._bases[run])
        return self._index.turn(row, *self._files[run])

    def facts(self, positions: store.Rows) -> Iterator[Facts | None]:
        """What filters ask of the turns at these positions, ascending. Raises IndexFault."""
        ends = np.searchsorted(positions, self._bases)
        for run, (file, _) in enumerate(self._files):
            inside = positions[ends[run] : ends[run + 1]]
            if len(inside):
                yield from self._index.facts((inside - self._bases[run] + self._firsts[run]).tolist(), file)

    def with_word(self, text: str) -> store.Rows:
        """Positions whose turn can contain `text` (case-folded), ascending: every one that does.

        Of a rare text these and no other: how often it occurs is its weight. Raises IndexFault.
        """
        rows = self._index.rows_with(text)
        if rows is None:
            return np.arange(len(self))
        begin = np.searchsorted(rows, self._firsts)
        counts = np.searchsorted(rows, self._firsts + self._counts) - begin
        inside = np.arange(int(counts.sum())) + np.repeat(begin - (np.cumsum(counts) - counts), counts)
        places: store.Rows = rows[inside] + np.repeat(self._bases[:-1] - self._firsts, counts)
        needle = store.needle_of(text)
        if len(needle) > store.GRAM and len(places) <= FEW:
            holding = [at for at in places.tolist() if needle in store.indexed_text(self.turn(at))]
            return np.array(holding, dtype=np.int64)
        return places


@dataclass(frozen=True)
class Opened:
    """The indexes that hold some paths, the innermost first, and warnings of unusable ones."""

    indexes: tuple[Index, ...] = ()
    warnings: tuple[str, ...] = ()

    def file(self, path: str, real: str) -> IndexedFile | None:
        """The file at `path`, really `real`, from the first index that has it as it is. Raises IndexFault."""
        if not allowed(real):
            return None
        return next((file for index in self.indexes if (file := index.file(path, real))), None)


def opened(paths: Sequence[str]) -> Opened:
    """The indexes of these paths and of the folders above them."""
    roots: dict[str, None] = {}
    for path in paths:
        real = os.path.realpath(path)
        roots |= dict.fromkeys([real, *map(str, Path(real).parents)])
    tried = [_tried(root) for root in sorted(roots, key=len, reverse=True)]
    return Opened(
        tuple(index for index in tried if isinstance(index, Index)),
        tuple(said for said in tried if isinstance(said, str)),
    )


def _tried(root: str) -> Index | str | None:
    """The index of a root, or the reason it is unusable; None if there is no index."""
    try:
        folder = store.folder_of(root)
        if not (folder / store.NAME).exists():
            return None
        check(levels(folder))
        return Index(root, folder)
    except (IndexFault, CacheError) as error:
        return error.message
    except OSError as error:
        return f"the index of {root} cannot be read: {error.strerror}"
