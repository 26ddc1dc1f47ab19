"""Cursor's chats in its SQLite store: `User/globalStorage/state.vscdb`, and those of workspaces.

Structure from michaeldhood/chatrxiv (docs/cursor/storage-reference.md), pppp606/cursor-efficiency
(docs/vscdbRelation.md) and Dicklesworthstone/coding_agent_session_search (tests/fixtures/cursor). The table
`cursorDiskKV` has a chat under `composerData:ID` and its messages under `bubbleId:ID:BUBBLE`, in the order of
`fullConversationHeadersOnly`; before, they stood in the chat's `conversation`. Still older chats are in
`ItemTable`. A message without a time has that of its chat.

Left out: thinking, messages that are in the store and no more in the order of their chat, drafts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, turns
from smartsearch.transcripts.formats.fields import escaped, kind, mapping, number, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.tool_calls import arguments
from smartsearch.transcripts.source import Source

_HEADS = "fullConversationHeadersOnly"
_TABLE, _OLD = "cursorDiskKV", "ItemTable"
_CHAT, _MESSAGE = "composerData:", "bubbleId:"
_OLDER = (("workbench.panel.aichat.view.aichat.chatdata", "tabs"), ("composer.composerData", "allComposers"))
_ROLES = {"1": "user", "user": "user", "2": "assistant", "ai": "assistant"}
_TEXT = ("text", "rawText", "content")
_TIME = ("createdAt", "timestamp")


def claims(value: object) -> bool:
    """Whether a value is what is read of a store with these tables."""
    return isinstance(value, dict) and value.keys() <= {_TABLE, _OLD} and bool(value)


def read(source: Source) -> Iterator[Record]:
    """Turns, chat after chat, the oldest first: texts, with the tool calls made beside them, and results."""
    for item in source.items():
        stored = _stored(item)
        for chat in _chats(item, stored):
            id_, value = string(chat.value, "composerId", "tabId") or source.stem, chat.value
            title = string(value, "name", "chatTitle")
            yield from turns(source.path, title, _events(item, chat, id_, stored.get(id_, ())))


def _stored(item: Item) -> dict[str, list[str]]:
    """The keys of the messages that the store has of each chat."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in mapping(item.value, _TABLE):
        if key.startswith(_MESSAGE) and (id_ := key.removeprefix(_MESSAGE).rpartition(":")[0]):
            found[id_].append(key)
    return found


def _chats(item: Item, stored: Mapping[str, object]) -> list[Item]:
    """The chats, the oldest first, and those of which only messages are left."""
    rows, table = mapping(item.value, _TABLE), f"{item.pointer}/{_TABLE}"
    kept = {key.removeprefix(_CHAT): rows[key] for key in rows if key.startswith(_CHAT)}
    kept |= {id_: {} for id_ in sorted(stored.keys() - kept.keys())}
    found = [
        Item(
            {**chat, "composerId": id_} if isinstance(chat, dict) else chat,
            item.line,
            f"{table}/{escaped(_CHAT + id_)}",
        )
        for id_, chat in kept.items()
    ]
    found.sort(key=lambda chat: number(chat.value, "createdAt") or 0)
    older = [chat for path in _OLDER for chat in item.elements(_OLD, *path)]
    return [*older, *found]


def _events(item: Item, chat: Item, id_: str, stored: Sequence[str]) -> Iterator[Event]:
    if not isinstance(chat.value, dict):
        yield chat.fault(f"{kind(chat.value)} in the place of a chat")
        return
    began = number(chat.value, "createdAt", "lastSendTime")
    for message in _messages(item, chat, id_, stored):
        if isinstance(message.value, dict):
            yield from _said(message, id_, began)
        else:
            yield message.fault(f"{kind(message.value)} in the place of a message")


def _messages(item: Item, chat: Item, id_: str, stored: Sequence[str]) -> Iterator[Item]:
    """The messages of a chat in their order; one whose text is gone from the store is passed over."""
    rows = mapping(item.value, _TABLE)
    for key in _order(rows, chat.value.get(_HEADS), f"{_MESSAGE}{id_}:", stored):
        if key in rows:
            yield Item(rows[key], item.line, f"{item.pointer}/{_TABLE}/{escaped(key)}")
    yield from chat.elements("conversation")
    yield from chat.elements("bubbles")


def _order(rows: dict[str, Any], heads: object, begin: str, stored: Sequence[str]) -> list[str]:
    """The keys of a chat's messages in its order; if that is damaged, those it lacks follow by their time."""
    known = [string(head, "bubbleId") for head in heads] if isinstance(heads, list) else [""]
    listed = [f"{begin}{id_}" for id_ in known if id_]
    if all(known):
        return listed
    return [
        *listed,
        *sorted(set(stored).difference(listed), key=lambda key: (string(rows[key], *_TIME), key)),
    ]


def _said(message: Item, chat: str, began: float | None) -> Iterator[Event]:
    value = message.value
    role = _ROLES.get(string(value, "type"))
    own = string(value, "bubbleId", "id") or message.pointer
    time = string(value, *_TIME) or mapping(value, "timingInfo").get("clientStartTime") or began
    place = Place(message, time, chat, string(value, "bubbleId", "id"))
    if role is None:
        yield message.fault("a message of no known `type`")
        return
    images = " ".join("[image]" for _ in sequence(value, "images"))
    text, call = string(value, *_TEXT), mapping(value, "toolFormerData")
    if text or images or not call:
        yield Said(role, text, images, place, own)
    if call:
        yield from _call(call, own, place)


def _call(call: dict[str, Any], own: str, place: Place) -> Iterator[Event]:
    """A tool call, as part of what was just said, and what it gave back."""
    id_, tool = string(call, "toolCallId") or own, string(call, "name")
    given = arguments(string(call, "rawArgs", "params") or call.get("params"))
    yield Called(tool, given, id_, place)
    result = call.get("result")
    parsed = arguments(result)
    text = string(parsed, "output", "contents", "content", "result", "error")
    yield Returned(
        id_, text or (result if isinstance(result, str) else ""), "", place._replace(turn=id_), tool
    )
