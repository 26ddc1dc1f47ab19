"""The written conversations: their format, what is reported as wrong, and that all shipped ones are right."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from smartsearch.bench.datasets import open_dataset
from smartsearch.training.sources_written import FOLDER, as_sample, main, read_written

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


def written(tmp_path: Path, text: str):
    path = tmp_path / "a1_bakery.txt"
    path.write_text(text, encoding="utf-8")
    return read_written(path)


def test_turns_and_questions_are_read(tmp_path: Path) -> None:
    found = written(tmp_path, GOOD)
    assert found.problems == ()
    chat = found.chat
    assert [(t.turn, t.speaker, t.session, t.time) for t in chat.turns] == [
        ("1.1", "Ines", "1", "2022-03-04T19:12"),
        ("1.2", "Farid", "1", "2022-03-04T19:12"),
        ("2.1", "Ines", "2", "2022-03-19T08:40"),
    ]
    assert (chat.turns[1].text, chat.turns[1].caption) == (
        "No way, the corner place?",
        "a shop with green shutters",
    )
    assert chat.turns[2].text == "The oven came: it fills the room."
    asked = chat.questions[0]
    assert (asked.gold, asked.related, asked.kind, asked.complete) == ((0, 2), frozenset({1}), "list", True)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("2.1 Ines", "1.3 Ines", "not a turn of session 2"),
        ("1.2 Farid", "1.1 Farid", "turn 1.1 is there twice"),
        ("1.2 Farid", "1.2 Lina", "must name every speaker"),
        ("2022-03-19", "2022-03-01", "before the one above"),
        ("| 2.1 |", "| 7.1 |", "no turn 7.1"),
        ("time |", "when |", "kind 'when' is not one of"),
        (" | 19 March 2022", "", "a question needs"),
    ],
)
def test_what_is_wrong_is_told_and_costs_only_itself(
    tmp_path: Path, old: str, new: str, problem: str
) -> None:
    found = written(tmp_path, GOOD.replace(old, new, 1))
    assert any(problem in one for one in found.problems)
    assert found.chat.turns


def test_every_shipped_conversation_is_without_problems() -> None:
    files = sorted(FOLDER.glob("*.txt"))
    assert len(files) >= 20
    for path in files:
        found = read_written(path)
        assert found.problems == (), path.name
        assert len(found.chat.questions) >= 40, path.name


def test_the_benchmark_reads_them(tmp_path: Path) -> None:
    source = tmp_path / "a1_bakery.txt"
    source.write_text(GOOD, encoding="utf-8")
    out = tmp_path / "written.json"
    assert main([str(source), "--locomo", str(out)]) == 0
    assert json.loads(out.read_text())[0] == as_sample(read_written(source).chat)
    (group,) = open_dataset(str(out)).groups()
    assert [(q.text, q.category[0], sorted(q.gold)) for q in group.questions] == [
        ("What has Ines done for the bakery?", "1", [0, 2]),
        ("When did the oven come?", "2", [2]),
    ]
    assert group.corpus.turns[1].caption == "a shop with green shutters"
