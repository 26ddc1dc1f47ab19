"""Facebook Messenger and Instagram chats: `message_1.json` with `participants` and `messages`.

Structure of the download as in kenn-io/msgvault issue 280 and bepaald/signalbackup-tools issue 331. Encrypted
chats come apart from it, in a structure of their own (camel case), as in adurivault/FBMessage pull request 5.
The first writes each byte of UTF-8 as a character, which is mended here; both come latest first.
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
    in_time,
    last_part,
    mapping,
    misfit,
    number,
    objects,
    sequence,
    text,
)
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_BYTES = re.compile("[\x80-\xff]+")
_NUMBERED = re.compile(r"_\d+$")
_NOTICES = {"Subscribe", "Unsubscribe", "Call"}
_FILES = {"photos": "image", "videos": "video", "audio_files": "audio", "gifs": "image", "files": ""}


def detect(source: Source) -> bool:
    """Whether a thread with participants and messages stands at the top."""
    return any(_is_plain(value) or _is_encrypted(value) for value in source.head())


def _is_plain(value: object) -> bool:
    """Whether a value is a thread of the ordinary download."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    sent = objects(value, "messages")[:5]
    return any("timestamp_ms" in found and ("sender_name" in found or "content" in found) for found in sent)


def _is_encrypted(value: object) -> bool:
    """Whether a value is a thread from the encrypted storage."""
    if not isinstance(value, dict) or not isinstance(value.get("messages"), list):
        return False
    return "threadName" in value and any("senderName" in found for found in objects(value, "messages")[:5])


def read(source: Source) -> Iterator[Record]:
    """Turns of the thread, earliest first; unsent messages, calls and who came and went are left out."""
    for item in source.items():
        if _is_plain(item.value):
            yield from _plain(source, item)
        elif _is_encrypted(item.value):
            yield from _encrypted(source, item)
        else:
            yield FormatError("no thread with `messages` here", line=item.line, pointer=item.pointer)


def mended(said: str) -> str:
    """Text whose UTF-8 bytes were each written as a character; what is no such text stays as it is."""
    return said if said.isascii() else _BYTES.sub(_decoded, said)


def _decoded(found: re.Match[str]) -> str:
    try:
        return found[0].encode("latin-1").decode()
    except UnicodeDecodeError:
        return found[0]


def _plain(source: Source, item: Item) -> Iterator[Record]:
    thread = last_part(text(item.value, "thread_path"))
    name = mended(text(item.value, "title")) or thread or source.stem
    for i, value in in_time(item.value["messages"], lambda message: number(message, "timestamp_ms")):
        pointer = f"{item.pointer}/messages/{i}"
        if reason := misfit(value, "content"):
            yield FormatError(reason, line=item.line, pointer=pointer)
        elif not _is_notice(value):
            said, caption = mended(text(value, "content")).strip(), mended(_caption(value))
            speaker, time = mended(text(value, "sender_name")), value.get("timestamp_ms")
            yield _turn(source.path, item.line, pointer, name, (speaker, time, said, caption))


def _is_notice(value: dict[str, Any]) -> bool:
    return value.get("is_unsent") is True or "call_duration" in value or text(value, "type") in _NOTICES


def _caption(value: dict[str, Any]) -> str:
    captions = []
    for key, noun in _FILES.items():
        names = [last_part(text(found, "uri")) for found in objects(value, key)]
        captions += [bracketed(noun, name) if noun else attachment(name) for name in names]
    if mapping(value, "sticker"):
        captions.append("[sticker]")
    if share := mapping(value, "share"):
        captions.append(bracketed("link", text(share, "share_text"), text(share, "link")))
    return joined(captions)


def _encrypted(source: Source, item: Item) -> Iterator[Record]:
    name = _NUMBERED.sub("", text(item.value, "threadName")) or source.stem
    for i, value in in_time(item.value["messages"], lambda message: number(message, "timestamp")):
        pointer = f"{item.pointer}/messages/{i}"
        if reason := misfit(value, "text"):
            yield FormatError(reason, line=item.line, pointer=pointer)
        elif value.get("isUnsent") is not True:
            said = text(value, "text").strip()
            names = [last_part(text(found, "uri")) for found in sequence(value, "media")]
            caption = joined(map(attachment, names))
            found = (text(value, "senderName"), value.get("timestamp"), said, caption)
            yield _turn(source.path, item.line, pointer, name, found)


def _turn(path: str, line: int, pointer: str, name: str, found: tuple[str, object, str, str]) -> Record:
    speaker, time, said, caption = found
    if not said and not caption:
        return FormatError("a message without text", line=line, pointer=pointer, kind="no_text")
    return Turn(
        text=said,
        speaker=speaker,
        time=to_iso(time),
        caption=caption,
        path=path,
        line=line,
        pointer=pointer,
        conversation=name,
    )


FORMAT = Format(
    name="messenger",
    description="Facebook Messenger and Instagram: message_1.json, encrypted chats too",
    extensions=(".json",),
    detect=detect,
    read=read,
    how="Facebook or Instagram: Accounts Center, Download your information, Messages, format JSON; "
    "encrypted chats: messenger.com/secure_storage/dyi",
)
