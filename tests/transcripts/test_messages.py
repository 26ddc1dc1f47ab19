"""Messages in the shapes that people and tools write them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.transcripts.build import corpus, lines, said

HI = {"role": "user", "content": "hi"}
YO = {"role": "assistant", "content": "yo"}


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        ("a.jsonl", lines(HI, YO), [("a", 1, ""), ("a", 2, "")]),
        ("a.ndjson", lines(HI, YO), [("a", 1, ""), ("a", 2, "")]),
        ("a.json", lines(HI, YO), [("a", 1, ""), ("a", 2, "")]),
        ("a.jsonl", lines({"messages": [HI, YO]}), [("a", 1, "/messages/0"), ("a", 1, "/messages/1")]),
        (
            "a.jsonl",
            lines({"id": 7, "messages": [HI]}, {"messages": [YO]}),
            [("7", 1, "/messages/0"), ("a#2", 2, "/messages/0")],
        ),
        ("a.jsonl", lines([HI], [YO]), [("a", 1, "/0"), ("a", 2, "/0")]),
        ("a.json", [HI, YO], [("a", 0, "/0"), ("a", 0, "/1")]),
        ("a.jsonl", "[\n" + lines(HI).strip() + ",\n" + lines(YO) + "]", [("a", 0, "/0"), ("a", 0, "/1")]),
        (
            "a.json",
            {"title": "Trip", "messages": [HI, YO]},
            [("Trip", 0, "/messages/0"), ("Trip", 0, "/messages/1")],
        ),
        (
            "a.json",
            [{"messages": [HI]}, {"messages": [YO]}],
            [("a#1", 0, "/0/messages/0"), ("a#2", 0, "/1/messages/0")],
        ),
        ("a.json", [[HI], [YO]], [("a#1", 0, "/0/0"), ("a#2", 0, "/1/0")]),
    ],
)
def test_every_shape_gives_the_turns_and_their_places(
    tmp_path: Path, name: str, content: Any, places: list[tuple[str, int, str]]
) -> None:
    read = corpus(tmp_path, name, content)
    assert said(read) == [("user", "hi"), ("assistant", "yo")]
    assert [(turn.conversation, turn.line, turn.pointer) for turn in read.turns] == places
    assert (read.skipped, read.warnings) == ((), ())


@pytest.mark.parametrize(
    ("content", "text", "caption"),
    [
        ("plain", "plain", ""),
        (["a", {"type": "text", "text": "b"}], "a\nb", ""),
        (
            [{"type": "input_text", "text": "look"}, {"type": "image_url", "image_url": {"url": "x"}}],
            "look",
            "[image]",
        ),
        ([{"type": "file", "file": {"filename": "plan.pdf"}}], "", "[file plan.pdf]"),
        ([{"type": "input_audio", "input_audio": {}}], "", "[audio]"),
        ([{"type": "text", "text": "x"}, {"type": "tool_use", "input": {}}, None, 3], "x", ""),
    ],
)
def test_content_is_a_string_or_parts(tmp_path: Path, content: Any, text: str, caption: str) -> None:
    (turn,) = corpus(tmp_path, "a.json", [{"role": "user", "content": content}]).turns
    assert (turn.text, turn.caption) == (text, caption)


@pytest.mark.parametrize("key", ["time", "timestamp", "created_at", "create_time", "date"])
def test_time_goes_by_many_names(tmp_path: Path, key: str) -> None:
    (turn,) = corpus(tmp_path, "a.json", [{**HI, key: 1683554160}]).turns
    assert turn.time == "2023-05-08T13:56:00+00:00"


def test_one_forcing_date_decides_for_the_file(tmp_path: Path) -> None:
    read = corpus(tmp_path, "a.jsonl", lines({**HI, "date": "5/8/23"}, {**YO, "date": "5/13/23"}))
    assert [turn.time for turn in read.turns] == ["2023-05-08", "2023-05-13"]


def test_a_name_speaks_before_a_role_and_ids_are_kept(tmp_path: Path) -> None:
    content = [{**HI, "name": "Maya", "id": "m1", "conversation_id": "c9", "session_id": 3}]
    (turn,) = corpus(tmp_path, "a.json", content).turns
    assert (turn.speaker, turn.role, turn.turn) == ("Maya", "user", "m1")
    assert (turn.conversation, turn.session) == ("c9", "3")


def test_speaker_and_text_are_known_too(tmp_path: Path) -> None:
    assert said(corpus(tmp_path, "a.jsonl", lines({"speaker": "Maya", "text": "hi"}))) == [("Maya", "hi")]


def test_tool_calls_without_text_are_survived_and_counted(tmp_path: Path) -> None:
    call = {"role": "assistant", "content": None, "tool_calls": [{"function": {"name": "f"}}]}
    read = corpus(tmp_path, "a.jsonl", lines(HI, call, {"role": "assistant", "tool_calls": []}, YO))
    assert said(read) == [("user", "hi"), ("assistant", "yo")]
    assert read.skipped == ()
    assert read.warnings == (f"{tmp_path / 'a.jsonl'}: 2 turns without text left out",)


def test_records_that_do_not_fit_are_reported_with_their_line(tmp_path: Path) -> None:
    read = corpus(tmp_path, "a.jsonl", lines(HI, 5, {"role": "user", "content": {"a": 1}}, YO))
    assert said(read) == [("user", "hi"), ("assistant", "yo")]
    assert [s.reason.partition(":")[0] for s in read.skipped] == ["line 2", "line 3"]


def test_a_torn_last_line_costs_that_line_only(tmp_path: Path) -> None:
    read = corpus(tmp_path, "a.jsonl", lines(HI, YO) + '{"role": "user", "cont')
    assert len(read.turns) == 2
    (skipped,) = read.skipped
    assert (skipped.kind, skipped.reason[:8]) == ("invalid_json", "line 3: ")


def test_a_line_separator_inside_a_string_is_no_new_line(tmp_path: Path) -> None:
    content = '{"role": "user", "content": "a\u2028b"}\n' + lines(YO)
    assert [turn.line for turn in corpus(tmp_path, "a.jsonl", content).turns] == [1, 2]


def test_what_smartsearch_itself_returned_is_left_out(tmp_path: Path) -> None:
    calls = [
        {"id": "a", "type": "function", "function": {"name": "smartsearch_query", "arguments": "{}"}},
        {"id": "b", "type": "function", "function": {"name": "weather", "arguments": "{}"}},
    ]
    asked = {"role": "assistant", "content": "I will look.", "tool_calls": calls}
    own = {"role": "tool", "tool_call_id": "a", "content": "what Maya said"}
    other = {"role": "tool", "tool_call_id": "b", "content": "rain"}
    named = {"role": "tool", "name": "smartsearch_query", "content": "what Maya said"}
    read = corpus(tmp_path, "a.jsonl", lines(HI, asked, own, other, named))
    assert said(read) == [("user", "hi"), ("assistant", "I will look."), ("tool", "rain")]
    assert (read.skipped, read.warnings) == ((), ())
