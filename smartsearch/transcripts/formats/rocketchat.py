"""Rocket.Chat: a room as it exports it to JSON, and the messages that its API answers with.

Structure as in RocketChat/Rocket.Chat, apps/meteor/server/lib/dataExport/exportRoomMessagesToFile.ts, and
in the answers in chaoss/grimoirelab-perceval, tests/data/rocketchat. Notices (a `t`: who joined, renamed,
pinned) are left out; encrypted messages are counted. A session is a thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import in_time, mapping, misfit, moment, objects, string, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_ENCRYPTED = "e2e"


def claims(value: object) -> bool:
    """Whether a value is a message of Rocket.Chat's, or an answer with a list of them."""
    return _is_message(value) or any(map(_is_message, objects(value, "messages")[:5]))


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("msg"), str) or "ts" not in value:
        return False
    return bool(text(value, "username") or text(mapping(value, "u"), "username"))


def read(source: Source) -> Iterator[Record]:
    """Turns, earliest first."""
    items = list(_messages(source))
    roots = {root for item in items if (root := string(item.value, "tmid"))}
    for item in in_time(items, lambda value: moment(_time(value))):
        yield from _turn(source, item, roots)


def _messages(source: Source) -> Iterator[Item]:
    for item in source.items():
        if isinstance(mapping(item.value).get("messages"), list):
            yield from item.elements("messages")
        else:
            yield item


def _time(value: object) -> str:
    """When a message was sent: a text, or as a database writes it, an object with `$date`."""
    when = mapping(value).get("ts")
    return to_iso(mapping(when).get("$date", when))


def _turn(source: Source, item: Item, roots: set[str]) -> Iterator[Record]:
    value = item.value
    if reason := misfit(value, "msg"):
        yield item.fault(reason)
        return
    kind = text(value, "t", "type")
    if kind == _ENCRYPTED:
        yield item.fault("could not be decrypted when it was exported", "no_text")
    elif not kind:
        own = string(value, "_id")
        yield turn(
            source.path,
            item,
            text=text(value, "msg").strip(),
            speaker=_speaker(value),
            time=_time(value),
            caption=joined(_attached(value)),
            conversation=string(value, "rid") or source.stem,
            session=string(value, "tmid") or (own if own in roots else ""),
            turn=own,
        )


def _speaker(value: dict[str, Any]) -> str:
    who = mapping(value, "u")
    return text(value, "alias") or text(who, "name", "username") or text(value, "username")


def _attached(value: dict[str, Any]) -> Iterator[str]:
    """Captions of files, and of what bots attach; the quote of a message is not repeated."""
    for one in objects(value, "attachments"):
        name = text(one, "title", "fileName", "remote")
        said = "\n".join(filter(None, (text(one, "title"), text(one, "description", "text"))))
        if "message_link" in one:
            continue
        if (
            any(key in one for key in ("image_url", "video_url", "audio_url", "fileName"))
            or one.get("type") == "file"
        ):
            yield attachment(name)
        elif said:
            yield bracketed("attached", said)
