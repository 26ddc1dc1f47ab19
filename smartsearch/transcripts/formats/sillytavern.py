"""SillyTavern's chats: `.jsonl`, a line of who takes part, then a line a message.

Structure from SillyTavern/SillyTavern (public/chats in its history). Left out: other answers of a message
("swipes") and reasoning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, joined
from smartsearch.transcripts.formats.fields import mapping, misfit, objects, string
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_NO_NAME = ("", "unused")
_SYSTEM = "SillyTavern System"
_HUMANE = re.compile(r"(\d{4}-\d{1,2}-\d{1,2})\s?@\s?(\d{1,2})h\s?(\d{1,2})m\s?(\d{1,2})s(?:\s?\d{1,3}ms)?")
"""`2023-5-8 @13h 56m 01s 123ms`, as older versions write a time."""


def claims(value: object) -> bool:
    """Whether a value is a first line, with both names, or a message."""
    keys = mapping(value).keys()
    return {"user_name", "character_name"} <= keys or {"mes", "is_user", "name"} <= keys


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    title = ""
    for item in source.items():
        keys = mapping(item.value).keys()
        if "mes" not in keys and keys & {"character_name", "chat_metadata"}:
            name = string(item.value, "character_name")
            title = title if name in _NO_NAME else name
        else:
            yield _turn(source, item, title)


def _turn(source: Source, item: Item, title: str) -> Record:
    value = item.value
    if reason := misfit(value, "mes"):
        return item.fault(reason)
    name = string(value, "name")
    role = "system" if name == _SYSTEM else "user" if value.get("is_user") is True else "assistant"
    return turn(
        source.path,
        item,
        text=string(value, "mes"),
        speaker=name or role,
        time=_time(value.get("send_date")),
        caption=_caption(mapping(value, "extra")),
        role=role,
        conversation=source.stem,
        title=title,
    )


def _time(sent: object) -> str:
    found = _HUMANE.fullmatch(sent.strip()) if isinstance(sent, str) else None
    return to_iso(f"{found[1]} {found[2]}:{found[3]:0>2}:{found[4]:0>2}" if found else sent)


def _caption(extra: dict[str, object]) -> str:
    files = [mapping(extra, "file"), *objects(extra, "files")]
    return joined(["[image]" if string(extra, "image") else "", *(_file(file) for file in files if file)])


def _file(file: dict[str, object]) -> str:
    return attachment(string(file, "name"), string(file, "type"))
