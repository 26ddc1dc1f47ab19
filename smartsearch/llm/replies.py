"""What is said to a model and what it replies, and the file that keeps replies."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from smartsearch.errors import InputError
from smartsearch.runtime.outputs import database

Message = Mapping[str, str]
"""`role` (system, user or assistant) and `content`."""


@dataclass(frozen=True)
class Reply:
    """What a model said, without its thinking. Tokens are the server's count, or ours where `estimated`.

    `model` is the name the server gives, with its version. `finish` is "stop" for a whole reply and
    "length" for one cut at `max_tokens`. `entropy`: mean nats a token, where log-probabilities were asked for
    and given. `cached`: it came from the file and cost nothing now.
    """

    text: str
    prompt_tokens: int
    completion_tokens: int
    model: str
    finish: str = "stop"
    estimated: bool = False
    entropy: float | None = None
    cached: bool = False


def rough_tokens(text: str) -> int:
    """About how many tokens an English text has: one for four characters, OpenAI's rule of thumb."""
    return -(-len(text) // 4)


_SCHEMA = """create table if not exists replies
(key text primary key, text text not null, prompt_tokens integer not null, completion_tokens integer not null,
 model text not null, finish text not null, estimated integer not null, entropy real) without rowid"""
_COLUMNS = tuple(field.name for field in fields(Reply) if field.name != "cached")


class ReplyCache:
    """Replies by request in an SQLite file, so that nothing is paid for twice.

    Holds texts and token counts; of the request only a digest, of the key nothing. Safe to use from
    several threads.
    """

    def __init__(self, path: Path) -> None:
        """Open or make the file. Raises InputError where that cannot be."""
        self.path = path
        self._lock = threading.Lock()
        try:
            self._db = database(path, "replies", _SCHEMA, ("key", "text", "finish", "entropy"))
        except (sqlite3.Error, OSError) as error:
            raise self._unusable(error) from error

    def get(self, key: str) -> Reply | None:
        """The reply kept under `key`, marked `cached`, or None."""
        row = self._run(f"select {', '.join(_COLUMNS)} from replies where key = ?", (key,))
        if row is None:
            return None
        text, prompt, completion, model, finish, estimated, entropy = row
        return Reply(text, prompt, completion, model, finish, bool(estimated), entropy, cached=True)

    def put(self, key: str, reply: Reply) -> None:
        """Keep `reply`; it is in the file when this returns."""
        columns, places = ", ".join(_COLUMNS), ", ".join("?" * len(_COLUMNS))
        values = [getattr(reply, name) for name in _COLUMNS]
        self._run(f"insert or replace into replies (key, {columns}) values (?, {places})", (key, *values))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()

    def _run(self, sql: str, values: tuple[Any, ...]) -> tuple[Any, ...] | None:
        try:
            with self._lock:
                row: tuple[Any, ...] | None = self._db.execute(sql, values).fetchone()
        except sqlite3.Error as error:
            raise self._unusable(error) from error
        return row

    def _unusable(self, error: Exception) -> InputError:
        return InputError(
            f"{self.path} cannot be used to keep replies: {error}",
            hint="another file, or remove this one",
            kind="store",
        )
