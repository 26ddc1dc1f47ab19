"""Sources to files of groups: each source's question and right turn, the hold-out, and that a run repeats."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from recipe import data
from recipe.__main__ import main
from recipe.data import build, read_groups, write_groups
from recipe.sources_chat import read_chats
from recipe.sources_wiki import read_wiki
from smartsearch.bench.datasets import open_dataset
from smartsearch.training.chats import Chat, Group
from smartsearch.training.sources_written import FOLDER, read_written
from tests.training.test_written import file_of


def _chats(sources: Path) -> dict[str, Chat]:
    rng = random.Random(1)
    return {chat.source: chat for chat in (*read_chats(sources, rng), *read_wiki(sources, rng))}


@pytest.mark.parametrize(
    ("source", "question", "right"),
    [
        ("friendsqa", "What did Ada buy?", "I bought a red kite yesterday."),
        ("qmsum", "What did Design say about the remote?", "The remote must be yellow and rubber."),
        ("realmem", "User moved to Lyon in May.", "I moved to Lyon in May and I need a bakery."),
        ("lifebench", "What is the puppy of Lin Zhao called?", "The puppy is called Biscuit."),
        ("topical_chat", "Does Agent2 have any pets?", "Yes, two parrots who sing all day."),
        ("qed", "when did the bridge open", "The bridge opened in 1901."),
        ("nq_oracle", "who built the mill", "It was built by Ida Brook."),
        ("nqg", "How high is test tower 3?", "The test tower number 3 is 3 metres high."),
    ],
)
def test_each_source_gives_its_question_and_right_turn(sources: Path, source, question, right) -> None:
    chat = _chats(sources)[source]
    asked = {
        text: chat.turns[one.gold[0]].text
        for one in chat.questions
        for text in (one.question, one.answer if one.kind == "memory" else one.question)
    }
    assert asked[question] == right
    if source == "lifebench":  # whose messages name their speaker
        assert {turn.speaker for turn in chat.turns} == {"Lin Zhao", "Mei"}


def test_build_holds_whole_chats_out_and_repeats_itself(sources: Path, tmp_path: Path, monkeypatch) -> None:
    whole = (read_written(path) for path in sorted(FOLDER.glob("a[23]_*.txt")))
    some = [replace(chat, questions=chat.questions[:40]) for chat in whole]
    monkeypatch.setattr(data, "written_chats", lambda: some)
    first, second = tmp_path / "one", tmp_path / "two"
    assert build(sources, first, 7) == build(sources, second, 7)
    assert (first / "groups.jsonl").read_bytes() == (second / "groups.jsonl").read_bytes()
    groups = read_groups(first / "groups.jsonl")
    trained = {(group.source, group.chat) for group in groups}
    tried = {(group.source, group.chat) for group in read_groups(first / "trials.jsonl")}
    assert trained
    assert not trained & tried
    assert all(group.right not in group.wrong and len(group.wrong) >= 4 for group in groups)
    assert {chat for source, chat in tried if source == "written"} == {c.id for c in some if c.id[1] == "3"}


def test_overlap_counts_shared_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    group = Group("a", "k", "c", "who", "Ann: one two three four", ["five six"])
    write_groups(tmp_path / "groups.jsonl", [group])
    (tmp_path / "eval").mkdir()
    (tmp_path / "eval" / "e.json").write_text(json.dumps([{"t": "Zero one two three!"}]))
    assert main(["overlap", str(tmp_path), str(tmp_path / "eval"), "--size", "3"]) == 0
    assert json.loads(capsys.readouterr().out)["by_source"] == {"a": 1}


def test_written_conversations_are_counted_and_go_to_the_benchmark(tmp_path: Path, capsys) -> None:
    source, out = file_of(tmp_path), tmp_path / "written.json"
    assert main(["written", str(source)]) == 0
    assert "3 turns of 6 words in 2 sessions; 2 questions, 3 right turns" in capsys.readouterr().out
    assert main(["written", str(file_of(tmp_path, "1.1 Ines: Hi"))]) == 1
    assert main(["written", str(file_of(tmp_path)), "--locomo", str(out)]) == 0
    (group,) = open_dataset(str(out)).groups()
    assert [(q.text, q.category[0], sorted(q.gold)) for q in group.questions] == [
        ("What has Ines done for the bakery?", "1", [0, 2]),
        ("When did the oven come?", "2", [2]),
    ]
    assert group.corpus.turns[1].caption == "a shop with green shutters"
