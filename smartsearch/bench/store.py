"""Keeps what a benchmark computes in an SQLite file: an interrupted run loses nothing, other grids reuse it.

An entry is keyed by everything its value depends on, so a changed model, question or transcript is never
mistaken for the old one, and several datasets share a file.
"""

from __future__ import annotations

import hashlib
import io
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from smartsearch.errors import InputError
from smartsearch.rank.text import SHOWN, Shown
from smartsearch.rank.windows import READ_WINDOWS, all_windows
from smartsearch.runtime.outputs import database
from smartsearch.types import Corpus

_SCHEMA = """create table if not exists entries
(kind text not null, key text not null, value blob not null, primary key (kind, key)) without rowid"""


def digest(*parts: str) -> str:
    """A short key of `parts`, in which ("ab", "c") and ("a", "bc") differ."""
    hashed = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()


def corpus_digest(corpus: Corpus, show: Shown = SHOWN) -> str:
    """A key of all that matching and scoring read of a corpus: fields, sessions, what scorers see.

    Where a turn has several windows, the number of those that are read counts too.
    """
    spoken = [turn.spoken for turn in corpus.turns]
    texts = all_windows(corpus, range(len(corpus.turns)), show)
    read = [f"\0{READ_WINDOWS}"] if any(len(some) > 1 for some in texts) else []
    return digest(*spoken, "\0", *(text for some in texts for text in some), *read)


class Store(AbstractContextManager["Store"]):
    """Arrays by kind and key in an SQLite file. Use as a context manager; what was put is there at once.

    Threads may share it.
    """

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises InputError where it is no store or cannot be written."""
        self.path, self._lock = path, Lock()
        try:
            self._db = database(path, "entries", _SCHEMA, ("kind", "key", "value"))
        except (sqlite3.Error, OSError) as error:
            raise InputError(
                f"{path} cannot be used as a score store: {error}",
                hint="another --store, or remove the file",
                kind="store",
            ) from error

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def get(self, kind: str, key: str) -> NDArray[np.generic] | None:
        """The array put under `kind` and `key`, or None."""
        asked = ("select value from entries where kind = ? and key = ?", (kind, key))
        with self._lock:
            row = self._db.execute(*asked).fetchone()
        if row is None:
            return None
        array: NDArray[np.generic] = np.load(io.BytesIO(row[0]), allow_pickle=False)
        return array

    def put(self, kind: str, key: str, array: NDArray[np.generic]) -> None:
        """Keep `array`, over what stood there."""
        buffer = io.BytesIO()
        np.save(buffer, array, allow_pickle=False)
        value = (kind, key, buffer.getvalue())
        with self._lock:
            self._db.execute("insert or replace into entries values (?, ?, ?)", value)
