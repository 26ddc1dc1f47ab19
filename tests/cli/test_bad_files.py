"""What a hostile file, folder, question or setting costs: itself, and a word."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.transcripts.build import lines, put
from tests.transcripts.odd import fail_with

CHAT = "Maya: hi\nJonas: hello\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A file whose reader fails, and one that is well."""
    put(tmp_path, "chats/a.txt", "ODD")
    put(tmp_path, "chats/b.txt", CHAT)
    fail_with(LookupError("odd thing"), monkeypatch)
    return tmp_path / "chats"


@pytest.mark.parametrize(
    "command",
    [
        ("query", "hello", "--json", "{}"),
        ("show", "--json", "{}"),
        ("formats", "detect", "--json", "{}"),
        ("batch", "{}/../q.jsonl", "{}"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_goes_on_and_says_so(folder, run, command):
    put(folder.parent, "q.jsonl", lines({"id": 1, "question": "hello"}))
    done = run(*(word.format(folder) for word in command))
    assert done.code == 0
    assert all(said in done.out for said in ("reader_failed", "LookupError: odd thing", "Jonas"))


def test_lines_of_a_batch_that_no_text_can_hold_cost_themselves(tmp_path, run):
    chat = str(put(tmp_path, "b.txt", CHAT))
    asked = [
        {"id": 1, "question": "hello \ud800?", "paths": [chat]},
        {"id": 2, "question": "hello", "paths": ["a\x00b"]},
        {"id": 3, "question": "hello", "paths": [chat], "only_speaker": "Jo\udc80nas"},
        {"id": 4, "question": "hello", "paths": [chat]},
    ]
    done = run("batch", str(put(tmp_path, "q.jsonl", lines(*asked))))
    answers = [json.loads(line) for line in done.out.splitlines()]
    kinds = [answer.get("error", {}).get("kind") for answer in answers]
    assert kinds == [None, "path_not_found", "unknown_speaker", None]
    assert answers[0]["query"] == "hello \ufffd?"


@pytest.mark.parametrize("table", ["a = " + "[" * 5000, "hops = " + "9" * 5000, "hops = inf", "x\x00"])
def test_a_project_file_that_cannot_be_read_is_named_and_the_search_goes_on(
    tmp_path, monkeypatch, run, table
):
    chat = str(put(tmp_path, "b.txt", CHAT))
    monkeypatch.chdir(tmp_path)
    before = run("query", "hello", chat, "--json")
    put(tmp_path, ".smartsearch.toml", table)
    done = run("query", "hello", chat, "--json")
    assert done.code == before.code == 0
    warned = [text for text in done.record["warnings"] if ".smartsearch.toml" in text]
    assert len(warned) == 1
    assert warned[0] in done.err
    assert done.record["hits"] == before.record["hits"]


def test_a_project_file_that_hides_hits_is_named_once_by_every_door(tmp_path, monkeypatch, run):
    """`limit = 1` of a cloned folder; a speaker who is nowhere makes an error, which names the file too."""
    chat = str(put(tmp_path, "b.txt", "Ann: the dog\nBob: a dog\n"))
    asked = str(put(tmp_path, "q.txt", "dog\ndog Bob\n"))
    put(tmp_path, ".smartsearch.toml", "limit = 1\n")
    monkeypatch.chdir(tmp_path)
    said = f"{tmp_path}/.smartsearch.toml sets limit = 1"
    for form in ("text", "json", "md", "context"):
        done = run("query", "dog", chat, "--format", form)
        assert done.err.count(said) == 1
    assert run("query", "dog", chat, "--json").record["warnings"].count(said) == 1
    assert said not in run("query", "dog", chat, "--limit", "1").err
    done = run("batch", asked, chat)
    assert [json.loads(line)["warnings"].count(said) for line in done.out.splitlines()] == [1, 1]
    assert done.err.count(said) == 1
    put(tmp_path, ".smartsearch.toml", 'speaker = "Zoe"\n')
    error = run("query", "dog", chat, "--json").record["error"]
    assert error["kind"] == "unknown_speaker"
    assert error["hint"].endswith(f"{tmp_path}/.smartsearch.toml sets speaker = Zoe")


@pytest.fixture
def nowhere(tmp_path):
    """The current folder is one that was removed."""
    before = Path.cwd()
    gone = tmp_path / "gone"
    gone.mkdir()
    os.chdir(gone)
    gone.rmdir()
    yield
    os.chdir(before)


def test_a_removed_current_folder_hinders_nobody_who_names_another_and_who_needs_it_is_told(
    tmp_path, nowhere, run
):
    chat = str(put(tmp_path, "b.txt", CHAT))
    assert run("query", "hello", chat).code == 0
    assert run("show", f"{chat}:1").code == 0
    assert run("formats", "detect", chat).code == 0
    assert run("config", "show").code == 0
    assert run("query", "hello").code in (1, 2)
    done = run("query", "hello", "b.txt", "--json")
    assert (done.code, json.loads(done.out)["error"]["kind"]) == (2, "path_not_found")
    questions = str(put(tmp_path, "q.jsonl", lines({"id": 1, "question": "hello"})))
    done = run("batch", questions, str(tmp_path), "--out", f"{tmp_path}/run/")
    assert (done.code, "the current folder was removed" in done.err) == (2, True)


FORGED = "x\nsmartsearch: all is well\u2028smartsearch: forged\n  try: curl evil.example"


@pytest.mark.parametrize(
    "arguments", [("query", "dog", "there"), ("query", "dog", f"there/{FORGED}"), ("show", "there")]
)
def test_a_name_or_a_speaker_with_newlines_forges_no_line_of_an_error(
    run: Run, tmp_path, monkeypatch, arguments
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / f"{FORGED}.txt").write_bytes(b"\0\0\0")
    ran = run(*arguments)
    assert ran.code == 2
    assert [line for line in ran.err.splitlines() if "forged" in line or "evil" in line]
    assert not [line for line in ran.err.splitlines() if line.startswith(("smartsearch: all", "  try: curl"))]
    (path := tmp_path / "chat.jsonl").write_text(json.dumps({"role": FORGED, "content": "dog"}))
    ran = run("query", "dog", str(path), "--only-speaker", "x y")
    assert (ran.code, len(ran.err.splitlines())) == (2, 2)


@pytest.mark.parametrize("arguments", [("query", "dog", ""), ("show", ""), ("formats", "detect", "")])
def test_an_empty_path_is_not_the_current_folder(run: Run, arguments: tuple[str, ...]) -> None:
    ran = run(*arguments)
    assert (ran.code, ran.err.splitlines()[0]) == (2, "smartsearch: a path is empty")
