"""A chat as sigtop writes it to JSON: a list of messages as Signal Desktop kept them.

Structure as in tbvdm/sigtop, cmd/sigtop/fmt_json.go and signal/message.go: the JSON of Signal Desktop's
database, unchanged. Signal Desktop 7.42 and later keep the text elsewhere, and sigtop's JSON of them holds
none (sigtop issue 85): that is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import (
    filled,
    in_time,
    mapping,
    misfit,
    number,
    objects,
    string,
    text,
)
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_KEYS = {
    *("conversationId", "sent_at", "received_at", "received_at_ms", "sourceUuid", "sourceServiceId"),
    *("sendStateByConversationId", "unidentifiedDeliveries", "schemaVersion", "hasAttachments"),
    *("expirationStartTimestamp", "readStatus", "seenStatus", "bodyRanges"),
}
_SAID = {"incoming", "outgoing"}
_SOURCE = ("source", "sourceServiceId", "sourceUuid")
_NUMBERED = re.compile(r"(?<!\s)\s*\([^()]*\)$")
_MENTION = "\ufffc"


def detect(source: Source) -> bool:
    """Whether messages of Signal Desktop stand at the top."""
    return any(isinstance(value, dict) and len(value.keys() & _KEYS) >= 3 for value in source.head())


def read(source: Source) -> Iterator[Record]:
    """Turns of the chat, earliest first; deleted messages, calls and notices are left out.

    The file holds no name but its own. Who exported speaks as `Me`, the other of a chat of two by the
    file's name, members of a group by number or id.
    """
    items = list(source.items())
    name = _NUMBERED.sub("", source.stem) or source.stem
    others = {string(item.value, *_SOURCE) for item in items if _type(item.value) == "incoming"} - {""}
    if items and not any(isinstance(item.value, dict) and "body" in item.value for item in items):
        reason = (
            "this JSON holds no text: Signal Desktop 7.42 and later keep it where sigtop's JSON does not "
            "look; export with `sigtop export-messages -f text`, or with Signal itself"
        )
        yield FormatError(reason, pointer=items[0].pointer, line=items[0].line)
    for _, item in in_time(items, lambda item: number(item.value, "sent_at", "timestamp", "received_at")):
        value = item.value
        if reason := misfit(value, "body"):
            yield FormatError(reason, line=item.line, pointer=item.pointer)
            continue
        if (
            _type(value) not in _SAID
            or value.get("deletedForEveryone") is True
            or value.get("isErased") is True
        ):
            continue
        said, caption = _plain(value), _caption(value)
        if not said and not caption:
            yield FormatError("a message without text", line=item.line, pointer=item.pointer, kind="no_text")
            continue
        own = string(value, *_SOURCE)
        yield Turn(
            text=said,
            speaker="Me" if _type(value) == "outgoing" else own if len(others) > 1 else name,
            time=to_iso(number(value, "sent_at", "timestamp", "received_at")),
            caption=caption,
            path=source.path,
            line=item.line,
            pointer=item.pointer,
            conversation=name,
            turn=string(value, "id"),
        )


def _type(value: object) -> str:
    """Whether a message came in or went out; where the database keeps that elsewhere, by what it has."""
    if found := text(value, "type"):
        return found
    went = isinstance(value, dict) and "sendStateByConversationId" in value
    return "outgoing" if went else "incoming"


def _plain(value: dict[str, Any]) -> str:
    """The text, with names where Signal keeps a sign and an id."""
    said = text(value, "body")
    if _MENTION in said:
        ranges = sorted(objects(value, "bodyRanges"), key=lambda found: number(found, "start") or 0)
        names = filter(None, (text(found, "replacementText") for found in ranges))
        said = filled(said, _MENTION, (f"@{name}" for name in names))
    return said.strip()


def _caption(value: dict[str, Any]) -> str:
    captions = [
        attachment(text(found, "fileName"), text(found, "contentType"))
        for found in objects(value, "attachments")
    ]
    if sticker := mapping(value, "sticker"):
        captions.append(bracketed("sticker", text(sticker, "emoji")))
    return joined(captions)


FORMAT = Format(
    name="sigtop",
    description="sigtop's JSON of a Signal chat",
    extensions=(".json",),
    detect=detect,
    read=read,
    how="sigtop (github.com/tbvdm/sigtop): `sigtop msg -f json FOLDER`, of Signal Desktop before 7.42",
)
