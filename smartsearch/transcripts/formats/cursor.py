"""Cursor's transcripts of its agent: `~/.cursor/projects/*/agent-transcripts/**/*.jsonl`, without times.

Structure from jazzyalex/agent-sessions (Resources/Fixtures/stage0/agents/cursor and
CursorSessionParser.swift). A line is `{role, message: {content}}` with blocks in Anthropic's form; calls have
no ids. The files of agents that another one started lie in a folder `subagents`.

Left out: thinking, and what the program wraps around the user's query.
"""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_blocks import of_assistant, of_user
from smartsearch.transcripts.formats.agent_log import Event, Place, no_object, turns
from smartsearch.transcripts.formats.fields import kind, mapping
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_QUERY = "user_query"


def claims(value: object) -> bool:
    """Whether a value is a line of a transcript."""
    if not isinstance(value, dict) or "type" in value or value.get("role") not in ("user", "assistant"):
        return False
    return isinstance(mapping(value, "message").get("content"), list)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    events = (event for item in source.items() for event in _events(item, source.stem))
    yield from turns(source.path, "", events)


def _events(item: Item, conversation: str) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    role = value.get("role")
    if role is None and isinstance(value.get("type"), str):
        return  # the end of a turn, or another note
    content = mapping(value, "message").get("content")
    place = Place(item, "", conversation)
    if role not in ("user", "assistant") or not isinstance(content, str | list):
        known = role in ("user", "assistant")
        yield item.fault(
            f"`content` is {kind(content)}, not text or blocks" if known else "a line of no known `role`"
        )
    elif role == "user":
        yield from of_user(content, place, _typed)
    else:
        yield from of_assistant(content, f"{item.line}{item.pointer}", place)


def _typed(text: str) -> str:
    """What the user typed: the queries in a text, or all of it where none is marked."""
    queries = [after.partition(f"</{_QUERY}>")[0] for after in text.split(f"<{_QUERY}>")[1:]]
    return "\n".join(query.strip() for query in queries) or text
