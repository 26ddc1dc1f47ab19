"""OpenAssistant's exports: a tree of messages a line, or one message a line with its `parent_id`.

Structure from LAION-AI/Open-Assistant (oasst-data/oasst_data, model/model_eval/manual/data). A tree
is a conversation. Every message is a turn once, and what replies to it follows at once, in the file's order:
all answers to a prompt are kept. Messages marked as deleted are left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.fields import mapping, misfit, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = {"prompter": "user", "assistant": "assistant"}


class _Message(NamedTuple):
    """A message at its place, the id of what it replies to, and that of its tree."""

    item: Item
    parent: str
    tree: str


def claims(value: object) -> bool:
    """Whether a value is a tree with its `prompt`, or a message of a prompter or the assistant."""
    return _is_message(value) or (
        "message_tree_id" in mapping(value) and _is_message(mapping(value, "prompt"))
    )


def _is_message(value: object) -> bool:
    found = mapping(value)
    placed = "parent_id" in found or "replies" in found
    return placed and {"message_id", "text"} <= found.keys() and string(found, "role") in _ROLES


def read(source: Source) -> Iterator[Record]:
    """Turns of every tree, in the order of the trees' first messages."""
    messages = [message for item in source.items() for message in _inside(item)]
    for message in _threads(messages):
        record = _turn(source.path, message)
        if record is not None:
            yield record


def _inside(item: Item) -> Iterator[_Message]:
    """The messages of a record: itself, or its `prompt`, with all replies inside them."""
    tree = string(item.value, "message_tree_id")
    if tree and "prompt" in item.value:
        item = Item(item.value["prompt"], item.line, f"{item.pointer}/prompt")
    open_ = [_Message(item, string(item.value, "parent_id"), tree or string(item.value, "message_id"))]
    while open_:
        message = open_.pop()
        yield message
        above = string(message.item.value, "message_id")
        open_ += reversed(
            [_Message(reply, above, message.tree) for reply in message.item.elements("replies")]
        )


def _threads(messages: list[_Message]) -> Iterator[_Message]:
    """All messages, each with its replies behind it; what replies to nothing in the file opens a thread."""
    ids = {string(message.item.value, "message_id") for message in messages}
    replies = defaultdict(list)
    for n, message in enumerate(messages):
        replies[message.parent if message.parent in ids else ""].append(n)
    seen: set[int] = set()
    for first in (
        *replies.pop("", ()),
        *range(len(messages)),
    ):  # the rest: messages that go round in a circle
        open_ = [first]
        while open_:
            n = open_.pop()
            if n not in seen:
                seen.add(n)
                yield messages[n]
                open_ += reversed(replies.pop(string(messages[n].item.value, "message_id"), ()))


def _turn(path: str, message: _Message) -> Record | FormatError | None:
    """The turn of a message; None for a deleted one."""
    item, value = message.item, message.item.value
    if reason := misfit(value, "text"):
        return item.fault(reason)
    if value.get("deleted") is True:
        return None
    role = _ROLES.get(string(value, "role"), "")
    return turn(
        path,
        item,
        text=string(value, "text"),
        speaker=role or string(value, "role"),
        time=to_iso(value.get("created_date")),
        role=role,
        conversation=message.tree,
        turn=string(value, "message_id"),
    )
