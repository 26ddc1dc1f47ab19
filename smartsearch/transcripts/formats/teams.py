"""Microsoft Teams as Microsoft Graph gives it: lists of `chatMessage`, as its answers or as a list of them.

Structure as in Microsoft's documentation (learn.microsoft.com, "chatMessage resource type") and its
examples. System events and deleted messages are left out. A session is a thread of a channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.text.htmltext import text_of
from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import (
    in_time,
    mapping,
    misfit,
    moment,
    objects,
    sequence,
    string,
    text,
)
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source


def claims(value: object) -> bool:
    """Whether a value is a message of Graph's, or an answer with a list of them."""
    return _is_message(value) or any(map(_is_message, sequence(value, "value")[:5]))


def _is_message(value: object) -> bool:
    return (
        bool(text(value, "messageType")) and "createdDateTime" in mapping(value) and "from" in mapping(value)
    )


def read(source: Source) -> Iterator[Record]:
    """Turns, earliest first, the replies of a thread behind the message that opened it."""
    for item in in_time(list(_messages(source)), _moment):
        yield from _thread(source, item)


def _moment(value: object) -> float | None:
    return moment(string(value, "createdDateTime"))


def _messages(source: Source) -> Iterator[Item]:
    for item in source.items():
        if isinstance(mapping(item.value).get("value"), list):
            yield from item.elements("value")
        else:
            yield item


def _thread(source: Source, item: Item) -> Iterator[Record]:
    replies = in_time(item.elements("replies"), _moment)
    own = string(item.value, "id")
    yield from _turn(source, item, own if replies else "")
    for reply in replies:
        yield from _turn(source, reply, own)


def _turn(source: Source, item: Item, session: str) -> Iterator[Record]:
    value = item.value
    reason = misfit(value, "body", dict) or misfit(mapping(value, "body"), "content")
    if reason:
        yield item.fault(reason)
    elif value.get("messageType", "message") == "message" and not value.get("deletedDateTime"):
        said, pictures = _said(mapping(value, "body"))
        files = [attachment(name) for one in objects(value, "attachments") if (name := text(one, "name"))]
        yield turn(
            source.path,
            item,
            text="\n".join(filter(None, (text(value, "subject").strip(), said))),
            speaker=_speaker(value),
            time=to_iso(value.get("createdDateTime")),
            caption=joined([*pictures, *files]),
            conversation=_conversation(value) or source.stem,
            session=session or string(value, "replyToId"),
            turn=string(value, "id"),
        )


def _said(body: dict[str, Any]) -> tuple[str, list[str]]:
    """The text of a body, and a caption for each picture in it."""
    content = text(body, "content")
    if text(body, "contentType").lower() != "html":
        return content.strip(), []
    return text_of(content), ["[image]"] * content.count("<img ")


def _speaker(value: dict[str, Any]) -> str:
    told = value.get("from")
    people = (mapping(told, kind) for kind in ("user", "application", "device"))
    return next((name for one in people if (name := text(one, "displayName") or string(one, "id"))), "")


def _conversation(value: dict[str, Any]) -> str:
    return string(value, "chatId") or string(mapping(value, "channelIdentity"), "channelId")
