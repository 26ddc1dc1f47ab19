"""Whole reads: what is survived, what is reported, what is refused."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from smartsearch.errors import InputError
from smartsearch.transcripts import Limits, read, read_large
from tests.transcripts.build import corpus, lines, put, said

CHAT = "Maya: hi\nJonas: hello\n"
TWO = [("Maya", "hi"), ("Jonas", "hello")]
DEEP = "[" * 100_000


@pytest.mark.parametrize("text", [CHAT, lines(*[{"role": "user", "content": "a"}] * 2)])
def test_standard_input_is_a_file_called_dash_known_without_a_suffix_and_limited(text: str) -> None:
    turns = read(["-"], stdin=io.BytesIO(text.encode())).turns
    assert [(turn.path, turn.line, turn.conversation) for turn in turns] == [("-", 1, ""), ("-", 2, "")]
    with pytest.raises(InputError, match="larger than the limit"):
        read(["-"], stdin=io.BytesIO(text.encode()), limits=Limits(file=10))


@pytest.mark.parametrize("content", ["", " \n\n", b"\xef\xbb\xbf", "[]", "[ ]\n"])
def test_an_empty_folder_or_file_is_no_error(tmp_path: Path, content: Any) -> None:
    assert read([str(tmp_path)]).warnings == (f"no transcripts found in {tmp_path}",)
    path = put(tmp_path, "a.json", content)
    read_back = read([str(path)])
    assert (read_back.turns, read_back.skipped) == ((), ())
    assert read_back.warnings == (f"{path}: empty, no turns",)


@pytest.mark.parametrize(
    ("name", "content", "kind", "reason"),
    [
        ("a.json", '{"a": 1,\n "b" 2}', "invalid_json", "line 2: not valid JSON: "),
        ("a.json", "Maya: hi\nJonas: hello", "invalid_json", "line 1: not valid JSON: "),
        ("a.jsonl", "{oops\n{oops", "invalid_json", "line 1: not valid JSON: "),
        ("a.json", DEEP, "invalid_json", "line 1: not valid JSON: nested too deeply"),
        ("a.json", '{"mapping": {}, "title": "x"}', "unrecognised_json", "an object with mapping, title"),
        ("a.json", '[{"id": 1}, 2]', "unrecognised_json", "a list of 2, the first an object with id"),
        (
            "a.txt",
            '{"id": 1}',
            "unrecognised_json",
            "an object with id",
        ),
        ("a.json", "3", "unrecognised_json", "a int"),
        ("a.json", "{}", "unrecognised_json", "an empty object"),
        ("a.log", bytes(range(256)), "binary", "binary"),
    ],
)
def test_a_broken_file_is_skipped_with_its_reason_and_the_rest_is_read(
    tmp_path: Path, name: str, content: Any, kind: str, reason: str
) -> None:
    broken = put(tmp_path, name, content)
    put(tmp_path, "b.txt", CHAT)
    read_back = read([str(tmp_path)])
    assert said(read_back) == TWO
    (skipped,) = read_back.skipped
    assert (skipped.path, skipped.kind) == (str(broken), kind)
    assert reason in skipped.reason


def test_when_nothing_can_be_read_the_error_lists_why(tmp_path: Path) -> None:
    names = [put(tmp_path, f"{i}.json", "{oops") for i in range(7)]
    with pytest.raises(InputError) as raised:
        read([str(path) for path in names])
    assert raised.value.kind == "nothing_read"
    assert f"{names[4]}: line 1: not valid JSON" in raised.value.message
    assert raised.value.message.endswith("and 2 more")


def test_an_unreadable_file_is_skipped(tmp_path: Path) -> None:
    loop = tmp_path / "a.txt"
    loop.symlink_to(loop)
    put(tmp_path, "b.txt", CHAT)
    read_back = read([str(loop), str(tmp_path / "b.txt")])
    assert said(read_back) == TWO
    assert [(s.path, s.kind) for s in read_back.skipped] == [(str(loop), "unreadable")]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs Linux's /proc")
def test_a_file_that_opens_but_cannot_be_read_is_skipped() -> None:
    with pytest.raises(InputError, match="/proc/self/mem: ") as raised:
        read(["/proc/self/mem"])
    assert raised.value.kind == "nothing_read"


@pytest.mark.parametrize(
    ("name", "content", "limits", "reason"),
    [
        ("a.txt", CHAT, Limits(file=10), "larger than the limit of 10 bytes"),
        (
            "a.txt",
            "Maya: hi\nJonas: " + "x" * 100,
            Limits(line=50),
            "line 2: 107 bytes in one line, the limit is 50",
        ),
        (
            "a.jsonl",
            '{"role": "user", "content": "' + "x" * 100 + '"}\n{}',
            Limits(line=50),
            "line 1: 131 bytes",
        ),
    ],
)
def test_what_is_too_large_is_refused(
    tmp_path: Path, name: str, content: str, limits: Limits, reason: str
) -> None:
    path = put(tmp_path, name, content)
    with pytest.raises(InputError) as raised:
        read([str(path)], limits=limits)
    assert reason in raised.value.message


def test_one_json_document_may_be_one_long_line(tmp_path: Path) -> None:
    path = put(tmp_path, "a.json", [{"role": "user", "content": "x" * 100}])
    assert len(read([str(path)], limits=Limits(line=50)).turns) == 1


def test_bad_bytes_are_survived_with_a_warning(tmp_path: Path) -> None:
    content = CHAT.encode() + "Maya: café\n".encode() + b"Maya: \xff!\n"
    read_back = corpus(tmp_path, "a.txt", content)
    assert said(read_back) == [*TWO, ("Maya", "café"), ("Maya", "\ufffd!")]
    assert "1 bad byte not UTF-8" in read_back.warnings[0]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ('[{"role": "user", "content": "cut \\ud83d"}]', "cut \ufffd"),
        ('[{"role": "user", "content": "a", "score": NaN}]', "a"),
    ],
)
def test_json_that_exports_really_hold_is_read(tmp_path: Path, content: str, text: str) -> None:
    assert corpus(tmp_path, "a.json", content).turns[0].text == text


def test_a_flood_of_bad_records_is_summed_up(tmp_path: Path) -> None:
    content = '{"role": "user", "content": "hi"}\n' + "{oops\n" * 50
    skipped = corpus(tmp_path, "a.jsonl", content).skipped
    assert len(skipped) == 21
    assert skipped[-1].reason == "30 more bad records"


def test_a_format_can_be_forced_and_an_unknown_one_is_refused_with_the_names(tmp_path: Path) -> None:
    path = str(put(tmp_path, "a.json", "Maya: hi\n"))
    assert said(read([path], input_format="chat")) == [("Maya", "hi")]
    assert read([path], input_format="prose").warnings == ()
    with pytest.raises(InputError, match="not valid JSON"):
        read([path], input_format="locomo")
    with pytest.raises(InputError) as raised:
        read([path], input_format="nope")
    assert (raised.value.kind, "locomo" in raised.value.hint) == ("unknown_format", True)


@pytest.mark.parametrize(("name", "unused"), [("a.txt", "telegram"), ("a.jsonl", "whatsapp")])
def test_a_file_has_only_the_readers_of_its_kind_imported(tmp_path, name, unused):
    """All of them took a question 45 ms, most of it for patterns that no line was held against."""
    (tmp_path / name).write_text('{"role": "user", "content": "hi"}\n' if name == "a.jsonl" else "Maya: hi\n")
    said = f"import sys; from smartsearch.transcripts import read; read([{str(tmp_path)!r}]); "
    code = f"{said}print([m for m in sys.modules if m.endswith('.{unused}')])"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_files_that_take_long_to_parse_are_worth_an_index(tmp_path, monkeypatch):
    monkeypatch.setattr("smartsearch.transcripts.corpus._SLOW", 30)
    put(tmp_path, "talk.txt", "Maya: hello there\nJonas: hi\nMaya: bye\n")
    put(tmp_path, "log.jsonl", lines({"role": "user", "content": "x" * 100}))
    (said,) = read_large([str(tmp_path)]).warnings
    assert said.startswith("0 MB had to be parsed; `smartsearch index ")
    assert read_large([str(tmp_path / "log.jsonl")]).warnings == ()
    assert read_large([str(tmp_path)], indexed=False).warnings == ()


def test_a_session_that_is_resumed_in_another_file_shows_each_turn_once(tmp_path: Path) -> None:
    def typed(uuid: str, text: str) -> dict[str, Any]:
        message = {"role": "user", "content": text}
        return {"type": "user", "uuid": uuid, "sessionId": "s", "message": message}

    begun = [typed("u1", "where is the rope?"), typed("u2", "in the shed")]
    put(tmp_path / "one", "a.jsonl", lines(*begun))
    put(tmp_path / "one", "b.jsonl", lines(*begun, typed("u3", "thanks")))
    put(tmp_path / "two", "a.jsonl", lines(*begun))
    turns = read([str(tmp_path)]).turns
    assert [(Path(turn.path).parent.name, Path(turn.path).name, turn.text) for turn in turns] == [
        ("one", "a.jsonl", "where is the rope?"),
        ("one", "a.jsonl", "in the shed"),
        ("one", "b.jsonl", "thanks"),
        ("two", "a.jsonl", "where is the rope?"),
        ("two", "a.jsonl", "in the shed"),
    ]
