"""A Slack export: a folder or an archive with a folder a channel, which holds an array of messages a day.

Structure as in Slack's help ("How to read Slack data exports") and hfaran/slack-export-viewer,
slackviewer/reader.py. A day is read by itself; names come from the lists at the top of the export, where
there are any. A session is a thread, by the `ts` of the message that opened it, or else the day: the message
that opened a thread is in it, so that question and answers belong together. The order is the file's.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.captions import bracketed, joined
from smartsearch.transcripts.formats.fields import mapping, misfit, objects, sequence, string, text
from smartsearch.transcripts.formats.jsontext import Documents, documents
from smartsearch.transcripts.formats.mentions import Mentions
from smartsearch.transcripts.formats.slack_text import Names, attached, blocks, plain, shared
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_TS = re.compile(r"\d{9,10}\.\d{6}")
_ID = re.compile(r"[A-Z][A-Z0-9]{5,}")
_PEOPLE = ("users.json", "org_users.json")
_CHANNELS = ("channels.json", "groups.json", "dms.json", "mpims.json")
_LISTS = (
    *_PEOPLE,
    *_CHANNELS,
    *("integration_logs.json", "canvases.json", "lists.json", "content_flags.json"),
    *("file_conversations.json", "huddle_transcripts.json", "canvas_in_the_conversation.json"),
)
# Slack's documentation of message subtypes: what is no message that somebody wrote.
_NOTICES = {
    *(f"{kind}_{what}" for kind in ("channel", "group") for what in ("join", "leave", "topic", "purpose")),
    *(f"{kind}_{what}" for kind in ("channel", "group") for what in ("name", "archive", "unarchive")),
    *("channel_convert_to_private", "channel_convert_to_public", "channel_posting_permissions"),
    *(
        "channel_canvas_updated",
        "tabbed_canvas_updated",
        "bot_add",
        "bot_remove",
        "bot_enable",
        "bot_disable",
    ),
    *("pinned_item", "unpinned_item", "joiner_notification", "joiner_notification_for_inviter"),
    *("app_conversation_join", "app_conversation_leave", "reminder_add", "reminder_delete"),
    *(
        "huddle_thread",
        "sh_room_created",
        "sh_room_shared",
        "message_deleted",
        "tombstone",
        "ekm_access_denied",
    ),
}


def detect(source: Source) -> bool:
    """Whether messages with Slack's times stand at the top."""
    return any(_is_message(value) for value in source.head())


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or not _TS.fullmatch(text(value, "ts")):
        return False
    return value.get("type") == "message" or ("text" in value and ("user" in value or "bot_id" in value))


def read(source: Source) -> Iterator[Record]:
    """Turns of a day in the order of the file; joins, leaves and other notices are left out."""
    people, channels = _people(source), _channels(source)
    rooms = {known: name for known, (name, _) in channels.items() if name}
    names = Names(people, Mentions(rooms))
    folder = "" if source.path == "-" else Path(source.path).absolute().parent.name
    conversation = folder or source.stem
    title = _title(conversation, channels, names)
    for item in source.items():
        value = item.value
        if reason := misfit(value, "text"):
            yield FormatError(reason, line=item.line, pointer=item.pointer)
            continue
        if text(value, "subtype") in _NOTICES:
            continue
        try:
            said, caption = _said(value, names)
        except FormatError as error:  # its mentions
            yield FormatError(str(error), line=item.line, pointer=item.pointer, kind=error.kind)
            continue
        if not said and not caption:
            yield FormatError("a message without text", line=item.line, pointer=item.pointer, kind="no_text")
            continue
        time = to_iso(text(value, "ts"))
        yield Turn(
            text=said,
            speaker=_speaker(value, names),
            time=time,
            caption=caption,
            path=source.path,
            line=item.line,
            pointer=item.pointer,
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


def _title(folder: str, channels: dict[str, tuple[str, tuple[str, ...]]], names: Names) -> str:
    """What a channel is called whose folder has another name: direct messages are named by their members."""
    known = channels.get(folder)
    if known is None:
        known = next(
            (one for one in channels.values() if one[0] == folder and folder.startswith("mpdm-")), None
        )
    if known is None:
        return ""
    name, members = known
    if name and name != folder:
        return name
    return ", ".join(map(names.person, members)) if members else ""


def _people(source: Source) -> Mentions:
    found = Mentions()
    for name in _PEOPLE:
        if beside := source.beside(f"../{name}"):
            found |= _names(beside)
    return found


def _channels(source: Source) -> dict[str, tuple[str, tuple[str, ...]]]:
    found: dict[str, tuple[str, tuple[str, ...]]] = {}
    for name in _CHANNELS:
        if beside := source.beside(f"../{name}"):
            found |= _rooms(beside)
    return found


@lru_cache(maxsize=4)
def _names(written: str) -> dict[str, str]:
    """The names of members by id: as they want to be seen, else their real name, else their handle."""
    named = {}
    for user in _entries(written):
        profile = mapping(user, "profile")
        named[string(user, "id")] = (
            text(profile, "display_name", "real_name")
            or text(user, "real_name", "name")
            or string(user, "id")
        )
    return named


@lru_cache(maxsize=8)
def _rooms(written: str) -> dict[str, tuple[str, tuple[str, ...]]]:
    """The name and the members of channels and direct messages, by id."""
    return {
        string(room, "id"): (
            text(room, "name"),
            tuple(m for m in sequence(room, "members") if isinstance(m, str)),
        )
        for room in _entries(written)
    }


def _entries(written: str) -> list[dict[str, Any]]:
    """The objects of a list that is not the file being read: a broken one costs names and no message."""
    try:
        found: Documents = documents(written, ".json")
    except FormatError:
        return []
    return [one for item in found.items for one in objects({"all": item.value}, "all")]


def _is_list(source: Source) -> bool:
    """Whether a file is one of the lists at the top of an export, by its name and its ids."""
    name = Path(plain_name(source.path)).name
    if name not in _LISTS:
        return False
    return any(_ID.fullmatch(string(value, "id", "user_id", "bot_id")) for value in source.head())


def _nothing(source: Source) -> Iterator[Record]:
    """No turns: lists are read through the messages beside them."""
    del source
    return iter(())


FORMAT = Format(
    name="slack",
    description="a Slack export: a folder or .zip of channels, a file a day",
    extensions=(".json",),
    detect=detect,
    read=read,
    how="Slack: workspace settings, Import/Export Data, Export; search the .zip itself or its folder",
    alone=False,
    sparse=True,  # a day of nothing but joins
)
LISTS = Format(
    name="slack-lists",
    description="users.json and other lists of a Slack export, for names",
    extensions=(".json",),
    detect=_is_list,
    read=_nothing,
    how="comes with a Slack export",
    silent=True,
)
