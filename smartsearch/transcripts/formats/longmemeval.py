"""LongMemEval's JSON: questions, each with a haystack of dated user-assistant sessions.

Structure as in github.com/xiaowu0162/LongMemEval (README, "Dataset format"): `question_id`, and parallel
lists `haystack_session_ids`, `haystack_dates` ("2023/05/20 (Sat) 02:21") and `haystack_sessions`, a list of
turns `{role, content, has_answer?}` each.
"""

from __future__ import annotations

from collections.abc import Iterator

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.fields import sequence
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source


def claims(value: object) -> bool:
    """Whether a value is a question with a haystack."""
    return isinstance(value, dict) and "haystack_sessions" in value


def read(source: Source) -> Iterator[Record]:
    """Turns of every haystack: conversation is the question's id, turn its 1-based number in the session."""
    for n, item in enumerate(source.items()):
        yield from read_question(source.path, item, f"{source.stem}-{n}")


def read_question(path: str, item: Item, default: str) -> Iterator[Record]:
    """Turns of one question's haystack, parsed already; `default` is its id where it has none."""
    if not isinstance(item.value, dict) or not isinstance(item.value.get("haystack_sessions"), list):
        yield item.fault("no `haystack_sessions` list here")
        return
    name = str(item.value.get("question_id") or default)
    ids, dates = sequence(item.value, "haystack_session_ids"), sequence(item.value, "haystack_dates")
    for s, session in enumerate(item.elements("haystack_sessions")):
        if not isinstance(session.value, list):
            yield session.fault(f"a session is {type(session.value).__name__}, not a list")
        time = to_iso(dates[s]) if s < len(dates) else ""
        for number, said in enumerate(session.elements(), 1):
            content = said.value.get("content") if isinstance(said.value, dict) else None
            if not isinstance(content, str):
                yield said.fault("a turn without a `content` string")
                continue
            role = str(said.value.get("role") or "")
            yield turn(
                path,
                said,
                text=content,
                speaker=role,
                time=time,
                role=role,
                conversation=name,
                session=str(ids[s]) if s < len(ids) else str(s + 1),
                turn=str(number),
            )
