"""Telegram Desktop's `result.json`: one chat, or all chats of an account.

Structure as in telegramdesktop/tdesktop, Telegram/SourceFiles/export/output/export_output_json.cpp. Service
messages (who joined, called, pinned) are left out unless they carry a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
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
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

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
_OFFSETS = 15 * 3600  # seconds: no clock on earth differs more from UTC


@dataclass(frozen=True)
class _Chat:
    """A chat's messages, where they stand, and what it is called."""

    messages: list[Any]
    line: int
    pointer: str
    name: str
    title: str = ""


def detect(source: Source) -> bool:
    """Whether a chat, or lists of chats, with Telegram's messages stand at the top."""
    return any(_is_chat(value) or _is_account(value) for value in source.head())


def _is_account(value: object) -> bool:
    return any(_is_chat(chat) for key in _LISTS for chat in sequence(mapping(value, key), "list")[:5])


def _is_chat(value: object) -> bool:
    if not text(value, "type") or not string(value, "id"):
        return False
    messages = objects(value, "messages")[:5]
    return any(text(found, "type") in _KINDS and ("date" in found or "text" in found) for found in messages)


def read(source: Source) -> Iterator[Record]:
    """Turns of every chat, earliest first, chats in the order of the file."""
    for item in source.items():
        if _is_chat(item.value):
            name = _name(item.value) or source.stem
            yield from _turns(source.path, _Chat(item.value["messages"], item.line, item.pointer, name))
            continue
        if not any(mapping(item.value, key) for key in _LISTS):
            reason = "neither a chat with `messages` nor a list of `chats`"
            yield FormatError(reason, line=item.line, pointer=item.pointer)
            continue
        names = Counter(_name(chat) for key in _LISTS for chat in sequence(mapping(item.value, key), "list"))
        for key in _LISTS:
            for i, chat in enumerate(sequence(mapping(item.value, key), "list")):
                pointer = f"{item.pointer}/{key}/list/{i}"
                if not isinstance(chat, dict) or not isinstance(chat.get("messages"), list):
                    yield FormatError("no chat with `messages` here", line=item.line, pointer=pointer)
                    continue
                name = _name(chat)
                own = bool(name) and names[name] == 1
                known = name if own else string(chat, "id") or f"{source.stem}#{i + 1}"
                title = "" if own else name
                yield from _turns(source.path, _Chat(chat["messages"], item.line, pointer, known, title))


def _name(chat: object) -> str:
    return text(chat, "name") or _UNNAMED.get(text(chat, "type"), "")


def _turns(path: str, chat: _Chat) -> Iterator[Record]:
    for i, value in in_time(chat.messages, _moment):
        pointer = f"{chat.pointer}/messages/{i}"
        if reason := misfit(value, "text", str, list):
            yield FormatError(reason, line=chat.line, pointer=pointer)
            continue
        said, caption = _plain(value.get("text")).strip(), _caption(value)
        if value.get("type") == "service" and not said:
            continue
        if not said and not caption:
            yield FormatError("a message without text", line=chat.line, pointer=pointer, kind="no_text")
            continue
        yield Turn(
            text=said,
            speaker=text(value, "from", "actor") or string(value, "from_id", "actor_id"),
            time=_time(value),
            caption=caption,
            path=path,
            line=chat.line,
            pointer=pointer,
            conversation=chat.name,
            turn=string(value, "id"),
            title=chat.title,
        )


def _moment(value: object) -> float | None:
    """When a message was sent, in seconds, for comparison within one chat only."""
    sent = number(value, "date_unixtime")
    if sent is not None:
        return sent
    digits = "".join(filter(str.isdecimal, to_iso(text(value, "date"))))
    return float(digits) if digits else None


def _time(value: dict[str, Any]) -> str:
    """The local time of the person who exported, with the offset that the epoch beside it tells."""
    sent, written = number(value, "date_unixtime"), text(value, "date")
    if sent is None:
        return to_iso(written)
    try:
        local = datetime.fromisoformat(written)
        ahead = (
            local.replace(tzinfo=timezone.utc) - datetime.fromtimestamp(sent, timezone.utc)
        ).total_seconds()
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
    if value.get("type") == "service":
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


FORMAT = Format(
    name="telegram",
    description="Telegram Desktop's result.json: one chat, or a whole account",
    extensions=(".json",),
    detect=detect,
    read=read,
    how="Telegram Desktop: a chat's menu, Export chat history (or Settings, Advanced, Export); format JSON",
)
