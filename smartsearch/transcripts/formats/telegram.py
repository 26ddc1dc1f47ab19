"""Telegram Desktop's `result.json`: one chat, or all chats of an account.

Structure as in telegramdesktop/tdesktop, Telegram/SourceFiles/export/output/export_output_json.cpp. Service
messages (who joined, called, pinned) are left out unless they carry a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

from smartsearch.text.times import instant, to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined, linked
from smartsearch.transcripts.formats.fields import (
    in_time,
    last_part,
    mapping,
    misfit,
    number,
    objects,
    sequence,
    string,
    text,
)
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_KINDS = {"message", "service", "unsupported"}
_LISTS = ("chats", "left_chats")
_UNNAMED = {"saved_messages": "Saved Messages", "replies": "Replies"}
_MEDIA = {
    "sticker": "sticker",
    "video_message": "video",
    "voice_message": "audio",
    "animation": "video",
    "video_file": "video",
    "audio_file": "audio",
}
_HELD = {
    *("forwarded_from", "photo", "file", "media_type", "contact_information", "place_name"),
    *("location_information", "poll", "todo_list", "game_title"),
}
_OFFSETS = 15 * 3600  # seconds: no clock on earth differs more from UTC


def claims(value: object) -> bool:
    """Whether a value is a chat, or has lists of chats, with Telegram's messages."""
    listed = (chat for key in _LISTS for chat in sequence(mapping(value, key), "list")[:5])
    return _is_chat(value) or any(map(_is_chat, listed))


def _is_chat(value: object) -> bool:
    if not text(value, "type") or not string(value, "id"):
        return False
    messages = objects(value, "messages")[:5]
    return any(text(found, "type") in _KINDS and ("date" in found or "text" in found) for found in messages)


def read(source: Source) -> Iterator[Record]:
    """Turns of every chat, earliest first, chats in the order of the file."""
    for item in source.items():
        if _is_chat(item.value):
            yield from _turns(source.path, item, _name(item.value) or source.stem)
        elif any(mapping(item.value, key) for key in _LISTS):
            yield from _account(source, item)
        else:
            yield item.fault("neither a chat with `messages` nor a list of `chats`")


def _account(source: Source, item: Item) -> Iterator[Record]:
    """All chats, by their names, or by their ids where two share one."""
    lists = [list(item.elements(key, "list")) for key in _LISTS]
    names = Counter(_name(chat.value) for chats in lists for chat in chats)
    for chats in lists:
        for n, chat in enumerate(chats, 1):
            if not isinstance(mapping(chat.value).get("messages"), list):
                yield chat.fault("no chat with `messages` here")
                continue
            name = _name(chat.value)
            if name and names[name] == 1:
                yield from _turns(source.path, chat, name)
            else:
                yield from _turns(source.path, chat, string(chat.value, "id") or f"{source.stem}#{n}", name)


def _name(chat: object) -> str:
    return text(chat, "name") or _UNNAMED.get(text(chat, "type"), "")


def _turns(path: str, chat: Item, name: str, title: str = "") -> Iterator[Record]:
    messages = list(chat.elements("messages"))
    for message in in_time(messages, _moment(messages)):
        value = message.value
        if reason := misfit(value, "text", str, list):
            yield message.fault(reason)
            continue
        said = _plain(value.get("text")).strip()
        if said or value.get("type") != "service":
            yield turn(
                path,
                message,
                text=said,
                speaker=text(value, "from", "actor") or string(value, "from_id", "actor_id"),
                time=_time(value),
                caption=_caption(value),
                conversation=name,
                turn=string(value, "id"),
                title=title,
            )


def _moment(messages: Sequence[Item]) -> Callable[[object], float | None]:
    """How to tell when a message of a chat was sent, in seconds, for comparison within it only.

    By the epoch where all have one, else by the local clock: merged exports have the epoch on some.
    """
    if all(number(found.value, "date_unixtime") is not None or not _date(found.value) for found in messages):
        return lambda value: number(value, "date_unixtime")
    return lambda value: instant(_date(value)) or number(value, "date_unixtime")


