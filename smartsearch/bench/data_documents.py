"""Long documents with questions and without gold turns: QuALITY and LongBench, as their files are published.

QuALITY (github.com/nyu-mll/quality) has a line for each `article` with `questions` of several `options` and a
`gold_label`, counted from 1; LongBench (github.com/THUDM/LongBench) a line for each question with `context`,
`input` and `answers`. A turn is a paragraph. No recall is measured, for only a reader's answers can be right.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from smartsearch.bench.data_format import DataFormat, Log, load, plain
from smartsearch.bench.types import BenchQuestion, Group
from smartsearch.types import Corpus, Turn


def _detect(_: Path, record: Mapping[str, Any]) -> bool:
    return {"article", "questions"} <= record.keys() or {"context", "input", "answers"} <= record.keys()


def _read(path: Path, log: Log) -> Iterator[Group]:
    """One group a line."""
    for line, raw in enumerate(load(path).decode("utf-8-sig", "replace").split("\n"), 1):
        if not raw.strip():
            continue
        named = f"line {line}"
        try:
            record = json.loads(raw)
            text, questions = _article(record) if "article" in record else _context(record)
            paragraphs = [one for one in map(str.strip, text.split("\n")) if one]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            log.drop("unreadable", f"{named}: {type(error).__name__}: {error}")
            continue
        if not paragraphs:
            log.drop("unreadable", f"{named}: no text")
            continue
        turns = (
            Turn(one, path=str(path), line=line, conversation=named, turn=f"{line}.{number}")
            for number, one in enumerate(paragraphs, 1)
        )
        yield Group(named, Corpus(tuple(turns)), tuple(_known(questions, named, log)))


def _article(record: dict[str, Any]) -> tuple[str, list[BenchQuestion | None]]:
    """A line of QuALITY: its text and questions, None for one without an option that is right."""
    found: list[BenchQuestion | None] = []
    for one in record["questions"]:
        options, label = [str(option) for option in one["options"]], one.get("gold_label")
        if not isinstance(label, int) or not 0 < label <= len(options):
            found.append(None)
            continue
        hard = "difficult" if one.get("difficult") else "easy"
        asked = BenchQuestion(str(one["question_unique_id"]), str(one["question"]), hard)
        found.append(replace(asked, answer=options[label - 1], choices=tuple(options)))
    return record["article"], found


def _context(record: dict[str, Any]) -> tuple[str, list[BenchQuestion | None]]:
    """A line of LongBench: its text and its question, None without an answer."""
    answers = [plain(one) for one in record["answers"]]
    if not answers:
        return record["context"], [None]
    named, kind = str(record.get("_id") or record["input"]), plain(record.get("dataset"))
    return record["context"], [
        BenchQuestion(named, record["input"], kind, answer=answers[0], others=tuple(answers[1:]))
    ]


def _known(questions: list[BenchQuestion | None], named: str, log: Log) -> Iterator[BenchQuestion]:
    for number, question in enumerate(questions, 1):
        if question is None:
            log.drop("unreadable", f"{named}: question {number} has no answer")
        else:
            yield question


FORMAT = DataFormat(
    name="documents",
    description="QuALITY's or LongBench's JSON lines: `article` and `questions`, or `context` and `input`",
    detect=_detect,
    read=_read,
)
