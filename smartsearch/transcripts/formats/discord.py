"""A channel as DiscordChatExporter writes it to JSON: `guild`, `channel` and `messages`.

Structure as in Tyrrrz/DiscordChatExporter, DiscordChatExporter.Core/Exporting/JsonMessageWriter.cs. Notices
that people joined, called or pinned something are left out; what a message replies to is not repeated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import instant, to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import (
    Mentions,
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
from smartsearch.transcripts.source import Source

# MessageKind.cs; kinds it does not name are written as their numbers in Discord's documentation.
_NOTICES = {
    *("RecipientAdd", "RecipientRemove", "Call", "ChannelNameChange", "ChannelIconChange"),
    *("ChannelPinnedMessage", "GuildMemberJoin", "ThreadCreated"),
    *map(str, range(6, 19)),
}
_EPOCH = 1420070400
"""The first second of 2015, since 1970."""
_MENTION = re.compile(r"<@!?(\d+)>")
_EMOJI = re.compile(r"<a?(:\w+:)\d+>")


def claims(value: object) -> bool:
    """Whether a value is a guild's channel with messages."""
    whole = mapping(value, "guild") and mapping(value, "channel")
    return bool(whole) and isinstance(mapping(value).get("messages"), list)


def read(source: Source) -> Iterator[Record]:
    """Turns of the channel, earliest first."""
    for item in source.items():
        if claims(item.value):
            yield from _channel(source, item)
        else:
            yield item.fault("no `guild`, `channel` and `messages` here")


def _channel(source: Source, item: Item) -> Iterator[Record]:
    channel = mapping(item.value, "channel")
    name = text(channel, "name") or string(channel, "id") or source.stem
    guild = text(mapping(item.value, "guild"), "name")
    title = f"{guild} / {name}" if guild and guild != "Direct Messages" else ""
    for message in in_time(item.elements("messages"), _sent):
        if reason := misfit(message.value, "content"):
            yield message.fault(reason)
        elif string(message.value, "type") not in _NOTICES:
            try:
                yield _turn(source.path, message, name, title)
            except FormatError as error:  # its mentions
                yield message.fault(str(error), error.kind)


def _sent(value: object) -> float | None:
    """When a message was sent: by its time, else by its id, which counts milliseconds since 2015."""
    sent, snowflake = instant(string(value, "timestamp")), number(value, "id")
    return _EPOCH + snowflake / 2**22 / 1000 if sent is None and snowflake is not None else sent


def _turn(path: str, item: Item, name: str, title: str) -> Record:
    value = item.value
    said, caption = _said(value)
    if inner := mapping(value, "forwardedMessage"):
        forwarded, more = _said(inner)
        if forwarded or more:
            said, caption = "\n".join(filter(None, (said, forwarded))), joined((caption, "[forwarded]", more))
    author = mapping(value, "author")
    return turn(
        path,
        item,
        text=said,
        speaker=text(author, "nickname", "name") or string(author, "id"),
        time=to_iso(value.get("timestamp")),
        caption=caption,
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