def _date(value: object) -> str:
    """The date as written: a local time, or an epoch in seconds."""
    return string(value, "date")


def _time(value: dict[str, Any]) -> str:
    """The local time of the person who exported, with the offset that the epoch beside it tells."""
    sent, written = number(value, "date_unixtime"), _date(value)
    if sent is None:
        return to_iso(written)
    try:
        local = datetime.fromisoformat(written)
        utc = datetime.fromtimestamp(sent, timezone.utc)
        ahead = (local.replace(tzinfo=timezone.utc) - utc).total_seconds()
    except (ValueError, OverflowError, OSError):
        return to_iso(sent) or to_iso(written)
    if local.tzinfo or abs(ahead) > _OFFSETS or ahead % 900:
        return to_iso(sent) or to_iso(written)
    return local.replace(tzinfo=timezone(timedelta(seconds=ahead)), microsecond=0).isoformat()


def _plain(value: object) -> str:
    """A text, which is a string or a list of strings and of parts with a type of their own."""
    if isinstance(value, str):
        return value
    parts = []
    for part in value if isinstance(value, list) else []:
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, dict) and isinstance(part.get("text"), str):
            href = part.get("href")
            parts.append(linked(part["text"], href) if isinstance(href, str) else part["text"])
    return "".join(parts)


def _caption(value: dict[str, Any]) -> str:
    """Everything a message holds beside its text."""
    if value.get("type") == "service" or not value.keys() & _HELD:
        return ""
    return joined(
        [
            bracketed("forwarded from", source) if (source := text(value, "forwarded_from")) else "",
            bracketed("image", _kept(text(value, "photo"))) if "photo" in value else "",
            _file(value) if "file" in value or "media_type" in value else "",
            _contact(mapping(value, "contact_information")) if "contact_information" in value else "",
            _place(value),
            _poll(mapping(value, "poll")) if "poll" in value else "",
            _tasks(mapping(value, "todo_list")) if "todo_list" in value else "",
            bracketed("game", text(value, "game_title"), text(value, "game_description"))
            if "game_title" in value
            else "",
        ]
    )


def _kept(path: str) -> str:
    """The name of a file; none where a remark in brackets says why it was not exported."""
    return "" if path.endswith(")") and "(File " in path else last_part(path)


def _file(value: dict[str, Any]) -> str:
    name = text(value, "file_name") or _kept(text(value, "file"))
    noun = _MEDIA.get(text(value, "media_type"), "")
    if noun == "sticker":
        return bracketed("sticker", text(value, "sticker_emoji"))
    if noun == "audio" and text(value, "title"):
        return bracketed("audio", " - ".join(filter(None, (text(value, "performer"), text(value, "title")))))
    return bracketed(noun, name) if noun else attachment(name, text(value, "mime_type"))


def _contact(value: dict[str, Any]) -> str:
    return bracketed("contact", *(text(value, key) for key in ("first_name", "last_name", "phone_number")))


def _place(value: dict[str, Any]) -> str:
    if name := text(value, "place_name"):
        return bracketed("place", ", ".join(filter(None, (name, text(value, "address")))))
    at = mapping(value, "location_information")
    where = [number(at, key) for key in ("latitude", "longitude")]
    return bracketed("location", ", ".join(str(found) for found in where if found is not None)) if at else ""


def _poll(value: dict[str, Any]) -> str:
    answers = " / ".join(filter(None, (_plain(found.get("text")) for found in objects(value, "answers"))))
    return bracketed("poll", _plain(value.get("question")), answers)


def _tasks(value: dict[str, Any]) -> str:
    tasks = " / ".join(filter(None, (_plain(found.get("text")) for found in objects(value, "items"))))
    return bracketed("list", _plain(value.get("title")), tasks)
