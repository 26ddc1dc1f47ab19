"""A Matrix room as Element exports it to JSON: `room_name` and `messages`, which are Matrix events.

Structure as in matrix-org/matrix-react-sdk, src/utils/exportUtils/JSONExport.ts; events as in the Matrix
specification (spec.matrix.org, client-server API). Edited messages are read as they are now, redacted ones
left out, quotes of the message replied to cut off.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.captions import attachment, bracketed
from smartsearch.transcripts.formats.fields import in_time, mapping, misfit, number, objects, string, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_SPOKEN = ("m.room.message", "m.sticker", "m.poll.start", "org.matrix.msc3381.poll.start")
_MEDIA = {"m.image": "image", "m.video": "video", "m.audio": "audio", "m.file": ""}
_QUOTED = re.compile(r"> (?:\* )?<@[^>\n]+>[^\n]*(?:\n>[^\n]*)*\n\n")


def detect(source: Source) -> bool:
    """Whether a room with Matrix events stands at the top."""
    return any(_is_room(value) for value in source.head())


def _is_room(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    if "room_name" in value and "exported_by" in value:
        return True
    return any("origin_server_ts" in event and "sender" in event for event in objects(value, "messages")[:5])


@dataclass(frozen=True)
class _Room:
    """What a room's events say of one another: display names by user, edits and threads by event."""

    name: str
    names: dict[str, str]
    edits: dict[str, dict[str, Any]]
    roots: frozenset[str]


def read(source: Source) -> Iterator[Record]:
    """Turns of the room, earliest first."""
    for item in source.items():
        if not _is_room(item.value):
            yield FormatError("no room with `messages` here", line=item.line, pointer=item.pointer)
            continue
        yield from _events(source, item)


def _events(source: Source, item: Item) -> Iterator[Record]:
    events = list(in_time(item.value["messages"], lambda event: number(event, "origin_server_ts")))
    known = [event for _, event in events if isinstance(event, dict)]
    room = _room(text(item.value, "room_name") or source.stem, known)
    for i, event in events:
        pointer = f"{item.pointer}/messages/{i}"
        if not isinstance(event, dict) or (string(event, "type") in _SPOKEN and _misfit(event)):
            reason = misfit(event, "content", dict) or _misfit(event)
            yield FormatError(reason, line=item.line, pointer=pointer)
        elif event.get("type") in _SPOKEN and not _is_redacted(event) and not _replaces(event, room):
            yield _turn(source.path, item.line, pointer, event, room)
        elif event.get("type") == "m.room.encrypted":
            reason = "could not be decrypted when it was exported"
            yield FormatError(reason, line=item.line, pointer=pointer, kind="no_text")


def _misfit(event: dict[str, Any]) -> str:
    return misfit(event, "content", dict) or misfit(mapping(event, "content"), "body")


def _room(name: str, events: list[dict[str, Any]]) -> _Room:
    """Gathered before the first turn, since an edit follows what it edits."""
    names, edits, here, roots = {}, {}, set(), set()
    for event in events:
        content, relation = mapping(event, "content"), mapping(event, "content", "m.relates_to")
        here.add(string(event, "event_id"))
        if event.get("type") == "m.room.member" and text(content, "displayname"):
            names[string(event, "state_key") or string(event, "sender")] = text(content, "displayname")
        if relation.get("rel_type") == "m.replace" and mapping(content, "m.new_content"):
            edits[string(relation, "event_id")] = mapping(content, "m.new_content")
        if relation.get("rel_type") == "m.thread":
            roots.add(string(relation, "event_id"))
    known = {target: content for target, content in edits.items() if target in here}
    return _Room(name, names, known, frozenset(roots))


def _is_redacted(event: dict[str, Any]) -> bool:
    unsigned = mapping(event, "unsigned")
    return "redacted_because" in unsigned or "redacted_by" in unsigned or not mapping(event, "content")


def _replaces(event: dict[str, Any], room: _Room) -> bool:
    """Whether an event is the edit of another in the file, and so no turn of its own."""
    relation = mapping(event, "content", "m.relates_to")
    return relation.get("rel_type") == "m.replace" and string(relation, "event_id") in room.edits


def _turn(path: str, line: int, pointer: str, event: dict[str, Any], room: _Room) -> Record:
    own = string(event, "event_id")
    relation = mapping(event, "content", "m.relates_to")
    said, caption = _said(event, _content(event, room))
    if not said and not caption:
        return FormatError("a message without text", line=line, pointer=pointer, kind="no_text")
    thread = string(relation, "event_id") if relation.get("rel_type") == "m.thread" else ""
    sender = string(event, "sender")
    return Turn(
        text=said,
        speaker=room.names.get(sender) or sender.removeprefix("@").partition(":")[0],
        time=to_iso(event.get("origin_server_ts")),
        caption=caption,
        path=path,
        line=line,
        pointer=pointer,
        conversation=room.name,
        session=thread or (own if own in room.roots else ""),
        turn=own,
    )


def _content(event: dict[str, Any], room: _Room) -> dict[str, Any]:
    """The content as it is now: by an edit in the file, or by the one the server bundled with the event."""
    content = mapping(event, "content")
    bundled = mapping(event, "unsigned", "m.relations", "m.replace", "content", "m.new_content")
    return (
        room.edits.get(string(event, "event_id")) or bundled or mapping(content, "m.new_content") or content
    )


def _said(event: dict[str, Any], content: dict[str, Any]) -> tuple[str, str]:
    body = text(content, "body").strip()
    msgtype = text(content, "msgtype")
    if event.get("type") == "m.sticker":
        return "", bracketed("sticker", body)
    if "poll" in text(event, "type"):
        return "", _poll(content)
    if msgtype in _MEDIA:
        # Where both stand, `filename` names the file and `body` is what was written beside it.
        name = text(content, "filename")
        said = body if name and name != body else ""
        kind = _MEDIA[msgtype]
        named = name or body
        mime = text(mapping(content, "info"), "mimetype")
        return said, bracketed(kind, named) if kind else attachment(named, mime)
    if msgtype == "m.location":
        return "", bracketed("location", body, text(content, "geo_uri"))
    if msgtype == "m.bad.encrypted":
        return "", ""
    if mapping(event, "content", "m.relates_to", "m.in_reply_to"):
        quoted = _QUOTED.match(body)
        body = body[quoted.end() :] if quoted else body
    return body, ""


def _poll(content: dict[str, Any]) -> str:
    asked = mapping(content, "m.poll") or mapping(content, "org.matrix.msc3381.poll.start")
    answers = " / ".join(filter(None, map(_worded, objects(asked, "answers"))))
    return bracketed("poll", _worded(mapping(asked, "question")), answers) if asked else ""


def _worded(value: dict[str, Any]) -> str:
    texts = [text(found, "body") for found in objects(value, "m.text")]
    return text(value, "org.matrix.msc1767.text", "body") or next(filter(None, texts), "")


FORMAT = Format(
    name="matrix",
    description="Element's JSON export of a Matrix room",
    extensions=(".json",),
    detect=detect,
    read=read,
    how="Element: the room's information, Export chat; format JSON",
)
