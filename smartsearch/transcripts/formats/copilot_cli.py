"""Copilot CLI's sessions: `~/.copilot/session-state/*/events.jsonl`, an event a line.

Structure from jazzyalex/agent-sessions (Resources/Fixtures/stage0/agents/copilot). Each event has a `type`
such as `assistant.message`, `data`, `id` and `timestamp`.

Left out: reasoning, the system's messages, hooks, and what the program reports of the session and its turns.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import (
    Called,
    Event,
    Place,
    Returned,
    Said,
    no_object,
    turns,
)
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, objects, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.tool_calls import arguments
from smartsearch.transcripts.source import Source

_FAMILIES = ("session", "user", "assistant", "tool", "system", "hook", "subagent", "abort", "skill")
"""What stands before the dot of a `type`."""
_TITLED = "session.title_changed"


def claims(value: object) -> bool:
    """Whether a value is an event of a session."""
    family, dot, _ = string(value, "type").partition(".")
    if not dot or family not in _FAMILIES or not isinstance(value, dict):
        return False
    return isinstance(value.get("data"), dict) and "timestamp" in value


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    items = list(source.items())
    begun = next((_data(i.value) for i in items if string(i.value, "type") == "session.start"), {})
    conversation = string(begun, "sessionId") or source.stem
    folder = last_part(string(mapping(begun, "context"), "cwd"))
    titles = [string(_data(i.value), "title") for i in items if string(i.value, "type") == _TITLED]
    asked = {string(call, "toolCallId") for i in items for call in objects(_data(i.value), "toolRequests")}
    events = (event for item in items for event in _events(item, conversation, asked))
    yield from turns(source.path, titles[-1] if titles else folder, events)


def _data(value: object) -> dict[str, Any]:
    return mapping(value, "data")


def _events(item: Item, conversation: str, asked: set[str]) -> Iterator[Event]:
    """What an event holds; a call is in the message that asks for it, else (not `asked`) where it begins."""
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    what, data = value.get("type"), value.get("data")
    if not isinstance(what, str) or not isinstance(data, dict):
        yield item.fault(f"`data` is {kind(data)}, not an object" if what else "an event without a `type`")
        return
    own, session = string(value, "id"), string(data, "parentToolCallId", "agentId")
    place = Place(item, value.get("timestamp"), conversation, own, session)
    call = string(data, "toolCallId")
    if what == "user.message":
        yield from _user(data, place)
    elif what == "assistant.message":
        yield from _assistant(data, string(data, "messageId") or own, place)
    elif what == "tool.execution_start" and call not in asked:
        yield Called(string(data, "toolName"), data.get("arguments"), call, place)
    elif what == "tool.execution_complete":
        text = string(mapping(data, "result"), "content", "detailedContent")
        text = text or string(mapping(data, "error"), "message") or string(data, "error", "result")
        yield Returned(call, text, "", place._replace(turn=call or own), string(data, "toolName"))


def _user(data: dict[str, Any], place: Place) -> Iterator[Event]:
    content = data.get("content")
    if not isinstance(content, str):
        yield place.item.fault(f"`content` is {kind(content)}, not text")
        return
    named = (string(one, "displayName", "path", "name") for one in objects(data, "attachments"))
    files = [f"[file {last_part(name)}]" if name else "[file]" for name in named]
    yield Said("user", content, " ".join(files), place)


def _assistant(data: dict[str, Any], message: str, place: Place) -> Iterator[Event]:
    content = data.get("content")
    if not isinstance(content, str | None):
        yield place.item.fault(f"`content` is {kind(content)}, not text")
        return
    yield Said("assistant", content or "", "", place, message)
    for call in objects(data, "toolRequests"):
        given = arguments(call.get("arguments"))
        yield Called(string(call, "name"), given, string(call, "toolCallId"), place, message)
