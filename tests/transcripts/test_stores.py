"""SQLite stores of chats: read from their bytes, with their log, never locked, and damaged ones too."""

from __future__ import annotations

import json
import shutil
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from smartsearch.errors import InputError
from smartsearch.transcripts import FormatError, read
from smartsearch.transcripts.decode import decode
from smartsearch.transcripts.stores import merged
from smartsearch.types import Turn

SAMPLES = Path(__file__).parent / "samples"
CURSOR, OPENCODE = SAMPLES / "cursor-store" / "state.json", SAMPLES / "opencode" / "store.json"
pytestmark = pytest.mark.skipif(sys.version_info < (3, 11), reason="sqlite3 reads no bytes before 3.11")


def cursor(path: Path, rows: dict[str, Any]) -> Path:
    """A store of Cursor's tables."""
    with closing(sqlite3.connect(path)) as store, store:
        for table in ("ItemTable", "cursorDiskKV"):
            store.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
            kept = [(key, json.dumps(value).encode()) for key, value in rows.get(table, {}).items()]
            store.executemany(f"INSERT INTO {table} VALUES (?, ?)", kept)
    return path


def opencode(path: Path, rows: dict[str, dict[str, dict[str, Any]]]) -> Path:
    """A store of OpenCode's tables, JSON as text."""
    with closing(sqlite3.connect(path)) as store, store:
        for table, kept in rows.items():
            names = list(next(iter(kept.values())))
            store.execute(f"CREATE TABLE {table} ({', '.join(names)}, time_updated, extra)")
            for row in kept.values():
                said = [json.dumps(v) if isinstance(v, dict) else v for v in (row.get(n) for n in names)]
                marks = ", ".join("?" * len(said))
                store.execute(f"INSERT INTO {table} ({', '.join(names)}) VALUES ({marks})", said)
    return path


def said(turns: tuple[Turn, ...]) -> list[tuple[str, ...]]:
    return [(t.speaker, t.text, t.caption, t.time, t.pointer, t.conversation, t.title) for t in turns]


def chat(text: str) -> dict[str, Any]:
    """A chat of one message."""
    row = {"createdAt": 1767600000000, "conversation": [{"type": 1, "bubbleId": "b", "text": text}]}
    return {"composerData:c": row}


def test_a_store_says_what_its_document_says(tmp_path: Path) -> None:
    for make, sample, name in ((cursor, CURSOR, "state.vscdb"), (opencode, OPENCODE, "opencode.db")):
        path = make(tmp_path / name, json.loads(sample.read_text(encoding="utf-8")))
        found = read([str(path)])
        assert sorted(said(found.turns)) == sorted(said(read([str(sample)]).turns))
        assert (found.skipped, found.warnings) == ((), ())


def test_a_folder_and_an_archive_are_searched_for_stores_by_their_names(tmp_path: Path) -> None:
    cursor(tmp_path / "state.vscdb", {"cursorDiskKV": chat("which glaze")})
    (tmp_path / "window").mkdir()
    cursor(tmp_path / "window" / "state.vscdb", {})
    cursor(tmp_path / "other.db", {})
    found = read([str(tmp_path)])
    assert [turn.text for turn in found.turns] == ["which glaze"]
    assert (found.skipped, found.warnings) == ((), ())
    archive = shutil.make_archive(str(tmp_path.with_name("backup")), "zip", tmp_path)
    assert [turn.text for turn in read([archive]).turns] == ["which glaze"]


@pytest.fixture
def open_store(tmp_path: Path) -> Any:
    """A store whose program runs: what it wrote last is in the log alone, and nobody else may write."""
    path = cursor(tmp_path / "state.vscdb", {"cursorDiskKV": chat("old")})
    with closing(sqlite3.connect(path, isolation_level=None)) as store:
        store.execute("PRAGMA journal_mode = WAL")
        store.execute("PRAGMA wal_autocheckpoint = 0")
        (row,) = chat("new").items()
        store.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (row[0], json.dumps(row[1])))
        store.execute("BEGIN IMMEDIATE")
        yield path


