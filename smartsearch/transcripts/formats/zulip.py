"""Zulip: the files of an organization's export, `messages-000001.json`, and messages of its API.

Structure as in zulip/zulip, zerver/lib/export.py, and its documentation of the API, whose messages are also
what zulip/zulip-archive keeps. No real export could be looked at. In an export the names of people and
channels are in `realm.json` beside it. A conversation is a channel, a session a topic.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from smartsearch.text.htmltext import text_of
from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.fields import in_time, mapping, misfit, number, objects, string, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.neighbours import made_beside, parsed
from smartsearch.transcripts.source import Source

_STREAM, _HUDDLE = 2, 3
_KEYS = ("zerver_message", "messages")
_SENT = ("date_sent", "timestamp")


def claims(value: object) -> bool:
    """Whether a value is a message of Zulip's, or an object with a list of them."""
    return _is_message(value) or any(_is_message(one) for key in _KEYS for one in objects(value, key)[:5])


def _is_message(value: object) -> bool:
    if not isinstance(value, dict) or not isinstance(value.get("content"), str):
        return False
    exported = "date_sent" in value and "recipient" in value and "sender" in value
    return exported or ("sender_full_name" in value and "timestamp" in value and "sender_id" in value)


@dataclass(frozen=True)
class _Realm:
    """Names of people by id, and of the places of messages by the id of a recipient."""

    people: dict[str, str] = field(default_factory=dict)
    places: dict[str, str] = field(default_factory=dict)


def read(source: Source) -> Iterator[Record]:
    """Turns, earliest first."""
    realm = made_beside(source, "realm.json", _realm) or _Realm()
    items = [message for item in source.items() for message in _messages(item)]
    for item in in_time(items, lambda value: number(value, *_SENT)):
        if reason := misfit(item.value, "content"):
            yield item.fault(reason)
        else:
            yield _turn(source, item, realm)


def _messages(item: Item) -> Iterator[Item]:
    key = next((key for key in _KEYS if isinstance(mapping(item.value).get(key), list)), None)
    yield from item.elements(key) if key else [item]


def _turn(source: Source, item: Item, realm: _Realm) -> Record:
    value = item.value
    place = realm.places.get(string(value, "recipient"), "") or _place(value)
    return turn(
        source.path,
        item,
        text=_said(value),
        speaker=text(value, "sender_full_name")
        or realm.people.get(string(value, "sender"), string(value, "sender")),
        time=to_iso(number(value, *_SENT)),
        conversation=place or source.folder or source.stem,
        session=text(value, "subject", "topic"),
        turn=string(value, "id"),
    )


def _said(value: dict[str, Any]) -> str:
    """A message's text: Markdown as it was typed, or what is left of HTML, which the API gives."""
    content = text(value, "content").strip()
    return (
        text_of(content) if value.get("content_type") == "text/html" or content.startswith("<p>") else content
    )


def _place(value: dict[str, Any]) -> str:
    """Where a message of the API's stands: its channel, or the names of those it went to."""
    people = [text(one, "full_name") for one in objects(value, "display_recipient")]
    return text(value, "display_recipient") or ", ".join(filter(None, people))


def _realm(written: str) -> _Realm:
    value = parsed(written)
    people = {
        string(one, "id"): text(one, "full_name", "email")
        for key in ("zerver_userprofile", "zerver_userprofile_crossrealm")
        for one in objects(value, key)
    }
    streams = {string(one, "id"): text(one, "name") for one in objects(value, "zerver_stream")}
    members: dict[str, list[str]] = {}
    for one in objects(value, "zerver_subscription"):
        members.setdefault(string(one, "recipient"), []).append(people.get(string(one, "user_profile"), ""))
    places = {}
    for one in objects(value, "zerver_recipient"):
        known, kind = string(one, "id"), one.get("type")
        inside = streams if kind == _STREAM else people
        grouped = ", ".join(filter(None, members.get(known, []))) if kind == _HUDDLE else ""
        places[known] = grouped or inside.get(string(one, "type_id"), "")
    return _Realm(people, places)
