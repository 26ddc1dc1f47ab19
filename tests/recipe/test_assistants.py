"""Held-out chats with assistants as a benchmark's folder."""

from pathlib import Path

from recipe.assistants import merged, write
from smartsearch.bench.datasets import open_dataset
from smartsearch.training.chats import Chat, Labelled
from smartsearch.types import Turn


def test_exchanges_of_a_session_become_one_and_its_gold_follows(tmp_path: Path) -> None:
    said = [(s, who, f"{who} {s}{n}") for s in "ab" for n in range(3) for who in ("User", "Assistant")]
    turns = tuple(Turn(text, who, "2024-05-01", session=s) for s, who, text in said)
    chat = Chat("realmem", "ann", turns, (Labelled("Where?", (2, 0, 9), "single"), Labelled("None?", ())))
    long = merged(chat, 2)
    texts = [turn.text for turn in long.turns[:3]]
    assert texts == ["User a0\n\nUser a1", "Assistant a0\n\nAssistant a1", "User a2"]
    assert long.questions[0].gold == (0, 5)
    assert merged(chat, 1) == chat
    write(long, tmp_path)
    (group,) = open_dataset(str(tmp_path)).groups()
    assert [turn.text for turn in group.corpus.turns] == [turn.text for turn in long.turns]
    assert [(q.text, q.gold, q.category) for q in group.questions] == [("Where?", {0, 5}, "single")]
