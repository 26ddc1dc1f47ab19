"""LongMemEval S, M and oracle as questions with gold turns, each with a haystack of its own.

Structure as in github.com/xiaowu0162/LongMemEval (README, "Dataset format"). Gold turns are those with
`has_answer`, gold sessions `answer_session_ids`. M is 2.7 GB, so that questions are read one at a time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from smartsearch.bench.data_format import DataFormat, Log, data_error, load, plain, question_text
from smartsearch.bench.types import BenchQuestion, Group, session_numbers
from smartsearch.output.plain import counted
from smartsearch.transcripts import to_iso
from smartsearch.transcripts.formats.datasets import FORMS
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.source import Source
from smartsearch.types import Corpus, Turn


def _read(path: Path, log: Log) -> Iterator[Group]:
    """One group a question; its id is the conversation's."""
    seen: set[str] = set()
    for number, item in enumerate(_items(path, log)):
        default = f"{path.stem}-{number}"
        identity = str(item.value.get("question_id") or default) if isinstance(item.value, dict) else default
        if not question_text(item.value):
            log.drop("unreadable", f"{identity}: no question")
        elif identity in seen:
            log.drop("unreadable", f"{identity}: a question of that id stands before it")
        else:
            corpus = _haystack(path, item, default, log)
            if corpus.turns:
                seen.add(identity)
                yield Group(identity, corpus, (_question(identity, item, corpus, log),))
            else:
                log.drop("unreadable", f"{identity}: no turns")


def _items(path: Path, log: Log) -> Iterator[Item]:
    """The questions one at a time, of a JSON list or of JSON lines; what does not parse is logged."""
    if load(path, 1 << 10).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"["):
        yield from _elements(path, log)
        return
    with path.open("rb") as file:
        for line, raw in enumerate(file, 1):
            if raw.strip():
                try:
                    yield Item(json.loads(raw.decode("utf-8-sig")), line, "")
                except (ValueError, RecursionError) as error:
                    log.drop("unreadable", f"line {line}: {error}")


def _elements(path: Path, log: Log) -> Iterator[Item]:
    import ijson

    number = 0
    try:
        with path.open("rb") as file:
            if file.read(3) != b"\xef\xbb\xbf":
                file.seek(0)
            for value in ijson.items(file, "item", use_float=True):
                yield Item(value, 0, f"/{number}")
                number += 1
    except (ijson.JSONError, UnicodeError) as error:
        log.drop("unreadable", f"after {counted(number, 'question')} the JSON breaks off: {error}")
    except OSError as error:
        raise data_error(f"{path} cannot be read: {error.strerror}") from error


def _haystack(path: Path, item: Item, default: str, log: Log) -> Corpus:
    turns: list[Turn] = []
    form = replace(
        FORMS["longmemeval"],
        items=lambda _: [item],
        name=lambda value, _: value.get("question_id") or default,
    )
    for record in form.read(Source(str(path), ""), default):
        if isinstance(record, Turn):
            turns.append(record)
        elif record.kind != "no_text":
            log.drop("skipped", f"{path}: {record}")
    return Corpus(tuple(turns))


def _question(identity: str, item: Item, corpus: Corpus, log: Log) -> BenchQuestion:
    value = item.value
    abstention = identity.endswith("_abs")
    gold = frozenset() if abstention else frozenset(_gold(identity, item, corpus, log))
    return BenchQuestion(
        id=identity,
        text=value["question"],
        category=plain(value.get("question_type")),
        gold=gold,
        gold_sessions=frozenset() if abstention else _gold_sessions(identity, value, gold, corpus, log),
        answer=plain(value.get("answer")),
        date=to_iso(value.get("question_date")),
        abstention=abstention,
    )


def _gold(identity: str, item: Item, corpus: Corpus, log: Log) -> Iterator[int]:
    places = {turn.pointer: place for place, turn in enumerate(corpus.turns)}
    for s, session in enumerate(item.value["haystack_sessions"]):
        for t, turn in enumerate(session if isinstance(session, list) else ()):
            if isinstance(turn, dict) and turn.get("has_answer") is True:
                place = places.get(f"{item.pointer}/haystack_sessions/{s}/{t}")
                if place is None:
                    log.drop("absent", f"{identity}: turn {t + 1} of session {s + 1} has no text")
                else:
                    yield place


def _gold_sessions(
    identity: str, value: dict[str, Any], gold: frozenset[int], corpus: Corpus, log: Log
) -> frozenset[int]:
    """The sessions that the data names, or those of the gold turns where it names none."""
    sessions = session_numbers(corpus)
    named = value.get("answer_session_ids")
    if not isinstance(named, list) or not named:
        return frozenset(int(sessions[place]) for place in gold)
    numbers = {turn.session: int(number) for turn, number in zip(corpus.turns, sessions)}
    for name in named:
        if str(name) not in numbers:
            log.drop("absent", f"{identity}: session {name}")
    return frozenset(numbers[str(name)] for name in named if str(name) in numbers)


FORMAT = DataFormat(
    name="longmemeval",
    description="LongMemEval JSON (S, M, oracle): questions with `haystack_sessions`",
    detect=lambda _, record: "haystack_sessions" in record,
    read=_read,
    abstention=(
        "ids ending in _abs; no gold, left out of recall as in the official evaluation, and counted in their"
        " own type for accuracy"
    ),
)
