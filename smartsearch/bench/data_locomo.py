"""LoCoMo-10 as questions with gold turns (github.com/snap-research/locomo, `locomo10.json`).

Category names are the standard ones by id; the SmartSearch paper prints them rotated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from smartsearch.bench import data_format
from smartsearch.bench.data_format import DataFormat, Log, load, only, plain, question_text
from smartsearch.bench.types import BenchQuestion, Group, session_numbers
from smartsearch.transcripts import FormatError, Source
from smartsearch.transcripts.decode import decode
from smartsearch.types import Corpus, Turn

CATEGORIES = {1: "1 multi-hop", 2: "2 temporal", 3: "3 open-domain", 4: "4 single-hop"}
ADVERSARIAL = 5

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


def _read(path: Path, log: Log) -> Iterator[Group]:
    """One group a sample; question ids are `sample/place in qa`."""
    samples = _samples(path)
    conversations: dict[str, list[Turn]] = {}
    for turn in data_format.transcripts([path], "locomo", log):
        conversations.setdefault(turn.conversation, []).append(turn)
    for name, sample in samples:
        turns = conversations.pop(name, None)
        asked = sample.get("qa") if isinstance(sample, dict) else None
        if turns is None or not isinstance(asked, list):
            missing = "no turns, or a sample of that id before it" if turns is None else "no `qa` list"
            log.drop("unreadable", f"{name}: {missing}")
            continue
        corpus = Corpus(tuple(turns))
        yield Group(name, corpus, tuple(_questions(name, corpus, asked, log)))


def _samples(path: Path) -> list[tuple[str, Any]]:
    """Each sample by the name its reader gives the conversation."""
    try:
        source = Source(str(path), decode(load(path)).text)
        items = list(source.items())
    except FormatError as error:
        raise data_format.data_error(f"{path}: {error}") from None
    ids = (item.value.get("sample_id") if isinstance(item.value, dict) else None for item in items)
    return [(str(name or f"{source.stem}-{n}"), item.value) for n, (name, item) in enumerate(zip(ids, items))]


def _questions(name: str, corpus: Corpus, asked: list[Any], log: Log) -> Iterator[BenchQuestion]:
    ids, sessions = data_format.turn_ids(corpus), session_numbers(corpus)
    for number, record in enumerate(asked):
        identity, text = f"{name}/{number}", question_text(record)
        category = record.get("category") if isinstance(record, dict) else None
        if category == ADVERSARIAL:
            log.left_out["category 5 (adversarial)"] += 1
            continue
        if not text or not isinstance(category, int) or category not in CATEGORIES:
            log.drop("unreadable", f"{identity}: {'category ' + plain(category) if text else 'no question'}")
            continue
        gold = frozenset(_gold(identity, record.get("evidence"), ids, log))
        yield BenchQuestion(
            id=identity,
            text=text,
            category=CATEGORIES[category],
            gold=gold,
            gold_sessions=frozenset(int(sessions[place]) for place in gold),
            answer=plain(record.get("answer")),
        )


def _gold(identity: str, evidence: object, ids: dict[str, list[int]], log: Log) -> Iterator[int]:
    """Places of the evidence: `D8:6; D9:17` is two turns, `D:11:26` is D11:26, `D30:05` is D30:5."""
    listed = evidence if isinstance(evidence, list) else [evidence] if evidence else []
    for item in listed:
        found = _EVIDENCE.findall(item) if isinstance(item, str) else []
        if not found:
            log.drop("malformed", f"{identity}: {plain(item)}")
        for session, turn in found:
            name = f"D{int(session)}:{int(turn)}"
            yield from only(ids.get(name, ()), f"{identity}: {name}", log)


FORMAT = DataFormat(
    name="locomo",
    description="LoCoMo JSON (locomo10.json): samples with `conversation` and `qa`",
    detect=lambda _, sample: "qa" in sample and isinstance(sample.get("conversation"), dict),
    read=_read,
)
