"""`smartsearch index`: what it prints, and that `query` answers the same with what it made."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from smartsearch.ask import library as ask
from smartsearch.transcripts.large import indexing
from tests.cli.conftest import QUESTION, Run


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(indexing, "SETTLED", 0.0)
    monkeypatch.setattr(ask, "UNPARSED_ABOVE", 0)
    monkeypatch.setattr(ask.Library.__init__, "__defaults__", (None, 0, None))


def test_a_line_says_what_was_done(run: Run, chats: Path):
    assert run("index").out.startswith(".: 2 files, 6 turns, ")
    (chats / "more.txt").write_text("Ann: hello\nBen: hi\n")
    (chats / "talk.json").unlink()
    (chats / "broken.json").write_text("{")
    ran = run("index", str(chats))
    assert "3 files, 6 turns" in ran.out
    assert "2 new, 0 changed, 1 removed, 1 unchanged" in ran.out
    assert f"left out: {chats / 'broken.json'}: " in ran.err
    (row,) = run("index", "--json").record["index"]
    assert (row["path"], row["unchanged"], row["new"]) == (".", 3, 0)
    sample = Path(__file__).parents[1] / "transcripts" / "samples" / "slack"
    (told,) = [line for line in run("index", str(sample)).err.splitlines() if "needs files beside it" in line]
    assert told.endswith(f"; and {len(list(sample.rglob('20*.json'))) - 1} more")


def test_each_path_has_its_own(run: Run, chats: Path):
    assert len(run("index", "chat.txt", "talk.json").out.splitlines()) == 2
    rows = run("index", "--status", "--json").record["index"]
    held = {row["path"]: row["turns"] for row in rows}
    assert held == {str(chats / "chat.txt"): 4, str(chats / "talk.json"): 2}
    assert [row["state"] for row in rows] == ["ready", "ready"]
    assert len(run("index", "--status", "chat.txt", "--json").record["index"]) == 1
    gone, again = run("index", "--remove", "chat.txt"), run("index", "--remove", "chat.txt")
    assert gone.code == 0
    assert gone.out.startswith("removed the index of ")
    assert (again.code, again.out) == (1, "")
    assert "there is no index of chat.txt" in again.err
    (left,) = run("index", "--status", "--json").record["index"]
    assert left["path"] == str(chats / "talk.json")


def test_an_answer_is_the_same_and_says_so_when_the_index_is_not_used(run: Run, chats: Path, tmp_path: Path):
    plain = run("query", QUESTION, "--json", "--daemon", "never").record
    run("index")
    for options in ((), ("--no-cache",)):
        record = run("query", QUESTION, "--json", "--daemon", "never", *options).record
        assert record["hits"] == plain["hits"]
        assert record["warnings"] == plain["warnings"] == []
    (database,) = (tmp_path / "cache").rglob("index.sqlite")
    database.write_bytes(b"no database")
    record = run("query", QUESTION, "--json", "--daemon", "never").record
    assert record["hits"] == plain["hits"]
    assert f"smartsearch index {chats}" in record["warnings"][0]
    assert run("query", QUESTION, "--json", "--daemon", "never", "--no-cache").record["warnings"] == []


def test_errors_are_named(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    assert run("index", "nowhere").code == 2
    assert "disagree" in run("index", "--status", "--remove").err
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    ran = run("index", "--json")
    assert (ran.code, json.loads(ran.out)["error"]["kind"]) == (2, "cache")


def test_who_has_no_index_imports_no_sqlite(chats: Path):
    code = "import sys\nfrom smartsearch import transcripts as t\nt.read_large(['.'])\nprint(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "smartsearch.transcripts.corpus" in ran.stdout
    assert not [name for name in ran.stdout.split() if "sqlite" in name or ".index" in name]
