"""Claude Code's logs: what was said and done, without what the program notes for itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from tests.transcripts.assistants import records, sample
from tests.transcripts.build import corpus, lines, said

AT = {"sessionId": "s1", "timestamp": "2025-11-30T11:09:33.123Z", "cwd": "/home/ines/tidewatch"}


def user(content: Any, uuid: str = "", **more: Any) -> dict[str, Any]:
    return {"type": "user", "uuid": uuid, "message": {"role": "user", "content": content}, **AT, **more}


def assistant(*blocks: Any, id_: str = "m", uuid: str = "", **more: Any) -> dict[str, Any]:
    message = {"role": "assistant", "id": id_, "content": list(blocks), "model": "claude", **more}
    return {"type": "assistant", "uuid": uuid, "message": message, **AT}


def text(said_: str) -> dict[str, str]:
    return {"type": "text", "text": said_}


def use(call: str, name: str, **given: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": call, "name": name, "input": given}


def result(call: str, content: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": call, "content": content}


def log(folder: Path, *values: Any) -> list[tuple[str, str, str]]:
    read_back = corpus(folder, "log.jsonl", lines(*values))
    assert (read_back.skipped, read_back.warnings) == ((), ())
    return [(turn.speaker, turn.text, turn.caption) for turn in read_back.turns]


def test_the_sample_holds_what_was_said_and_done() -> None:
    turns = read([str(sample("claude-code"))]).turns
    assert [(t.line, t.role, t.speaker, t.text, t.caption) for t in turns] == [
        (
            *(4, "user", "user"),
            "The gauge at Brill Point reports metres since the update, not centimetres. Please find out why.",
            "",
        ),
        (6, "assistant", "assistant", "I will look at how readings are parsed.", "[Grep: unit]"),
        (8, "tool", "Grep", "parser.py:14:    unit = header.get('unit', 'm')", ""),
        (
            *(11, "assistant", "assistant"),
            "The parser takes metres where the header gives no unit; the old gauge left it out.",
            "[Edit: /home/ines/tidewatch/parser.py]",
        ),
        (12, "tool", "Edit", "The file /home/ines/tidewatch/parser.py has been updated.", ""),
        (14, "user", "user", "Also check the gauge at Holm Sound.", ""),
        (
            *(17, "assistant", "assistant"),
            "Holm Sound sends its unit in every header, so it was never wrong.",
            "",
        ),
        (18, "user", "user", "Good. Here is the plot of last night.", "[image]"),
        (
            *(19, "assistant", "assistant"),
            "The plot peaks at 312 cm at 03:40, as the tide table says.",
            "",
        ),
        (20, "user", "user", "/note Brill Point wants a header check every spring", ""),
        (22, "assistant", "assistant", "Noted for the spring check.", ""),
    ]


def test_ids_times_and_the_title_come_back() -> None:
    written = records(sample("claude-code"))
    for turn in read([str(sample("claude-code"))]).turns:
        record = written[turn.line - 1]
        assert turn.conversation == record["sessionId"]
        assert turn.time == f"{record['timestamp'][:19]}+00:00"
        assert turn.turn == record["uuid"] or (turn.role == "tool" and turn.turn.startswith("toolu_"))
        assert turn.title == "Gauge at Brill Point reports metres"
        assert turn.session == ""


def test_records_of_one_message_are_one_turn(tmp_path: Path) -> None:
    written = [
        assistant(text("Let me see."), uuid="u1"),
        assistant({"type": "thinking", "thinking": "hm"}, uuid="u2"),
        assistant(use("t1", "Read", file_path="/a.py"), uuid="u3"),
        assistant(use("t2", "Bash", command="git status"), uuid="u4"),
        assistant(text("Done."), id_="m2", uuid="u5"),
    ]
    assert log(tmp_path, *written) == [
        ("assistant", "Let me see.", "[Read: /a.py] [Bash: git status]"),
        ("assistant", "Done.", ""),
    ]


def test_a_call_that_comes_alone_is_a_turn_with_a_caption(tmp_path: Path) -> None:
    assert log(tmp_path, assistant(use("t1", "Bash", command="git status"))) == [
        ("assistant", "", "[Bash: git status]")
    ]


@pytest.mark.parametrize(
    "name_and_input",
    [
        ("mcp__smartsearch__query", {"question": "x"}),
        ("Bash", {"command": "cd notes && smartsearch query 'x' ."}),
    ],
)
def test_what_smartsearch_was_asked_and_said_is_left_out(
    tmp_path: Path, name_and_input: tuple[str, dict[str, str]]
) -> None:
    name, given = name_and_input
    written = [
        user("When did Maya move?"),
        assistant(text("I will look."), use("t1", name, **given)),
        user([result("t1", "chat.txt:3: Maya moved in May")]),
        assistant(use("t2", name, **given), id_="m2"),
        user([result("t2", [text("nothing")]), result("t3", "kept")]),
        assistant(text("In May."), id_="m3"),
    ]
    assert log(tmp_path, *written) == [
        ("user", "When did Maya move?", ""),
        ("assistant", "I will look.", ""),
        ("tool", "kept", ""),
        ("assistant", "In May.", ""),
    ]


@pytest.mark.parametrize(
    "left_out",
    [
        user("a skill's text", isMeta=True),
        user("This session is being continued from a previous conversation that ran out", uuid="x"),
        user("what was said so far", isCompactSummary=True),
        user("[Request interrupted by user for tool use]"),
        user("<local-command-stdout>Goodbye</local-command-stdout>"),
        user("<command-name>/clear</command-name><command-args></command-args>"),
        user([text("<system-reminder>be brief</system-reminder>")]),
        user([result("t", "<system-reminder>be brief</system-reminder>")]),
        assistant(text("API Error"), model="<synthetic>"),
        assistant({"type": "thinking", "thinking": "hm"}),
        {"type": "system", "content": "Conversation compacted", **AT},
        {"type": "some-later-note", "content": "x", **AT},
    ],
)
def test_what_nobody_said_is_left_out(tmp_path: Path, left_out: Any) -> None:
    written = [user("one"), left_out, user("two")]
    assert log(tmp_path, *written) == [("user", "one", ""), ("user", "two", "")]


def test_words_around_a_wrapped_block_stay(tmp_path: Path) -> None:
    wrapped = (
        "Look at <system-reminder attr>no\nno</system-reminder>this <system-reminders>tag</system-reminders>"
    )
    assert log(tmp_path, user(wrapped)) == [
        ("user", "Look at this <system-reminders>tag</system-reminders>", "")
    ]


def test_a_record_that_a_resumed_session_repeats_is_read_once(tmp_path: Path) -> None:
    assert log(tmp_path, user("one", "u1"), user("two", "u2"), user("one", "u1")) == [
        ("user", "one", ""),
        ("user", "two", ""),
    ]


@pytest.mark.parametrize(
    ("notes", "title"),
    [
        ([], "tidewatch"),
        ([{"type": "summary", "summary": "Another session", "leafUuid": "elsewhere"}], "tidewatch"),
        ([{"type": "summary", "summary": "Tides", "leafUuid": "u1"}], "Tides"),
        ([{"type": "ai-title", "aiTitle": "Gauges", "sessionId": "s1"}], "Gauges"),
        (
            [
                {"type": "custom-title", "customTitle": "old name", "sessionId": "s1"},
                {"type": "custom-title", "customTitle": "my name", "sessionId": "s1"},
                {"type": "ai-title", "aiTitle": "Gauges", "sessionId": "s1"},
            ],
            "my name",
        ),
    ],
)
def test_the_title_is_the_users_else_the_programs_else_the_folder(
    tmp_path: Path, notes: list[Any], title: str
) -> None:
    (turn,) = corpus(tmp_path, "log.jsonl", lines(user("hi", "u1"), *notes)).turns
    assert turn.title == title


def test_a_subagents_turns_are_a_session_of_their_own(tmp_path: Path) -> None:
    read_back = corpus(tmp_path, "log.jsonl", lines(user("look", isSidechain=True, agentId="d2969342")))
    assert [(t.conversation, t.session) for t in read_back.turns] == [("s1", "d2969342")]


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (5, "line 2: a number in the place of a record"),
        ({"sessionId": "s1"}, "line 2: a record without a `type`"),
        ({**user("x"), "message": None}, "line 2: a turn without a `message`"),
        (user(None), "line 2: `content` is null, not text or blocks"),
    ],
)
def test_a_broken_record_loses_only_itself(tmp_path: Path, broken: Any, reason: str) -> None:
    read_back = corpus(tmp_path, "log.jsonl", lines(user("one"), broken, user("two")))
    assert said(read_back) == [("user", "one"), ("user", "two")]
    assert [skipped.reason for skipped in read_back.skipped] == [reason]


def test_a_line_that_is_still_being_written_costs_that_line_only(tmp_path: Path) -> None:
    read_back = corpus(tmp_path, "log.jsonl", lines(user("one")) + '{"type": "assist')
    assert said(read_back) == [("user", "one")]
    assert [skipped.kind for skipped in read_back.skipped] == ["invalid_json"]
