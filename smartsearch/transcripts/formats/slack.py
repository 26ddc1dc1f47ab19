"""A Slack export: a folder or an archive with a folder a channel, which holds an array of messages a day.

Structure as in Slack's help ("How to read Slack data exports") and hfaran/slack-export-viewer,
slackviewer/reader.py. A day is read by itself; names come from the lists at the top of the export, where
there are any. A session is a thread, by the `ts` of the message that opened it, or else the day: the
message that opened a thread is in it, so that question and answers belong together. The order is the
file's.

A channel may also be one file: an answer of Slack's API with `messages` (as in chaoss/grimoirelab-perceval,
tests/data/slack), slackdump's dump of a channel, with replies in the messages, or its chunks, a call of the
API a line (rusq/slackdump, types/types.go, internal/chunk/chunk.go). These are read earliest first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, TypeVar

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed, joined
from smartsearch.transcripts.formats.fields import (
    Mentions,
    in_time,
    mapping,
    misfit,
    objects,
    sequence,
    string,
    text,
)
from smartsearch.transcripts.formats.jsontext import Documents, Item, documents
from smartsearch.transcripts.formats.neighbours import made_beside
from smartsearch.transcripts.formats.slack_text import Names, attached, blocks, plain, shared
from smartsearch.transcripts.source import Source

T = TypeVar("T")
_TS = re.compile(r"\d{9,10}\.\d{6}")
_PEOPLE = ("../users.json", "../org_users.json")
_ROOM = ("name", "channel_id", "channel", "id")
"""Where a dump, an answer or a chunk says which channel it is of."""
_CHUNKS = ("m", "u", "ch", "ci", "cu", "f", "w", "sm", "sf", "b", "st")
_CHANNELS = ("../channels.json", "../groups.json", "../dms.json", "../mpims.json")
_PEOPLES_BESIDE, _CHANNELS_BESIDE = ("users.json", "users.json.gz"), ("channels.json", "channels.json.gz")
"""Where the lists lie of a channel that is one file."""
# Slack's documentation of message subtypes: what is no message that somebody wrote.
_NOTICES = {
    *(f"{kind}_{what}" for kind in ("channel", "group") for what in ("join", "leave", "topic", "purpose")),
    *(f"{kind}_{what}" for kind in ("channel", "group") for what in ("name", "archive", "unarchive")),
    *("channel_convert_to_private", "channel_convert_to_public", "channel_posting_permissions"),
    *("channel_canvas_updated", "tabbed_canvas_updated"),
    *("bot_add", "bot_remove", "bot_enable", "bot_disable"),
    *("pinned_item", "unpinned_item", "joiner_notification", "joiner_notification_for_inviter"),
    *("app_conversation_join", "app_conversation_leave", "reminder_add", "reminder_delete"),
    *("huddle_thread", "sh_room_created", "sh_room_shared"),
    *("message_deleted", "tombstone", "ekm_access_denied"),
}


def claims(value: object) -> bool:
    """Whether a value is a message with Slack's time, or something of Slack's that holds such messages."""
    return _is_message(value) or _is_chunk(value) or any(map(_is_message, objects(value, "messages")[:5]))


def _is_chunk(value: object) -> bool:
    """Whether a value is a line of slackdump's: `t` says what was asked for, `ts` when, in nanoseconds."""
    known = isinstance(value, dict) and all(type(value.get(key)) is int for key in ("t", "ts"))
    return known and any(isinstance(mapping(value).get(key), list | dict) for key in _CHUNKS)


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or not _TS.fullmatch(text(value, "ts")):
        return False
    return value.get("type") == "message" or ("text" in value and ("user" in value or "bot_id" in value))


def read(source: Source) -> Iterator[Record]:
    """Turns of a day in the order of the file; joins, leaves and other notices are left out."""
    items = list(source.items())
    held = any(_messages_of(item) is not None for item in items[:20])
    people = _beside(source, _PEOPLES_BESIDE if held else _PEOPLE, _named)
    rooms = _beside(source, _CHANNELS_BESIDE if held else _CHANNELS, _listed)
    users, places = {}, _Rooms()
    for item in items:
        users.update(_users(objects(item.value, "u")))
        places.add([*objects(item.value, "ch"), mapping(item.value, "ci")])
    rooms = [places, *rooms]
    channels = Mentions(*(one.names for one in rooms))
    names = Names(Mentions(users, *people), channels)
    own = source.stem if held else source.folder or source.stem
    titles: dict[str, str] = {}
    for room, item in _messages(items):
        conversation = channels.get(room) or room or own
        if conversation not in titles:
            titles[conversation] = _title(conversation, rooms, names)
        yield from _turn(source, item, conversation, titles[conversation], names)


def _messages(items: Iterable[Item]) -> Iterator[tuple[str, Item]]:
    """Each message with the id or the name of its channel, "" where its file does not say."""
    held: dict[str, dict[str, Item]] = {}
    for item in items:
        found = _messages_of(item)
        if found is None:
            yield "", item
            continue
        kept = held.setdefault(string(item.value, *_ROOM), {})
        for one in found:  # a message that opens a thread comes with its replies a second time
            kept.setdefault(string(one.value, "ts") or one.pointer + str(one.line), one)
    for room, kept in held.items():
        yield from ((room, one) for one in in_time(kept.values(), _when))


