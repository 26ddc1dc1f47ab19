"""Gemini CLI's session logs: `~/.gemini/tmp/*/chats/session-*.json`, later `.jsonl`.

Structure from kvsankar/agent-history (docs/specs/agents/formats/gemini-cli-format.md), after
packages/core/src/services/chatRecordingService.ts of google-gemini/gemini-cli. A `.json` is one object with
`messages`. A `.jsonl` is played back: a first line with `sessionId` and `projectHash`, then messages, of
which a later one replaces that with the same id, `{"$set": {...}}` and `{"$rewindTo": id}`.

Left out: thoughts, and what the program itself reports (`info`, `warning`, `error`).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.faults import FormatError
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
from smartsearch.transcripts.formats.fields import kind, mapping, string
from smartsearch.transcripts.formats.gemini_parts import result, said
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = {"user": "user", "gemini": "assistant"}
_REPORTS = ("info", "warning", "error")


def claims(value: object) -> bool:
    """Whether a value is a session with its `sessionId` and `projectHash`, or a reply of a log."""
    if not isinstance(value, dict):
        return False
    reply = value.get("type") == "gemini" and {"id", "timestamp", "content"} <= value.keys()
    return reply or {"sessionId", "projectHash"} <= value.keys()


def read(source: Source) -> Iterator[Record]:
    """Turns in the order of the messages: texts, with the tool calls made beside them, and results."""
    about: dict[str, Any] = {}
    records = list(_played(source, about))
    conversation = string(about, "sessionId") or source.stem
    events = (event for record in records for event in _events(record, conversation))
    yield from turns(source.path, string(about, "summary"), events)


def _played(source: Source, about: dict[str, Any]) -> list[Item | FormatError]:
    """The messages as they stand at the end, with faults; `about` takes up what is said of the session."""
    kept: dict[str, Item | FormatError] = {}
    for item in source.items():
        value = item.value
        if not isinstance(value, dict):
            kept[f"#{len(kept)} {item.line}"] = no_object(item)
        elif "$rewindTo" in value:
            _rewind(kept, string(value, "$rewindTo"), item)
        elif "$set" in value or "sessionId" in value:
            news = mapping(value, "$set") or value
            about.update((key, news[key]) for key in ("sessionId", "summary") if news.get(key))
            if "messages" in news:
                kept.clear()
                path = ("$set", "messages") if "$set" in value else ("messages",)
                _add(kept, Item(news["messages"], item.line, "/".join([item.pointer, *path])))
        else:
            kept[_key(value, kept)] = item
    return list(kept.values())


def _add(kept: dict[str, Item | FormatError], messages: Item) -> None:
    if not isinstance(messages.value, list):
        kept["#"] = messages.fault(f"`messages` is {kind(messages.value)}, not a list")
    for message in messages.elements():
        kept[_key(message.value, kept)] = message


def _key(message: object, kept: dict[str, Item | FormatError]) -> str:
    return string(message, "id") or f"#{len(kept)}"


def _rewind(kept: dict[str, Item | FormatError], to: str, item: Item) -> None:
    """Take back a message and all after it; one that is not there takes nothing back."""
    if to not in kept:
        fault = item.fault("`$rewindTo` names a message that is not there")
        kept[f"#{len(kept)} {item.line}"] = fault
        return
    while kept.popitem()[0] != to:
        pass


def _events(record: Item | FormatError, conversation: str) -> Iterator[Event]:
    if isinstance(record, FormatError):
        yield record
        return
    message = record.value
    what = string(message, "type")
    if what in _REPORTS:
        return
    role = _ROLES.get(what)
    content = message.get("content") if isinstance(message, dict) else None
    if role is None or not isinstance(content, str | list | dict | None):
        fault = f"`content` is {kind(content)}, not text or parts" if role else "a message of no known `type`"
        yield record.fault(fault)
        return
    place = Place(record, message.get("timestamp"), conversation, string(message, "id"))
    text, caption = said(message.get("displayContent") or content)
    own = place.turn or record.pointer
    yield Said(role, text, caption, place, own)
    calls = list(record.elements("toolCalls"))
    ids = [string(call.value, "id") or f"{place.turn}/{n}" for n, call in enumerate(calls)]
    for call, id_ in zip(calls, ids):
        yield Called(string(call.value, "name"), mapping(call.value, "args"), id_, place, own)
    for call, id_ in zip(calls, ids):
        time = string(call.value, "timestamp") or place.time
        yield Returned(id_, result(call.value), "", place._replace(item=call, time=time, turn=id_))
