"""ChatGPT's export: the branch that is current, as the app shows it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from tests.transcripts.assistants import records, sample
from tests.transcripts.build import corpus, said


def node(
    key: str, parent: str | None, text: str | None, role: str = "user", **message: Any
) -> dict[str, Any]:
    content = {"content_type": "text", "parts": [text]}
    said_ = {
        "id": f"m-{key}",
        "author": {"role": role},
        "content": content,
        "create_time": 1718012400 + len(key),
    }
    return {"id": key, "parent": parent, "children": [], "message": None if text is None else said_ | message}


def conversation(*nodes: dict[str, Any], current: str | None = None, **more: Any) -> dict[str, Any]:
    for one in nodes:
        one["children"] = [other["id"] for other in nodes if other["parent"] == one["id"]]
    return {"title": "T", "id": "c", "current_node": current, "mapping": {n["id"]: n for n in nodes}, **more}


def texts(folder: Path, *conversations: Any) -> list[str]:
    return [text for _, text in said(corpus(folder, "conversations.json", list(conversations)))]


def test_the_sample_is_read_as_the_app_shows_it() -> None:
    first = [t for t in read([str(sample("chatgpt"))]).turns if t.title == "Sunday ferry to Skarnholm"]
    drawn = "A poster of a red lighthouse above a small ferry, flat colours"
    assert [(t.time[11:19], t.speaker, t.text, t.caption) for t in first] == [
        ("09:40:10", "user", "Which ferry reaches Skarnholm before noon on a Sunday?", ""),
        ("09:40:31", "assistant", "The 08:15 from Vessel Quay arrives at 10:50.", ""),
        (
            "09:41:35",
            "user",
            "This is the timetable on the pier. Does it say the same?",
            "[image pier-board.jpg] [file fares.pdf]",
        ),
        (
            "09:41:41",
            "assistant",
            "Yes, but the board adds that the 08:15 runs only from June to August.",
            "",
        ),
        ("09:42:40", "user", "Draw me a poster for the trip with a red lighthouse.", ""),
        ("09:42:43", "assistant", "", f"[dalle.text2im: {drawn}]"),
        ("09:43:00", "dalle.text2im", "", f"[image: {drawn}]"),
        ("09:43:02", "assistant", "Here is the poster with the red lighthouse.", ""),
    ]


def test_code_its_output_and_what_was_spoken_are_text() -> None:
    second = [t for t in read([str(sample("chatgpt"))]).turns if t.title == "Honey of four hives"]
    assert [(t.role, t.speaker, t.text.splitlines()[-1], t.caption) for t in second] == [
        ("user", "user", "Add up the honey of all four hives in harvest.csv.", "[file harvest.csv]"),
        ("assistant", "assistant", "df['kg'].sum()", "[python]"),
        ("tool", "python", "61.4", ""),
        ("assistant", "assistant", "The four hives gave 61.4 kg of honey.", ""),
        ("user", "user", "And which hive gave the most?", ""),
        ("assistant", "assistant", "The hive behind the walnut tree, with 22 kilograms.", ""),
    ]


def test_ids_times_and_places_come_back() -> None:
    export = records(sample("chatgpt"))
    for turn in read([str(sample("chatgpt"))]).turns:
        _, n, _, key, _ = turn.pointer.split("/")
        there = export[int(n)]
        message = there["mapping"][key]["message"]
        assert (turn.turn, turn.conversation) == (message["id"], there["conversation_id"])
        assert turn.time == f"2024-06-1{n}T{turn.time[11:19]}+00:00"


@pytest.mark.parametrize(
    ("current", "expected"),
    [
        ("b", ["question", "left behind"]),
        ("cc", ["question", "kept", "thanks"]),
        ("gone", ["question", "kept", "thanks"]),
        (None, ["question", "kept", "thanks"]),
    ],
)
def test_the_branch_is_the_current_one_else_the_one_with_the_latest_leaf(
    tmp_path: Path, current: str | None, expected: list[str]
) -> None:
    nodes = [
        node("r", None, None),
        node("a", "r", "question"),
        node("cc", "bb", "thanks", create_time=1718012500),
        node("bb", "a", "kept"),
        node("b", "a", "left behind", create_time=1718012450),
    ]
    assert texts(tmp_path, conversation(*nodes, current=current)) == expected


def test_a_circle_of_parents_ends(tmp_path: Path) -> None:
    nodes = [node("a", "b", "one"), node("b", "a", "two")]
    assert texts(tmp_path, conversation(*nodes, current="b")) == ["one", "two"]


def test_a_broken_node_loses_only_itself(tmp_path: Path) -> None:
    broken = conversation(
        node("r", None, None),
        node("a", "r", "one"),
        node("b", "a", "two"),
        node("c", "b", "three"),
        current="c",
    )
    broken["mapping"]["b"] = 7
    read_back = corpus(tmp_path, "conversations.json", [broken])
    assert said(read_back) == [("user", "one"), ("user", "three")]
    (skipped,) = read_back.skipped
    assert skipped.reason == "at /0/mapping/b: a number in the place of a node"


def test_a_node_that_lost_its_parent_is_found_by_the_parents_children(tmp_path: Path) -> None:
    whole = conversation(node("a", None, "one"), node("b", "a", "two"), node("c", "b", "three"), current="c")
    del whole["mapping"]["b"]["parent"]
    assert texts(tmp_path, whole) == ["one", "two", "three"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"author": None}, "a message without an `author` with a role and a `content`"),
        ({"content": "text"}, "a message without an `author` with a role and a `content`"),
        ({"content": {"content_type": "text", "parts": "text"}}, "`parts` is a string, not a list"),
    ],
)
def test_a_broken_message_loses_only_itself(tmp_path: Path, message: dict[str, Any], reason: str) -> None:
    nodes = [node("a", None, "one"), node("b", "a", "two", **message), node("c", "b", "three")]
    read_back = corpus(tmp_path, "conversations.json", [conversation(*nodes, current="c")])
    assert said(read_back) == [("user", "one"), ("user", "three")]
    assert [skipped.reason for skipped in read_back.skipped] == [f"at /0/mapping/b: {reason}"]


def test_a_broken_conversation_loses_only_itself(tmp_path: Path) -> None:
    whole = conversation(node("a", None, "one"), current="a")
    read_back = corpus(tmp_path, "conversations.json", [whole, 5, {"title": "no mapping"}, whole])
    assert said(read_back) == [("user", "one")] * 2
    assert [s.reason for s in read_back.skipped] == [
        f"at /{n}: no conversation with a `mapping` here" for n in (1, 2)
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"metadata": {"is_visually_hidden_from_conversation": True}},
        {"author": {"role": "system"}},
        {"content": {"content_type": "user_editable_context", "user_profile": "x", "user_instructions": "y"}},
        {"content": {"content_type": "thoughts", "thoughts": []}},
        {"content": {"content_type": "text", "parts": [""]}},
        {"author": {"role": "tool", "name": "smartsearch.query"}},
        {"author": {"role": "assistant"}, "recipient": "smartsearch.query"},
    ],
)
def test_what_the_app_does_not_show_is_left_out(tmp_path: Path, message: dict[str, Any]) -> None:
    nodes = [node("a", None, "one"), node("b", "a", "hidden", **message), node("c", "b", "two")]
    read_back = corpus(tmp_path, "conversations.json", [conversation(*nodes, current="c")])
    assert [text for _, text in said(read_back)] == ["one", "two"]
    assert (read_back.skipped, read_back.warnings) == ((), ())


def test_a_document_of_a_canvas_is_text(tmp_path: Path) -> None:
    written = '{"name": "Packing list", "type": "document", "content": "Dry bag, spare paddle"}'
    call = {"author": {"role": "assistant"}, "recipient": "canmore.create_textdoc"}
    nodes = [node("a", None, "one"), node("b", "a", written, **call)]
    turn = corpus(tmp_path, "conversations.json", [conversation(*nodes, current="b")]).turns[1]
    assert (turn.text, turn.caption) == ("Dry bag, spare paddle", "[canmore.create_textdoc: Packing list]")


def test_one_conversation_by_itself_is_read_too(tmp_path: Path) -> None:
    read_back = corpus(tmp_path, "ferry.json", conversation(node("a", None, "one"), current="a"))
    (turn,) = read_back.turns
    assert (turn.text, turn.title, turn.conversation, turn.pointer) == ("one", "T", "c", "/mapping/a/message")