def _when(value: object) -> float | None:
    sent = text(value, "ts")
    return float(sent) if _TS.fullmatch(sent) else None


def _messages_of(item: Item) -> Iterator[Item] | None:
    """The messages that a value holds, None of one that holds none."""
    if _is_chunk(item.value):
        return chain(item.elements("m"), item.elements("sm"))
    return _with_replies(item) if isinstance(mapping(item.value).get("messages"), list) else None


def _with_replies(item: Item) -> Iterator[Item]:
    for message in item.elements("messages"):
        yield message
        yield from message.elements("slackdump_thread_replies")


def _turn(source: Source, item: Item, conversation: str, title: str, names: Names) -> Iterator[Record]:
    value = item.value
    if reason := misfit(value, "text"):
        yield item.fault(reason)
        return
    if text(value, "subtype") in _NOTICES:
        return
    try:
        said, caption = _said(value, names)
    except FormatError as error:  # its mentions
        yield item.fault(str(error), error.kind)
        return
    time = to_iso(text(value, "ts"))
    yield turn(
        source.path,
        item,
        text=said,
        speaker=_speaker(value, names),
        time=time,
        caption=caption,
        conversation=conversation,
        session=text(value, "thread_ts") or _day(source, time),
        turn=text(value, "ts"),
        title=title,
    )


def _day(source: Source, time: str) -> str:
    """The day as Slack cut it, which is in the name of the file; else the day of the message."""
    return source.stem if to_iso(source.stem) == source.stem and source.stem else time[:10]


def _said(value: dict[str, Any], names: Names) -> tuple[str, str]:
    """The text of a message and its caption. What is attached is the text where there is no other."""
    said = plain(text(value, "text"), names) or blocks(value, names)
    if value.get("subtype") == "file_comment":
        said = plain(text(mapping(value, "comment"), "comment"), names) or said
    found = list(attached(value, names))
    if not said and found:
        return "\n".join(found), joined(shared(value))
    return said, joined([*shared(value), *(bracketed("attached", one) for one in found)])


def _speaker(value: dict[str, Any], names: Names) -> str:
    """The name people see: a bot's own, the member's, the one the message carries, or the id."""
    own = text(value, "username")
    if own and value.get("subtype") == "bot_message":
        return own
    user = text(value, "user") or text(mapping(value, "comment"), "user")
    carried = text(mapping(value, "user_profile"), "display_name", "real_name", "name")
    bot = text(mapping(value, "bot_profile"), "name")
    return names.people.get(user) or carried or own or bot or user or text(value, "bot_id")


class _Rooms:
    """Channels and direct messages: their names and their members by id, and the ids of groups by name."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.members: dict[str, tuple[str, ...]] = {}
        self.groups: dict[str, str] = {}

    def add(self, listed: Iterable[dict[str, Any]]) -> None:
        """Take up what a list says of each."""
        for room in filter(None, listed):
            own, name = string(room, "id"), text(room, "name")
            self.names[own] = name
            self.members[own] = tuple(m for m in sequence(room, "members") if isinstance(m, str))
            if name.startswith("mpdm-"):
                self.groups.setdefault(name, own)


def _title(folder: str, listed: Sequence[_Rooms], names: Names) -> str:
    """What a channel is called whose folder has another name: direct messages are named by their members."""
    for own in (folder, next((one.groups[folder] for one in reversed(listed) if folder in one.groups), None)):
        for rooms in listed if own is not None else ():
            if own in rooms.names:
                name = rooms.names[own]
                return name if name and name != folder else ", ".join(map(names.person, rooms.members[own]))
    return ""


def _beside(source: Source, files: Iterable[str], make: Callable[[str], T]) -> list[T]:
    """What the lists beside a transcript say, the last of them first."""
    made = (made_beside(source, name, make) for name in files)
    return [one for one in made if one is not None][::-1]


def _named(written: str) -> dict[str, str]:
    return _users(_entries(written))


def _users(listed: Iterable[dict[str, Any]]) -> dict[str, str]:
    """The names of members by id: as they want to be seen, else their real name, else their handle."""
    named = {}
    for user in listed:
        profile = mapping(user, "profile")
        named[string(user, "id")] = (
            text(profile, "display_name", "real_name")
            or text(user, "real_name", "name")
            or string(user, "id")
        )
    return named


def _listed(written: str) -> _Rooms:
    rooms = _Rooms()
    rooms.add(_entries(written))
    return rooms


def _entries(written: str) -> list[dict[str, Any]]:
    """The objects of a list that is not the file being read: a broken one costs names and no message."""
    try:
        found: Documents = documents(written, ".json")
    except FormatError:
        return []
    keys = ("all", "members", "channels", "u", "ch")  # a list, answers of the API, slackdump's chunks
    held = [{"all": item.value, **mapping(item.value)} for item in found.items]
    return [one for value in held for key in keys for one in objects(value, key)]
