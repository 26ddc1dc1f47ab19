"""LM Studio's conversations: `~/.lmstudio/conversations/*.conversation.json`, a file a chat.

Structure after readers and writers of such files (ChrystianSchutz/ThreadShelf's README, tested with LM Studio
0.4). A message has versions, of which one is selected, and a version of the model has steps. Left out: other
versions, thinking, and notes on the generation. Messages have no times; they get that of the conversation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, parts, turns
from smartsearch.transcripts.formats.fields import mapping, objects, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = ("user", "assistant", "system")


def claims(value: object) -> bool:
    """Whether a value is a conversation whose messages have versions."""
    return any(map(_is_message, sequence(value, "messages")[:5]))


def _is_message(value: object) -> bool:
    return bool(objects(value, "versions")) and "currentlySelected" in mapping(value)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order, the system's prompt first."""
    for item in source.items():
        if not claims(item.value):
            yield item.fault("no conversation with `messages` here")
            continue
        name = source.stem.removesuffix(".conversation")
        yield from turns(source.path, string(item.value, "name"), _events(item, name))


def _events(item: Item, name: str) -> Iterator[Event]:
    time = item.value.get("createdAt")
    if system := string(item.value, "systemPrompt"):
        yield Said(
            "system", system, "", Place(Item(None, item.line, f"{item.pointer}/systemPrompt"), time, name)
        )
    for message in item.elements("messages"):
        versions, at = sequence(message.value, "versions"), mapping(message.value).get("currentlySelected")
        chosen = versions[at] if isinstance(at, int) and 0 <= at < len(versions) else (versions or [None])[-1]
        role = string(chosen, "role")
        if role not in _ROLES:
            yield message.fault("no message with a version of a known `role` here")
            continue
        place = Place(message, time, name, string(message.value, "id"))
        for block in [mapping(chosen), *objects(chosen, "steps")]:
            yield from _block(role, block, place)


def _block(role: str, block: dict[str, Any], place: Place) -> Iterator[Event]:
    """What a version or one of its steps holds, nothing for thinking."""
    if string(mapping(block, "style"), "type") == "thinking":
        return
    content = sequence(block, "content")
    text, caption = parts([part for part in content if not string(part, "type").startswith("toolCall")])
    if text or caption:
        yield Said(role, text, caption, place, place.item.pointer)
    for part in objects(block, "content"):
        call = string(part, "toolCallRequestId", "callId")
        if string(part, "type") == "toolCallRequest":
            given = part.get("parameters", part.get("arguments"))
            yield Called(string(part, "name"), given, call, place, place.item.pointer)
        elif string(part, "type") == "toolCallResult":
            text, caption = parts(part.get("content"))
            yield Returned(call, text, caption, place, string(part, "name"))
