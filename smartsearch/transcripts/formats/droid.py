"""Factory's droid: sessions in `~/.factory/sessions`, and what it prints with `--output-format stream-json`.

Structure from jazzyalex/agent-sessions (Resources/Fixtures/stage0/agents/droid). A session begins with a line
of type `session_start`; its lines of type `message` hold a `message` in Anthropic's form. The stream has
`message` with `role` and `text`, `tool_call`, `tool_result`, and `completion` with the last answer, which is
left out where it was said before.

Left out: thinking, reminders that the program puts into the user's texts, and its own reports.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import pi
from smartsearch.transcripts.formats.agent_blocks import of_assistant, of_user
from smartsearch.transcripts.formats.agent_log import (
    Called,
    Event,
    Place,
    Returned,
    Said,
    no_object,
    turns,
    without,
)
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_STREAMED = ("message", "tool_call", "tool_result", "completion")
_SESSION = ("session_id", "sessionId")
_WRAPPERS = ("system-reminder",)


def claims(value: object) -> bool:
    """Whether a value is a line of a session or of a stream."""
    if not isinstance(value, dict):
        return False
    what = value.get("type")
    if what in _STREAMED and string(value, *_SESSION):
        return bool({"text", "toolName", "toolId", "toolCallId", "finalText"} & value.keys())
    if what == "message":
        message = mapping(value, "message")
        return {"role", "content"} <= message.keys() and "id" in value and not pi.claims(value)
    return what == "session_start" and "id" in value


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    items = list(source.items())
    head: object = next((item.value for item in items if string(item.value, "type") == "session_start"), None)
    title = string(head, "sessionTitle", "title") or last_part(string(head, "cwd"))
    conversation = string(head, "id") or source.stem
    yield from turns(source.path, title, _unrepeated(e for i in items for e in _events(i, conversation)))


def _unrepeated(events: Iterator[Event]) -> Iterator[Event]:
    """Without the last answer of a stream where the assistant said it before."""
    last = ""
    for event in events:
        if isinstance(event, Said) and event.role == "assistant":
            if event.message == "completion" and event.text == last:
                continue
            last = event.text
        yield event


def _events(item: Item, conversation: str) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    what = value.get("type")
    if not isinstance(what, str):
        yield item.fault("a line without a `type`")
    elif what in _STREAMED:
        own = string(value, "id", "toolCallId")
        place = Place(item, value.get("timestamp"), string(value, *_SESSION) or conversation, own)
        if what == "message" and "text" not in value:
            yield from _message(mapping(value, "message"), place)
        else:
            yield from _streamed(what, value, place)


def _message(message: dict[str, Any], place: Place) -> Iterator[Event]:
    role, content = string(message, "role"), message.get("content")
    if not role or not isinstance(content, str | list):
        yield place.item.fault(f"`content` is {kind(content)}, not text or blocks" if role else "no `role`")
    elif role == "user":
        yield from of_user(content, place, _typed, _typed)
    elif role == "assistant":
        yield from of_assistant(content, place.turn or f"{place.item.line}", place)


def _streamed(what: str, value: dict[str, Any], place: Place) -> Iterator[Event]:
    call = string(value, "toolCallId", "id")
    tool = string(value, "toolName", "toolId")
    if what == "tool_call":
        yield Called(tool, value.get("parameters"), call, place)
    elif what == "tool_result":
        given = value.get("value")
        text = string(given, "stdout", "output", "stderr", "error") if isinstance(given, dict) else given
        yield Returned(call, text if isinstance(text, str) else "", "", place, tool)
    elif what == "completion":
        yield Said("assistant", string(value, "finalText"), "", place, "completion")
    else:
        text = value.get("text")
        if not isinstance(text, str):
            yield place.item.fault(f"`text` is {kind(text)}, not text")
        elif string(value, "role") in ("user", "assistant"):
            yield Said(value["role"], _typed(text), "", place)


def _typed(text: str) -> str:
    return without(text, _WRAPPERS)
