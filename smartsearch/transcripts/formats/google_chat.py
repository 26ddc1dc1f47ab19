"""Google Chat in a Google Takeout: `Groups/DM .../messages.json`, a folder a conversation.

Structure as its readers describe it (search of GitHub for `group_info.json` and `topic_id`); no real file
could be looked at. The name of a space and of its members is in `group_info.json` beside it. A session is a
topic with replies. Deleted messages are left out; of edited ones the text is the last.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import last_part, mapping, misfit, objects, string, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.neighbours import value_beside
from smartsearch.transcripts.source import Source


def claims(value: object) -> bool:
    """Whether a value is a conversation with Google Chat's messages."""
    return any("created_date" in found and _is_placed(found) for found in objects(value, "messages")[:5])


def _is_placed(message: dict[str, Any]) -> bool:
    return bool(mapping(message, "creator")) or ("topic_id" in message and "message_id" in message)


def read(source: Source) -> Iterator[Record]:
    """Turns of the conversation, in the order of the file."""
    name = _name(source)
    for item in source.items():
        if not claims(item.value):
            yield item.fault("no conversation with `messages` here")
            continue
        topics = Counter(string(one, "topic_id") for one in objects(item.value, "messages"))
        for message in item.elements("messages"):
            if reason := misfit(message.value, "text"):
                yield message.fault(reason)
            elif not _is_deleted(message.value):
                yield _turn(source.path, message, name, topics)


def _name(source: Source) -> str:
    """What the conversation is called, or who is in it, or its folder."""
    group = value_beside(source, "group_info.json")
    members = [text(one, "name", "email") for one in objects(group, "members")]
    return text(group, "name") or ", ".join(filter(None, members)) or source.folder or source.stem


def _is_deleted(value: dict[str, Any]) -> bool:
    return value.get("message_state") == "DELETED" or "deletion_metadata" in value


def _turn(path: str, item: Item, conversation: str, topics: Counter[str]) -> Record:
    value, topic = item.value, string(item.value, "topic_id")
    return turn(
        path,
        item,
        text=text(value, "text").strip(),
        speaker=text(mapping(value, "creator"), "name", "email"),
        time=to_iso(value.get("created_date")),
        caption=joined([*map(_file, objects(value, "attached_files")), *_links(value)]),
        conversation=conversation,
        session=topic if topics[topic] > 1 else "",
        turn=string(value, "message_id"),
    )


def _file(value: dict[str, Any]) -> str:
    return attachment(last_part(text(value, "original_name", "export_name").partition("?")[0]))


def _links(value: dict[str, Any]) -> Iterator[str]:
    """The titles of what was linked: pages and files of Drive."""
    for one in objects(value, "annotations"):
        for key, noun in (("url_metadata", "link"), ("drive_metadata", "file")):
            if title := text(mapping(one, key), "title"):
                yield bracketed(noun, title)
