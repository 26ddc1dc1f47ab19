"""LongMemEval's JSON: questions, each with a haystack of dated user-assistant sessions.

Structure as in github.com/xiaowu0162/LongMemEval (README, "Dataset format"): `question_id`, and parallel
lists `haystack_session_ids`, `haystack_dates` ("2023/05/20 (Sat) 02:21") and `haystack_sessions`, a list of
turns `{role, content, has_answer?}` each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn


def detect(source: Source) -> bool:
    """Whether questions with a haystack stand at the top."""
    return any(isinstance(value, dict) and "haystack_sessions" in value for value in source.head())


def read(source: Source) -> Iterator[Record]:
    """Turns of every haystack: conversation is the question's id, turn its 1-based number in the session."""
    for n, item in enumerate(source.items()):
        yield from read_question(source.path, item, f"{source.stem}-{n}")


def read_question(path: str, item: Item, default: str) -> Iterator[Record]:
    """Turns of one question's haystack, parsed already; `default` is its id where it has none."""
    sessions = item.value.get("haystack_sessions") if isinstance(item.value, dict) else None
    if not isinstance(sessions, list):
        yield FormatError("no `haystack_sessions` list here", line=item.line, pointer=item.pointer)
        return
    name = str(item.value.get("question_id") or default)
    ids, dates = _list(item.value, "haystack_session_ids"), _list(item.value, "haystack_dates")
    for s, turns in enumerate(sessions):
        session = str(ids[s]) if s < len(ids) else str(s + 1)
        time = to_iso(dates[s]) if s < len(dates) else ""
        yield from _session(path, item, s, turns, (name, session, time))


def _list(value: dict[str, Any], key: str) -> list[Any]:
    found = value.get(key)
    return found if isinstance(found, list) else []


def _session(path: str, item: Item, s: int, turns: object, about: tuple[str, str, str]) -> Iterator[Record]:
    """The turns of session number `s` (0-based); `about` is its conversation, id and time."""
    conversation, session, time = about
    place = f"{item.pointer}/haystack_sessions/{s}"
    if not isinstance(turns, list):
        yield FormatError(f"a session is {type(turns).__name__}, not a list", line=item.line, pointer=place)
        return
    for i, turn in enumerate(turns):
        pointer = f"{place}/{i}"
        content = turn.get("content") if isinstance(turn, dict) else None
        if not isinstance(content, str):
            yield FormatError("a turn without a `content` string", line=item.line, pointer=pointer)
            continue
        if not content.strip():
            yield FormatError("an empty turn", line=item.line, pointer=pointer, kind="no_text")
            continue
        role = str(turn.get("role") or "")
        yield Turn(
            text=content,
            speaker=role,
            time=time,
            role=role,
            path=path,
            line=item.line,
            pointer=pointer,
            conversation=conversation,
            session=session,
            turn=str(i + 1),
        )


FORMAT = Format(
    name="longmemeval",
    description="LongMemEval JSON: questions with `haystack_sessions` and their dates",
    extensions=(".json", ".jsonl"),
    detect=detect,
    read=read,
)
