"""Codex CLI's session logs: `~/.codex/sessions/**/rollout-*.jsonl`, a record a line.

Structure from kvsankar/agent-history (docs/specs/agents/formats/codex-cli-format.md) and jnarowski/agentcmd
(.agent/research/codex/format-comparison.md). Since September 2025 each line is `{timestamp, type, payload}`;
`response_item` holds what went to and from the model, `event_msg` repeats it for the screen. Before that the
items stood bare on their lines, after a line with `id`, `timestamp`, `instructions` and `git`.

Left out: reasoning, messages of `developer` and `system`, and what the program says in the user's name (the
environment, instructions from AGENTS.md, the state of an editor).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
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
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.tool_calls import arguments
from smartsearch.transcripts.source import Source

_LOOKED_AT = 20
_ENVELOPES = ("session_meta", "response_item", "event_msg", "turn_context", "compacted")
_CALLS = ("function_call", "custom_tool_call", "local_shell_call", "web_search_call")
_RESULTS = ("function_call_output", "custom_tool_call_output")
_INJECTED = (
    *("<environment_context", "<user_instructions", "<turn_aborted", "<permissions", "<apps_instructions"),
    *("<app-context", "<collaboration_mode", "<skills_instructions", "<skill>", "<recommended_plugins"),
    *("<subagent_notification", "<user_shell_command", "<codex_internal_context", "# AGENTS.md instructions"),
    "These AGENTS.md instructions replace",
    "The previously provided AGENTS.md instructions",
)
"""How texts begin that the program says in the user's name."""

_REQUEST = "## My request for Codex:"
"""What stands between the state of an editor and what the user asked."""


def detect(source: Source) -> bool:
    """Whether records of a session, of either age, stand at the top."""
    return any(_is_record(value) for value in source.head(_LOOKED_AT))


def _is_record(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") in _ENVELOPES:
        return isinstance(value.get("payload"), dict)
    return value == {"record_type": "state"} or _is_old_head(value)


def _is_old_head(value: object) -> bool:
    return (
        isinstance(value, dict)
        and "type" not in value
        and {"id", "timestamp"} <= value.keys()
        and bool({"instructions", "git"} & value.keys())
    )


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made after them, and results as role `tool`."""
    items = list(source.items())
    head = next((found for item in items if (found := _head(item.value))), {})
    folder = last_part(string(head, "cwd") or string(mapping(head, "git"), "repository_url"))
    session = (string(head, "id") or source.stem, head.get("timestamp"))
    events = (event for item in items for event in _events(item, *session))
    yield from turns(source.path, folder.removesuffix(".git"), events)


def _head(value: object) -> dict[str, Any]:
    """What a record says about the session, of either age; empty for any other record."""
    if string(value, "type") == "session_meta":
        return mapping(value, "payload")
    return value if isinstance(value, dict) and _is_old_head(value) else {}


def _events(item: Item, conversation: str, began: object) -> Iterator[Event]:
    """What a record holds; items on a bare line have the time at which their session began."""
    value = item.value
    if not isinstance(value, dict):
        yield no_object(value, item.line, item.pointer)
        return
    payload, pointer = value, item.pointer
    if value.get("type") in _ENVELOPES:
        if not isinstance(value.get("payload"), dict):
            fault = f"`payload` is {kind(value.get('payload'))}, not an object"
            yield FormatError(fault, line=item.line, pointer=item.pointer)
            return
        if value["type"] != "response_item":
            return
        payload, pointer = value["payload"], f"{item.pointer}/payload"
    elif "record_type" in value or _is_old_head(value):
        return
    what = payload.get("type")
    if not isinstance(what, str):
        yield FormatError("a record without a `type`", line=item.line, pointer=pointer)
        return
    call = string(payload, "call_id", "id")
    place = Place(
        item.line, pointer, value.get("timestamp", began), conversation, string(payload, "id") or call
    )
    if what == "message":
        yield from _message(payload, place)
    elif what in _CALLS:
        yield _call(what, payload, call, place)
    elif what in _RESULTS:
        text, caption = _output(payload.get("output"))
        yield Returned(call, text, caption, place)


def _message(payload: dict[str, Any], place: Place) -> Iterator[Event]:
    role, content = string(payload, "role"), payload.get("content")
    if not role or not isinstance(content, str | list):
        fault = f"`content` is {kind(content)}, not text or parts" if role else "a message without a `role`"
        yield FormatError(fault, line=place.line, pointer=place.pointer)
    elif role == "assistant":
        text, caption = parts(content)
        yield Said(role, text, caption, place)
    elif role == "user":
        said = content if isinstance(content, list) else [{"type": "input_text", "text": content}]
        text, caption = parts(
            [part for part in said if not string(part, "text").lstrip().startswith(_INJECTED)]
        )
        if text.startswith("#") and _REQUEST in text:
            text = text.partition(_REQUEST)[2].strip()
        yield Said(role, text, caption, place)


def _call(what: str, payload: dict[str, Any], call: str, place: Place) -> Called:
    """A call under its tool's name, which tools of MCP servers have with their server's before it."""
    if what in ("local_shell_call", "web_search_call"):
        tool = "shell" if what == "local_shell_call" else "web_search"
        return Called(tool, payload.get("action"), call, place)
    tool, server = string(payload, "name"), string(payload, "namespace")
    given = payload.get("arguments") if what == "function_call" else payload.get("input")
    return Called(f"{server}__{tool}" if server else tool, arguments(given), call, place)


def _output(written: object) -> tuple[str, str]:
    """The text of an output: plain, in parts, or with its metadata in an object or in JSON."""
    given = arguments(written) if isinstance(written, str) and written.startswith('{"output"') else written
    if isinstance(given, dict):
        inner = given.get("output", given.get("content"))
        return parts(inner)
    return parts(given)


FORMAT = Format(
    name="codex",
    description="Codex CLI's session logs, `rollout-*.jsonl`: texts, tool calls, results",
    extensions=(".jsonl", ".json"),
    detect=detect,
    read=read,
    how="they are in ~/.codex/sessions on the machine it runs on, a file a session; name the folder",
)
