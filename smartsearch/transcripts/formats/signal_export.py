"""A chat as signal-export writes it: `data.json` in a folder named after the chat, a message a line.

Structure as in carderne/signal-export, sigexport/models.py (`Message.dict_str`) and main.py. Times are those
of the clock of the computer that exported, and name no offset. What a message quotes is not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import last_part, mapping, misfit, objects, text
from smartsearch.transcripts.source import Source

_KEYS = {"sender", "body", "date"}
_OTHERS = {"quote", "sticker", "reactions", "attachments"}


def claims(value: object) -> bool:
    """Whether a value is a message with signal-export's keys."""
    return isinstance(value, dict) and value.keys() >= _KEYS and len(value.keys() & _OTHERS) >= 2


def read(source: Source) -> Iterator[Record]:
    """Turns in the order of the file; calls and deleted messages are left out."""
    name = (source.folder if source.stem == "data" else "") or source.stem  # every file is called so
    for item in source.items():
        value = item.value
        if reason := misfit(value, "body"):
            yield item.fault(reason)
        elif value.get("deleted") is not True and value.get("call") is not True:
            yield turn(
                source.path,
                item,
                text=text(value, "body").strip(),
                speaker=text(value, "sender"),
                time=to_iso(text(value, "date")),
                caption=_caption(value),
                conversation=name,
            )


def _caption(value: dict[str, Any]) -> str:
    captions = [
        attachment(text(found, "name") or last_part(text(found, "path")))
        for found in objects(value, "attachments")
    ]
    if sticker := mapping(value, "sticker"):
        captions.append(bracketed("sticker", text(sticker, "emoji")))
    elif emoji := text(value, "sticker"):
        captions.append(bracketed("sticker", emoji))
    return joined(captions)
