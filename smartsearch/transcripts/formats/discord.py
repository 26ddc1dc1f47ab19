"""A channel as DiscordChatExporter writes it to JSON: `guild`, `channel` and `messages`.

Structure as in Tyrrrz/DiscordChatExporter, DiscordChatExporter.Core/Exporting/JsonMessageWriter.cs. Notices
that people joined, called or pinned something are left out; what a message replies to is not repeated.
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
    mapping,
    misfit,
    number,
    objects,
    sequence,
    string,
    text,
)
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.mentions import Mentions
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

# MessageKind.cs; kinds it does not name are written as their numbers in Discord's documentation.
_NOTICES = {
    *("RecipientAdd", "RecipientRemove", "Call", "ChannelNameChange", "ChannelIconChange"),
    *("ChannelPinnedMessage", "GuildMemberJoin", "ThreadCreated"),
    *map(str, range(6, 19)),
}
_MENTION = re.compile(r"<@!?(\d+)>")
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")


def detect(source: Source) -> bool:
    """Whether a guild's channel with messages stands at the top."""
    return any(_is_channel(value) for value in source.head())


def _is_channel(value: object) -> bool:
    return bool(mapping(value, "guild") and mapping(value, "channel")) and isinstance(
        value.get("messages") if isinstance(value, dict) else None, list
    )


def read(source: Source) -> Iterator[Record]:
    """Turns of the channel, earliest first."""
    for item in source.items():
        if not _is_channel(item.value):
            reason = "no `guild`, `channel` and `messages` here"
            yield FormatError(reason, line=item.line, pointer=item.pointer)
            continue
        yield from _channel(source, item)


def _channel(source: Source, item: Item) -> Iterator[Record]:
    channel = mapping(item.value, "channel")
    name = text(channel, "name") or string(channel, "id") or source.stem
    guild = text(mapping(item.value, "guild"), "name")
    title = f"{guild} / {name}" if guild and guild != "Direct Messages" else ""
    # Ids are snowflakes: they count the milliseconds since 2015 in their upper bits.
    for i, value in in_time(item.value["messages"], lambda message: number(message, "id")):
        pointer = f"{item.pointer}/messages/{i}"
        if reason := misfit(value, "content"):
            yield FormatError(reason, line=item.line, pointer=pointer)
        elif string(value, "type") not in _NOTICES:
            try:
                yield _turn(source.path, item.line, pointer, value, name, title)
            except FormatError as error:  # its mentions
                yield FormatError(str(error), line=item.line, pointer=pointer, kind=error.kind)


def _turn(path: str, line: int, pointer: str, value: dict[str, Any], name: str, title: str) -> Record:
    said, caption = _said(value)
    forwarded, more = _said(mapping(value, "forwardedMessage"))
    if forwarded or more:
        said, caption = "\n".join(filter(None, (said, forwarded))), joined((caption, "[forwarded]", more))
    if not said and not caption:
        return FormatError("a message without text", line=line, pointer=pointer, kind="no_text")
    author = mapping(value, "author")
    return Turn(
        text=said,
        speaker=text(author, "nickname", "name") or string(author, "id"),
        time=to_iso(value.get("timestamp")),
        caption=caption,
        path=path,
        line=line,
        pointer=pointer,
        conversation=name,
        turn=string(value, "id"),
        title=title,
    )


def _said(value: dict[str, Any]) -> tuple[str, str]:
    """The text of a message and its caption: attachments, stickers, and what its embeds say."""
    captions = [attachment(text(found, "fileName")) for found in objects(value, "attachments")]
    captions += [bracketed("sticker", text(found, "name")) for found in objects(value, "stickers")]
    captions += [_embed(found) for found in objects(value, "embeds")]
    return _plain(text(value, "content").strip(), value), joined(captions)


def _plain(said: str, value: dict[str, Any]) -> str:
    """Names for the ids of people and emoji, which stand in exports made with `--markdown false`."""
    if "<" not in said:
        return said
    people = Mentions(
        {string(who, "id"): text(who, "nickname", "name") for who in objects(value, "mentions")}
    )
    said = _MENTION.sub(lambda found: f"@{people.name(found[1]) or found[1]}", said)
    return _EMOJI.sub(r"\1", said)


def _embed(value: dict[str, Any]) -> str:
    parts = [text(value, "title"), text(value, "description")]
    for field in objects(value, "fields"):
        parts += [text(field, "name"), text(field, "value")]
    images = "image" if sequence(value, "images") or mapping(value, "image") else ""
    said = " ".join(filter(None, parts))
    return bracketed("embed", said) if said else bracketed(images) if images else ""


FORMAT = Format(
    name="discord",
    description="DiscordChatExporter's JSON of a channel",
    extensions=(".json",),
    detect=detect,
    read=read,
    how="DiscordChatExporter (github.com/Tyrrrz/DiscordChatExporter): export a channel with format JSON",
)
