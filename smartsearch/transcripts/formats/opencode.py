"""OpenCode's sessions: its SQLite store, the JSON files it had before, and what `opencode export` writes.

Structure from jazzyalex/agent-sessions (Resources/Fixtures/stage0/agents/opencode,
OpenCodeSqliteReader.swift) and Dicklesworthstone/coding_agent_session_search (tests/connector_opencode.rs).
`~/.local/share/opencode/opencode.db` has the tables `session`, `message` and `part`, of which the last two
hold JSON in `data`. Before, each was a file below `storage`: a part's file names its message, in whose file
stands who said it; a part is a turn of its own then, and without a title. A session that another one started
has that one's id as conversation, and its own as session.

Left out: reasoning, steps, patches, summaries made to save context, texts the program made up (`synthetic`),
and what was reverted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from json import JSONDecodeError
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, turns
from smartsearch.transcripts.formats.fields import (
    escaped,
    kind,
    last_part,
    mapping,
    number,
    sequence,
    string,
)
from smartsearch.transcripts.formats.jsontext import Item, parse
from smartsearch.transcripts.source import Source

_ID = re.compile(r"[\w-]+")
_PARTS = (
    *("text", "tool", "file", "reasoning", "step-start", "step-finish", "snapshot", "patch", "agent"),
    *("compaction", "retry", "subtask"),
)
_SILENT = ({"id", "sessionID", "role", "time"}, {"id", "projectID", "directory", "time"})
"""Keys of the files of messages and of sessions."""
_TABLES = ("session", "message", "part")
_MADE = "time_created"


def claims(value: object) -> bool:
    """Whether a value is what is read of a store, an exported session, or one of the files."""
    if not isinstance(value, dict):
        return False
    if value.keys() <= set(_TABLES):
        return {"message", "part"} <= value.keys()
    if isinstance(value.get("info"), dict):
        return isinstance(value.get("messages"), list) and "id" in value["info"]
    return _is_part(value) or (
        "time" in value and ({"sessionID", "role"} <= value.keys() or _is_session(value))
    )


def _is_part(value: dict[str, Any]) -> bool:
    return {"id", "messageID", "type"} <= value.keys()


def _is_session(value: dict[str, Any]) -> bool:
    return {"id", "projectID", "directory"} <= value.keys()


def read(source: Source) -> Iterator[Record]:
    """Turns: texts, with the tool calls made beside them, and results as role `tool`."""
    for item in source.items():
        value = item.value
        if not isinstance(value, dict):
            yield item.fault(f"{kind(value)} in the place of a session")
        elif isinstance(value.get("message"), dict):
            yield from _stored(source, item)
        elif isinstance(value.get("messages"), list):
            yield from _exported(source, item)
        elif _is_part(value):
            yield from _part_file(source, item)


def _stored(source: Source, item: Item) -> Iterator[Record]:
    """The sessions of a store, the oldest first."""
    rows = {name: mapping(item.value, name) for name in _TABLES}
    parts, sessions = defaultdict[str, list[Item]](list), defaultdict[str, list[Item]](list)
    for id_ in sorted(rows["part"]):
        row = rows["part"][id_]
        parts[string(row, "message_id")].append(_row(item, "part", id_, row))
    for id_ in sorted(rows["message"], key=lambda id_: (number(rows["message"][id_], _MADE) or 0, id_)):
        row = rows["message"][id_]
        sessions[string(row, "session_id")].append(_row(item, "message", id_, row))
    for id_, messages in sessions.items():
        about = rows["session"].get(id_)
        held = ((one, one.value, parts[string(one.value, "id")]) for one in messages)
        events = (event for message in held for event in _message(*message, about, id_))
        yield from turns(source.path, _title(about), events)


def _row(item: Item, table: str, id_: str, row: Any) -> Item:
    """A row as the file of it would be: its data, with the id and the time."""
    place = f"{item.pointer}/{table}/{escaped(id_)}/data"
    data = row.get("data") if isinstance(row, dict) else row
    if isinstance(data, dict):
        data = {"time": {"created": row[_MADE]} if row.get(_MADE) else {}, **data, "id": id_}
    return Item(data, item.line, place)


def _exported(source: Source, item: Item) -> Iterator[Record]:
    about = mapping(item.value, "info")
    held = ((one, _info(one.value), list(one.elements("parts"))) for one in item.elements("messages"))
    events = (event for message in held for event in _message(*message, about, string(about, "id")))
    yield from turns(source.path, _title(about), events)


def _info(message: object) -> object:
    return message.get("info") if isinstance(message, dict) else message


def _part_file(source: Source, item: Item) -> Iterator[Record]:
    """The turn of a part's file. The names of its message's folder and file are of letters and digits."""
    session, message = string(item.value, "sessionID"), string(item.value, "messageID")
    about: object = {"role": "assistant" if string(item.value, "type") == "tool" else ""}
    if _ID.fullmatch(session) and _ID.fullmatch(message):
        written = source.beside(f"../../message/{session}/{message}.json")
        with suppress(JSONDecodeError):  # as good as not there
            about = parse(written) if written else about
    yield from turns(source.path, "", _message(item, about, [item], None, session or source.folder))


def _title(session: object) -> str:
    return string(session, "title") or last_part(string(session, "directory"))


def _message(place: Item, info: object, parts: Iterable[Item], session: object, id_: str) -> Iterator[Event]:
    """What a message holds, told by its `info`; nothing if it was reverted or is a summary."""
    if not isinstance(info, dict):
        yield place.fault(f"{kind(info)} in the place of a message")
        return
    role, own = string(info, "role"), string(info, "id")
    reverted = string(mapping(session, "revert"), "messageID")
    if info.get("summary") is True or (reverted and own >= reverted):
        return
    above = string(session, "parent_id", "parentID")
    time = mapping(info, "time").get("created")
    ids = (above or id_, own, id_ if above else "")
    events = [
        event
        for part in parts
        for event in _part(part, role, own, Place(part, _time(part.value) or time, *ids))
    ]
    yield from _as_one(events) if role == "user" else events


def _as_one(events: list[Event]) -> Iterator[Event]:
    """What the user sent at once, texts and files, as one turn."""
    said = [event for event in events if isinstance(event, Said)]
    if said:
        first = next((event for event in said if event.text), said[0])
        texts, captions = (event.text for event in said if event.text), (e.caption for e in said if e.caption)
        yield first._replace(text="\n".join(texts), caption=" ".join(captions))
    yield from (event for event in events if not isinstance(event, Said))


def _time(part: object) -> object:
    return mapping(part, "time").get("start") or mapping(part, "state", "time").get("start")


def _part(part: Item, role: str, own: str, place: Place) -> Iterator[Event]:
    value, message = part.value, own or part.pointer
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        fault = f"{kind(value)} in the place of a part"
        yield part.fault("a part without a `type`" if isinstance(value, dict) else fault)
    elif value["type"] == "text" and not (value.get("synthetic") is True or value.get("ignored") is True):
        yield Said(role, string(value, "text"), "", place, message)
    elif value["type"] == "file":
        name = string(value, "filename")
        image = string(value, "mime").startswith("image/")
        yield Said(role, "", "[image]" if image else f"[file {name}]" if name else "[file]", place, message)
    elif value["type"] == "tool":
        state, call = mapping(value, "state"), string(value, "callID", "id")
        yield Called(string(value, "tool"), state.get("input"), call, place, message)
        images = " ".join("[file]" for _ in sequence(state, "attachments"))
        yield Returned(call, string(state, "output", "error"), images, place._replace(turn=call))
