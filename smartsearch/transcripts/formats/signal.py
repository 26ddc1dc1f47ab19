"""Signal's own plain text export: `main.jsonl`, a frame of the backup a line.

Structure as in signalapp/Signal-Desktop, protos/Backups.proto, written as JSON; read so too by
Cosmo697/signal-export-browser, build_signal_db.py. Frames name people and chats before the messages that
refer to them by number. Messages of all chats come in one stream and are put back chat by chat.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import filled, kind, mapping, number, objects, string, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.mentions import Mentions
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_FRAMES = {
    *("account", "recipient", "chat", "chatItem", "stickerPack", "adHocCall"),
    *("notificationProfile", "chatFolder"),
}
# What a chat item may hold that nobody said: who joined or called, and messages taken back.
_NOTICES = ("updateMessage", "remoteDeletedMessage", "giftBadge")
_MENTION = "\ufffc"


def detect(source: Source) -> bool:
    """Whether frames of a Signal backup stand at the top."""
    return any(_is_frame(value) for value in source.head())


def _is_frame(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if "backupTimeMs" in value and "version" in value:
        return True
    told = mapping(value, "recipient"), mapping(value, "chatItem"), mapping(value, "account")
    return ("id" in told[0] and len(told[0]) > 1) or "authorId" in told[1] or "givenName" in told[2]


@dataclass
class _Known:
    """What the frames told so far, by number: people, what their mentions say, and who each chat is with."""

    people: dict[str, str] = field(default_factory=dict)
    mentions: Mentions = field(default_factory=Mentions)
    chats: dict[str, str] = field(default_factory=dict)


def read(source: Source) -> Iterator[Record]:
    """Turns of one chat after the other, in the order Signal shows them; calls and notices are left out."""
    known = _Known()
    chats: dict[str, list[Item]] = {}
    for item in source.items():
        frame = item.value
        if chat_item := mapping(frame, "chatItem"):
            chats.setdefault(string(chat_item, "chatId"), []).append(item)
        elif reason := _misfit(frame):
            yield FormatError(reason, line=item.line, pointer=item.pointer)
        else:
            _learn(frame, known)
    names = {chat: known.people.get(known.chats.get(chat, ""), "") for chat in chats}
    often = Counter(names.values())
    for chat, items in chats.items():
        name = names[chat]
        own = bool(name) and often[name] == 1
        where = (name if own else chat or source.stem, "" if own else name)
        for item in items:
            yield from _turn(source.path, item, known, where)


def _misfit(frame: object) -> str:
    if not isinstance(frame, dict):
        return f"{kind(frame)} in the place of a frame"
    wrong = [key for key in frame if key in _FRAMES and not isinstance(frame[key], dict)]
    return f"`{wrong[0]}` is {kind(frame[wrong[0]])}, not an object" if wrong else ""


def _learn(frame: dict[str, Any], known: _Known) -> None:
    account, recipient, chat = (mapping(frame, key) for key in ("account", "recipient", "chat"))
    if account:
        known.people["self"] = _full(account, "givenName", "familyName")
    elif recipient:
        number = string(recipient, "id")
        known.people[number] = _called(recipient, known)
        if mention := text(mapping(recipient, "contact"), "aci"):
            known.mentions[mention] = known.people[number]
    elif chat:
        known.chats[string(chat, "id")] = string(chat, "recipientId")


def _called(recipient: dict[str, Any], known: _Known) -> str:
    """A recipient's name: as the exporting person wrote it, else its own, else its number."""
    contact = mapping(recipient, "contact")
    if contact:
        return (
            _full(mapping(contact, "nickname"), "given", "family")
            or _full(contact, "systemGivenName", "systemFamilyName")
            or _full(contact, "profileGivenName", "profileFamilyName")
            or text(contact, "username")
            or (f"+{phone}" if (phone := string(contact, "e164").lstrip("+")) else "")
        )
    if "self" in recipient:
        return known.people.get("self") or "Me"
    if "releaseNotes" in recipient:
        return "Signal"
    return text(mapping(recipient, "group", "snapshot", "title"), "title") or text(
        mapping(recipient, "distributionList", "distributionList"), "name"
    )


def _full(value: dict[str, Any], *keys: str) -> str:
    return " ".join(filter(None, (text(value, key).strip() for key in keys)))


def _turn(path: str, item: Item, known: _Known, where: tuple[str, str]) -> Iterator[Record]:
    value = mapping(item.value, "chatItem")
    if any(key in value for key in _NOTICES):
        return
    said, caption = _said(value, known)
    if not said and not caption:
        yield FormatError("a message without text", line=item.line, pointer=item.pointer, kind="no_text")
        return
    sent = number(value, "dateSent")
    author = string(value, "authorId")
    yield Turn(
        text=said,
        speaker=known.people.get(author) or author,
        time=to_iso(sent),
        caption=caption,
        path=path,
        line=item.line,
        pointer=item.pointer,
        conversation=where[0],
        turn=string(value, "dateSent"),
        title=where[1],
    )


def _said(value: dict[str, Any], known: _Known) -> tuple[str, str]:
    standard = mapping(value, "standardMessage")
    body = mapping(standard, "text") or mapping(value, "directStoryReplyMessage", "textReply", "text")
    said = _mentioned(body, known) or text(mapping(value, "directStoryReplyMessage"), "emoji")
    captions = [_file(found) for found in objects(standard, "attachments")]
    captions += [bracketed("link", text(found, "title")) for found in objects(standard, "linkPreview")]
    if "viewOnceMessage" in value:
        captions.append(_file(mapping(value, "viewOnceMessage", "attachment")))
    if "stickerMessage" in value:
        captions.append(bracketed("sticker", text(mapping(value, "stickerMessage", "sticker"), "emoji")))
    if contact := mapping(value, "contactMessage", "contact"):
        captions.append(bracketed("contact", _full(mapping(contact, "name"), "givenName", "familyName")))
    if poll := mapping(value, "poll"):
        options = " / ".join(filter(None, (text(found, "option") for found in objects(poll, "options"))))
        captions.append(bracketed("poll", text(poll, "question"), options))
    if paid := mapping(value, "paymentNotification"):
        captions.append(bracketed("payment", string(paid, "amountMob"), text(paid, "note")))
    return said.strip(), joined(captions)


def _mentioned(body: dict[str, Any], known: _Known) -> str:
    """The text, with names where Signal keeps a sign and a number."""
    said = text(body, "body")
    if _MENTION not in said:
        return said
    ranges = [found for found in objects(body, "bodyRanges") if text(found, "mentionAci")]
    ranges.sort(key=lambda found: number(found, "start") or 0)
    names = (known.mentions.name(text(found, "mentionAci")) or "someone" for found in ranges)
    return filled(said, _MENTION, (f"@{name}" for name in names))


def _file(found: dict[str, Any]) -> str:
    pointer = mapping(found, "pointer")
    named = attachment(text(pointer, "fileName"), text(pointer, "contentType"))
    return joined([named, text(pointer, "caption")])


FORMAT = Format(
    name="signal",
    description="Signal's own export of chats: main.jsonl",
    extensions=(".jsonl", ".json"),
    detect=detect,
    read=read,
    how="Signal: Settings, Chats, Export chat history; main.jsonl lies in the folder it makes",
)
