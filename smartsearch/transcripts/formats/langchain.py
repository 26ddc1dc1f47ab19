"""Messages as LangChain and LangGraph store them: `human` and `ai`, in lists, states or rows of a table.

Structure from langchain-core: `messages_to_dict` (`type` and `data`), `dumps` (`lc`, `id` and `kwargs`) and
`model_dump` (`type` and `content`). A table's row, as its chat histories and n8n's memory write them, has a
session and one `message`. What a row or state holds beside messages is no turn; reasoning is left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, parts, turns
from smartsearch.transcripts.formats.fields import kind, mapping, objects, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.tool_calls import arguments
from smartsearch.transcripts.source import Source

_ROLES = {"human": "user", "ai": "assistant", "system": "system", "tool": "tool", "function": "tool"}
_PATHS = (("messages",), ("chat_history",), ("history",), ("values", "messages"))
_CONVERSATION_KEYS = ("session_id", "sessionId", "SessionId", "thread_id", "conversation_id", "id")
_TIME_KEYS = ("created_at", "createdAt", "timestamp", "time")


def claims(value: object) -> bool:
    """Whether a value is a message of a person or the model, a row with one, or has a list of them."""
    if _opens(value) or _opens(arguments(mapping(value).get("message"))):
        return True
    return _path(value) is not None


def _opens(value: object) -> bool:
    """Whether a value is a message of a person or the model; the other kinds have names that anything has."""
    what, data = _unpacked(value)
    return what in ("human", "ai") and isinstance(data.get("content"), str | list)


def _path(value: object) -> tuple[str, ...] | None:
    """The keys that lead to a value's list of messages, none of them where it is the list."""
    if isinstance(value, list):
        return () if any(map(_opens, value[:5])) else None
    found = ((path, mapping(value, *path[:-1]).get(path[-1])) for path in _PATHS)
    return next((path for path, held in found if isinstance(held, list) and any(map(_opens, held[:5]))), None)


def _unpacked(value: object) -> tuple[str, dict[str, Any]]:
    """The kind of a message, `ai` of `AIMessageChunk`, and the object that has its content."""
    data = mapping(value, "data") or mapping(value, "kwargs") or mapping(value)
    names = [name for name in sequence(value, "id")[-1:] if isinstance(name, str)]
    named = names[0] if names else string(value, "type")
    return named.casefold().removesuffix("chunk").removesuffix("message"), data


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    yield from turns(source.path, "", (event for place in _walk(source) for event in _events(place)))


def _walk(source: Source) -> Iterator[Place]:
    """Every message under its session's name, else the file's, numbered where it has several lists."""
    items = list(source.items())
    paths = [_path(item.value) for item in items]
    many = sum(path is not None for path in paths) > 1
    for n, (item, path) in enumerate(zip(items, paths, strict=True), 1):
        if path is None:
            yield _row(source, item)
            continue
        name = string(item.value, *_CONVERSATION_KEYS) or (f"{source.stem}#{n}" if many else source.stem)
        for message in item.elements(*path):
            yield Place(message, None, name)


def _row(source: Source, item: Item) -> Place:
    """A message that stands alone, or in a row of a table."""
    held = arguments(mapping(item.value).get("message"))
    if not isinstance(held, dict):
        return Place(item, None, source.stem)
    time = next((found for key in _TIME_KEYS if (found := item.value.get(key)) is not None), None)
    name = string(item.value, *_CONVERSATION_KEYS[:-1]) or source.stem
    return Place(Item(held, item.line, f"{item.pointer}/message"), time, name, string(item.value, "id"))


def _events(place: Place) -> Iterator[Event]:
    item = place.item
    what, data = _unpacked(item.value)
    content = data.get("content")
    role = _ROLES.get(what, "") or _ROLES.get(string(data, "role"), "") or string(data, "role")
    if not role or not isinstance(content, str | list | None):
        fault = f"`content` is {kind(content)}, not text or parts" if role else "a message of no known `type`"
        yield item.fault(f"{kind(item.value)} in the place of a message" if not data else fault)
        return
    own = string(data, "id")
    place = place._replace(turn=own or place.turn)
    text, caption = parts(content)
    if role == "tool":
        yield Returned(string(data, "tool_call_id"), text, caption, place, string(data, "name"))
        return
    own = own or f"{item.line}{item.pointer}"
    yield Said(role, text, caption, place, own)
    for call in objects(data, "tool_calls") or objects(mapping(data, "additional_kwargs"), "tool_calls"):
        given = mapping(call, "function") or call
        written = given.get("args", given.get("arguments"))
        yield Called(string(given, "name"), arguments(written), string(call, "id"), place, own)
