"""A message of an agent's log whose content is text or blocks, in Anthropic's form or one near it, to events.

Blocks are texts, tool calls (`tool_use`, `tool_call`, `toolCall`) and results (`tool_result`). Thinking is
left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, parts
from smartsearch.transcripts.formats.fields import string
from smartsearch.transcripts.formats.tool_calls import arguments

Content = str | list[Any]
_CALLS = ("tool_use", "tool_call", "toolcall")
_RESULT = "tool_result"
_HIDDEN = ("think", "reason")


def of_user(
    content: Content, place: Place, typed: Callable[[str], str], result: Callable[[str], str] = str
) -> Iterator[Event]:
    """What tools returned and the user's text: both come in the user's name.

    `typed` makes of a text what the user typed, `result` of an output what the tool wrote.
    """
    blocks = content if isinstance(content, list) else []
    rest = [block for block in blocks if _kind(block) != _RESULT]
    for block in blocks:
        if _kind(block) == _RESULT:
            call = string(block, "tool_use_id", "toolUseID", "id")
            yield returned(block, call, string(block, "name"), place, result)
    if rest or isinstance(content, str):
        text, caption = parts(content if isinstance(content, str) else rest)
        yield Said("user", typed(text), caption, place)


def returned(
    block: object, call: str, tool: str, place: Place, result: Callable[[str], str] = str
) -> Returned:
    """The event of a result: a text or parts under `content`, or a text under `output`."""
    inner = block.get("content") if isinstance(block, dict) else None
    text, caption = parts(inner) if inner else (string(block, "output"), "")
    return Returned(call, result(text), caption, place._replace(turn=call or place.turn), tool)


def of_assistant(content: Content, message: str, place: Place) -> Iterator[Event]:
    """Texts and calls in their order, all of the message with that id."""
    for block in content if isinstance(content, list) else [content]:
        what = _kind(block)
        if what in _CALLS:
            call, tool = string(block, "id", "toolCallId"), string(block, "name", "tool")
            yield Called(tool, arguments(_given(block)), call, place, message)
        elif not any(word in what for word in _HIDDEN):
            text, caption = parts([block])
            if text or caption:
                yield Said("assistant", text, caption, place, message)


def _given(block: object) -> object:
    """The arguments of a call."""
    found = block if isinstance(block, dict) else {}
    return next((found[key] for key in ("input", "arguments", "args") if key in found), None)


def _kind(block: object) -> str:
    """The type of a block, in one spelling."""
    return string(block, "type").replace("-", "_").lower()
