"""A message of a model's, a person's or a tool's to events, in whatever dialect its content and calls are.

A content is text or blocks: texts, tool calls (`tool_use`, `toolCall`, `functionCall` ...), results, files.
Calls and files may stand beside the content too (`tool_calls`, `attachments`), and what came of a call in it.
Thinking is left out.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, of_part, parts
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, objects, sequence, string
from smartsearch.transcripts.formats.tool_calls import arguments

_CALL, _RESULT, _HIDDEN = "call", "result", "hidden"
_CALLS = ("tool", "toolcall", "toolcallrequest", "function_call", "dynamic_tool")
_RESULTS = ("tool_result", "toolcallresult", "function_call_output", "tool_response")
_HOLDS = ("function", "functionCall", "toolInvocation", "tool_call", "state")
"""Objects in a call that hold its name, its arguments or what came of it."""
_CALLS_BESIDE = ("tool_calls", "toolCalls", "toolRequests")
_BESIDE = {*_CALLS_BESIDE, "attachments", "files"}
_IDS = (
    *("tool_call_id", "toolCallId", "call_id", "callId", "callID", "toolCallRequestId", "tool_use_id"),
    *("toolUseID", "id"),
)
_NAMES = ("name", "toolName", "tool_name", "tool", "toolId", "tool_type")
_CAME = frozenset({"output", "result", "error"})
_GIVEN = ("input", "arguments", "args", "rawArgs", "parameters", "params", "action")
_MADE = (
    *("content", "contents", "output", "result", "run", "response", "detailedContent", "value"),
    *("stdout", "stderr", "error", "message", "progress"),
)
_FILES = ("displayName", "path", "name", "filename", "file_name")
Clean = Callable[[str], str]


def events_of(
    role: str, message: Any, key: str, place: Place, own: str, typed: Clean = str, result: Clean = str
) -> list[Event]:
    """What a message holds: a content under a key, and calls; `own` is the id that its pieces share.

    `typed` leaves of a text what the user typed, `result` of an output what the tool wrote.
    """
    if not isinstance(message, dict):
        wrong = f"{kind(message)} in the place of a message" if message else "a turn without a `message`"
        return [place.item.fault(wrong)]
    if role == "tool":
        return [returned(message, place, result)]
    if role == "call":
        return _called(message, place, own, result)
    content = message.get(key)
    beside = message.keys() & _BESIDE
    files = _files(message) if beside else ""
    calls = [call for name in _CALLS_BESIDE if name in beside for call in objects(message, name)]
    if not (isinstance(content, str | list) or calls or files or "text" in mapping(message, key)):
        return [place.item.fault(f"`{key}` is {kind(content)}, not text or blocks")]
    blocks = content if isinstance(content, list) else [content]
    by_model = role == "assistant"
    found: list[Event] = [Said(role, "", files, place, own)] if files and by_model else []
    texts, captions = list[str](), list[str]()
    for block in blocks:
        what = _sort(block)
        if what == _RESULT:
            found.append(returned(block, place, result))
        elif what == _CALL and by_model:
            found += _called(block, place, own, result)
        elif what != _HIDDEN:
            text, caption = of_part(block)
            if not by_model:
                texts.append(typed(text) if role == "user" else text)
                captions.append(caption)
            elif text or caption:
                found.append(Said(role, text, caption, place, own))
    if not by_model and (texts or files):  # what is said beside results, as one turn
        found.append(Said(role, "\n".join(filter(None, texts)), joined([*captions, files]), place))
    return found + [event for call in calls if by_model for event in _called(call, place, own, result)]


def has_more(message: Any, content: object) -> bool:
    """Whether a message has calls or files beside its content, or calls and what came of them in it."""
    if not message.keys().isdisjoint(_BESIDE):
        return True
    return isinstance(content, list) and any(map(_sort, content))


def _sort(block: object) -> str:
    """Whether a block is a call, a result, hidden or none of these; in Gemini's form its key tells."""
    if not isinstance(block, dict):
        return ""
    if block.get("thought") is True:
        return _HIDDEN
    what = block.get("type")
    if what == "tool_call" and "value" in block:
        return ""  # which `of_part` knows
    if isinstance(what, str):
        return _sort_of(what)
    return _CALL if "functionCall" in block else _RESULT if "functionResponse" in block else ""


@lru_cache(maxsize=256)
def _sort_of(what: str) -> str:
    plain = what.replace("-", "_").lower()
    if any(word in plain for word in ("think", "thought", "reason")):
        return _HIDDEN
    if plain in _RESULTS:
        return _RESULT
    return _CALL if plain in _CALLS or plain.startswith("tool_") else ""


def _called(call: Any, place: Place, own: str, result: Clean) -> list[Event]:
    """The events of a call and of what came of it, where it holds that."""
    asked = called(call, place, own)
    for inner in (*_held(call), call):
        if not _CAME.isdisjoint(inner) and any(inner.get(key) is not None for key in _CAME):
            at = place._replace(turn=asked.call or place.turn)
            return [asked, returned(inner, at, result)._replace(call=asked.call, tool=asked.tool, place=at)]
    return [asked]


def _held(call: dict[str, Any]) -> list[dict[str, Any]]:
    """What `function`, say, holds of a call in OpenAI's form."""
    return [call[key] for key in _HOLDS if key in call and isinstance(call[key], dict)]


def called(call: Any, place: Place, own: str = "") -> Called:
    """The event of a call."""
    inner = call
    for held in _held(call):
        inner = inner | held
    given = next((inner[key] for key in _GIVEN if inner.get(key) is not None), None)
    tool = string(inner, *_NAMES) or string(call, "type").removesuffix("_call").removeprefix("local_")
    server = string(inner, "namespace")
    named = f"{server}__{tool}" if server else tool.removeprefix("tool-")
    return Called(named, arguments(given), string(call, *_IDS) or string(inner, *_IDS), place, own)


def returned(block: Any, place: Place, result: Clean = str) -> Returned:
    """The event of a result: a text or parts, alone or in an object."""
    inner = mapping(block, "functionResponse") or block
    call = string(inner, *_IDS)
    text, caption = output(inner)
    images = ["[image]" for _ in sequence(inner, "images")]
    at = place._replace(turn=call or place.turn)
    return Returned(call, result(text), joined([caption, *images]), at, string(inner, *_NAMES))


def output(value: Any) -> tuple[str, str]:
    """What a tool gave: the text of the first key of an object that holds some, and a caption."""
    if isinstance(value, str) and value.startswith('{"output"'):
        value = arguments(value)
    if not isinstance(value, dict):
        return parts(value)
    return next((one for key in _MADE if value.get(key) and any(one := output(value[key]))), ("", ""))


def _files(message: Any) -> str:
    """Captions of the files beside a content."""
    listed = [one for key in ("attachments", "files") for one in objects(message, key)]
    return joined(attachment(last_part(string(one, *_FILES)), string(one, "type")) for one in listed)
