"""A Slack export: a folder or an archive with a folder a channel, which holds an array of messages a day.

Structure as in Slack's help ("How to read Slack data exports") and hfaran/slack-export-viewer,
slackviewer/reader.py. A day is read by itself, in its order; names come from the lists at the top of the
export. A session is a thread, by the `ts` of the message that opened it, or else the day.

A channel may also be one file: an answer of Slack's API with `messages` (as in chaoss/grimoirelab-perceval,
tests/data/slack), slackdump's dump of a channel, with replies in the messages, or its chunks, a call of the
API a line (rusq/slackdump, types/types.go, internal/chunk/chunk.go). These are read earliest first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeVar

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.captions import bracketed, joined
from smartsearch.transcripts.formats.fields import Mentions, in_time, mapping, objects, sequence, string, text
from smartsearch.transcripts.formats.form import Chat, Form
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


def _channels(source: Source) -> Iterator[Chat]:
    """The channels of a file, and the names that it or the export has."""
    items = list(source.items())
    held = any(_messages_of(item) is not None for item in items[:20])
    people = _beside(source, _PEOPLES_BESIDE if held else _PEOPLE, _named)
    listed = _beside(source, _CHANNELS_BESIDE if held else _CHANNELS, _listed)
    here = [one for item in items for one in (*objects(item.value, "ch"), mapping(item.value, "ci"))]
    listed = [_rooms(here), *listed]
    users = _users(user for item in items for user in objects(item.value, "u"))
    names = Names(Mentions(users, *people), Mentions(*(rooms.names for rooms in listed)))
    own = source.stem if held else source.folder or source.stem
    day = source.stem if to_iso(source.stem) == source.stem else ""  # as Slack cut it
    for room, messages in _messages(items).items():
        name = names.channels.get(room) or room or own
        yield Chat(Item(None, 0), messages, name, _title(name, listed, names), (names, day))


def _messages(items: Iterable[Item]) -> dict[str, Sequence[Item]]:
    """The messages by the id or the name of their channel, "" where the file does not say."""
    days: list[Item] = []
    held: dict[str, dict[str, Item]] = {}
    for item in items:
        found = _messages_of(item)
        if found is None:
            days.append(item)
            continue
        kept = held.setdefault(string(item.value, *_ROOM), {})
        for one in found:  # a message that opens a thread comes with its replies a second time
            kept.setdefault(string(one.value, "ts") or one.pointer + str(one.line), one)
    rooms = {room: in_time(kept.values(), _when) for room, kept in held.items()}
    return {"": days} | rooms if days else rooms


def _when(value: object) -> float | None:
    sent = text(value, "ts")
    return float(sent) if _TS.fullmatch(sent) else None


def _messages_of(item: Item) -> Iterator[Item] | None:
    """The messages that a value holds, None of one that holds none."""
    if _is_chunk(item.value):
        return chain(item.elements("m"), item.elements("sm"))
    if not isinstance(mapping(item.value).get("messages"), list):
        return None
    return (
        one
        for message in item.elements("messages")
        for one in (message, *message.elements("slackdump_thread_replies"))
    )


def _said(value: dict[str, Any], about: tuple[Names, str]) -> tuple[str, str]:
    """The text of a message and its caption. What is attached is the text where there is no other."""
    names, _ = about
    said = plain(text(value, "text"), names) or blocks(value, names)
    if value.get("subtype") == "file_comment":
        said = plain(text(mapping(value, "comment"), "comment"), names) or said
    found = list(attached(value, names))
    if not said and found:
        return "\n".join(found), joined(shared(value))
    return said, joined([*shared(value), *(bracketed("attached", one) for one in found)])


def _speaker(value: dict[str, Any], about: tuple[Names, str]) -> str:
    """The name people see: a bot's own, the member's, the one the message carries, or the id."""
    own = text(value, "username")
    if own and value.get("subtype") == "bot_message":
        return own
    user = text(value, "user") or text(mapping(value, "comment"), "user")
    carried = text(mapping(value, "user_profile"), "display_name", "real_name", "name")
    bot = text(mapping(value, "bot_profile"), "name")
    return about[0].people.get(user) or carried or own or bot or user or text(value, "bot_id")


class _Rooms(NamedTuple):
    """Channels and direct messages: their names by id, their members by id and those of groups by name."""

    names: dict[str, str]
    members: dict[str, tuple[str, ...]]


def _rooms(listed: Iterable[dict[str, Any]]) -> _Rooms:
    rooms = _Rooms({}, {})
    for room in filter(None, listed):
        own, name = string(room, "id"), text(room, "name")
        rooms.names[own] = name
        rooms.members[own] = tuple(one for one in sequence(room, "members") if isinstance(one, str))
        if name.startswith("mpdm-"):
            rooms.members.setdefault(name, rooms.members[own])
    return rooms


def _title(folder: str, listed: Sequence[_Rooms], names: Names) -> str:
    """What a channel is called whose folder has another name: direct messages are named by their members."""
    for rooms in listed:
        if folder in rooms.members:
            return rooms.names.get(folder) or ", ".join(map(names.person, rooms.members[folder]))
    return ""


def _beside(source: Source, files: Iterable[str], make: Callable[[str], T]) -> list[T]:
    """What the lists beside a transcript say, the last of them first."""
    made = (made_beside(source, name, make) for name in files)
    return [one for one in made if one is not None][::-1]


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


def _named(written: str) -> dict[str, str]:
    return _users(_entries(written))


def _listed(written: str) -> _Rooms:
    return _rooms(_entries(written))


def _entries(written: str) -> list[dict[str, Any]]:
    """The objects of a list that is not the file being read: a broken one costs names and no message."""
    try:
        found: Documents = documents(written, ".json")
    except FormatError:
        return []
    keys = ("all", "members", "channels", "u", "ch")  # a list, answers of the API, slackdump's chunks
    held = [{"all": item.value, **mapping(item.value)} for item in found.items]
    return [one for value in held for key in keys for one in objects(value, key)]


_FORM = Form(
    items=_channels,
    says="text",
    text=_said,
    speaker=_speaker,
    time=lambda value, _: to_iso(text(value, "ts")),
    turn=lambda value, _: text(value, "ts"),
    session=lambda value, about: text(value, "thread_ts") or about[1] or to_iso(text(value, "ts"))[:10],
    skip=lambda value, _: text(value, "subtype") in _NOTICES,
)
read = _FORM.read
