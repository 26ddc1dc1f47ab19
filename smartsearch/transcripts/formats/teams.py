"""Microsoft Teams as Microsoft Graph gives it, lists of `chatMessage`, and as its own web client does.

Structure as in Microsoft's documentation (learn.microsoft.com, "chatMessage resource type") and its
examples; the web client's as its users have it (search of GitHub for `imdisplayname` and `composetime`).
System events and deleted messages are left out. A session is a thread of a channel.
"""

from __future__ import annotations

from collections.abc import Iterator
from json import JSONDecodeError
from typing import Any

from smartsearch.text.htmltext import text_of
from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import (
    in_time,
    last_part,
    mapping,
    misfit,
    moment,
    objects,
    sequence,
    string,
    text,
)
from smartsearch.transcripts.formats.jsontext import Item, parse
from smartsearch.transcripts.source import Source

_LISTS = ("value", "messages")
_SPOKEN = ("RichText", "Text")
"""How the kinds of the web client's messages begin that somebody wrote."""


def claims(value: object) -> bool:
    """Whether a value is a message of Teams', or an answer with a list of them."""
    return _is_message(value) or any(_is_message(one) for key in _LISTS for one in sequence(value, key)[:5])


def _is_message(value: object) -> bool:
    if _is_web(value):
        return True
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
        key = next((key for key in _LISTS if isinstance(mapping(item.value).get(key), list)), None)
        for one in item.elements(key) if key else [item]:
            yield one._replace(value=_as_graph(one.value)) if _is_web(one.value) else one


def _is_web(value: object) -> bool:
    """Whether a value is a message of the web client's."""
    return isinstance(value, dict) and all(key in value for key in ("messagetype", "composetime", "content"))


def _as_graph(value: dict[str, Any]) -> dict[str, Any]:
    """A message of the web client's with what is read of it under Graph's keys."""
    what, more = text(value, "messagetype"), mapping(value, "properties")
    room = string(value, "conversationid") or last_part(string(value, "conversationLink").partition(";")[0])
    return {
        "id": value.get("id"),
        "messageType": "message" if what.startswith(_SPOKEN) else what or "none",
        "createdDateTime": value.get("originalarrivaltime") or value.get("composetime"),
        "deletedDateTime": more.get("deletetime"),
        "subject": more.get("subject"),
        "from": {"user": {"displayName": value.get("imdisplayname"), "id": last_part(string(value, "from"))}},
        "body": {"contentType": "text" if what == "Text" else "html", "content": value.get("content")},
        "attachments": _files(text(more, "files")),
        "chatId": room,
    }


def _files(written: str) -> list[dict[str, str]]:
    """The files of a message of the web client's, which stand in it as JSON in a string."""
    try:
        found = parse(written) if written else []
    except JSONDecodeError:
        return []
    return [{"name": text(one, "fileName", "title")} for one in objects({"all": found}, "all")]


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
