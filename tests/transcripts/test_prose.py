"""Prose: the last resort, and said so."""

from __future__ import annotations

from pathlib import Path

from tests.transcripts.build import corpus


def test_a_paragraph_is_a_turn_and_the_user_is_told(tmp_path: Path) -> None:
    read = corpus(tmp_path, "notes.txt", "One\nstill one.\n\n\n  \nTwo.\n")
    assert [(turn.text, turn.line, turn.speaker) for turn in read.turns] == [
        ("One\nstill one.", 1, ""),
        ("Two.", 6, ""),
    ]
    assert read.warnings == (
        f"{tmp_path / 'notes.txt'}: no chat format recognised, read as prose, a paragraph a turn",
    )
