"""The written conversations: their format, what is told as wrong, and that all shipped ones are right."""

from pathlib import Path

import pytest

from smartsearch.training.sources_written import read_written, written_chats

GOOD = """# kind: friends
# people: Ines, Farid
== 1 | 2022-03-04T19:12
1.1 Ines: Guess who finally signed the lease!
1.2 Farid: No way, the corner place? {photo: a shop with green shutters}
== 2 | 2022-03-19T08:40
2.1 Ines: The oven came: it fills the room.
??
list | What has Ines done for the bakery? | 1.1 2.1 | signed a lease, got an oven | ~ 1.2
time | When did the oven come? | 2.1 | 19 March 2022
"""


def file_of(folder: Path, text: str = GOOD) -> Path:
    path = folder / "a1_bakery.txt"
    path.write_text(text, encoding="utf-8")
    return path


def test_turns_and_questions_are_read(tmp_path: Path) -> None:
    chat = read_written(file_of(tmp_path))
    assert [(t.turn, t.speaker, t.session, t.time, t.text, t.caption) for t in chat.turns] == [
        ("1.1", "Ines", "1", "2022-03-04T19:12", "Guess who finally signed the lease!", ""),
        ("1.2", "Farid", "1", "2022-03-04T19:12", "No way, the corner place?", "a shop with green shutters"),
        ("2.1", "Ines", "2", "2022-03-19T08:40", "The oven came: it fills the room.", ""),
    ]
    asked = chat.questions[0]
    assert (asked.gold, asked.related, asked.kind, asked.complete) == ((0, 2), frozenset({1}), "list", True)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("2.1 Ines", "1.3 Ines", ":7: not a turn of session 2"),
        ("1.2 Farid", "1.1 Farid", ":5: turn 1.1 is there twice"),
        ("1.2 Farid", "1.2 Lina", ":5: .* does not name Lina"),
        ("2022-03-19", "2022-03-01", ":6: session 2 is before the one above"),
        ("| 2.1 |", "| 7.1 |", ":10: no turn 7.1"),
        ("time |", "when |", ":10: kind 'when' is not one of"),
        (" | 19 March 2022", "", ":10: a question needs"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        read_written(file_of(tmp_path, GOOD.replace(old, new, 1)))


def test_every_shipped_conversation_is_without_faults() -> None:
    chats = list(written_chats())
    assert len(chats) >= 20
    assert min(len(chat.questions) for chat in chats) >= 40
