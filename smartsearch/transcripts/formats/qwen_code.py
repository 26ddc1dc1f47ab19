"""Qwen Code's session logs: `~/.qwen/projects/*/chats/*.jsonl`, a record a line.

Structure from jazzyalex/agent-sessions (Resources/Fixtures/stage0/agents/qwen and QwenSessionParser.swift).
The envelope is Claude Code's, with `uuid` and `parentUuid`; a `message` holds `parts` in Gemini's form.
Records of one `uuid` are pieces of one message.

Left out: thoughts, what was taken back by a rewind (no branch but that of the last record is read), what the
program says in the user's name (notifications, goals, scheduled prompts, the context of hooks), records of
type `system` (telemetry, slash commands, compressions) but for the titles among them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import (
    Called,
    Event,
    Place,
    Returned,
    Said,
    no_object,
    turns,
    without,
)
from smartsearch.transcripts.formats.branch import current, parent_of
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, string
from smartsearch.transcripts.formats.gemini_parts import response, said
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_TYPES = ("user", "assistant", "tool_result", "system")
_INJECTED = ("goal_runtime", "cron", "notification")
"""Subtypes of records that the program writes in the user's name."""
_ASIDE = ("session_artifact_event", "session_artifact_snapshot")
"""Subtypes of records that stand on no branch."""
_WRAPPERS = ("qwen:user-prompt-submit-context", "system-reminder")


def claims(value: object) -> bool:
    """Whether a value is a record of a session."""
    if not isinstance(value, dict) or value.get("type") not in _TYPES or "parentUuid" not in value:
        return False
    return "parts" in mapping(value, "message") or "systemPayload" in value


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    items = list(source.items())
    placed = (item.value for item in items if _placed(item.value))
    branch = current((string(value, "uuid"), parent_of(value, "parentUuid")) for value in placed)
    live = [item for item in items if not _placed(item.value) or string(item.value, "uuid") in branch]
    events = (event for item in live for event in _events(source, item))
    yield from turns(source.path, _title(live), events)


def _placed(value: object) -> bool:
    """Whether a record stands on a branch."""
    return bool(string(value, "uuid")) and string(value, "subtype") not in _ASIDE


def _title(items: Sequence[Item]) -> str:
    """The last title that was given, else the folder."""
    titles = (string(mapping(item.value, "systemPayload"), "customTitle") for item in reversed(items))
    folders = (last_part(string(item.value, "cwd")) for item in reversed(items))
    return next(filter(None, titles), "") or next(filter(None, folders), "")


def _events(source: Source, item: Item) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    what = value.get("type")
    if what not in _TYPES:
        yield item.fault("a record of no known `type`")
        return
    if what == "system" or string(value, "subtype") in _INJECTED:
        return
    parts = mapping(value, "message").get("parts")
    if not isinstance(parts, list):
        yield item.fault(f"`parts` is {kind(parts)}, not a list")
        return
    own = string(value, "uuid")
    place = Place(item, value.get("timestamp"), string(value, "sessionId") or source.stem, own)
    if what == "user":
        text, caption = said(parts)
        typed = string(mapping(value, "systemPayload"), "displayText") or without(text, _WRAPPERS)
        yield Said("user", typed, caption, place)
    else:
        yield from _parts(parts, own or f"{item.line}{item.pointer}", place)


def _parts(parts: list[Any], message: str, place: Place) -> Iterator[Event]:
    """Texts, calls and results in their order."""
    for part in parts:
        call, given = mapping(part, "functionCall"), mapping(part, "functionResponse")
        if call:
            yield Called(string(call, "name"), call.get("args"), string(call, "id"), place, message)
        elif given:
            id_ = string(given, "id")
            at = place._replace(turn=id_ or place.turn)
            yield Returned(id_, response(given), "", at, string(given, "name"))
        else:
            text, caption = said(part)
            if text or caption:
                yield Said("assistant", text, caption, place, message)
