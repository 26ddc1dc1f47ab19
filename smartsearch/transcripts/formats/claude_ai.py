"""Claude.ai's data export: `conversations.json`, with `chat_messages` of `human` and `assistant`.

Structure from AgileWorksZA/claude_export and the reader notes of Sinity/polylogue (docs/providers); branches
(`parent_message_uuid`, `current_leaf_message_uuid`) as in socketteer/Claude-Conversation-Exporter. Thinking
is left out. The text of an attachment and what a tool returned are turns of their own, after the message.
"""

from __future__ import annotations

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
    no_object,
    parts,
    turns,
)
from smartsearch.transcripts.formats.branch import Node, shown
from smartsearch.transcripts.formats.captions import bracketed
from smartsearch.transcripts.formats.fields import kind, mapping, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = {"human": "user", "user": "user", "assistant": "assistant"}
_DOCUMENTS = "artifacts"
"""The tool whose calls hold what the assistant wrote: their content is text."""


def claims(value: object) -> bool:
    """Whether a value is a conversation with `chat_messages` that have a `sender`."""
    messages = value.get("chat_messages") if isinstance(value, dict) else None
    if not isinstance(messages, list):
        return False
    return not messages or any(string(message, "sender") in _ROLES for message in messages[:20])


def read(source: Source) -> Iterator[Record]:
    """Turns of every conversation, of its current branch where messages name their parents."""
    for n, item in enumerate(source.items(), 1):
        messages = item.value.get("chat_messages") if isinstance(item.value, dict) else None
        if not isinstance(messages, list):
            yield item.fault("no conversation with `chat_messages` here")
            continue
        name = string(item.value, "uuid") or f"{source.stem}#{n}"
        # Edits and second answers are listed among the others.
        kept = shown(
            [_node(message) for message in messages], string(item.value, "current_leaf_message_uuid")
        )
        events = (
            event
            for i, message in enumerate(item.elements("chat_messages"))
            if i in kept
            for event in _events(message, name)
        )
        yield from turns(source.path, string(item.value, "name"), events)


def _node(message: object) -> Node:
    time = to_iso(mapping(message).get("created_at"))
    return Node(string(message, "uuid"), string(message, "parent_message_uuid"), time)


def _events(item: Item, name: str) -> Iterator[Event]:
    """What a message holds: its text and calls, then its attachments, then what tools returned."""
    message = item.value
    if not isinstance(message, dict):
        yield no_object(item)
        return
    uuid, role = string(message, "uuid"), _ROLES.get(string(message, "sender"), "")
    content = message.get("content")
    if not role or not isinstance(content, list | None):
        what = f"`content` is {kind(content)}, not a list" if role else "a message without a known `sender`"
        yield item.fault(what)
        return
    place = Place(item, message.get("created_at"), name, uuid)
    blocks = [block for block in content or [] if isinstance(block, dict)]
    calls = [block for block in blocks if string(block, "type") == "tool_use"]
    yield Said(role, _text(message, blocks), _captions(message, blocks), place, uuid)
    for n, block in enumerate(calls):
        call = string(block, "id") or f"{uuid}/{n}"
        tool, given = string(block, "name"), block.get("input")
        told = string(given, "title", "id") if tool == _DOCUMENTS else given
        yield Called(tool, told, call, place, uuid)
    for file in item.elements("attachments"):
        if text := string(file.value, "extracted_content"):
            inside = place._replace(item=file, turn=string(file.value, "id") or uuid)
            yield Said(role, text, _file(file.value), inside)
    for result in item.elements("content"):
        if string(result.value, "type") == "tool_result":
            call = string(result.value, "tool_use_id")
            text, captions = parts(result.value.get("content"))
            inside = place._replace(item=result, turn=call or uuid)
            yield Returned(call, text, captions, inside, string(result.value, "name"))


def _text(message: dict[str, Any], blocks: list[dict[str, Any]]) -> str:
    """The texts, said or written, and the documents; where there are no blocks, `text` for the former."""
    texts = []
    for block in blocks:
        if string(block, "type") in ("text", "voice_note"):
            texts.append(string(block, "text", "transcript"))
        elif string(block, "name") == _DOCUMENTS and string(block, "type") == "tool_use":
            texts.append(string(block.get("input"), "content"))
    return "\n".join(text for text in texts if text) or ("" if blocks else string(message, "text"))


def _captions(message: dict[str, Any], blocks: list[dict[str, Any]]) -> str:
    images = ["[image]" for block in blocks if string(block, "type") == "image"]
    spoken = [bracketed("audio", string(b, "title")) for b in blocks if string(b, "type") == "voice_note"]
    files = [*sequence(message, "attachments"), *sequence(message, "files")]
    return " ".join(dict.fromkeys([*images, *spoken, *map(_file, files)]))


def _file(file: object) -> str:
    name = string(file, "file_name")
    noun = "image" if string(file, "file_kind") == "image" else "file"
    return f"[{noun} {name}]" if name else f"[{noun}]"
