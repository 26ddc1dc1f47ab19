"""LoCoMo's JSON: samples of a two-person conversation in numbered, dated sessions, some with pictures.

REALTALK's JSON too, which is a conversation without a sample around it: sessions at the top, a time a turn,
the text under `clean_text`. Structure as in danny911kr/REALTALK, data/Chat_*.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_SESSION = re.compile(r"session_(\d{1,9})")


def detect(source: Source) -> bool:
    """Whether samples with a `conversation` of sessions, or such a conversation itself, stand at the top."""
    return any(_holder(value) is not None for value in source.head())


def _holder(value: object) -> tuple[dict[str, Any], str] | None:
    """The object with a sample's sessions and the pointer to it, None where there is none."""
    if not isinstance(value, dict):
        return None
    conversation = value.get("conversation")
    if isinstance(conversation, dict) and any(
        key == "speaker_a" or _SESSION.fullmatch(str(key)) for key in conversation
    ):
        return conversation, "/conversation"
    turns = [turn for key in value if _SESSION.fullmatch(key) for turn in _listed(value[key])[:2]]
    found = any(isinstance(turn, dict) and "speaker" in turn and _text(turn) is not None for turn in turns)
    return (value, "") if found else None


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def read(source: Source) -> Iterator[Record]:
    """Turns of every sample, sessions in the order of their numbers; a date without a session is no error."""
    for n, item in enumerate(source.items()):
        held = _holder(item.value)
        conversation = item.value.get("conversation") if isinstance(item.value, dict) else None
        if held is None and isinstance(conversation, dict):
            held = conversation, "/conversation"
        if held is None:
            yield FormatError("no `conversation` object here", line=item.line, pointer=item.pointer)
            continue
        sessions, inside = held
        name = str(item.value.get("sample_id") or (f"{source.stem}-{n}" if inside else source.stem))
        for key in sorted(filter(_SESSION.fullmatch, sessions), key=_number):
            place = Item(sessions, item.line, f"{item.pointer}{inside}/{key}")
            yield from _session(source.path, place, name, key)


def _number(key: str) -> int:
    return int(key.rpartition("_")[2])


def _session(path: str, item: Item, name: str, key: str) -> Iterator[Record]:
    time = to_iso(item.value.get(f"{key}_date_time"))
    place = item.pointer
    turns = item.value[key]
    if not isinstance(turns, list):
        message = f"{key} is {type(turns).__name__}, not a list of turns"
        yield FormatError(message, line=item.line, pointer=place)
        return
    for i, turn in enumerate(turns):
        pointer = f"{place}/{i}"
        text = _text(turn)
        if text is None:
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
            time=to_iso(turn.get("date_time")) or time,
            caption=caption,
            path=path,
            line=item.line,
            pointer=pointer,
            conversation=name,
            session=key,
            turn=str(turn.get("dia_id") or ""),
        )


def _text(turn: object) -> str | None:
    """A turn's text: REALTALK's and LoCoMo's own generator write it without mark-up under `clean_text`."""
    if not isinstance(turn, dict):
        return None
    text = turn.get("clean_text", turn.get("text"))
    return text if isinstance(text, str) else None


FORMAT = Format(
    name="locomo",
    description="LoCoMo and REALTALK JSON: conversations in `session_N` lists",
    extensions=(".json", ".jsonl"),
    detect=detect,
    read=read,
    how="data files of github.com/snap-research/locomo and github.com/danny911kr/REALTALK",
)
