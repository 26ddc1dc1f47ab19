"""`smartsearch formats` and `formats detect`: what can be read, and what files were taken for."""

import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from smartsearch.output import detected
from smartsearch.transcripts import FORMATS
from tests.cli.conftest import CHAT, Run
from tests.transcripts.build import zipped

ONE = replace(FORMATS[0], name="one", how="Settings, then Export.", silent=True)


def test_json_says_how_to_get_a_file(run: Run):
    rows = run("formats", "--json").record["formats"]
    assert [row["name"] for row in rows] == [known.name for known in FORMATS]
    assert set(rows[0]) == {"name", "extensions", "description", "how", "goes_with_others"}


def test_a_pipe_gets_columns(capsys: pytest.CaptureFixture[str]):
    detected.show_formats([ONE], as_json=False)
    head, row = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "extensions", "description", "how"]
    assert row.endswith("(goes with others)  Settings, then Export.")


def test_a_terminal_gets_them_wrapped(capsys: pytest.CaptureFixture[str], monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "30")
    monkeypatch.setenv("TERM", "dumb")
    detected.show_formats([ONE], as_json=False)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "one  .json, .jsonl"
    assert lines[-1].endswith("Export.")
    assert max(map(len, lines)) <= 30


def test_each_file_is_told_with_what_is_in_it(run: Run, chats: Path):
    (chats / "broken.json").write_text("[{", encoding="utf-8")
    (chats / "empty.txt").write_text("\n", encoding="utf-8")
    (chats / "half.jsonl").write_text('{"role": "user", "content": "hi"}\n{"role": 7\n', encoding="utf-8")
    (chats / "notes.txt").write_text("Nothing but\nprose here.\n", encoding="utf-8")
    ran = run("formats", "detect", ".")
    assert ran.code == 0
    assert ran.err == ""
    assert ran.out.splitlines() == [
        "broken.json: not read",
        "  left out: line 1: not valid JSON: Expecting property name enclosed in double quotes (column 3)",
        "chat.txt: chat, 1 conversation, 4 turns, Mara, Ilya, 2024-05-08 to 2024-05-10, 100% explained, "
        "head [TIME] NAME: TEXT, 4 of 5 lines",
        "empty.txt: empty",
        "  note: empty, no turns",
        "half.jsonl: messages, 1 conversation, 1 turn, user",
        "  left out: line 2: not valid JSON: Expecting ',' delimiter (column 11)",
        "notes.txt: prose, 1 conversation, 1 turn",
        "  note: no chat format recognised, read as prose, a paragraph a turn",
        "talk.json: messages, 1 conversation, 2 turns, user, assistant, 100% explained",
        "6 files, 4 conversations, 8 turns; 1 could not be read",
    ]


def test_the_record_has_all_speakers_of_whom_a_line_shows_some(run: Run, chats: Path):
    record = run("formats", "detect", "chat.txt", "talk.json", "--json").record
    assert record["schema_version"] == 1
    assert record["files"][0] == {
        **{"path": "chat.txt", "format": "chat", "goes_with_others": False, "conversations": 1, "turns": 4},
        **{"speakers": ["Mara", "Ilya"], "first": "2024-05-08T13:56:00", "last": "2024-05-10T09:00:00"},
        **{"explained": 1.0, "unexplained": "", "head": "[TIME] NAME: TEXT", "skipped": [], "warnings": []},
    }
    assert record["total"] == {"files": 2, "failed": 0, "conversations": 2, "turns": 6}
    said = [{"role": "user", "name": f"P{n}", "content": "hi"} for n in range(9)]
    (chats / "many.json").write_text(json.dumps(said), encoding="utf-8")
    assert "P0, P1, P2, P3, 5 more" in run("formats", "detect", "many.json").out
    assert len(run("formats", "detect", "many.json", "--json").record["files"][0]["speakers"]) == 9


ODD = "9:05 ~ mara ~ the boiler drips\n9:06 ~ ilya ~ close the valve\n"


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--head", "TIME ~ NAME ~ TEXT"], 0, [("mara", "the boiler drips"), ("ilya", "close the valve")]),
        (["--head", "TIME TEXT"], 2, "no head of turns: 'TIME TEXT' has not one NAME"),
        (["--head", "NAME says: TEXT"], 2, "no line begins with the head that was stated: NAME says: TEXT"),
        (["--head", "NAME: TEXT", "--input-format", "slack"], 2, "--head is for text chats"),
    ],
)
def test_a_head_may_be_stated(run: Run, chats: Path, options: list[str], code: int, said: object):
    (chats / "odd.txt").write_text(ODD, encoding="utf-8")
    ran = run("show", "odd.txt", "--all", "--json", *options)
    assert ran.code == code
    if code:
        assert str(said) in ran.err + ran.out
    else:
        turns = ran.record["places"][0]["excerpts"][0]["turns"]
        assert [(turn["speaker"], turn["text"]) for turn in turns] == said


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"a.txt": "Ann: hi\nBen: ho\nAnn: he", "b.json": "[{"}, 0),
        ({"a.txt": ""}, 1),
        ({"b.json": "[{"}, 2),
        ({"a.txt": "", "b.json": "[{"}, 1),
        ({}, 1),
    ],
)
def test_exit_codes(run: Run, chats: Path, files: dict[str, str], code: int):
    folder = chats / "some"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    assert run("formats", "detect", "some").code == code
    assert run("formats", "detect", "some", "--json").code == code


def test_archives_and_standard_input(run: Run, chats: Path, monkeypatch: pytest.MonkeyPatch):
    zipped(chats / "export.zip", {"a/chat.txt": CHAT})
    assert run("formats", "detect", "export.zip").out.startswith("export.zip/a/chat.txt: chat, ")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(CHAT.encode())))
    assert run("formats", "detect", "-").out.startswith("-: chat, 1 conversation, 4 turns")


def test_files_are_told_as_they_are_read(capsys: pytest.CaptureFixture[str]):
    seen: list[str] = []

    def files():
        yield detected.Detected("a", ONE)
        seen.append(capsys.readouterr().out)
        yield detected.Detected("b", ONE)

    detected.show(files(), as_json=False)
    assert seen == ["a: one, goes with others\n"]


def test_a_path_that_is_not_there_loses_no_other(run: Run):
    ran = run("formats", "detect", "nowhere", "talk.json")
    assert ran.code == 0
    assert ran.out.splitlines() == [
        "nowhere: not read",
        "  left out: no such file or folder",
        "talk.json: messages, 1 conversation, 2 turns, user, assistant, 100% explained",
        "2 files, 1 conversation, 2 turns; 1 could not be read",
    ]
    ran = run("formats", "detect", "nowhere")
    assert (ran.code, ran.out) == (2, "")
    assert "no such file or folder: nowhere" in ran.err


def test_names_of_chats_are_listed_and_taken_as_paths(run: Run, tmp_path: Path, monkeypatch):
    sessions = tmp_path / ".codex" / "sessions"
    sessions.mkdir(parents=True)
    (sessions / "talk.txt").write_text(CHAT, encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    rows = {row["name"]: row for row in run("formats", "places", "--json").record["places"]}
    assert rows["@codex"] == {"name": "@codex", "paths": [str(sessions)], "there": True, "files": 1}
    assert rows["@claude-code"]["there"] is False
    assert "not there" in run("formats", "places").out
    assert run("formats", "detect", "@codex").out.startswith(f"{sessions}/talk.txt: chat, 1 conversation")
    assert run("show", "@codex").code == 0
    assert "did you mean @codex?" in run("formats", "detect", "@codx").err
