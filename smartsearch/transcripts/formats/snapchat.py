"""Snapchat's `chat_history.json` in its "My Data": a list of messages a conversation.

Structure as its readers describe it (search of GitHub for "Received Saved Chat History" and "IsSaved"); no
real file could be looked at. Before 2023 messages stand in lists by whether they were sent or received and
kept: those sent do not say who sent them. Notices (`STATUS...`) are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed
from smartsearch.transcripts.formats.fields import escaped, in_time, kind, misfit, moment, string, text
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_BEFORE = re.compile(r"(?:Received|Sent) (?:Saved|Unsaved) Chat History")
_NOUNS = {"IMAGE": "image", "PHOTO": "image", "VIDEO": "video", "NOTE": "audio", "STICKER": "sticker"}


def claims(value: object) -> bool:
    """Whether a value has lists of Snapchat's messages."""
    lists = [one for one in value.values() if isinstance(one, list)][:20] if isinstance(value, dict) else []
    return any(_is_message(one) for found in lists for one in found[:3])


def _is_message(value: object) -> bool:
    return isinstance(value, dict) and "Media Type" in value and "Created" in value


def read(source: Source) -> Iterator[Record]:
    """Turns of each conversation, earliest first, conversations in the order of the file."""
    for item in source.items():
        if not claims(item.value):
            yield item.fault("no lists of messages here")
            continue
        chats: dict[str, list[Item]] = {}
        for key, value in item.value.items():
            place = Item(value, item.line, f"{item.pointer}/{escaped(key)}")
            if not isinstance(value, list):
                yield place.fault(f"{kind(value)} in the place of a list of messages")
            for one in place.elements():
                chats.setdefault(_conversation(one.value, key), []).append(one)
        for name, messages in chats.items():
            for one in in_time(messages, lambda value: moment(string(value, "Created"))):
                yield from _turns(source.path, one, name)


def _conversation(value: object, key: str) -> str:
    """The title of a conversation, or the key of its list: the other's name, if there is but one."""
    return (
        text(value, "From", "To") or key
        if _BEFORE.fullmatch(key)
        else text(value, "Conversation Title") or key
    )


def _turns(path: str, item: Item, conversation: str) -> Iterator[Record]:
    value = item.value
    if reason := misfit(value, "Content") or misfit(value, "Text"):
        yield item.fault(reason)
    elif not text(value, "Media Type").startswith("STATUS"):
        yield turn(
            path,
            item,
            text=text(value, "Content", "Text").strip(),
            speaker=text(value, "From"),
            time=to_iso(value.get("Created")),
            caption=_caption(value),
            conversation=conversation,
        )


def _caption(value: dict[str, Any]) -> str:
    what = text(value, "Media Type")
    if what in ("", "TEXT"):
        return ""
    return bracketed(_NOUNS.get(what, what.lower()), *(one for one in [text(value, "Media IDs")] if one))
