"""Mistral's Le Chat: `chat-*.json` of its export, a list of messages with `chatId` and `contentChunks`.

Structure from a reader of real exports, Superkikim/nexus-ai-chat-importer (src/providers/lechat): the
messages of a file are in no order. References and what a tool returned are left out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import instant, to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats import tool_calls
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import in_time, mapping, misfit, objects, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source


def claims(value: object) -> bool:
    """Whether a value is a message of Le Chat."""
    return {"chatId", "contentChunks", "role", "createdAt"} <= mapping(value).keys()


def read(source: Source) -> Iterator[Record]:
    """Turns, earliest first."""
    for item in in_time(source.items(), lambda value: instant(string(value, "createdAt"))):
        yield _turn(source, item)


def _turn(source: Source, item: Item) -> Record:
    value = item.value
    if reason := misfit(value, "content"):
        return item.fault(reason)
    chunks = objects(value, "contentChunks")
    said = [string(chunk, "text") for chunk in chunks if string(chunk, "type") == "text"]
    role = string(value, "role")
    return turn(
        source.path,
        item,
        text=string(value, "content") or "".join(said),
        speaker=role,
        time=to_iso(value.get("createdAt")),
        caption=joined([*map(_caption, chunks), *map(_file, objects(value, "files"))]),
        role=role,
        conversation=string(value, "chatId") or source.stem,
        turn=string(value, "id"),
    )


def _caption(chunk: dict[str, Any]) -> str:
    if string(chunk, "type") == "tool_call":
        given = tool_calls.arguments(chunk.get("publicArguments"))
        return tool_calls.caption(string(chunk, "name"), given)
    return "[image]" if string(chunk, "type") == "image_url" else ""


def _file(file: dict[str, Any]) -> str:
    name = string(file, "name")
    return bracketed("image", name) if string(file, "type") == "image" else attachment(name)
