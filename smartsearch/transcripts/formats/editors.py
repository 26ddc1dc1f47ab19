"""Chats that editors and OpenCode keep: logs that are played back, and rows of stores, each as a declaration.

VS Code: one public export and others' readers of its log. Cursor: michaeldhood/chatrxiv
(docs/cursor/storage-reference.md), pppp606/cursor-efficiency (docs/vscdbRelation.md),
Dicklesworthstone/coding_agent_session_search (tests/fixtures/cursor). OpenCode: jazzyalex/agent-sessions
(Resources/Fixtures/stage0/agents/opencode), Dicklesworthstone/coding_agent_session_search. Left out of all:
thinking, steps and edits but for the files' names, and what was reverted.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from json import JSONDecodeError
from typing import Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.agent_log import Called, Event, Place, Returned, Said
from smartsearch.transcripts.formats.blocks import events_of
from smartsearch.transcripts.formats.fields import kind, last_part, mapping, number, objects, sequence, string
from smartsearch.transcripts.formats.form import Chat, Form
from smartsearch.transcripts.formats.jsontext import Item, escaped, parse
from smartsearch.transcripts.formats.paths import at, each, path, shaped, value_of
from smartsearch.transcripts.source import Source

# VS Code: a `.json` is one object with `requests`, each with the user's `message` and the parts of the
# `response`. A `.jsonl` is played back: `kind` 0 is the whole object, 1 sets what the keys `k` lead to, 2
# adds to the list there (from place `i` on), 3 deletes. A turn of such a log stands on its request's line.
_SET, _ADD, _DELETE = 1, 2, 3
_REQUESTS = "requests"
_TOOLS = ("toolInvocationSerialized", "toolInvocation")


_is_chat = shaped("requests[] responderUsername|creationDate|initialLocation|requesterUsername")


def _vscode_claims(value: Any) -> bool:
    """Whether a value is a chat, or a line of a log about one."""
    changed = at(value, "kind") in (_SET, _ADD) and sequence(value, "k")[:1] == [_REQUESTS]
    return _is_chat(value) or changed or (at(value, "kind") == 0 and _is_chat(at(value, "v")))


def _vscode(source: Source) -> Iterator[Chat | FormatError]:
    """The chats, and the one that a log is played back to."""
    log = []
    for item in source.items():
        if isinstance(at(item.value, _REQUESTS), list):
            yield Chat(item, list(item.elements(_REQUESTS)))
        else:
            log.append(item)
    if log:
        state: dict[str, Any] = {}
        lines: list[int] = []
        yield from _played(log, state, lines)
        known = sequence(state, _REQUESTS)
        yield Chat(Item(state, 0), [Item(v, n) for v, n in zip(known, [*lines, *[0] * len(known)])])


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


def _request(item: Item, place: Place, _: Chat) -> Iterator[Event]:
    value, message = item.value, item.value.get("message")
    if not isinstance(message, str | dict):
        yield item.fault(f"`message` is {kind(message)}, not text or an object")
    else:
        text = message if isinstance(message, str) else string(message, "text")
        yield Said("user", text, _attached(value, None), place)
    answer = place._replace(turn=string(value, "responseId") or place.turn)
    yield from _response(sequence(value, "response"), answer)


def _variable(value: dict[str, Any]) -> str:
    """The caption of a file or a picture that goes with a request."""
    file = f"[file {last_part(string(value, 'name'))}]"
    return {"image": "[image]", "file": file}.get(string(value, "kind"), "")


_attached = each("variableData/variables", _variable)


def _response(parts: list[Any], place: Place) -> Iterator[Event]:
    """The answer: markdown and the names in it run on as one text, until a tool is called."""
    text: list[str] = []
    own = place.turn or f"{place.item.line}{place.item.pointer}"
    for part in parts:
        what = string(part, "kind")
        if what in _TOOLS:
            yield Said("assistant", "".join(text).strip("\n"), "", place, own)
            text.clear()
            yield from _invoked(part, own, place)
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


def _invoked(part: dict[str, Any], own: str, place: Place) -> Iterator[Event]:
    """A tool call with the words VS Code has for it, or its command, and what it gave back."""
    data = mapping(part, "toolSpecificData")
    line = mapping(data, "commandLine")
    command = string(line, "original", "toolEdited", "userEdited") or string(data, "command")
    told = _markdown(part.get("pastTenseMessage")) or _markdown(part.get("invocationMessage"))
    call, tool = string(part, "toolCallId"), string(part, "toolId")
    yield Called(tool, {"command": command} if command else {"text": told}, call, place, own)
    details = mapping(part, "resultDetails")
    texts = [string(one, "value", "text") for one in objects(details, "output")]
    text = "\n".join(text for text in texts if text) or string(mapping(data, "terminalCommandOutput"), "text")
    yield Returned(call, text, "", place._replace(turn=call or place.turn), tool)


# Cursor: the table `cursorDiskKV` has a chat under `composerData:ID` and its messages under
# `bubbleId:ID:BUBBLE`, in the order of `fullConversationHeadersOnly`; before, they stood in the chat's
# `conversation`. Still older chats are in `ItemTable`. A message without a time has that of its chat.
_HEADS = "fullConversationHeadersOnly"
_TABLE, _OLD = "cursorDiskKV", "ItemTable"
_CHAT, _MESSAGE = "composerData:", "bubbleId:"
_OLDER = (("workbench.panel.aichat.view.aichat.chatdata", "tabs"), ("composer.composerData", "allComposers"))


def _cursor(source: Source, item: Item) -> Iterator[Chat | FormatError]:
    stored = _stored(item)
    yield Chat(item, [])
    for chat in _chats(item, stored):
        if isinstance(chat.value, dict):
            id_ = string(chat.value, "composerId", "tabId") or source.stem
            began = number(chat.value, "createdAt", "lastSendTime")
            messages = list(_messages(item, chat, id_, stored.get(id_, ())))
            yield Chat(chat, messages, id_, string(chat.value, "name", "chatTitle"), began)
        else:
            yield chat.fault(f"{kind(chat.value)} in the place of a conversation")


def _stored(item: Item) -> dict[str, list[str]]:
    """The keys of the messages that the store has of each chat."""
    found: dict[str, list[str]] = defaultdict(list)
    for key in mapping(item.value, _TABLE):
        if key.startswith(_MESSAGE) and (id_ := key.removeprefix(_MESSAGE).rpartition(":")[0]):
            found[id_].append(key)
    return found


def _chats(item: Item, stored: Mapping[str, object]) -> list[Item]:
    """The chats, the oldest first, and those of which only messages are left."""
    rows, table = mapping(item.value, _TABLE), f"{item.pointer}/{_TABLE}"
    kept = {key.removeprefix(_CHAT): rows[key] for key in rows if key.startswith(_CHAT)}
    kept |= {id_: {} for id_ in sorted(stored.keys() - kept.keys())}
    found = [
        Item(
            {**chat, "composerId": id_} if isinstance(chat, dict) else chat,
            item.line,
            f"{table}/{escaped(_CHAT + id_)}",
        )
        for id_, chat in kept.items()
    ]
    found.sort(key=lambda chat: number(chat.value, "createdAt") or 0)
    older = [chat for path in _OLDER for chat in item.elements(_OLD, *path)]
    return [*older, *found]


def _messages(item: Item, chat: Item, id_: str, stored: Sequence[str]) -> Iterator[Item]:
    """The messages of a chat in its order; if that is damaged, those it lacks follow by their time.

    One whose text is gone from the store is passed over.
    """
    rows, heads = mapping(item.value, _TABLE), chat.value.get(_HEADS)
    known = [string(head, "bubbleId") for head in heads] if isinstance(heads, list) else [""]
    listed = [f"{_MESSAGE}{id_}:{bubble}" for bubble in known if bubble]
    rest = set() if all(known) else set(stored).difference(listed)
    for key in (*listed, *sorted(rest, key=lambda key: (string(rows[key], "createdAt", "timestamp"), key))):
        if key in rows:
            yield item.at(_TABLE, key)
    yield from chat.elements("conversation")
    yield from chat.elements("bubbles")


def _is_call(value: dict[str, Any]) -> bool:
    """Whether a message is a call, which is part of what was just said, and no more."""
    return bool(mapping(value, "toolFormerData")) and not (_bubble_text(value, None) or value.get("images"))


def _bubble(value: dict[str, Any], _: Any) -> dict[str, Any]:
    """What a message says, and the call that goes with it."""
    call = mapping(value, "toolFormerData")
    if _is_call(value):
        return call
    images = [{"type": "image"} for _ in sequence(value, "images")]
    return {"content": [_bubble_text(value, None), *images], "tool_calls": [call] if call else []}


_bubble_text = path("text rawText content")


# OpenCode: `opencode.db` has the tables `session`, `message` and `part`, of which the last two hold JSON in
# `data`. Before, each was a file below `storage`: a part's file names its message, in whose file stands who
# said it; a part is a turn of its own then, and without a title. A session that another one started has that
# one's id as conversation, and its own as session.
_ID = re.compile(r"[\w-]+")
_TABLES = ("session", "message", "part")
_MADE = "time_created"


_is_part = shaped("id messageID type")
_is_opencode = shaped(
    "id messageID type", "info/id messages[]", "time sessionID role", "time id projectID directory"
)


def _opencode_claims(value: Any) -> bool:
    """Whether a value is what is read of a store, an exported session, or one of the files."""
    is_store = {"message", "part"} <= mapping(value).keys() <= set(_TABLES)
    return is_store or _is_opencode(value)


def _opencode(source: Source, item: Item) -> Iterator[Chat | FormatError]:
    value = item.value
    if not isinstance(value, dict):
        yield item.fault(f"{kind(value)} in the place of a session")
    elif isinstance(value.get("message"), dict):
        yield from _sessions(item)
    elif isinstance(value.get("messages"), list):
        about = mapping(value, "info")
        held = [
            _held(one, mapping(one.value).get("info", one.value), list(one.elements("parts")))
            for one in item.elements("messages")
        ]
        yield Chat(item, held, string(about, "id"), _title(about), about)
    elif _is_part(value):
        yield _part_file(source, item)
    else:
        yield Chat(item, [])


def _held(place: Item, info: object, parts: Sequence[Item]) -> Item:
    """A message: what is said of it, and its parts."""
    return place._replace(value={"info": info, "parts": parts})


def _sessions(item: Item) -> Iterator[Chat]:
    """The sessions of a store, the oldest first."""
    rows = {name: mapping(item.value, name) for name in _TABLES}
    parts, sessions = defaultdict[str, list[Item]](list), defaultdict[str, list[Item]](list)
    for id_ in sorted(rows["part"]):
        row = rows["part"][id_]
        parts[string(row, "message_id")].append(_row(item, "part", id_, row))
    for id_ in sorted(rows["message"], key=lambda id_: (number(rows["message"][id_], _MADE) or 0, id_)):
        row = rows["message"][id_]
        sessions[string(row, "session_id")].append(_row(item, "message", id_, row))
    for id_, messages in sessions.items():
        about = rows["session"].get(id_)
        held = [_held(one, one.value, parts[string(one.value, "id")]) for one in messages]
        yield Chat(item, held, id_, _title(about), about)


def _row(item: Item, table: str, id_: str, row: Any) -> Item:
    """A row as an item like the one of its file: its data, with the id and the time."""
    place = f"{item.pointer}/{table}/{escaped(id_)}/data"
    data = row.get("data") if isinstance(row, dict) else row
    if isinstance(data, dict):
        data = {"time": {"created": row[_MADE]} if row.get(_MADE) else {}, **data, "id": id_}
    return Item(data, item.line, place)


def _part_file(source: Source, item: Item) -> Chat:
    """The turn of a part's file. The names of its message's folder and file are of letters and digits."""
    session, message = string(item.value, "sessionID"), string(item.value, "messageID")
    about: object = {"role": "assistant" if string(item.value, "type") == "tool" else ""}
    if _ID.fullmatch(session) and _ID.fullmatch(message):
        written = source.beside(f"../../message/{session}/{message}.json")
        with suppress(JSONDecodeError):  # as good as not there
            about = parse(written) if written else about
    return Chat(item, [_held(item, about, [item])], session or source.folder)


def _title(session: object) -> str:
    return string(session, "title") or last_part(string(session, "directory"))


def _opened(item: Item, _: Place, chat: Chat) -> Iterable[Event]:
    """What a message holds, told by its `info`; nothing if it was reverted or is a summary."""
    info, session, id_ = item.value["info"], chat.about, chat.name
    if not isinstance(info, dict):
        return [item.fault(f"{kind(info)} in the place of a message")]
    role, own = string(info, "role"), string(info, "id")
    reverted = string(mapping(session, "revert"), "messageID")
    if info.get("summary") is True or (reverted and own >= reverted):
        return []
    above = string(session, "parent_id", "parentID")
    time = mapping(info, "time").get("created")
    ids = (above or id_, own, id_ if above else "")
    return [
        event
        for part in item.value["parts"]
        for event in _part(part, role, own, Place(part, _begun(part.value, None) or time, *ids))
    ]


_begun = value_of("time/start state/time/start")


def _part(part: Item, role: str, own: str, place: Place) -> Iterable[Event]:
    value = part.value
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        fault = f"{kind(value)} in the place of a part"
        return [part.fault("a part without a `type`" if isinstance(value, dict) else fault)]
    hidden = value.get("synthetic") is True or value.get("ignored") is True
    if hidden or value["type"] not in ("text", "file", "tool"):
        return []
    found, message = events_of(role, {"content": [value]}, "content", place, ""), own or part.pointer
    return [one._replace(message=message) if isinstance(one, Said | Called) else one for one in found]


FORMS = {
    "vscode-chat": Form(
        claims=_vscode_claims,
        items=_vscode,
        name="sessionId",
        title="customTitle",
        kind=lambda _, __: "request",
        roles={"request": "user"},
        turn="requestId",
        events=_request,
    ),
    "cursor-store": Form(
        claims=lambda value: bool(mapping(value)) and value.keys() <= {_TABLE, _OLD},
        parted=_cursor,
        inside=_TABLE,
        kind=lambda value, _: "call" if _is_call(value) else string(value, "type"),
        roles={"1": "user", "user": "user", "2": "assistant", "ai": "assistant", "call": "call"},
        time=lambda v, began: (
            string(v, "createdAt", "timestamp") or at(v, "timingInfo/clientStartTime") or began
        ),
        turn="bubbleId id",
        message=_bubble,
    ),
    "opencode": Form(
        claims=_opencode_claims,
        parted=_opencode,
        inside="messages",
        kind=lambda _, __: "message",
        roles={"message": "user"},
        events=_opened,
    ),
}
