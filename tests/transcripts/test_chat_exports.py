"""Exports of chat services: each sample is read as what it is, and whatever befalls it is a named error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.transcripts import read
from smartsearch.transcripts.corpus import read_one
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.registry import FORMATS, by_name
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn
from tests.transcripts.build import put

SAMPLES = Path(__file__).parent / "samples"
FILES = {
    "slack/boatyard/2024-03-04.json": ("slack", 6),
    "slack/boatyard/2024-03-05.json": ("slack", 3),
    "slack/D04XYZ123/2024-03-05.json": ("slack", 2),
    "slack/mpdm-maya.l--tarik--ines-1/2024-03-06.json": ("slack", 2),
    "slack/users.json": ("slack-lists", 0),
    "slack/channels.json": ("slack-lists", 0),
    "slack/dms.json": ("slack-lists", 0),
    "slack/mpims.json": ("slack-lists", 0),
    "slack/integration_logs.json": ("slack-lists", 0),
    "discord/Ropes and Rocks - Trips - weekend [900].json": ("discord", 8),
    "telegram/ChatExport_2024-07-08/result.json": ("telegram", 11),
    "telegram/DataExport_2024-07-08/result.json": ("telegram", 7),
    "matrix/matrix - Kiln club - Chat Export - 2024-09-03.json": ("matrix", 8),
    "messenger/inbox/juliarocha_77/message_1.json": ("messenger", 8),
    "messenger/encrypted/Julia Rocha_3.json": ("messenger", 3),
    "signal/signal-export-2025-02-11/main.jsonl": ("signal", 7),
    "signal-export/Odile/data.json": ("signal-export", 7),
    "sigtop/Greta Holm (+46700000004).json": ("sigtop", 6),
    "locomo/Chat_11_Ilse_Bruno.json": ("locomo", 8),
}
NAMES = sorted(FILES)
CHATS = [name for name in NAMES if FILES[name][1]]


def source(
    name: str, text: str | None = None, beside: Callable[[str], str | None] = lambda _: None
) -> Source:
    path = SAMPLES / name
    return Source(str(path), path.read_text(encoding="utf-8") if text is None else text, beside)


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_is_taken_for_its_format_and_for_no_other(name: str) -> None:
    assert [known.name for known in FORMATS if known.detect(source(name))] == [FILES[name][0]]


@pytest.mark.parametrize("name", NAMES)
def test_a_sample_reads_without_complaint(name: str) -> None:
    found, known = read_one(str(SAMPLES / name))
    assert known is by_name(FILES[name][0])
    assert len(found.turns) == FILES[name][1]
    assert found.skipped == ()
    undecrypted = "1 turn without text left out" if name.startswith("matrix") else ""
    assert [warning.rpartition(": ")[2] for warning in found.warnings] == [undecrypted] * bool(undecrypted)


@pytest.mark.parametrize("name", CHATS)
def test_every_turn_is_where_its_pointer_or_line_says_and_carries_its_id(name: str) -> None:
    given_text = (SAMPLES / name).read_text(encoding="utf-8")
    for turn in read([str(SAMPLES / name)]).turns:
        raw = _at(given_text, turn)
        ids = {str(value) for value in _leaves(raw)}
        assert not turn.turn or turn.turn in ids
        assert turn.time
        assert turn.speaker
        assert turn.conversation


def _at(text: str, turn: Turn) -> Any:
    if turn.line:
        return json.loads(text.split("\n")[turn.line - 1])
    value = json.loads(text)
    for step in turn.pointer.split("/")[1:]:
        value = value[int(step)] if isinstance(value, list) else value[step]
    return value


def _leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _leaves(inner)
    else:
        yield value


@pytest.mark.parametrize("name", CHATS)
def test_turns_of_a_conversation_come_earliest_first(name: str) -> None:
    by_chat: dict[str, list[str]] = {}
    for turn in read([str(SAMPLES / name)]).turns:
        by_chat.setdefault(turn.conversation, []).append(turn.time)
    assert all(times == sorted(times) for times in by_chat.values())


def test_a_conversation_is_in_one_piece() -> None:
    turns = read([str(SAMPLES / name) for name in NAMES]).turns
    places = [(turn.path, turn.conversation) for turn in turns]
    changes = sum(one != other for one, other in pairwise(places))
    assert changes + 1 == len(set(places))


@pytest.mark.parametrize("broken", [7, None, "said", [[]]])
@pytest.mark.parametrize("name", CHATS)
def test_a_broken_record_in_the_middle_costs_itself_alone(tmp_path: Path, name: str, broken: Any) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    before = read([str(put(tmp_path / "before", name, text))]).turns
    after = read([str(put(tmp_path / "after", name, _with(text, broken, lined=name.startswith("signal"))))])
    assert [_content(turn) for turn in after.turns] == [_content(turn) for turn in before]
    (skipped,) = after.skipped
    assert skipped.kind == "bad_record"
    assert "in the place of a" in skipped.reason or "a turn without a `text`" in skipped.reason


@pytest.mark.parametrize("said", [{"a": 1}, 5, True])
@pytest.mark.parametrize("name", CHATS)
def test_a_text_of_another_type_costs_its_message_alone(tmp_path: Path, name: str, said: Any) -> None:
    if name.startswith("signal/"):
        pytest.skip("a frame's text is an object, and one without it is a message without text")
    text = (SAMPLES / name).read_text(encoding="utf-8")
    before = read([str(put(tmp_path / "before", name, text))]).turns
    keys = ("text", "clean_text", "content", "body")
    record = {**dict.fromkeys(keys, said), "type": "m.room.message", "ts": "1709539560.000100"}
    if name.startswith("matrix"):
        record["content"] = {"body": said}
    after = read([str(put(tmp_path / "after", name, _with(text, record, lined=name.startswith("signal"))))])
    assert [_content(turn) for turn in after.turns] == [_content(turn) for turn in before]
    assert [entry.kind for entry in after.skipped] == ["bad_record"]


def _with(text: str, broken: Any, *, lined: bool) -> Any:
    """The sample with one more record in the middle."""
    if lined:
        lines = text.split("\n")
        lines.insert(len(lines) // 2, json.dumps(broken))
        return "\n".join(lines)
    value = json.loads(text)
    records = _records(value)
    records.insert(len(records) // 2, broken)
    return value


def _records(value: Any) -> list[Any]:
    if isinstance(value, list):
        return value
    if "session_1" in value:
        return value["session_1"]
    return value["messages"] if "messages" in value else value["chats"]["list"][0]["messages"]


def _content(turn: Turn) -> tuple[str, ...]:
    return (turn.text, turn.speaker, turn.time, turn.caption, turn.conversation, turn.session, turn.turn)


@pytest.mark.parametrize(
    "value",
    [
        [{"ts": 1709539200.0001, "type": "message", "text": "a number is no Slack time"}],
        [{"ts": "1709539200", "type": "message", "text": "without its fraction neither"}],
        [{"id": "U04MAYA01", "name": "maya"}],
        {"guild": {"id": "1"}, "messages": []},
        {"guild": "Ropes", "channel": "weekend", "messages": []},
        {"name": "Allotment", "type": "private_group", "id": 1, "messages": [{"type": "note", "text": "x"}]},
        {"chats": [{"name": "x"}]},
        {"chats": {"list": [{"name": "x", "messages": []}]}},
        {"room_name": "Kiln club", "messages": [{"body": "x"}]},
        {"messages": [{"origin_server_ts": 1, "body": "x"}]},
        {"participants": [{"name": "a"}], "messages": [{"sender": "a", "timestamp": 1}]},
        {"threadName": "a_1", "messages": [{"sender": "a"}]},
        [{"recipient": {"id": "1"}}, {"chat": {"id": "1"}}],
        [{"version": "1"}],
        [{"sender": "a", "body": "b"}],
        [{"sender": "a", "body": "b", "date": "2024-01-01"}],
        [{"sent_at": 1, "type": "incoming", "body": "x"}],
        {"session_1": [{"text": "no speaker"}]},
        {"session_1": {"speaker": "a", "text": "no list"}},
    ],
)
def test_near_misses_are_none_of_them(tmp_path: Path, value: Any) -> None:
    path = put(tmp_path, "chat.json", value)
    near = Source(str(path), path.read_text(encoding="utf-8"))
    assert not [known.name for known in FORMATS if known.detect(near) and known.name != "messages"]


def test_a_list_of_another_name_is_no_slack_list(tmp_path: Path) -> None:
    path = put(tmp_path, "people.json", [{"id": "U04MAYA01"}])
    assert [entry.kind for entry in read_one(str(path))[0].skipped] == ["unrecognised_json"]
    named = put(tmp_path, "users.json", [{"id": 3, "email": "not Slack's"}])
    assert [entry.kind for entry in read_one(str(named))[0].skipped] == ["unrecognised_json"]


@pytest.mark.parametrize("name", sorted({format_name for format_name, _ in FILES.values()}))
def test_how_to_get_such_a_file_is_one_line(name: str) -> None:
    known = by_name(name)
    assert known is not None
    assert 10 < len(known.how) < 160
    assert "\n" not in known.how


# Whatever happens to a file, what comes of it are turns and named errors.

VALUES = st.sampled_from(
    [
        None,
        True,
        0,
        -1,
        1e308,
        10**25,
        "",
        "x",
        "\ud83d",
        "<@U1|",
        "￼",
        [],
        [[]],
        [{}],
        {},
        {"id": {}},
        {"text": []},
    ]
)


def _nodes(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value: the list or object that holds it, and its index or key."""
    found: list[tuple[Any, Any]] = []
    stack = [value]
    while stack:
        holder = stack.pop()
        inside = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        for key, held in inside:
            found.append((holder, key))
            if isinstance(held, dict | list):
                stack.append(held)
    return found


