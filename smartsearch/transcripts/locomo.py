"""LoCoMo's JSON: samples of a two-person conversation in numbered, dated sessions, some with pictures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.jsontext import Item
from smartsearch.transcripts.source import Source
from smartsearch.transcripts.times import to_iso
from smartsearch.types import Turn

_SESSION = re.compile(r"session_(\d+)")


def detect(source: Source) -> bool:
    """Whether samples with a `conversation` of sessions stand at the top."""
    return any(_is_sample(value) for value in source.head())


def _is_sample(value: object) -> bool:
    conversation = value.get("conversation") if isinstance(value, dict) else None
    return isinstance(conversation, dict) and any(
        key == "speaker_a" or _SESSION.fullmatch(str(key)) for key in conversation
    )


def read(source: Source) -> Iterator[Record]:
    """Turns of every sample, sessions in the order of their numbers; a date without a session is no error."""
    for n, item in enumerate(source.items()):
        conversation = item.value.get("conversation") if isinstance(item.value, dict) else None
        if not isinstance(conversation, dict):
            yield FormatError("no `conversation` object here", line=item.line, pointer=item.pointer)
            continue
        name = str(item.value.get("sample_id") or f"{source.stem}-{n}")
        for key in sorted(filter(_SESSION.fullmatch, conversation), key=_number):
            yield from _session(source.path, item, name, key)


def _number(key: str) -> int:
    return int(key.rpartition("_")[2])


def _session(path: str, item: Item, name: str, key: str) -> Iterator[Record]:
    conversation: dict[str, Any] = item.value["conversation"]
    time = to_iso(conversation.get(f"{key}_date_time"))
    place = f"{item.pointer}/conversation/{key}"
    turns = conversation[key]
    if not isinstance(turns, list):
        message = f"{key} is {type(turns).__name__}, not a list of turns"
        yield FormatError(message, line=item.line, pointer=place)
        return
    for i, turn in enumerate(turns):
        pointer = f"{place}/{i}"
        text = turn.get("text") if isinstance(turn, dict) else None
        if not isinstance(text, str):
            yield FormatError("a turn without a `text` string", line=item.line, pointer=pointer)
            continue
        caption = turn.get("blip_caption")
        caption = caption if isinstance(caption, str) else ""
        if not text.strip() and not caption:
            yield FormatError("an empty turn", line=item.line, pointer=pointer, kind="no_text")
            continue
        yield Turn(
            text=text,
            speaker=str(turn.get("speaker") or ""),
            time=time,
            caption=caption,
            path=path,
            line=item.line,
            pointer=pointer,
            conversation=name,
            session=key,
            turn=str(turn.get("dia_id") or ""),
        )


FORMAT = Format(
    name="locomo",
    description="LoCoMo JSON: samples with `conversation` and its `session_N` lists",
    extensions=(".json", ".jsonl"),
    detect=detect,
    read=read,
)
