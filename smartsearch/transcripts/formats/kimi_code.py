"""Kimi Code's sessions: `~/.kimi-code/sessions/*/*/agents/*/wire.jsonl`, an operation a line.

Structure from jazzyalex/agent-sessions (Resources/Fixtures/stage0/agents/kimi and KimiSessionParser.swift).
The first line is `metadata` with a `protocol_version`. `context.append_message` holds what the user said,
`context.append_loop_event` what the model said and the calls it made. Each agent of a session has its file,
`main` or one of those it started; its folder is the `session` of its turns.

Left out: thinking, settings, requests and usage, and what the program says in the user's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath
from typing import Any

from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import (
    Called,
    Event,
    Place,
    Returned,
    Said,
    no_object,
    parts,
    turns,
)
from smartsearch.transcripts.formats.fields import kind, mapping, objects, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.tool_calls import arguments
from smartsearch.transcripts.source import Source

_MESSAGE = "context.append_message"
_EVENT = "context.append_loop_event"
_MAIN = "main"


def claims(value: object) -> bool:
    """Whether a value is the first line of a session, or an operation with what was said."""
    what = string(value, "type")
    if what == "metadata":
        return bool(string(value, "protocol_version"))
    return what in (_MESSAGE, _EVENT)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    conversation, session = _names(source)
    events = (event for item in source.items() for event in _events(item, conversation, session))
    yield from turns(source.path, "", events)


def _names(source: Source) -> tuple[str, str]:
    """The session's folder, and that of an agent which the main one started."""
    folders = PurePath(plain_name(source.path)).parts[:-1]
    if len(folders) < 3 or folders[-2] != "agents":
        return source.stem, ""
    return folders[-3], "" if folders[-1] == _MAIN else folders[-1]


def _events(item: Item, conversation: str, session: str) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    what = value.get("type")
    if not isinstance(what, str):
        yield item.fault("an operation without a `type`")
        return
    place = Place(item, value.get("time"), conversation, "", session)
    if what == _MESSAGE:
        yield from _message(value.get("message"), place)
    elif what == _EVENT:
        event = value.get("event")
        if isinstance(event, dict):
            yield from _loop(event, place)
        else:
            yield item.fault(f"`event` is {kind(event)}, not an object")


def _message(message: object, place: Place) -> Iterator[Event]:
    content = message.get("content") if isinstance(message, dict) else None
    role = string(message, "role")
    if not role or not isinstance(content, str | list):
        fault = f"`content` is {kind(content)}, not text or parts" if role else "a message without a `role`"
        yield place.item.fault(fault)
        return
    text, caption = parts(content)
    own = f"{place.item.line}{place.item.pointer}"
    if role == "user" and string(mapping(message, "origin"), "kind") in ("user", ""):
        yield Said(role, text, caption, place)
    elif role == "assistant":
        yield Said(role, text, caption, place, own)
        for call in objects(message, "toolCalls"):
            yield Called(
                string(call, "name"), arguments(call.get("arguments")), string(call, "id"), place, own
            )
    elif role == "tool":
        yield Returned(string(message, "toolCallId"), text, caption, place)


def _loop(event: dict[str, Any], place: Place) -> Iterator[Event]:
    what, call = string(event, "type"), string(event, "toolCallId")
    step = string(event, "stepUuid")
    if what == "content.part":
        part = mapping(event, "part")
        if string(part, "type") != "think":
            text, caption = parts([part])
            yield Said("assistant", text, caption, place._replace(turn=string(event, "uuid")), step)
    elif what == "tool.call":
        yield Called(string(event, "name"), event.get("args"), call, place._replace(turn=call), step)
    elif what == "tool.result":
        given = event.get("result")
        inner = given.get("output") if isinstance(given, dict) else given
        yield Returned(call, *parts(inner), place._replace(turn=call))
