"""Perplexity's data export: `conversations-*.json`, with `entries` of a question and its answer.

Structure from a reader of real exports, Superkikim/nexus-ai-chat-importer
(docs/architecture/providers/perplexity-export-format.md). The files of its Thread Exporter, with `metadata`,
are read too. Sources and related questions are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.fields import kind, mapping, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.tool_calls import shortened
from smartsearch.transcripts.source import Source


def claims(value: object) -> bool:
    """Whether a value is the export, one of its conversations, or a thread of the exporter."""
    listed = sequence(value, "conversations")[:5]
    if string(mapping(value, "metadata"), "thread_id"):
        return any({"query", "answer"} <= mapping(entry).keys() for entry in listed)
    return any(map(_is_conversation, [value, *listed]))


def _is_conversation(value: object) -> bool:
    return "context_uuid" in mapping(value) and isinstance(mapping(value).get("entries"), list)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: the question of each entry, then its answer."""
    for item in source.items():
        about = mapping(item.value, "metadata")
        if not claims(item.value):
            yield item.fault("no conversation with `entries` here")
        elif _is_conversation(item.value):
            yield from _conversation(source, item)
        elif string(about, "thread_id"):
            name, title = string(about, "thread_id"), string(about, "thread_title")
            for entry in item.elements("conversations"):
                yield from _entry(source, entry, name, title)
        else:
            for conversation in item.elements("conversations"):
                yield from _conversation(source, conversation)


def _conversation(source: Source, item: Item) -> Iterator[Record]:
    if not _is_conversation(item.value):
        yield item.fault("no conversation with `entries` here")
        return
    name = string(item.value, "context_uuid") or source.stem
    title = shortened(string(item.value, "context_title"))
    for entry in item.elements("entries"):
        yield from _entry(source, entry, name, title)


def _entry(source: Source, item: Item, name: str, title: str) -> Iterator[Record]:
    value = item.value
    if not isinstance(value, dict):
        yield item.fault(f"{kind(value)} in the place of a question and its answer")
        return
    for key, role in (("query", "user"), ("answer", "assistant")):
        place = Item(value.get(key), item.line, f"{item.pointer}/{key}")
        if not isinstance(place.value, str | None):
            yield place.fault(f"{kind(place.value)}, not text")
            continue
        yield turn(
            source.path,
            place,
            text=place.value or "",
            speaker=role,
            time=to_iso(value.get("created_at", value.get("timestamp"))),
            role=role,
            conversation=name,
            turn=string(value, "entry_uuid", "uuid"),
            title=title,
        )
