"""A chat as signal-export writes it: `data.json` in a folder named after the chat, a message a line.

Structure as in carderne/signal-export, sigexport/models.py (`Message.dict_str`) and main.py. Times are those
of the clock of the computer that exported, and name no offset. What a message quotes is not repeated.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.captions import attachment, bracketed, joined
from smartsearch.transcripts.formats.fields import last_part, mapping, misfit, objects, text
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_KEYS = {"sender", "body", "date"}
_OTHERS = {"quote", "sticker", "reactions", "attachments"}


def detect(source: Source) -> bool:
    """Whether messages with signal-export's keys stand at the top."""
    return any(
        isinstance(value, dict) and value.keys() >= _KEYS and len(value.keys() & _OTHERS) >= 2
        for value in source.head()
    )


def read(source: Source) -> Iterator[Record]:
    """Turns in the order of the file; calls and deleted messages are left out."""
    name = _conversation(source)
    for item in source.items():
        value = item.value
        if reason := misfit(value, "body"):
            yield FormatError(reason, line=item.line, pointer=item.pointer)
            continue
        if value.get("deleted") is True or value.get("call") is True:
            continue
        said, caption = text(value, "body").strip(), _caption(value)
        if not said and not caption:
            yield FormatError("a message without text", line=item.line, pointer=item.pointer, kind="no_text")
            continue
        yield Turn(
            text=said,
            speaker=text(value, "sender"),
            time=to_iso(text(value, "date")),
            caption=caption,
            path=source.path,
            line=item.line,
            pointer=item.pointer,
            conversation=name,
        )


def _conversation(source: Source) -> str:
    """Every file is called `data.json`; the folder has the chat's name."""
    folder = "" if source.path == "-" else Path(source.path).absolute().parent.name
    return folder if source.stem == "data" and folder else source.stem


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


FORMAT = Format(
    name="signal-export",
    description="signal-export's data.json of a Signal chat",
    extensions=(".json", ".jsonl"),
    detect=detect,
    read=read,
    how="signal-export (github.com/carderne/signal-export): `sigexport FOLDER` writes data.json a chat",
)
