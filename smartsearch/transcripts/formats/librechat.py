"""LibreChat's exports of a conversation, flat or as a tree of `messages`, or its messages alone.

Structure from danny-avila/LibreChat (api/server/utils/import/__data__). Left out: reasoning, and branches
that an edit or a second answer has left behind.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import (
    Called,
    Event,
    Place,
    Returned,
    Said,
    parts,
    turns,
)
from smartsearch.transcripts.formats.branch import Node, shown
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import mapping, misfit, objects, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.tool_calls import arguments
from smartsearch.transcripts.source import Source

_LISTS = ("messages", "messagesTree")


def claims(value: object) -> bool:
    """Whether a value is a conversation with messages, or one of its messages."""
    listed = [message for key in _LISTS for message in sequence(value, key)[:5]]
    return _is_message(value) or ("conversationId" in mapping(value) and any(map(_is_message, listed)))


def _is_message(value: object) -> bool:
    return {"messageId", "parentMessageId", "isCreatedByUser"} <= mapping(value).keys()


def read(source: Source) -> Iterator[Record]:
    """Turns of every conversation's latest branch."""
    alone: dict[str, list[Item]] = defaultdict(list)
    for item in source.items():
        listed = [one for key in _LISTS for one in item.elements(key)]
        if listed:
            name = string(item.value, "conversationId") or source.stem
            yield from _turns(source, name, string(item.value, "title"), listed)
        elif _is_message(item.value):
            alone[string(item.value, "conversationId") or source.stem].append(item)
        else:
            yield item.fault("neither a conversation with `messages` nor a message")
    for name, messages in alone.items():
        yield from _turns(source, name, "", messages)


def _turns(source: Source, name: str, title: str, listed: list[Item]) -> Iterator[Record]:
    messages = list(_flat(listed))
    kept = shown([_node(message.value) for message in messages])
    events = (event for n, message in enumerate(messages) if n in kept for event in _events(message, name))
    yield from turns(source.path, title, events)


def _flat(listed: list[Item]) -> Iterator[Item]:
    """Messages, each with those inside it behind it."""
    open_ = listed[::-1]
    while open_:
        message = open_.pop()
        yield message
        open_ += reversed(list(message.elements("children")))


def _node(value: object) -> Node:
    time = to_iso(mapping(value).get("createdAt"))
    return Node(string(value, "messageId"), string(value, "parentMessageId"), time)


def _events(item: Item, name: str) -> Iterator[Event]:
    value = item.value
    if reason := misfit(value, "text"):
        yield item.fault(reason)
        return
    place = Place(item, value.get("createdAt"), name, string(value, "messageId"))
    files = joined(
        attachment(string(file, "filename"), string(file, "type")) for file in objects(value, "files")
    )
    if value.get("isCreatedByUser") is True:
        text, caption = parts(value.get("content"))
        yield Said("user", string(value, "text") or text, joined([caption, files]), place)
        return
    content = objects(value, "content")
    yield Said("assistant", "" if content else string(value, "text"), files, place, item.pointer)
    for n, part in enumerate(content):
        yield from _part(part, f"{item.pointer}/content/{n}", place)


def _part(part: dict[str, Any], call: str, place: Place) -> Iterator[Event]:
    """What a part of a reply holds: text, or a call with what it returned; nothing for reasoning."""
    what = string(part, "type")
    if what == "text":
        text = string(part, "text") or string(mapping(part, "text"), "value")
        yield Said("assistant", text, "", place, place.item.pointer)
    elif what == "tool_call":
        made = mapping(part, "tool_call")
        yield Called(string(made, "name"), arguments(made.get("args")), call, place, place.item.pointer)
        yield Returned(call, string(made, "output"), "", place)
    elif what != "think":
        yield Said("assistant", "", parts([part])[1], place, place.item.pointer)
