"""Gemini: its history in a Takeout, and the logs of its command-line agent of both ages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from tests.transcripts.assistants import records, sample
from tests.transcripts.build import corpus, lines, said

HEAD = {"sessionId": "s1", "projectHash": "8876"}


def activity(title: Any, answer: str = "", **more: Any) -> dict[str, Any]:
    html = {"safeHtmlItem": [{"html": answer}]} if answer else {}
    return {"header": "Gemini Apps", "title": title, "time": "2025-05-19T19:01:40.418Z", **html, **more}


def message(id_: str, text: Any, kind: str = "user", **more: Any) -> dict[str, Any]:
    return {"id": id_, "timestamp": "2025-12-03T06:35:37.302Z", "type": kind, "content": text, **more}


def test_the_history_is_read_from_its_oldest_prompt_on() -> None:
    turns = read([str(sample("gemini-activity"))]).turns
    assert [(t.session, t.role, t.text, t.caption) for t in turns] == [
        ("2025-05-17", "user", "Remind me to oil the paddle", ""),
        ("2025-05-17", "user", "How do I tie a bowline?", ""),
        (
            *("2025-05-17", "assistant"),
            "Make a small loop, then:\nup through the hole\n  round the tree\nand back down",
            "",
        ),
        (
            *("2025-05-17", "assistant"),
            "Packing list\n- Spare paddle\n- Dry bag",
            "[Created Gemini Canvas titled Packing list for the canoe trip]",
        ),
        ("2025-05-18", "user", "What is this plant on the bank?", "[image IMG_2041-5d1f.jpg]"),
        ("2025-05-18", "assistant", "That is marsh marigold.", ""),
        ("2025-05-19", "user", "Compare a cedar and an ash paddle for a canoe", ""),
        (
            *("2025-05-19", "assistant"),
            "Both are good choices:\n- Cedar is light & warm to the hand.\n- Ash is strong.\n"
            "Wood\tWeight\nCedar\t560 g\nAsh\t760 g",
            "",
        ),
        ("2025-05-19", "user", "Which of the two is lighter?", ""),
        ("2025-05-19", "assistant", "The cedar paddle, by about 200 g.", ""),
    ]
    written = records(sample("gemini-activity"))
    for turn in turns:
        assert turn.time == f"{written[int(turn.pointer.split('/')[1])]['time'][:19]}+00:00"


@pytest.mark.parametrize(
    ("title", "header"),
    [
        ("Prompted where is it?", "Gemini Apps"),
        ("Asked Bard: where is it?", "Bard"),
        ("where is it?", "Gemini-Apps"),
    ],
)
def test_the_verb_before_a_prompt_is_no_part_of_it(tmp_path: Path, title: str, header: str) -> None:
    read_back = corpus(tmp_path, "MyActivity.json", [activity(title, "<p>There.</p>", header=header)])
    assert said(read_back) == [("user", "where is it?"), ("assistant", "There.")]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [("x", "a string in the place of a record"), (activity(7), "a record without a `title`")],
)
def test_a_broken_record_of_the_history_loses_only_itself(tmp_path: Path, broken: Any, reason: str) -> None:
    content = [activity("Prompted one"), broken, activity("Prompted two")]
    read_back = corpus(tmp_path, "MyActivity.json", content)
    assert said(read_back) == [("user", "one"), ("user", "two")]
    assert [skipped.reason for skipped in read_back.skipped] == [f"at /1: {reason}"]


def test_records_of_other_products_are_no_turns(tmp_path: Path) -> None:
    search = activity("Searched for tea", header="Search", products=["Search"])
    read_back = corpus(tmp_path, "MyActivity.json", [activity("Prompted one"), search])
    assert (said(read_back), read_back.skipped) == ([("user", "one")], ())


def test_a_session_of_the_agent_holds_what_was_said_and_done() -> None:
    turns = read([str(sample("gemini-cli"))]).turns
    assert [(t.speaker, t.text, t.caption) for t in turns] == [
        ("user", "Which songs of the winter programme have no second soprano?", ""),
        ("assistant", "I will read the programme.", "[read_file: /home/nkechi/choir/winter.yaml]"),
        ("read_file", "- The Snow Lantern: SATB\n- Harbour Bells: SSATB", ""),
        ("assistant", "Only The Snow Lantern: it is set for four voices.", ""),
        ("user", "Who sings the solo in Harbour Bells? @rota.pdf", ""),
        ("assistant", "Adaeze sings it, according to the rota.", ""),
        ("user", "Then put her name into winter.yaml.", ""),
        ("assistant", "", "[replace: /home/nkechi/choir/winter.yaml]"),
        ("replace", "Successfully modified file.", ""),
        ("assistant", "Her name stands in the programme now.", ""),
    ]
    written = records(sample("gemini-cli"))
    for turn in turns:
        _, _, n, *inside = turn.pointer.split("/")
        source = written["messages"][int(n)]
        source = source["toolCalls"][int(inside[1])] if inside else source
        assert (turn.turn, turn.time) == (source["id"], f"{source['timestamp'][:19]}+00:00")
        assert (turn.conversation, turn.title) == (written["sessionId"], written["summary"])


def test_a_log_of_changes_is_played_back() -> None:
    turns = read([str(sample("gemini-cli", 1))]).turns
    assert [(t.line, t.role, t.text, t.title) for t in turns] == [
        (2, "user", "When is the next rehearsal?", "Moving a rehearsal"),
        (5, "assistant", "On Tuesday at half past seven, in the chapel.", "Moving a rehearsal"),
        (8, "user", "Move it to Wednesday.", "Moving a rehearsal"),
        (9, "assistant", "It is on Wednesday now.", "Moving a rehearsal"),
    ]


def test_a_checkpoint_replaces_what_was_before(tmp_path: Path) -> None:
    checkpoint = {"$set": {"messages": [message("b", "two"), message("c", "three")]}}
    read_back = corpus(
        tmp_path, "s.jsonl", lines(HEAD, message("a", "one"), checkpoint, message("d", "four"))
    )
    assert [text for _, text in said(read_back)] == ["two", "three", "four"]
    assert read_back.turns[1].pointer == "/$set/messages/1"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (5, "line 3: a number in the place of a record"),
        ({"$rewindTo": "gone"}, "line 3: `$rewindTo` names a message that is not there"),
        (message("x", "y", kind="oracle"), "line 3: a message of no known `type`"),
        (message("x", 5), "line 3: `content` is a number, not text or parts"),
    ],
)
def test_a_broken_record_of_a_log_loses_only_itself(tmp_path: Path, broken: Any, reason: str) -> None:
    read_back = corpus(tmp_path, "s.jsonl", lines(HEAD, message("a", "one"), broken, message("b", "two")))
    assert said(read_back) == [("user", "one"), ("user", "two")]
    assert [skipped.reason for skipped in read_back.skipped] == [reason]


def test_files_in_a_prompt_are_captions_and_errors_of_tools_are_results(tmp_path: Path) -> None:
    prompt = [{"text": "See this."}, {"inlineData": {"mimeType": "image/png", "data": "iVBO"}}]
    tool = {"id": "t", "name": "replace", "args": {"file_path": "/a"}, "result": [], "error": "not found"}
    session = {**HEAD, "messages": [message("a", prompt), message("b", "", kind="gemini", toolCalls=[tool])]}
    turns = corpus(tmp_path, "s.json", session).turns
    assert [(t.speaker, t.text, t.caption) for t in turns] == [
        ("user", "See this.", "[image]"),
        ("assistant", "", "[replace: /a]"),
        ("replace", "not found", ""),
    ]
