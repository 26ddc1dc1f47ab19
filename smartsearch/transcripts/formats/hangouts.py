"""Google Hangouts in a Google Takeout: `Hangouts.json`, all conversations of an account.

Structure as in adrish96/Hangouts-JSON-Parser (`conversations`) and ammgws/wynbot (`conversation_state`, as
it was before); no real file could be looked at. Calls, renamings and who came and went are left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed, joined, linked
from smartsearch.transcripts.formats.fields import (
    in_time,
    kind,
    last_part,
    mapping,
    number,
    objects,
    string,
    text,
)
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_LISTS = ("conversations", "conversation_state")
_PHOTOS = ("plus_photo", "embeds.PlusPhoto.plus_photo")
_PLACES = ("place_v2", "embeds.PlaceV2.place_v2", "place")


class _Chat(NamedTuple):
    """A conversation: its id, its name, the names in it by their ids, and its events."""

    known: str
    name: str
    people: dict[str, str]
    events: list[Item]


def claims(value: object) -> bool:
    """Whether a value is a list of conversations with Hangouts' events."""
    listed = (Item(one, 0) for key in _LISTS for one in objects(value, key)[:5])
    return any(mapping(event.value, "sender_id") for chat in listed for event in _events(chat)[:5])


def read(source: Source) -> Iterator[Record]:
    """Turns of every conversation, earliest first, conversations in the order of the file."""
    for item in source.items():
        if not claims(item.value):
            yield item.fault("no list of `conversations` here")
            continue
        chats = [(one, _chat(one)) for key in _LISTS for one in item.elements(key)]
        names = Counter(chat.name for _, chat in chats)
        for one, chat in chats:
            if not isinstance(one.value, dict):
                yield one.fault(f"{kind(one.value)} in the place of a conversation")
            single = bool(chat.name) and names[chat.name] == 1
            name = chat.name if single else chat.known or chat.name or source.stem
            yield from _turns(source.path, chat, name, "" if single else chat.name)


def _events(chat: Item) -> list[Item]:
    return [*chat.elements("events"), *chat.elements("conversation_state", "event")]


def _chat(item: Item) -> _Chat:
    """A conversation, which is under one key or another."""
    told = mapping(item.value, "conversation", "conversation") or mapping(
        item.value, "conversation_state", "conversation"
    )
    people = {_person(one.get("id")): text(one, "fallback_name") for one in objects(told, "participant_data")}
    own = _person(mapping(told, "self_conversation_state", "self_read_state").get("participant_id"))
    others = [name for known, name in people.items() if name and known != own]
    known = string(mapping(item.value, "conversation", "conversation_id"), "id") or string(
        mapping(item.value, "conversation_id"), "id"
    )
    return _Chat(known, text(told, "name") or ", ".join(others), people, _events(item))


def _person(value: object) -> str:
    return string(value, "gaia_id", "chat_id")


def _turns(path: str, chat: _Chat, name: str, title: str) -> Iterator[Record]:
    for event in in_time(chat.events, lambda value: number(value, "timestamp")):
        value = event.value
        if not isinstance(value, dict):
            yield event.fault(f"{kind(value)} in the place of an event")
        elif "chat_message" in value:
            content = mapping(value, "chat_message", "message_content")
            sender = _person(value.get("sender_id"))
            yield turn(
                path,
                event,
                text="".join(map(_segment, objects(content, "segment"))).strip(),
                speaker=chat.people.get(sender) or sender,
                time=to_iso(value.get("timestamp")),
                caption=joined(
                    _attached(mapping(one, "embed_item")) for one in objects(content, "attachment")
                ),
                conversation=name,
                turn=string(value, "event_id"),
                title=title,
            )


def _segment(value: dict[str, Any]) -> str:
    if value.get("type") == "LINE_BREAK":
        return "\n"
    said = string(value, "text")
    return (
        linked(said, text(mapping(value, "link_data"), "link_target"))
        if value.get("type") == "LINK"
        else said
    )


def _attached(value: dict[str, Any]) -> str:
    photo = next((found for key in _PHOTOS if (found := mapping(value, key))), {})
    place = next((found for key in _PLACES if (found := mapping(value, key))), {})
    if photo:
        noun = "video" if photo.get("media_type") == "VIDEO" else "image"
        return bracketed(noun, last_part(text(photo, "original_content_url", "url").partition("?")[0]))
    return bracketed("place", text(place, "name")) if place else "[attachment]" if value else ""
