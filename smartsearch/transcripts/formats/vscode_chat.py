"""Chats of VS Code, such as those with GitHub Copilot: `chatSessions/*.json` and `.jsonl`, or Chat: Export.

Structure from one public export and from others' readers of the log. A `.json` is one object with
`requests`, each with the user's `message` and the parts of the `response`. A `.jsonl` is played back:
`kind` 0 is the whole object, 1 sets what the keys `k` lead to, 2 adds to the list there (from place `i`
on), 3 deletes. A turn of such a log stands on the line that brought its request.

Left out: thinking, progress, edits but for their files' names, and what tools returned but where the part of
the call itself holds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said, turns
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, objects, sequence, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_MARKED = ("responderUsername", "creationDate", "initialLocation", "requesterUsername")
_SET, _ADD, _DELETE = 1, 2, 3
_REQUESTS = "requests"
_TOOLS = ("toolInvocationSerialized", "toolInvocation")


def claims(value: object) -> bool:
    """Whether a value is a chat, or a line of a log about one."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get(_REQUESTS), list):
        return any(key in value for key in _MARKED)
    keys = value.get("k")
    if value.get("kind") == 0:
        return isinstance(value.get("v"), dict) and claims(value["v"])
    return value.get("kind") in (_SET, _ADD) and isinstance(keys, list) and keys[:1] == [_REQUESTS]


def read(source: Source) -> Iterator[Record]:
    """Turns in the order of the requests: texts, with the tool calls made in between, and results."""
    for item in source.items():
        if isinstance(item.value, dict) and isinstance(item.value.get(_REQUESTS), list):
            yield from _chat(source, item.value, list(item.elements(_REQUESTS)))
    log = [item for item in source.items() if not (isinstance(item.value, dict) and _REQUESTS in item.value)]
    if log:
        state: dict[str, Any] = {}
        lines: list[int] = []
        yield from _played(log, state, lines)
        requests = state.get(_REQUESTS)
        known = requests if isinstance(requests, list) else []
        items = [Item(v, n) for v, n in zip(known, [*lines, *[0] * len(known)])]
        yield from _chat(source, state, items)


def _played(log: list[Item], state: dict[str, Any], lines: list[int]) -> Iterator[FormatError]:
    """Play the lines back: `state` becomes the chat, `lines` has the line of each of its requests."""
    for item in log:
        try:
            _apply(item.value, state)
        except (KeyError, IndexError, TypeError, AttributeError, ValueError):
            yield item.fault("a change of what is not there")
        requests = state.get(_REQUESTS)
        count = len(requests) if isinstance(requests, list) else 0
        del lines[count:]
        lines.extend([item.line] * (count - len(lines)))


def _apply(change: Any, state: dict[str, Any]) -> None:
    """One line. Raises where what it changes is not there."""
    what, value = change["kind"], change.get("v")
    if what == 0:
        state.clear()
        state.update(value)
        return
    *above, last = change["k"]
    holder: Any = state
    for key in above:
        holder = holder[key]
    if what == _SET:
        holder[last] = value
    elif what == _DELETE:
        del holder[last]
    elif what == _ADD:
        there = holder.setdefault(last, []) if isinstance(holder, dict) else holder[last]
        if isinstance(change.get("i"), int):
            del there[change["i"] :]
        there.extend(value or [])


def _chat(source: Source, chat: dict[str, Any], requests: list[Item]) -> Iterator[Record]:
    conversation = string(chat, "sessionId") or source.stem
    events = (event for item in requests for event in _events(item, conversation))
    yield from turns(source.path, string(chat, "customTitle"), events)


def _events(item: Item, conversation: str) -> Iterator[Event]:
    value = item.value
    if not isinstance(value, dict):
        yield item.fault(f"{kind(value)} in the place of a request")
        return
    own = string(value, "requestId")
    place = Place(item, value.get("timestamp"), conversation, own)
    message = value.get("message")
    if not isinstance(message, str | dict):
        yield item.fault(f"`message` is {kind(message)}, not text or an object")
    else:
        text = message if isinstance(message, str) else string(message, "text")
        yield Said("user", text, _attached(value), place)
    answer = place._replace(turn=string(value, "responseId") or own)
    yield from _response(sequence(value, "response"), answer)


def _attached(request: dict[str, Any]) -> str:
    """A caption for the files and pictures that go with a request."""
    found = objects(mapping(request, "variableData"), "variables")
    files = [one for one in found if string(one, "kind") in ("file", "image")]
    named = ((string(one, "kind"), last_part(string(one, "name"))) for one in files)
    return " ".join("[image]" if what == "image" else f"[file {name}]" for what, name in named)


def _response(parts: list[Any], place: Place) -> Iterator[Event]:
    """The answer: markdown and the names in it run on as one text, until a tool is called."""
    text: list[str] = []
    own = place.turn or f"{place.item.line}{place.item.pointer}"
    for part in parts:
        what = string(part, "kind")
        if what in _TOOLS:
            yield Said("assistant", "".join(text).strip("\n"), "", place, own)
            text.clear()
            yield from _call(part, own, place)
        elif what == "textEditGroup":
            path = string(mapping(part, "uri"), "path", "fsPath")
            yield Said("assistant", "", f"[edit {last_part(path)}]" if path else "[edit]", place, own)
        else:
            text.append(_inline(what, part))
    yield Said("assistant", "".join(text).strip("\n"), "", place, own)


def _inline(what: str, part: Any) -> str:
    """The text of a part, "" of what is none."""
    if what == "inlineReference":
        found = mapping(part, "inlineReference")
        path = string(found, "path", "fsPath") or string(mapping(found, "uri"), "path", "fsPath")
        return string(part, "name") or string(found, "name") or last_part(path)
    if what in ("markdownContent", "markdownVuln"):
        return _markdown(part.get("content"))
    return part if isinstance(part, str) else "" if what else _markdown(part)


def _markdown(value: object) -> str:
    """A text, plain or as the `value` of an object."""
    inner = value.get("value") if isinstance(value, dict) else value
    return inner if isinstance(inner, str) else ""


def _call(part: dict[str, Any], own: str, place: Place) -> Iterator[Event]:
    """A tool call with the words VS Code has for it, or its command, and what it gave back."""
    data = mapping(part, "toolSpecificData")
    command = string(mapping(data, "commandLine"), "original", "toolEdited", "userEdited") or string(
        data, "command"
    )
    told = _markdown(part.get("pastTenseMessage")) or _markdown(part.get("invocationMessage"))
    call, tool = string(part, "toolCallId"), string(part, "toolId")
    yield Called(tool, {"command": command} if command else {"text": told}, call, place, own)
    details = mapping(part, "resultDetails")
    texts = [string(one, "value", "text") for one in objects(details, "output")]
    text = "\n".join(text for text in texts if text) or string(mapping(data, "terminalCommandOutput"), "text")
    yield Returned(call, text, "", place._replace(turn=call or place.turn), tool)
