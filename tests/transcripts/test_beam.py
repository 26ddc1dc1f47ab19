"""BEAM's structure: batches of groups of turns."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.types import Turn
from tests.transcripts.build import corpus

CHAT = [
    {
        "batch_number": 1,
        "time_anchor": None,
        "turns": [
            [
                {
                    "role": "user",
                    "id": 0,
                    "time_anchor": "March-15-2024",
                    "content": "Plan my move. ->-> 1,1",
                },
                {"role": "assistant", "id": 1, "content": "Gladly."},
            ],
            [{"role": "user", "id": 2, "content": "Thanks"}],
        ],
    }
]


def test_turns_keep_batch_id_and_anchor_and_lose_the_marker(tmp_path: Path) -> None:
    first, second, third = corpus(tmp_path, "7/chat.json", CHAT).turns
    assert first == Turn(
        text="Plan my move.",
        speaker="user",
        time="2024-03-15",
        role="user",
        path=str(tmp_path / "7/chat.json"),
        pointer="/0/turns/0/0",
        conversation="7",
        session="1",
        turn="0",
    )
    assert (second.time, third.time, third.pointer) == ("2024-03-15", "2024-03-15", "/0/turns/1/0")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("a ->-> 2,N/A", "a"),
        ("a ->-> 1,5)", "a"),
        ("a ->-> b is an arrow; " + "c" * 60, "a ->-> b is an arrow; " + "c" * 60),
        ("->-> 1,1", "->-> 1,1"),
    ],
)
def test_only_a_trailing_marker_goes(tmp_path: Path, content: str, text: str) -> None:
    chat = [{"batch_number": 1, "turns": [[{"role": "user", "id": 0, "content": content}]]}]
    assert corpus(tmp_path, "chat.json", chat).turns[0].text == text


def test_what_does_not_fit_is_reported(tmp_path: Path) -> None:
    broken = [
        *CHAT,
        {"batch_number": 2, "turns": ["gone", [{"id": 9}], [{"content": " "}]]},
        {"batch_number": 3},
    ]
    read = corpus(tmp_path, "other.json", broken)
    assert [turn.conversation for turn in read.turns] == ["other"] * 3
    assert [s.reason.partition(":")[0] for s in read.skipped] == ["at /1/turns/0", "at /1/turns/1/0", "at /2"]
    assert read.warnings[0].endswith("1 turn without text left out")
