"""A message of a model's, a person's or a tool's to events, in whatever dialect its content and calls are.

A content is text or blocks: texts, tool calls (`tool_use`, `toolCall`, `functionCall` ...), results, files.
Calls may stand beside the content too (`tool_calls`). Thinking is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, parts
from smartsearch.transcripts.formats.fields import kind, mapping, objects, string
from smartsearch.transcripts.formats.tool_calls import arguments

_CALLS = ("tool_use", "tool_call", "toolcall", "toolcallrequest", "function_call", "functioncall")
_RESULTS = ("tool_result", "toolcallresult", "function_call_output", "functionresponse", "tool_response")
_HIDDEN = ("think", "thought", "reason")
_BESIDE = ("tool_calls", "toolCalls", "toolRequests")
_IDS = ("id", "toolCallId", "call_id", "callId", "callID", "toolCallRequestId", "tool_call_id", "tool_use_id")
_GIVEN = ("input", "arguments", "args", "parameters", "params", "action")
_MADE = ("output", "result", "response", "content", "stdout", "stderr", "error", "message")
Clean = Callable[[str], str]


def events_of(
    role: str, message: Any, key: str, place: Place, own: str, typed: Clean = str, result: Clean = str
) -> Iterator[Event]:
    """What a message holds: `content` under a key and calls; `own` is the id that its pieces share.

    `typed` leaves of a text what the user typed, `result` of an output what the tool wrote.
    """
    content = message.get(key) if isinstance(message, dict) else None
    calls = [call for name in _BESIDE for call in objects(message, name)]
    if role == "tool":
        yield returned(message, place, result)
    elif role == "call":
        yield called(message, place, own)
    elif not isinstance(content, str | list | dict) and not calls:
        wrong = f"`{key}` is {kind(content)}, not text or blocks"
        yield place.item.fault(wrong if isinstance(message, dict) else "a turn without a `message`")
    elif role == "assistant":
        for block in content if isinstance(content, list) else [content]:
            yield from _block(block, place, own, result)
        yield from (called(call, place, own) for call in calls)
    else:
        blocks = content if isinstance(content, list) else [content]
        yield from (returned(block, place, result) for block in blocks if _kind(block) in _RESULTS)
        rest = [block for block in blocks if _kind(block) not in _RESULTS]
        if rest:
            text, caption = shown(rest)
            yield Said(role, typed(text) if role == "user" else text, caption, place)


def shown(content: object) -> tuple[str, str]:
    """The text of a content without its thoughts, and a caption for its files."""
    blocks = content if isinstance(content, list) else [content]
    return parts([block for block in blocks if not _is_hidden(block)])


def called(call: Any, place: Place, own: str = "") -> Called:
    """The event of a call; `function` holds the name and the arguments in OpenAI's form."""
    inner = mapping(call, "function") or mapping(call, "functionCall") or call
    given = next((inner[key] for key in _GIVEN if inner.get(key) is not None), None)
    tool = string(inner, "name", "tool", "toolName", "toolId", "tool_name")
    return Called(tool, arguments(given), string(call, *_IDS) or string(inner, *_IDS), place, own)


def returned(block: Any, place: Place, result: Clean = str) -> Returned:
    """The event of a result: a text or parts, alone or in an object."""
    inner = mapping(block, "functionResponse") or block
    call = string(inner, "tool_use_id", "toolUseID", "toolCallId", "tool_call_id", *_IDS)
    text, caption = output(inner)
    tool = string(inner, "name", "toolName", "tool_name")
    return Returned(call, result(text), caption, place._replace(turn=call or place.turn), tool)


def output(value: Any) -> tuple[str, str]:
    """What a tool gave: the text of the first key of an object that holds some, and a caption."""
    if not isinstance(value, dict):
        return parts(value)
    found = (output(arguments(value[key])) for key in _MADE if value.get(key))
    return next((one for one in found if any(one)), ("", ""))


def _block(block: Any, place: Place, own: str, result: Clean) -> Iterator[Event]:
    what = _kind(block)
    if what in _CALLS:
        yield called(block, place, own)
    elif what in _RESULTS:
        yield returned(block, place, result)
    elif not _is_hidden(block):
        text, caption = parts([block])
        if text or caption:
            yield Said("assistant", text, caption, place, own)


def _kind(block: object) -> str:
    """The type of a block, in one spelling; of one in Gemini's form its key."""
    if not isinstance(block, dict):
        return ""
    found = string(block, "type").replace("-", "_").lower()
    return found or next((key.lower() for key in ("functionCall", "functionResponse") if key in block), "")


def _is_hidden(block: object) -> bool:
    what = _kind(block)
    return any(word in what for word in _HIDDEN) or (isinstance(block, dict) and block.get("thought") is True)
