"""LoCoMo's JSON: samples of a two-person conversation in numbered, dated sessions, some with pictures.

REALTALK's JSON too, which is a conversation without a sample around it: sessions at the top, a time a turn,
the text under `clean_text`. Structure as in danny911kr/REALTALK, data/Chat_*.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.fields import sequence
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source

_SESSION = re.compile(r"session_(\d{1,9})")


def claims(value: object) -> bool:
    """Whether a value is a sample with a `conversation` of sessions, or such a conversation itself."""
    return _holder(value) is not None


def _holder(value: object) -> tuple[dict[str, Any], str] | None:
    """The object with a sample's sessions and the pointer to it, None where there is none."""
    if not isinstance(value, dict):
        return None
    conversation = value.get("conversation")
    if isinstance(conversation, dict) and any(
        key == "speaker_a" or _SESSION.fullmatch(key) for key in conversation
    ):
        return conversation, "/conversation"
    turns = [turn for key in value if _SESSION.fullmatch(key) for turn in sequence(value, key)[:2]]
    found = any(isinstance(turn, dict) and "speaker" in turn and _text(turn) is not None for turn in turns)
    return (value, "") if found else None


def read(source: Source) -> Iterator[Record]:
    """Turns of every sample, sessions in the order of their numbers; a date without a session is no error."""
    for n, item in enumerate(source.items()):
        held = _holder(item.value)
        conversation = item.value.get("conversation") if isinstance(item.value, dict) else None
        if held is None and isinstance(conversation, dict):
            held = conversation, "/conversation"
        if held is None:
            yield item.fault("no `conversation` object here")
            continue
        sessions, inside = held
        name = str(item.value.get("sample_id") or (f"{source.stem}-{n}" if inside else source.stem))
        for key in sorted(filter(_SESSION.fullmatch, sessions), key=_number):
            yield from _session(source.path, Item(sessions, item.line, f"{item.pointer}{inside}"), name, key)


def _number(key: str) -> int:
    return int(key.rpartition("_")[2])


def _session(path: str, item: Item, name: str, key: str) -> Iterator[Record]:
    time = to_iso(item.value.get(f"{key}_date_time"))
    if not isinstance(item.value[key], list):
        what = f"{key} is {type(item.value[key]).__name__}, not a list of turns"
        yield Item(None, item.line, f"{item.pointer}/{key}").fault(what)
    for said in item.elements(key):
        value = said.value
        text = _text(value)
        if text is None:
            yield said.fault("a turn without a `text` string")
            continue
        caption, written = value.get("blip_caption"), value.get("date_time")
        yield turn(
            path,
            said,
            text=text,
            speaker=str(value.get("speaker") or ""),
            time=(to_iso(written) if written else "") or time,
            caption=caption if isinstance(caption, str) else "",
            conversation=name,
            session=key,
            turn=str(value.get("dia_id") or ""),
        )


def _text(turn: object) -> str | None:
    """A turn's text: REALTALK's and LoCoMo's own generator write it without mark-up under `clean_text`."""
    if not isinstance(turn, dict):
        return None
    text = turn.get("clean_text", turn.get("text"))
    return text if isinstance(text, str) else None
