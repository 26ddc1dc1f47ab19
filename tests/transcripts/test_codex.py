"""Codex CLI's logs of both ages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from tests.transcripts.assistants import records, sample
from tests.transcripts.build import corpus, lines, said

META = {"type": "session_meta", "payload": {"id": "s1", "cwd": "C:\\work\\seedbank\\"}}


def item(**payload: Any) -> dict[str, Any]:
    return {"timestamp": "2025-10-03T08:12:05.000Z", "type": "response_item", "payload": payload}


def message(role: str, *texts: str) -> dict[str, Any]:
    return item(type="message", role=role, content=[{"type": "input_text", "text": text} for text in texts])


def call(name: str, given: Any, call_id: str = "c1", **more: Any) -> dict[str, Any]:
    return item(type="function_call", name=name, arguments=json.dumps(given), call_id=call_id, **more)


def output(written: Any, call_id: str = "c1") -> dict[str, Any]:
    return item(type="function_call_output", call_id=call_id, output=written)


def log(folder: Path, *values: Any) -> list[tuple[str, str, str]]:
    read_back = corpus(folder, "rollout.jsonl", lines(META, *values))
    assert (read_back.skipped, read_back.warnings) == ((), ())
    return [(turn.speaker, turn.text, turn.caption) for turn in read_back.turns]


def test_the_sample_holds_what_was_said_and_done() -> None:
    turns = read([str(sample("codex", 1))]).turns
    patch = "*** Begin Patch *** Update File: lots.csv -R2,rampion, +R2,rampion,never *** End Patch"
    assert [(t.line, t.speaker, t.text, t.caption) for t in turns] == [
        (4, "user", "Which seed lots in the catalogue have no germination date?", ""),
        (8, "assistant", "I will list the catalogue first.", "[shell: head -3 lots.csv]"),
        (10, "shell", "lot,species,germinated\nK7,kale,2025-04-02\nR2,rampion,\n", ""),
        (16, "assistant", "Only lot R2, the rampion, has no germination date.", ""),
        (18, "user", "Write 'never' into its row.", ""),
        (19, "assistant", "", f"[apply_patch: {patch}]"),
        (20, "apply_patch", "Success. Updated the following files:\nM lots.csv\n", ""),
        (21, "assistant", "The row of R2 now says 'never'.", ""),
        (22, "user", "How long does rampion seed keep?", ""),
        (23, "assistant", "", "[web_search: rampion seed viability years]"),
        (24, "assistant", "About three years if it is kept dry and dark.", ""),
    ]


def test_ids_times_and_the_title_come_back() -> None:
    written = records(sample("codex", 1))
    for turn in read([str(sample("codex", 1))]).turns:
        record = written[turn.line - 1]
        assert turn.conversation == written[0]["payload"]["id"]
        assert turn.time == f"{record['timestamp'][:19]}+00:00"
        assert turn.turn == record["payload"].get("call_id", "")
        assert (turn.title, turn.pointer) == ("seedbank", "/payload")


def test_bare_items_of_older_logs_are_read_with_the_time_of_their_session() -> None:
    turns = read([str(sample("codex"))]).turns
    assert [(t.line, t.speaker, t.text, t.caption, t.turn) for t in turns] == [
        (4, "user", "At which temperature did the celadon firing stop?", "", ""),
        (7, "assistant", "", "[shell: tail -1 kiln.log]", "fc_1"),
        (8, "shell", "02:10 1248C stop\n", "", "call_a"),
        (9, "assistant", "It stopped at 1248 degrees, ten past two.", "", "msg_1"),
    ]
    assert {(t.conversation, t.title, t.time) for t in turns} == {
        ("f4a1c7e2-5b7e-4d43-8f0e-1d2c3b4a5968", "kiln-log", "2025-08-08T10:39:10+00:00")
    }


@pytest.mark.parametrize(
    "own",
    [
        call("exec_command", {"cmd": "smartsearch query 'x'"}),
        call("shell", {"command": ["bash", "-lc", "cd a; smartsearch query 'x' b"]}),
        call("smartsearch__query", {"question": "x"}),
        call("query", {"question": "x"}, namespace="mcp__smartsearch"),
        item(type="local_shell_call", call_id="c1", action={"type": "exec", "command": ["smartsearch", "x"]}),
    ],
)
def test_what_smartsearch_was_asked_and_said_is_left_out(tmp_path: Path, own: Any) -> None:
    written = [message("user", "one"), own, output("what it found"), message("assistant", "two")]
    assert log(tmp_path, *written) == [("user", "one", ""), ("assistant", "two", "")]


@pytest.mark.parametrize(
    "left_out",
    [
        message("developer", "be brief"),
        message("user", "<environment_context>\n</environment_context>", "# AGENTS.md instructions for x"),
        item(type="reasoning", summary=[{"type": "summary_text", "text": "hm"}]),
        item(type="ghost_snapshot", ghost_commit={"id": "d"}),
        {"type": "event_msg", "payload": {"type": "user_message", "message": "one"}},
        {"type": "compacted", "payload": {"message": "so far"}},
        output(""),
    ],
)
def test_what_nobody_said_is_left_out(tmp_path: Path, left_out: Any) -> None:
    written = [message("user", "one"), left_out, message("user", "two")]
    assert log(tmp_path, *written) == [("user", "one", ""), ("user", "two", "")]


@pytest.mark.parametrize(
    ("written", "text", "caption"),
    [
        ("plain", "plain", ""),
        ('{"output": "inside", "metadata": {"exit_code": 0}}', "inside", ""),
        ('{"output": torn', '{"output": torn', ""),
        ({"content": "in an object", "success": True}, "in an object", ""),
        (
            [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "data:"}],
            "a",
            "[image]",
        ),
    ],
)
def test_outputs_come_in_many_shapes(tmp_path: Path, written: Any, text: str, caption: str) -> None:
    assert log(tmp_path, call("view", {}), output(written))[1] == ("view", text, caption)


def test_the_folder_of_a_windows_path_is_a_title_too(tmp_path: Path) -> None:
    (turn,) = corpus(tmp_path, "rollout.jsonl", lines(META, message("user", "hi"))).turns
    assert (turn.title, turn.conversation) == ("seedbank", "s1")


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (None, "line 3: null in the place of a record"),
        ({"type": "response_item", "payload": []}, "line 3: `payload` is a list, not an object"),
        (item(role="user"), "line 3 at /payload: a record without a `type`"),
        (item(type="message", content="x"), "line 3 at /payload: a message without a `role`"),
        (
            item(type="message", role="user", content={}),
            "line 3 at /payload: `content` is an object, not text or parts",
        ),
    ],
)
def test_a_broken_record_loses_only_itself(tmp_path: Path, broken: Any, reason: str) -> None:
    written = [META, message("user", "one"), broken, message("user", "two")]
    read_back = corpus(tmp_path, "rollout.jsonl", lines(*written))
    assert said(read_back) == [("user", "one"), ("user", "two")]
    assert [skipped.reason for skipped in read_back.skipped] == [reason]
