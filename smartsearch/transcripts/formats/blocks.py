"""A message of a model's, a person's or a tool's to events, in whatever dialect its content and calls are.

A content is text or blocks: texts, tool calls (`tool_use`, `toolCall`, `functionCall` ...), results, files.
Calls and files may stand beside the content too (`tool_calls`, `attachments`). Thinking is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, parts
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, objects, sequence, string
from smartsearch.transcripts.formats.tool_calls import arguments

_CALLS = ("tool_use", "tool_call", "toolcall", "toolcallrequest", "function_call", "functioncall")
_RESULTS = ("tool_result", "toolcallresult", "function_call_output", "functionresponse", "tool_response")
_HIDDEN = ("think", "thought", "reason")
_BESIDE = ("tool_calls", "toolCalls", "toolRequests")
_OWN = ("tool_call_id", "toolCallId", "call_id", "callId", "callID", "toolCallRequestId", "tool_use_id")
_IDS = (*_OWN, "toolUseID", "id")
_NAMES = ("name", "toolName", "tool_name", "tool", "toolId", "tool_type")
_GIVEN = ("input", "arguments", "args", "parameters", "params", "action")
_MADE = (
    *("content", "output", "result", "run", "response", "detailedContent", "value", "stdout", "stderr"),
    *("error", "message", "progress"),
)
_FILES = ("displayName", "path", "name", "filename", "file_name")
Clean = Callable[[str], str]


def events_of(
    role: str, message: Any, key: str, place: Place, own: str, typed: Clean = str, result: Clean = str
) -> Iterator[Event]:
    """What a message holds: a content under a key, and calls; `own` is the id that its pieces share.

    `typed` leaves of a text what the user typed, `result` of an output what the tool wrote.
    """
    content = message.get(key) if isinstance(message, dict) else None
    calls = [call for name in _BESIDE for call in objects(message, name)]
    files = _files(message)
    if not isinstance(message, dict):
        yield place.item.fault(
            f"{kind(message)} in the place of a message" if message else "a turn without a `message`"
        )
    elif role == "tool":
        yield returned(message, place, result)
    elif role == "call":
        yield called(message, place, own)
    elif not (isinstance(content, str | list) or "text" in mapping(message, key) or calls or files):
        yield place.item.fault(f"`{key}` is {kind(content)}, not text or blocks")
    elif role == "assistant":
        if files:
            yield Said(role, "", files, place, own)
        for block in content if isinstance(content, list) else [content]:
            yield from _block(block, place, own, result)
        yield from (called(call, place, own) for call in calls)
    else:
        blocks = content if isinstance(content, list) else [content]
        yield from (returned(block, place, result) for block in blocks if _kind(block) in _RESULTS)
        rest = [block for block in blocks if _kind(block) not in _RESULTS and not _is_hidden(block)]
        if rest or files:
            pieces = [parts([block]) for block in rest]
            texts = [typed(text) if role == "user" else text for text, _ in pieces if text]
            captions = joined([*(caption for _, caption in pieces), files])
            yield Said(role, "\n".join(filter(None, texts)), captions, place)


def called(call: Any, place: Place, own: str = "") -> Called:
    """The event of a call; `function` holds the name and the arguments in OpenAI's form."""
    inner = mapping(call, "function") or mapping(call, "functionCall") or call
    given = next((inner[key] for key in _GIVEN if inner.get(key) is not None), None)
    tool = string(inner, *_NAMES) or string(call, "type").removesuffix("_call").removeprefix("local_")
    server = string(inner, "namespace")
    named = f"{server}__{tool}" if server else tool
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
