"""Open WebUI's exports of chats: `chat` with a `history` of messages, one chat or a list.

Structure from danny-avila/LibreChat's sample of such an export (api/server/utils/import/__data__). Left out:
reasoning, and branches that an edit or a second answer has left behind. Older versions write what a tool was
asked into the text alone, and what it returned is left out with it.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import tool_calls
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
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import escaped, kind, mapping, objects, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ROLES = ("user", "assistant", "system", "tool")
_ASIDE = '<details type="'
_NAMED = re.compile(r'\bname="([^"]{1,200})"')
_GIVEN = re.compile(r'\barguments="([^"]{1,5000})"')


def claims(value: object) -> bool:
    """Whether a value is a chat with a history of messages by id."""
    history = mapping(_chat(value), "history")
    return "currentId" in history and isinstance(history.get("messages"), dict)


def _chat(value: object) -> dict[str, Any]:
    return mapping(value, "chat") or mapping(value)


def read(source: Source) -> Iterator[Record]:
    """Turns of every chat's current branch."""
    for n, item in enumerate(source.items(), 1):
        if not claims(item.value):
            yield item.fault("no chat with a `history` of `messages` here")
            continue
        name = string(item.value, "id") or string(_chat(item.value), "id") or f"{source.stem}#{n}"
        title = string(item.value, "title") or string(_chat(item.value), "title")
        events = (event for message in _current(item) for event in _events(message, name))
        yield from turns(source.path, title, events)


def _current(item: Item) -> list[Item]:
    history = _chat(item.value)["history"]
    path = "/chat/history" if mapping(item.value, "chat") else "/history"
    nodes, messages = [], []
    for key, message in history["messages"].items():
        nodes.append(Node(key, _parent(message), to_iso(mapping(message).get("timestamp"))))
        messages.append(Item(message, item.line, f"{item.pointer}{path}/messages/{escaped(key)}"))
    kept = shown(nodes, string(history, "currentId"))
    return [message for n, message in enumerate(messages) if n in kept]


def _parent(message: object) -> str:
    """The id above a message; all first ones have the same, what is no message has none."""
    return string(message, "parentId") or ("root" if isinstance(message, dict) else "")


def _events(item: Item, name: str) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    role, content = string(value, "role"), value.get("content")
    if role not in _ROLES or not isinstance(content, str | list | None):
        fault = f"`content` is {kind(content)}, not text or parts" if role in _ROLES else "no known `role`"
        yield item.fault(fault)
        return
    place = Place(item, value.get("timestamp"), name, string(value, "id"))
    output = objects(value, "output")
    if any(string(one, "type") == "message" for one in output):
        yield from _output(output, place)
        return
    text, caption = parts(content)
    text, asides = _told(text)
    files = [_file(file) for file in objects(value, "files")]
    yield Said(role, text, joined([caption, *asides, *files]), place)


def _output(output: list[dict[str, Any]], place: Place) -> Iterator[Event]:
    """What newer versions keep of a reply: texts, calls and what these returned."""
    for one in output:
        what, call = string(one, "type"), string(one, "call_id", "id")
        if what == "message":
            text, caption = parts(one.get("content"))
            yield Said("assistant", text, caption, place, place.item.pointer)
        elif what == "function_call":
            given = tool_calls.arguments(one.get("arguments"))
            yield Called(string(one, "name"), given, call, place, place.item.pointer)
        elif what == "function_call_output":
            text, caption = parts(one.get("output"))
            yield Returned(call, text, caption, place)


def _told(text: str) -> tuple[str, list[str]]:
    """A text without its asides, reasoning and tool calls, and captions for the calls."""
    first, *rest = text.split(_ASIDE)
    said, captions = [first], []
    for piece in rest:
        aside, closed, after = piece.partition("</details>")
        said.append(after if closed else f"{_ASIDE}{piece}")
        if closed and (tool := _NAMED.search(aside)):
            given = _GIVEN.search(aside)
            written = tool_calls.arguments(html.unescape(given[1])) if given else None
            captions.append(tool_calls.caption(tool[1], written))
    return "".join(said).strip() if rest else text, captions


def _file(file: dict[str, Any]) -> str:
    name = string(file, "name")
    return bracketed("image", name) if string(file, "type") == "image" else attachment(name)