def test_what_the_log_has_is_read_and_nothing_is_locked_or_left_behind(open_store: Path) -> None:
    before = {path.name: path.read_bytes() for path in open_store.parent.iterdir()}
    assert [turn.text for turn in read([str(open_store)]).turns] == ["new"]
    assert {path.name: path.read_bytes() for path in open_store.parent.iterdir()} == before


def test_what_a_log_has_not_committed_or_has_of_an_earlier_round_is_left_out(open_store: Path) -> None:
    data = open_store.read_bytes()
    log = open_store.with_name("state.vscdb-wal").read_bytes()
    assert "new" in decode(merged(data, log)).text
    assert "old" in decode(merged(data, log[:-1])).text
    assert "old" in decode(merged(data, log[:40] + b"????" + log[44:])).text
    for other in (None, b"", b"x" * 50, log[:32], b"\x00" * len(log)):
        assert merged(data, other) == data


def test_a_damaged_store_gives_what_is_left_of_it(tmp_path: Path) -> None:
    rows = {f"composerData:c{n}": chat(f"glaze {n} {'x' * 900}")["composerData:c"] for n in range(60)}
    path = cursor(tmp_path / "state.vscdb", {"cursorDiskKV": rows})
    data = path.read_bytes()
    path.write_bytes(data[: len(data) * 2 // 3])
    found = read([str(path)])
    assert 0 < len(found.turns) < 60
    assert any("the store is damaged" in said for said in found.warnings)


def test_a_broken_head_raises_nothing_but_named_errors(tmp_path: Path) -> None:
    data = cursor(tmp_path / "state.vscdb", {"cursorDiskKV": chat("hi")}).read_bytes()
    for at in range(16, 120):
        for wrong in (b"\x00", b"\xff", b"\x7f\xff\xff\xff"):
            with suppress(FormatError):
                assert decode(data[:at] + wrong + data[at + len(wrong) :]).text.startswith("{")


def test_another_store_is_named_by_its_tables(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "birds.db")) as store, store:
        store.execute("CREATE TABLE sightings (name)")
    with pytest.raises(InputError, match="a SQLite store of no known chats; its tables: sightings"):
        read([str(tmp_path / "birds.db")])


def test_a_view_or_a_column_that_makes_text_up_is_not_asked(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "state.vscdb")) as store, store:
        store.execute("CREATE TABLE ItemTable (key, value)")
        store.execute(
            "CREATE VIEW cursorDiskKV AS WITH RECURSIVE n(key) AS "
            "(SELECT 'composerData:' UNION ALL SELECT key || 'x' FROM n) SELECT key, key AS value FROM n"
        )
        store.execute("CREATE TABLE message (id, session_id, data AS (hex(zeroblob(9999999))))")
        store.execute("INSERT INTO message (id) VALUES ('m')")
    assert decode((tmp_path / "state.vscdb").read_bytes()).text == '{"ItemTable":{}}'


def test_a_store_of_an_earlier_version_lacks_columns(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "opencode.db")) as store, store:
        store.execute("CREATE TABLE session (id TEXT PRIMARY KEY, title TEXT)")
        store.execute("CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT, data TEXT)")
        store.execute("CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT, data TEXT)")
        store.execute("INSERT INTO session VALUES ('s', 'Tides')")
        store.execute("INSERT INTO message VALUES ('m', 's', ?)", (json.dumps({"role": "user"}),))
        store.execute("INSERT INTO part VALUES ('p', 'm', ?)", (json.dumps({"type": "text", "text": "hi"}),))
    (turn,) = read([str(tmp_path)]).turns
    assert (turn.text, turn.role, turn.title, turn.conversation) == ("hi", "user", "Tides", "s")
