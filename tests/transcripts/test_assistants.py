"""Every export of an assistant is taken for what it is; what is broken in one is reported and survived."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.errors import InputError
from smartsearch.transcripts import FORMATS, read
from smartsearch.transcripts.corpus import read_one
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.registry import by_name
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn
from tests.transcripts.assistants import EVERY, FILES, SAMPLES, records
from tests.transcripts.build import corpus, lines, put


@pytest.mark.parametrize(("name", "file"), EVERY)
def test_a_sample_is_taken_for_its_format_and_read_without_a_word(name: str, file: str) -> None:
    found, chosen = read_one(str(SAMPLES / file))
    assert chosen is not None
    assert chosen.name == name
    assert (found.skipped, found.warnings) == ((), ())
    assert all(turn.role in ("user", "assistant", "tool") and turn.time for turn in found.turns)
    assert not any("smartsearch" in turn.said for turn in found.turns)


@pytest.mark.parametrize(("name", "file"), EVERY)
def test_no_other_format_of_assistants_claims_it(name: str, file: str) -> None:
    source = Source(file, (SAMPLES / file).read_text(encoding="utf-8"))
    claims = {known.name for known in FORMATS if known.name in FILES and known.detect(source)}
    assert claims == {name}


@pytest.mark.parametrize("name", FILES)
def test_a_format_says_how_a_person_gets_such_a_file(name: str) -> None:
    known = by_name(name)
    assert known is not None
    assert known.how
    assert "\n" not in known.how


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("conversations.json", [{"mapping": {"a": {"message": {"fragments": []}, "children": []}}}]),
        ("conversations.json", [{"mapping": ["a"], "title": "x"}]),
        ("conversations.json", [{"chat_messages": [{"from": "human", "text": "hi"}]}]),
        ("conversations.json", [{"chat_messages": {"0": {"sender": "human"}}}]),
        (
            "MyActivity.json",
            [{"header": "Search", "title": "Searched for tea", "time": "2024-01-01T00:00:00Z"}],
        ),
        ("a.jsonl", lines({"type": "user", "text": "no message here", "sessionId": 4})),
        ("a.jsonl", lines({"type": "response_item", "payload": "text"})),
        ("a.json", {"sessionId": "s", "messages": []}),
    ],
)
def test_a_file_that_only_looks_like_one_is_not_taken_for_it(tmp_path: Path, file: str, content: Any) -> None:
    path = put(tmp_path, file, content)
    source = Source(str(path), path.read_text(encoding="utf-8"))
    assert not [known.name for known in FORMATS if known.name in FILES and known.detect(source)]


def test_messages_of_openai_are_still_messages(tmp_path: Path) -> None:
    path = put(
        tmp_path, "a.jsonl", lines({"role": "user", "content": "hi"}, {"role": "assistant", "content": "yo"})
    )
    _, chosen = read_one(str(path))
    assert chosen is not None
    assert chosen.name == "messages"


@pytest.mark.parametrize("name", ["chatgpt", "claude-ai", "gemini-cli"])
def test_the_other_files_of_an_export_are_passed_over_in_silence(name: str) -> None:
    found = read([str(SAMPLES / name)])
    assert (found.skipped, found.warnings) == ((), ())
    assert found.turns


def test_a_file_with_such_a_name_and_something_else_in_it_is_reported(tmp_path: Path) -> None:
    put(tmp_path, "chat.jsonl", lines({"role": "user", "content": "hi"}))
    put(tmp_path, "users.json", [{"login": "maya"}])
    (skipped,) = read([str(tmp_path)]).skipped
    assert skipped.kind == "unrecognised_json"
    assert "export-extras" not in skipped.reason


def test_an_export_is_read_as_it_comes_in_its_archive(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as made:
        for file in sorted((SAMPLES / "chatgpt").iterdir()):
            made.write(file, file.name)
        made.writestr("chat.html", "<html>the same once more</html>")
    zipped, plain = read([str(path)]), read([str(SAMPLES / "chatgpt")])
    assert (zipped.skipped, zipped.warnings) == ((), ())
    assert [turn.turn for turn in zipped.turns] == [turn.turn for turn in plain.turns]


@pytest.mark.parametrize("file", ["conversations-000.json", "conversations-001.json"])
def test_an_export_of_chatgpt_in_pieces_is_the_same(tmp_path: Path, file: str) -> None:
    every = records(SAMPLES / "chatgpt" / "conversations.json")
    piece = every[int(file[-6]) :][:1]
    assert {turn.title for turn in corpus(tmp_path, file, piece).turns} == {piece[0]["title"]}


def survives(data: bytes) -> None:
    try:
        read(["-"], stdin=io.BytesIO(data))
    except InputError:
        return


@given(st.data())
@pytest.mark.parametrize("file", [file for _, file in EVERY])
def test_any_bytes_of_a_sample_may_change_or_be_missing(file: str, data: st.DataObject) -> None:
    content = (SAMPLES / file).read_bytes()
    place = st.integers(0, len(content))
    for at in data.draw(st.lists(place, max_size=4)):
        piece = data.draw(st.binary(max_size=3) | st.sampled_from([b'"', b"}", b"[", b"null,", b"\n"]))
        content = content[:at] + piece + content[at + data.draw(st.integers(0, 3)) :]
    survives(content[: data.draw(place)] if data.draw(st.booleans()) else content)


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
)


def changed(value: Any, data: st.DataObject) -> Any:
    """`value` with something else, or nothing, somewhere in it."""
    if not isinstance(value, dict | list) or not value or data.draw(st.integers(0, 9)) == 0:
        return data.draw(ANYTHING)
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = data.draw(st.sampled_from(keys))
    copy = value.copy()
    if data.draw(st.integers(0, 9)) == 0:
        del copy[key]
    else:
        copy[key] = changed(value[key], data)
    return copy


@given(st.data())
@pytest.mark.parametrize(("name", "file"), EVERY)
def test_anything_may_stand_anywhere_in_a_sample(name: str, file: str, data: st.DataObject) -> None:
    value = records(SAMPLES / file)
    for _ in range(data.draw(st.integers(1, 3))):
        value = changed(value, data)
    by_line = file.endswith(".jsonl") and isinstance(value, list)
    known = by_name(name)
    assert known is not None
    try:
        source = Source(file, lines(*value) if by_line else json.dumps(value))
        known.detect(source)
        found = list(known.read(source))
    except FormatError:
        return
    for record in found:
        assert isinstance(record, Turn | FormatError)
        if isinstance(record, Turn):
            assert record.text.strip() or record.caption
            assert all(isinstance(v, str) for k, v in vars(record).items() if k != "line")
