"""Amp's threads: `~/.local/share/amp/threads/T-*.json`.

Structure after the source of others, as no real thread could be seen: noamsto/houston
(docs/AMP_AGENT_SUPPORT.md) and jonathan-kellerai/cross_agent_session_resumer (src/providers/amp.rs). A thread
has an `id` that begins with `T-`, `created` and `messages` in Anthropic's form, whose `tool_result` holds the
output in `run`. A message without `meta.sentAt` has the thread's time.

Left out: thinking, and messages of role `info`, the program's own.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_blocks import of_assistant, of_user
from smartsearch.transcripts.formats.agent_log import Event, Place, no_object, turns
from smartsearch.transcripts.formats.fields import kind, mapping, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source


def claims(value: object) -> bool:
    """Whether a value is a thread."""
    if not isinstance(value, dict) or not string(value, "id").startswith("T-"):
        return False
    return isinstance(value.get("messages"), list) and bool({"created", "env", "agentMode"} & value.keys())


def read(source: Source) -> Iterator[Record]:
    """Turns in file order: texts, with the tool calls made beside them, and results as role `tool`."""
    for thread in source.items():
        id_ = string(thread.value, "id") or source.stem
        began = thread.value.get("created") if isinstance(thread.value, dict) else None
        events = (event for one in thread.elements("messages") for event in _events(one, id_, began))
        yield from turns(source.path, string(thread.value, "title"), events)


def _events(item: Item, conversation: str, began: object) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield no_object(item)
        return
    role, content = value.get("role"), value.get("content")
    own = string(value, "messageId") or item.pointer
    time = mapping(value, "meta").get("sentAt") or began
    place = Place(item, time, conversation, string(value, "messageId"))
    if role == "info":
        return
    if role not in ("user", "assistant"):
        yield item.fault("a message of no known `role`")
    elif not isinstance(content, str | list):
        yield item.fault(f"`content` is {kind(content)}, not text or blocks")
    elif role == "assistant":
        yield from of_assistant(content, own, place)
    else:
        blocks = [_plain(block) for block in content] if isinstance(content, list) else content
        yield from of_user(blocks, place, str)


def _plain(block: Any) -> Any:
    """A result with its output where Anthropic's form has it."""
    run = mapping(block, "run")
    result = run.get("result", run.get("progress"))
    text = string(result, "output", "content") if isinstance(result, dict) else result
    return {**block, "content": text} if run else block
