"""Grok CLI's sessions: `~/.grok/sessions/*/*/chat_history.jsonl`, a record a line, without times.

Structure from jazzyalex/agent-sessions (Resources/Fixtures/stage0/agents/grok and GrokSessionParser.swift).
The `summary.json` beside it knows the session's id, title and the time at which it began, which all its
turns have.

Left out: reasoning, the system's prompt, and what the program says in the user's name.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any

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
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, objects, string
from smartsearch.transcripts.formats.jsontext import Item, parse
from smartsearch.transcripts.formats.tool_calls import arguments
from smartsearch.transcripts.source import Source

_KINDS = ("system", "user", "assistant", "reasoning", "tool_result", "backend_tool_call")
_SUMMARY = "summary.json"


def claims(value: object) -> bool:
    """Whether a value is a record of a session, told by the keys that no other log has."""
    if not isinstance(value, dict) or value.get("type") not in _KINDS:
        return False
    if value["type"] == "user":
        return "content" in value and bool({"prompt_index", "synthetic_reason"} & value.keys())
    if value["type"] == "assistant":
        return {"content", "model_id"} <= value.keys()
    if value["type"] == "tool_result":
        return value.keys() >= {"tool_call_id", "content"} and "role" not in value
    return value["type"] == "backend_tool_call" and isinstance(value.get("kind"), dict)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    about = _summary(source)
    conversation = string(mapping(about, "info"), "id") or source.folder or source.stem
    title = string(about, "generated_title", "session_summary")
    title = title or last_part(string(mapping(about, "info"), "cwd"))
    began = about.get("created_at")
    yield from turns(source.path, title, (e for i in source.items() for e in _events(i, conversation, began)))


def _summary(source: Source) -> dict[str, Any]:
    written = source.beside(_SUMMARY)
    try:
        found = parse(written) if written else None
    except JSONDecodeError:
        found = None
    return found if isinstance(found, dict) else {}


def _events(item: Item, conversation: str, began: object) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    what, content = value.get("type"), value.get("content")
    place = Place(item, began, conversation, string(value, "id", "tool_call_id"))
    if what not in _KINDS:
        yield item.fault("a record of no known `type`")
    elif what == "backend_tool_call":
        done = mapping(value, "kind")
        yield Called(string(done, "tool_type"), done.get("action"), string(done, "id"), place)
    elif what in ("user", "assistant", "tool_result") and not isinstance(content, str | list | None):
        yield item.fault(f"`content` is {kind(content)}, not text or parts")
    elif what == "user" and "synthetic_reason" not in value:
        yield Said("user", *parts(content), place)
    elif what == "assistant":
        yield from _assistant(value, place)
    elif what == "tool_result":
        text, caption = parts(content)
        images = " ".join("[image]" for _ in objects(value, "images"))
        yield Returned(place.turn, text, f"{caption} {images}".strip(), place)


def _assistant(value: dict[str, Any], place: Place) -> Iterator[Event]:
    own = f"{place.item.line}{place.item.pointer}"
    text, caption = parts(value.get("content"))
    yield Said("assistant", text, caption, place, own)
    for call in objects(value, "tool_calls"):
        yield Called(string(call, "name"), arguments(call.get("arguments")), string(call, "id"), place, own)
