"""Sessions of the agent pi and of what is built on it (OpenClaw): `~/.pi/agent/sessions/*/*.jsonl`.

Structure from jazzyalex/agent-sessions (Resources/Fixtures/stage0/agents/pi, openclaw) and
arcreflex/agent-transcripts (test/fixtures/pi-coding-agent). A first line of type `session`, then entries with
`id` and `parentId`; those of type `message` hold a `message` of role `user`, `assistant`, `toolResult` or
`bashExecution`.

Left out: thinking, branches that were left (none but that of the last entry is read), summaries made to save
context or of a branch, and all that says how the program is set. Sessions of the first version have no ids.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_blocks import of_assistant, of_user, returned
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, no_object, turns
from smartsearch.transcripts.formats.branch import current, parent_of
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = ("toolResult", "bashExecution")
"""Roles of messages that no other agent's log has."""
_NOTES = ("custom", "system")
_SPOKEN = ("user", "assistant", *_ROLES)


def claims(value: object) -> bool:
    """Whether a value is the first line of a session, or a message as only pi writes it."""
    if string(value, "type") == "session":
        return isinstance(value, dict) and {"id", "timestamp", "cwd"} <= value.keys()
    message = mapping(value, "message")
    if string(value, "type") != "message" or not message:
        return False
    calls = any(string(block, "type") == "toolCall" for block in sequence(message, "content"))
    return message.get("role") in _ROLES or calls or isinstance(message.get("timestamp"), int)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    items = list(source.items())
    placed = (item.value for item in items if _placed(item.value))
    branch = current((string(value, "id"), parent_of(value, "parentId")) for value in placed)
    live = [item for item in items if not _placed(item.value) or string(item.value, "id") in branch]
    head: object = next((item.value for item in items if string(item.value, "type") == "session"), None)
    conversation = string(head, "id") or source.stem
    events = (event for item in live for event in _events(item, conversation))
    yield from turns(source.path, _title(live) or last_part(string(head, "cwd")), events)


def _placed(value: object) -> bool:
    """Whether an entry stands on a branch."""
    return string(value, "type") != "session" and bool(string(value, "id"))


def _title(items: Sequence[Item]) -> str:
    """The name that was given to the session last."""
    named = (item.value for item in reversed(items) if string(item.value, "type") == "session_info")
    return next((name for value in named if (name := string(value, "name"))), "")


def _events(item: Item, conversation: str) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    if not isinstance(value.get("type"), str):
        yield item.fault("an entry without a `type`")
        return
    if value["type"] != "message":
        return
    message = mapping(value, "message")
    time = value.get("timestamp") or message.get("timestamp")
    place = Place(item, time, conversation, string(value, "id"))
    content = message.get("content")
    role = string(message, "role")
    if role in ("user", "assistant", "toolResult") and not isinstance(content, str | list):
        yield item.fault(f"`content` is {kind(content)}, not text or blocks")
    elif role not in _SPOKEN and not role.endswith("Summary") and role not in _NOTES:
        yield item.fault("a message of no known `role`")
    else:
        yield from _said(role, message, place)


def _said(role: str, message: dict[str, Any], place: Place) -> Iterator[Event]:
    own = place.turn or f"{place.item.line}{place.item.pointer}"
    if role == "user":
        yield from of_user(message["content"], place, str)
    elif role == "assistant":
        yield from of_assistant(message["content"], own, place)
    elif role == "toolResult":
        yield returned(message, string(message, "toolCallId"), string(message, "toolName"), place)
    elif role == "bashExecution":
        yield Called("bash", {"command": message.get("command")}, own, place, own)
        yield Returned(own, string(message, "output"), "", place)
