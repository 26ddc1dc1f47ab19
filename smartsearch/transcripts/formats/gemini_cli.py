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
from smartsearch.transcripts.format import Format, Record
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
from smartsearch.transcripts.formats.fields import kind, mapping, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = {"user": "user", "gemini": "assistant"}
_REPORTS = ("info", "warning", "error")


def detect(source: Source) -> bool:
    """Whether a session with its `sessionId` and `projectHash`, or a reply of a log, stands at the top."""
    return any(isinstance(value, dict) and _is_ours(value) for value in source.head())


def _is_ours(value: dict[str, Any]) -> bool:
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
            kept[f"#{len(kept)} {item.line}"] = no_object(value, item.line, item.pointer)
        elif "$rewindTo" in value:
            _rewind(kept, string(value, "$rewindTo"), item)
        elif "$set" in value or "sessionId" in value:
            news = mapping(value, "$set") or value
            about.update((key, news[key]) for key in ("sessionId", "summary") if news.get(key))
            if "messages" in news:
                pointer = f"{item.pointer}/$set/messages" if "$set" in value else f"{item.pointer}/messages"
                kept.clear()
                _add(kept, news["messages"], item.line, pointer)
        else:
            kept[_key(value, kept)] = item
    return list(kept.values())


def _add(kept: dict[str, Item | FormatError], messages: object, line: int, pointer: str) -> None:
    if not isinstance(messages, list):
        fault = f"`messages` is {kind(messages)}, not a list"
        kept["#"] = FormatError(fault, line=line, pointer=pointer)
        return
    for n, message in enumerate(messages):
        kept[_key(message, kept)] = Item(message, line, f"{pointer}/{n}")


def _key(message: object, kept: dict[str, Item | FormatError]) -> str:
    return string(message, "id") or f"#{len(kept)}"


def _rewind(kept: dict[str, Item | FormatError], to: str, item: Item) -> None:
    """Take back a message and all after it; one that is not there takes nothing back."""
    if to not in kept:
        fault = "`$rewindTo` names a message that is not there"
        kept[f"#{len(kept)} {item.line}"] = FormatError(fault, line=item.line, pointer=item.pointer)
        return
    while kept.popitem()[0] != to:
        pass


def _events(record: Item | FormatError, conversation: str) -> Iterator[Event]:
    if isinstance(record, FormatError):
        yield record
        return
    message, line, pointer = record.value, record.line, record.pointer
    what = string(message, "type")
    if what in _REPORTS:
        return
    role = _ROLES.get(what)
    content = message.get("content") if isinstance(message, dict) else None
    if role is None or not isinstance(content, str | list | dict | None):
        fault = f"`content` is {kind(content)}, not text or parts" if role else "a message of no known `type`"
        yield FormatError(fault, line=line, pointer=pointer)
        return
    place = Place(line, pointer, message.get("timestamp"), conversation, string(message, "id"))
    text, caption = _said(message.get("displayContent") or content)
    yield Said(role, text, caption, place, place.turn or pointer)
    calls = sequence(message, "toolCalls")
    for n, call in enumerate(calls):
        yield Called(
            string(call, "name"), mapping(call, "args"), _id(call, place, n), place, place.turn or pointer
        )
    for n, call in enumerate(calls):
        text, caption = _result(call)
        time = string(call, "timestamp") or place.time
        inside = place._replace(pointer=f"{pointer}/toolCalls/{n}", time=time, turn=_id(call, place, n))
        yield Returned(_id(call, place, n), text, caption, inside)


def _id(call: object, place: Place, n: int) -> str:
    return string(call, "id") or f"{place.turn}/{n}"


def _said(content: object) -> tuple[str, str]:
    """The text of a content, a string, a part or parts, and a caption for files in it."""
    found = content if isinstance(content, list) else [content]
    text, caption = parts([part for part in found if isinstance(part, str | dict)])
    files = ["[image]" if _is_image(part) else "[file]" for part in found if _is_file(part)]
    return text, " ".join([caption, *files]).strip()


def _is_file(part: object) -> bool:
    return bool(mapping(part, "inlineData") or mapping(part, "fileData"))


def _is_image(part: object) -> bool:
    data = mapping(part, "inlineData") or mapping(part, "fileData")
    return string(data, "mimeType").startswith("image/")


def _result(call: object) -> tuple[str, str]:
    """What a tool gave the model, else what was shown of it, else its error."""
    responses = [mapping(mapping(part, "functionResponse"), "response") for part in sequence(call, "result")]
    texts = [string(response, "output", "error", "content") for response in responses]
    text = "\n".join(text for text in texts if text)
    return text or string(call, "resultDisplay", "error"), ""


FORMAT = Format(
    name="gemini-cli",
    description="Gemini CLI's session logs, `session-*.json`: texts, tool calls, results",
    extensions=(".json", ".jsonl"),
    detect=detect,
    read=read,
    how="they are in ~/.gemini/tmp/*/chats on the machine it runs on, a file a session; name the folder",
)
