"""Skype's export of chats and files: `messages.json`, all conversations of an account.

Structure as in siwen-r/skype-export-parser (`SkypeExport.d.ts`, `docs/skype.md`) and kcoderhtml/mini-me; what
a message with a file holds, as in an advisory on its `OriginalName` and in clients of Skype; no export of a
person's was looked at. Messages come latest first. Calls, notices, who came and went and deleted messages
are left out, and so is the quotation above a reply. Encrypted messages hold no text and are counted.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from smartsearch.text.htmltext import unescaped
from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.agent_log import without
from smartsearch.transcripts.formats.captions import attachment, bracketed
from smartsearch.transcripts.formats.fields import in_time, kind, mapping, misfit, objects, string, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_EVENTS = ("Event/", "ThreadActivity/", "Control/", "Notice", "PopCard", "EndToEndEncryption/E2EE")
_KINDS = {
    "RichText/UriObject": "image",
    "RichText/Media_Album": "album",
    "RichText/Media_AudioMsg": "audio",
    "RichText/Media_Video": "video",
    "RichText/Media_FlikMsg": "video",
    "RichText/Media_CallRecording": "call recording",
    "RichText/Media_Card": "card",
    "RichText/Media_GenericFile": "file",
    "RichText/Contacts": "contact",
    "RichText/Location": "location",
    "RichText/ScheduledCallInvite": "call invitation",
    "Poll": "poll",
}
_ACCOUNT = re.compile(r"\d{1,3}:")
_NAME = re.compile(r"<OriginalName [^<>]{0,20}v=\"(?P<name>[^\"<>]{1,300})\"")
_DETAIL = re.compile(r"(?:<c [^<>]{0,200}f=|address=|pollQuestion\":\s?)\"(?P<detail>[^\"<>]{1,300})\"")
_EDITED = re.compile(r"<e_m\b[^<>]{0,300}>(?:</e_m>)?")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")


def claims(value: object) -> bool:
    """Whether a value is an account's export."""
    return any("MessageList" in found for found in objects(value, "conversations")[:5]) and bool(
        string(value, "userId", "exportDate")
    )


def read(source: Source) -> Iterator[Record]:
    """Turns by conversation, earliest first; who exported speaks by the account's name."""
    for item in source.items():
        if not claims(item.value):
            yield item.fault("no export with `conversations` here")
            continue
        conversations = list(item.elements("conversations"))
        shared = Counter(_title(one.value) for one in conversations)
        names = _names(conversations)
        for one in conversations:
            if isinstance(one.value, dict):
                yield from _turns(source, one, names, shared)
            else:
                yield one.fault(f"{kind(one.value)} in the place of a conversation")


def _names(conversations: list[Item]) -> dict[str, str]:
    """The names of accounts: as messages give them, else as the conversation with one does."""
    found = {string(one.value, "id"): text(one.value, "displayName") for one in conversations}
    for one in conversations:
        for value in objects(one.value, "MessageList"):
            if text(value, "displayName"):
                found[string(value, "from")] = text(value, "displayName")
    return found


def _title(value: object) -> str:
    """What people call a conversation: its name, its topic, or the other's account."""
    return text(value, "displayName") or text(mapping(value, "threadProperties"), "topic") or _account(value)


def _account(value: object) -> str:
    return _ACCOUNT.sub("", string(value, "id"), count=1)


def _turns(source: Source, one: Item, names: dict[str, str], shared: Counter[str]) -> Iterator[Record]:
    name = _title(one.value)
    for message in in_time(one.elements("MessageList"), _sent):
        value = message.value
        if reason := misfit(value, "content"):
            yield message.fault(reason)
        elif not _is_event(value):
            said, caption = _said(value)
            sender = string(value, "from")
            yield turn(
                source.path,
                message,
                text=said,
                speaker=text(value, "displayName") or names.get(sender) or _ACCOUNT.sub("", sender, count=1),
                time=to_iso(value.get("originalarrivaltime")),
                caption=caption,
                conversation=_account(one.value) if shared[name] > 1 else name,
                title=name if shared[name] > 1 else "",
                turn=string(value, "id"),
            )


def _sent(value: Any) -> float | None:
    iso = to_iso(value.get("originalarrivaltime")) if isinstance(value, dict) else ""
    if not iso:
        return None
    found = datetime.fromisoformat(iso)
    return (found if found.tzinfo else found.replace(tzinfo=timezone.utc)).timestamp()


def _is_event(value: dict[str, Any]) -> bool:
    deleted = mapping(value, "properties").get("deletetime") is not None
    return text(value, "messagetype").startswith(_EVENTS) or (deleted and not text(value, "content"))


def _said(value: dict[str, Any]) -> tuple[str, str]:
    """The text and the caption of a message."""
    content = text(value, "content")
    shown = _KINDS.get(text(value, "messagetype"))
    if shown is None:
        if text(value, "messagetype") == "Text":
            return content.strip(), ""
        return _plain(without(content, ("quote",))) or _plain(content), ""
    if named := _NAME.search(content):
        return "", attachment(unescaped(named["name"]))
    detail = _DETAIL.search(content)
    return "", bracketed(shown, unescaped(detail["detail"]) if detail else "")


def _plain(content: str) -> str:
    """Text without Skype's tags; its line ends are its own."""
    return unescaped(_TAG.sub("", _EDITED.sub("", content))).replace("\r\n", "\n").strip()
