"""LM Studio's conversations: `~/.lmstudio/conversations/*.conversation.json`, a file a chat.

Structure after readers and writers of such files (ChrystianSchutz/ThreadShelf's README, tested with LM Studio
0.4). A message has versions, of which one is selected, and a version of the model has steps. Left out: other
versions, thinking, and notes on the generation. Only a step tells a time, in its identifier; a message
without one has that of the message before it, the first one the conversation's.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, parts, turns
from smartsearch.transcripts.formats.fields import mapping, objects, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = ("user", "assistant", "system")
_PROMPT = "llm.prediction.systemPrompt"
_NO_NAME = ("Untitled", "Untitled - Branched")


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
        name, title = source.stem.removesuffix(".conversation"), string(item.value, "name")
        yield from turns(source.path, "" if title in _NO_NAME else title, _events(item, name))


def _events(item: Item, name: str) -> Iterator[Event]:
    time = item.value.get("createdAt")
    if system := _system(item.value):
        yield Said("system", system, "", Place(item, time, name))
    for message in item.elements("messages"):
        chosen = _chosen(message.value)
        role = string(chosen, "role")
        if role not in _ROLES:
            yield message.fault("no message with a version of a known `role` here")
            continue
        time = next(filter(None, map(_time, objects(chosen, "steps"))), time)
        place = Place(message, time, name)
        for block in [mapping(chosen), *objects(chosen, "steps")]:
            yield from _block(role, block, place)


def _system(value: dict[str, Any]) -> str:
    """The system's prompt: the conversation's own, else the one it began with."""
    fields = objects(mapping(value, "perChatPredictionConfig"), "fields")
    own = [string(field, "value") for field in fields if string(field, "key") == _PROMPT]
    return next(filter(None, own), string(value, "systemPrompt"))


def _chosen(message: object) -> object:
    """The selected version, else the last, None where there is none."""
    versions, at = sequence(message, "versions"), mapping(message).get("currentlySelected")
    return versions[at] if isinstance(at, int) and 0 <= at < len(versions) else (versions or [None])[-1]


def _time(step: dict[str, Any]) -> str:
    return to_iso(string(step, "stepIdentifier").partition("-")[0])


def _block(role: str, block: dict[str, Any], place: Place) -> Iterator[Event]:
    """What a version or one of its steps holds, nothing for thinking."""
    if string(mapping(block, "style"), "type") == "thinking":
        return
    content = block.get("content")
    told = [part for part in sequence(block, "content") if not _is_call(part)]
    text, caption = parts([_image(part) for part in told] if isinstance(content, list) else content)
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


def _is_call(part: object) -> bool:
    return string(part, "type").startswith("toolCall")


def _image(part: object) -> object:
    """A part, as an image where it is a file that is one."""
    return {"type": "image"} if string(part, "fileType") == "image" else part
