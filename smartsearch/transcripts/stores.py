"""SQLite stores of chats, as one JSON document that a reader takes like any other file. Opens nothing.

The store is read from its bytes, in memory: no lock is taken, no file made, and the program whose store it is
may go on writing. What it wrote last stands in a log beside it (`-wal`), which `merged` puts in its place.
"""

from __future__ import annotations

import json
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import orjson

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.jsontext import parse

LOG = "-wal"
"""What the log's name has behind that of its store."""

_TABLES = {
    "cursorDiskKV": (("key", "value"), (), "key GLOB 'composerData:*' OR key GLOB 'bubbleId:*'"),
    "ItemTable": (
        ("key", "value"),
        (),
        "key IN ('workbench.panel.aichat.view.aichat.chatdata', 'composer.composerData')",
    ),
    "session": (("id", "title"), ("parent_id", "directory", "revert"), "1"),
    "message": (("id", "session_id", "data"), ("time_created",), "1"),
    "part": (("id", "message_id", "data"), (), "1"),
}
"""Of Cursor's and OpenCode's tables: the columns they must have, those they may have, and which rows."""
_HEAD, _FRAME = 32, 24
"""Bytes before the first frame of a log, and before the page in each."""


def merged(data: bytes, log: bytes | None) -> bytes:
    """The store with what its log has committed since (sqlite.org/fileformat2.html#walformat)."""
    page = _page(data)
    pages, length = _committed(log, page) if log and int.from_bytes(log[8:12], "big") == page else ({}, 0)
    if not log or not pages or length > len(data) + len(log):
        return data
    made = bytearray(data[:length].ljust(length, b"\x00"))
    for number, at in pages.items():
        if 0 < number * page <= length:
            made[(number - 1) * page : number * page] = log[at : at + page]
    return bytes(made)


def _committed(log: bytes, page: int) -> tuple[dict[int, int], int]:
    """Where the pages stand that a log has committed, by their numbers, and the length of the store then."""
    pages: dict[int, int] = {}
    waiting: dict[int, int] = {}
    length = 0
    for at in range(_HEAD, len(log) - page - _FRAME + 1, page + _FRAME):
        if log[at + 8 : at + 16] != log[16:24]:
            break  # of an earlier round: the log is written from its beginning again
        waiting[int.from_bytes(log[at : at + 4], "big")] = at + _FRAME
        if committed := int.from_bytes(log[at + 4 : at + 8], "big"):
            pages.update(waiting)
            waiting.clear()
            length = committed * page
    return pages, length


def text(data: bytes) -> tuple[str, tuple[str, ...]]:
    """The document: of each table that is known its rows by their key, and a warning for a damaged store.

    Raises FormatError `binary` for a store without such tables, or one that cannot be opened.
    """
    if sys.version_info < (3, 11):
        raise FormatError("a SQLite store; to read it takes Python 3.11 or later", kind="binary")
    found: dict[str, Any] = {}
    warnings: tuple[str, ...] = ()
    try:
        with closing(sqlite3.connect(":memory:")) as store:
            store.deserialize(_openable(data))
            store.text_factory = lambda raw: raw.decode("utf-8", "replace")
            names = _names(store)
            for name in _TABLES.keys() & set(names):
                if columns := _columns(store, name):
                    rows = found.setdefault(name, {})
                    rows.update(_rows(store, name, columns, _TABLES[name][2], len(data)))
    except sqlite3.Error as error:
        if not any(found.values()):
            raise FormatError(f"a SQLite store that cannot be read: {error}", kind="binary") from None
        warnings = (f"the store is damaged, rows may be missing ({error})",)
    if not found:
        shown = ", ".join(sorted(names)[:6]) or "none"
        raise FormatError(f"a SQLite store of no known chats; its tables: {shown}", kind="binary")
    return _dumped(found), warnings


def _dumped(found: object) -> str:
    try:
        return str(orjson.dumps(found), "utf-8")
    except TypeError:  # an integer of more than 64 bits
        return json.dumps(found)


def _openable(data: bytes) -> bytes:
    """The bytes without what announces a log (2 at 18 and 19), and as long as their head says."""
    length = _page(data) * int.from_bytes(data[28:32], "big")
    whole = data.ljust(length, b"\x00") if length <= 4 * len(data) else data
    return whole[:18] + b"\x01\x01" + whole[20:]


def _page(data: bytes) -> int:
    """Bytes of a page."""
    page = int.from_bytes(data[16:18], "big")
    return 65_536 if page == 1 else page


def _names(store: sqlite3.Connection) -> list[str]:
    """The tables that hold rows themselves: a view could make them up without an end."""
    found = store.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0")
    return [row[0] for row in found]


def _columns(store: sqlite3.Connection, table: str) -> list[str]:
    """The columns of a table that are read, none where it is another's; those computed do not count."""
    needed, others, _ = _TABLES[table]
    there = {row[1] for row in store.execute(f"PRAGMA table_info({table})")}
    return [name for name in (*needed, *others) if name in there] if there.issuperset(needed) else []


def _rows(
    store: sqlite3.Connection, table: str, columns: list[str], which: str, room: int
) -> Iterator[tuple[str, Any]]:
    """Key and value of each row. Raises FormatError `too_large` for more text than the file can hold."""
    # not by way of an index, which may be damaged where the rows are whole
    query = f"SELECT {', '.join(columns)} FROM {table} NOT INDEXED WHERE {which}"
    for row in store.execute(query):
        room -= sum(len(value) for value in row if isinstance(value, str | bytes))
        if room < 0:
            raise FormatError("its rows come to more than the file holds", kind="too_large")
        values = {name: _value(value) for name, value in zip(columns, row)}
        yield str(row[0]), values.get("value", values)


def _value(value: Any) -> Any:
    """A column's value, parsed where it is JSON; what is no text is left out."""
    written = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    if not isinstance(written, str) or written.lstrip()[:1] not in ("{", "["):
        return written if isinstance(written, str | int | float | None) else None
    try:
        return parse(written)
    except json.JSONDecodeError:
        return written
