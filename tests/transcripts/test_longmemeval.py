"""LongMemEval's structure: haystacks of dated sessions."""

from __future__ import annotations

from pathlib import Path

from smartsearch.types import Turn
from tests.transcripts.build import corpus

ITEM = {
    "question_id": "q1",
    "question": "What is the cat called?",
    "haystack_session_ids": ["s_a", "s_b"],
    "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
    "haystack_sessions": [
        [{"role": "user", "content": "My cat is called Plum.", "has_answer": True}],
        [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello!"}],
    ],
}


def test_turns_keep_question_session_number_and_date(tmp_path: Path) -> None:
    read = corpus(tmp_path, "lme.json", [ITEM])
    assert [turn.text for turn in read.turns] == ["My cat is called Plum.", "Hi", "Hello!"]
    assert read.turns[2] == Turn(
        text="Hello!",
        speaker="assistant",
        time="2023-05-21T10:00:00",
        role="assistant",
        path=str(tmp_path / "lme.json"),
        pointer="/0/haystack_sessions/1/1",
        conversation="q1",
        session="s_b",
        turn="2",
    )


def test_missing_ids_and_dates_are_survived(tmp_path: Path) -> None:
    item = {"haystack_sessions": ITEM["haystack_sessions"], "haystack_dates": None}
    turn = corpus(tmp_path, "lme.json", [item]).turns[0]
    assert (turn.conversation, turn.session, turn.time) == ("lme-0", "1", "")


def test_what_does_not_fit_is_reported(tmp_path: Path) -> None:
    bad = {"question_id": "q2", "haystack_sessions": ["gone", [{"role": "user"}], [{"content": ""}], []]}
    read = corpus(tmp_path, "lme.json", [ITEM, bad, 3])
    assert len(read.turns) == 3
    assert [s.reason.partition(":")[0] for s in read.skipped] == [
        "at /1/haystack_sessions/0",
        "at /1/haystack_sessions/1/0",
        "at /2",
    ]
    assert read.warnings[0].endswith("1 turn without text left out")
