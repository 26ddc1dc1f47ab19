"""Claude.ai's export: messages with their blocks, attachments and branches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from tests.transcripts.assistants import records, sample
from tests.transcripts.build import corpus, said

ROOT = "00000000-0000-4000-8000-000000000000"


def message(uuid: str, text: str, parent: str = "", second: int = 0, **more: Any) -> dict[str, Any]:
    plain = {"uuid": uuid, "text": text, "sender": "human", "created_at": f"2025-02-11T18:03:{second:02}Z"}
    return plain | ({"parent_message_uuid": parent} if parent else {}) | more


def export(*messages: Any, **more: Any) -> list[dict[str, Any]]:
    return [{"uuid": "c", "name": "N", "chat_messages": list(messages), **more}]


def test_the_sample_is_read_with_its_tools_and_attachments() -> None:
    first = [t for t in read([str(sample("claude-ai"))]).turns if t.title == "Allotment society"]
    minutes = (
        "Allotment society, 4 February. Present: Oda, Ruben, Nkechi. The tool shed key stays with Nkechi "
        "until Easter. Ruben orders 40 litres of woodchip."
    )
    assert [(t.speaker, t.text, t.caption) for t in first] == [
        (
            "user",
            "Can you read the minutes and say who looks after the tool shed key?",
            "[file minutes.txt] [file shed.png]",
        ),
        ("user", minutes, "[file minutes.txt]"),
        ("assistant", "Nkechi keeps the key until Easter.", ""),
        ("user", "What does woodchip cost around here?", ""),
        ("assistant", "Let me look.\nAbout 6 euros for 40 litres.", "[web_search: woodchip price 40 litres]"),
        ("web_search", "Woodchip, 40 l bag: 5.95 EUR", ""),
        ("user", "Write a note for the notice board about the key.", ""),
        (
            "assistant",
            "# Shed key\nPlease ask Nkechi on plot 12.\nThe note is ready to print.",
            "[artifacts: Shed key]",
        ),
        ("artifacts", "OK", ""),
    ]


def test_ids_and_times_come_back() -> None:
    export_ = records(sample("claude-ai"))
    for turn in read([str(sample("claude-ai"))]).turns:
        _, n, _, i, *inside = turn.pointer.split("/")
        there = export_[int(n)]
        source = there["chat_messages"][int(i)]
        assert turn.conversation == there["uuid"]
        assert turn.time == f"{source['created_at'][:19]}+00:00"
        assert turn.turn == (source["uuid"] if not inside or "attachments" in inside else turn.turn)


@pytest.mark.parametrize(
    ("more", "expected"),
    [({}, ["one", "three"]), ({"current_leaf_message_uuid": "b"}, ["one", "two"])],
)
def test_the_branch_is_the_named_one_else_the_one_with_the_latest_message(
    tmp_path: Path, more: dict[str, Any], expected: list[str]
) -> None:
    messages = [message("a", "one", ROOT), message("b", "two", "a", 1), message("c", "three", "a", 2)]
    assert [t for _, t in said(corpus(tmp_path, "a.json", export(*messages, **more)))] == expected


@pytest.mark.parametrize(
    "messages",
    [
        [message("a", "one"), message("b", "two")],
        [message("a", "one", ROOT), message("b", "two", "gone")],
        [message("a", "one", ROOT), message("a", "two", "a")],
    ],
)
def test_without_parents_that_connect_every_message_is_read(tmp_path: Path, messages: list[Any]) -> None:
    assert [t for _, t in said(corpus(tmp_path, "a.json", export(*messages)))] == ["one", "two"]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (5, "a number in the place of a record"),
        ({"sender": "nobody", "text": "x"}, "a message without a known `sender`"),
        ({"sender": "human", "content": "x"}, "`content` is a string, not a list"),
    ],
)
def test_a_broken_message_loses_only_itself(tmp_path: Path, broken: Any, reason: str) -> None:
    messages = [message("a", "one", ROOT), broken, message("c", "three", "b")]
    read_back = corpus(tmp_path, "a.json", export(*messages))
    assert [t for _, t in said(read_back)] == ["one", "three"]
    assert [s.reason for s in read_back.skipped] == [f"at /0/chat_messages/1: {reason}"]


def test_thinking_and_calls_of_smartsearch_are_left_out(tmp_path: Path) -> None:
    blocks = [
        {"type": "thinking", "thinking": "hm"},
        {"type": "tool_use", "id": "t", "name": "smartsearch:query", "input": {"question": "key"}},
        {
            "type": "tool_result",
            "tool_use_id": "t",
            "name": "smartsearch:query",
            "content": [{"text": "old"}],
        },
        {"type": "text", "text": "Nkechi."},
    ]
    read_back = corpus(
        tmp_path, "a.json", export(message("a", "who?"), message("b", "", sender="assistant", content=blocks))
    )
    assert said(read_back) == [("user", "who?"), ("assistant", "Nkechi.")]


def test_old_exports_with_text_alone_are_read(tmp_path: Path) -> None:
    read_back = corpus(tmp_path, "a.json", export(message("a", "hi"), message("b", "yo", sender="assistant")))
    assert said(read_back) == [("user", "hi"), ("assistant", "yo")]
