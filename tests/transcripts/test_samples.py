"""Our sample transcripts read cleanly, and the questions about them point at turns that exist."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from smartsearch.types import Turn

SAMPLES = Path(__file__).parents[2] / "docs" / "samples"
QUESTIONS = [
    json.loads(line) for line in (SAMPLES.parent / "questions.jsonl").read_text(encoding="utf-8").splitlines()
]


def turns(name: str) -> dict[str, Turn]:
    """The turns of a sample by the id that a question's gold gives: the source's own, else the line."""
    read_back = read([str(SAMPLES / name)])
    assert (read_back.skipped, read_back.warnings) == ((), ())
    return {f"{name}:{turn.turn or turn.line}": turn for turn in read_back.turns}


@pytest.mark.parametrize(
    ("name", "count", "speakers", "sessions"),
    [
        ("harbour-street.md", 78, {"Maya", "Jonas", "Ines", "Tarik"}, 5),
        ("accordion-advice.jsonl", 24, {"Leonie", "assistant"}, 1),
        ("mill-and-stars.json", 68, {"Nadia", "Oskar"}, 5),
    ],
)
def test_a_sample_reads_cleanly(name: str, count: int, speakers: set[str], sessions: int) -> None:
    found = turns(name).values()
    assert len(found) == count
    assert {turn.speaker for turn in found} == speakers
    assert len({turn.session for turn in found}) == sessions
    assert all(turn.time for turn in found)


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_the_gold_of_a_question_exists(question: dict[str, Any]) -> None:
    (path,) = question["paths"]
    gold = set(question["gold"])
    assert gold <= turns(Path(path).name).keys()
    assert question["hops"] in (1, 2)


def test_ids_are_unique_and_both_kinds_of_question_are_there() -> None:
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    assert {question["hops"] for question in QUESTIONS} == {1, 2}