def _survives(
    name: str, text: str, beside: Callable[[str], str | None] = lambda _: None, *, alone: bool = False
) -> None:
    """Read the text as its format, and as every other that claims it unless the first is asked alone."""
    for known in FORMATS:
        if alone and known.name != FILES[name][0]:
            continue
        changed = Source(str(SAMPLES / name), text, beside)
        try:
            if known.detect(changed) or known.name == FILES[name][0]:
                for record in known.read(changed):
                    assert isinstance(record, Turn | FormatError)
                    if isinstance(record, Turn):
                        assert all(isinstance(value, str) for value in _content(record))
        except FormatError:
            continue


@pytest.mark.parametrize("name", NAMES)
def test_every_key_is_survived_with_every_type_of_value(name: str) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    lined = name.startswith("signal")
    value = [json.loads(line) for line in text.split("\n") if line] if lined else json.loads(text)
    for holder, key in _first_of_each(value):
        kept = holder[key]
        for other in (None, True, 5, -1.5, "x", [], ["x"], [[]], {}, {"id": []}):
            holder[key] = other
            changed = "\n".join(map(json.dumps, value)) if lined else json.dumps(value)
            _survives(name, changed, lambda _, lists=changed: lists, alone=True)
        holder[key] = kept


def _first_of_each(value: Any) -> list[tuple[Any, Any]]:
    """The first place of each path of keys, all elements of a list being one."""
    found: dict[tuple[Any, ...], tuple[Any, Any]] = {}
    stack: list[tuple[Any, tuple[Any, ...]]] = [(value, ())]
    while stack:
        holder, path = stack.pop()
        inside = list(holder.items()) if isinstance(holder, dict) else list(enumerate(holder))
        for key, held in inside:
            own = (*path, "*" if isinstance(holder, list) else key)
            found.setdefault(own, (holder, key))
            if isinstance(held, dict | list):
                stack.append((held, own))
    return list(found.values())


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_values_of_other_types_are_survived(name: str, data: st.DataObject) -> None:
    text = (SAMPLES / name).read_text(encoding="utf-8")
    lined = name.startswith("signal")
    value = [json.loads(line) for line in text.split("\n") if line] if lined else json.loads(text)
    for _ in range(data.draw(st.integers(1, 6))):
        nodes = _nodes(value)
        if not nodes:
            break
        holder, key = nodes[data.draw(st.integers(0, len(nodes) - 1))]
        if data.draw(st.booleans()):
            holder[key] = deepcopy(data.draw(VALUES))
        else:
            del holder[key]
    changed = "\n".join(map(json.dumps, value)) if lined else json.dumps(value)
    _survives(name, changed, lambda _: json.dumps(value))


@pytest.mark.parametrize("name", NAMES)
@given(data=st.data())
def test_cut_and_damaged_bytes_are_survived(name: str, data: st.DataObject) -> None:
    raw = bytearray((SAMPLES / name).read_bytes())
    for _ in range(data.draw(st.integers(0, 8))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    _survives(name, raw[:cut].decode("utf-8", "replace"), lambda _: raw[:cut].decode("utf-8", "replace"))


@pytest.mark.parametrize("name", sorted({format_name for format_name, _ in FILES.values()}))
@given(
    value=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
        max_leaves=10,
    )
)
def test_a_format_that_is_forced_on_any_json_ends_in_records_or_a_named_error(name: str, value: Any) -> None:
    known = by_name(name)
    assert known is not None
    for text in (
        json.dumps(value),
        json.dumps({"messages": value, "chats": {"list": value}, "session_1": value}),
    ):
        try:
            assert all(
                isinstance(record, Turn | FormatError) for record in known.read(Source("a.json", text))
            )
        except FormatError:
            continue
