"""One's own chats with a JSONL file of questions: where gold names a turn, and what is dropped."""

from pathlib import Path
from typing import Any

import pytest

from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.types import Dataset
from tests.transcripts.build import lines, put

ANN = lines(
    {"role": "user", "content": "The boat is called Heron."}, {"role": "assistant", "content": "A fine name."}
)
TEXT = "Bo: I keep bees.\nCy: How many hives?\nBo: Nine hives.\n"
PODS = [
    {
        "sample_id": name,
        "conversation": {
            "session_1": [{"speaker": "Di", "dia_id": "D1:1", "text": f"Hello from {name}."}],
            "session_2": [{"speaker": "Di", "dia_id": "D2:1", "text": f"Bye from {name}."}],
        },
    }
    for name in ("pod-1", "pod-2")
]


def dataset(folder: Path, *questions: Any, every: int = 1) -> Dataset:
    put(folder, "chats/ann.jsonl", ANN)
    put(folder, "chats/bo.txt", TEXT)
    put(folder, "pods.json", PODS)
    put(folder, "questions.jsonl", "".join(q if isinstance(q, str) else lines(q) for q in questions))
    return open_dataset(str(folder), every=every)


def gold(found: Dataset) -> dict[str, list[str]]:
    return {
        question.id: sorted(group.corpus.turns[place].text for place in question.gold)
        for group in found.groups()
        for question in group.questions
    }


@pytest.mark.parametrize(
    ("item", "text"),
    [
        ("chats/ann.jsonl:2", "A fine name."),
        ({"path": "chats/bo.txt", "line": 3}, "Nine hives."),
        ({"path": "./chats/../chats/bo.txt", "line": 1}, "I keep bees."),
        ({"path": "pods.json", "pointer": "/1/conversation/session_2/0"}, "Bye from pod-2."),
        ({"conversation": "pod-2", "session": "session_1", "turn": "D1:1"}, "Hello from pod-2."),
        ({"conversation": "pod-1", "turn": "D2:1"}, "Bye from pod-1."),
    ],
)
def test_gold_names_a_turn_by_id_line_or_pointer(tmp_path: Path, item: Any, text: str) -> None:
    found = dataset(tmp_path, {"id": "q", "question": "What?", "gold": [item]})
    assert (gold(found), found.dropped) == ({"q": [text]}, {})


def test_a_bare_id_is_looked_up_in_the_conversation_asked_about(tmp_path: Path) -> None:
    found = dataset(
        tmp_path,
        {"id": "one", "question": "What?", "gold": ["D1:1"], "conversation": "pod-2"},
        {"id": "all", "question": "What?", "gold": ["D1:1"]},
    )
    assert gold(found) == {"one": ["Hello from pod-2."], "all": []}
    assert found.dropped == {"ambiguous": ["all: D1:1"]}
    assert found.notes == ("1 question without a gold turn",)


def test_sessions_are_named_or_those_of_the_gold_turns(tmp_path: Path) -> None:
    found = dataset(
        tmp_path,
        {"id": "named", "question": "What?", "gold_sessions": ["session_2"], "conversation": "pod-1"},
        {"id": "taken", "question": "What?", "gold": ["D2:1"], "conversation": "pod-1"},
        {
            "id": "apart",
            "question": "What?",
            "gold_sessions": [{"conversation": "pod-2", "session": "session_1"}],
        },
        {"id": "both", "question": "What?", "gold_sessions": ["session_1", "session_9", 1.5]},
    )
    sessions = {q.id: (group, q.gold_sessions) for group in found.groups() for q in group.questions}
    assert sessions["named"][1] == sessions["taken"][1] == {1}
    group, numbers = sessions["apart"]
    inside = [t.text for t, n in zip(group.corpus.turns, group.sessions) if n in numbers]
    assert inside == ["Hello from pod-2."]
    assert sessions["both"][1] == frozenset()
    assert found.dropped == {
        "ambiguous": ["both: session session_1"],
        "absent": ["both: session session_9"],
        "malformed": ["both: session 1.5"],
    }


def test_the_haystack_is_the_folder_without_the_questions(tmp_path: Path) -> None:
    put(tmp_path, "chats/questions.jsonl", ANN)  # a transcript that happens to be called so
    found = dataset(tmp_path, {"id": 7, "question": "Which boat?", "answer": 5, "date": "8 May 2023"})
    (group,) = found.groups()
    assert {Path(turn.path).relative_to(tmp_path).as_posix() for turn in group.corpus.turns} == {
        "chats/ann.jsonl",
        "chats/bo.txt",
        "chats/questions.jsonl",
        "pods.json",
    }
    assert len(group.corpus.turns) == 2 + 3 + 2 + 4
    (question,) = group.questions
    assert (question.id, question.answer, question.date) == ("7", "5", "2023-05-08")


def test_questions_of_one_haystack_form_a_group(tmp_path: Path) -> None:
    found = dataset(
        tmp_path,
        {"id": "a", "question": "What?", "paths": ["chats/bo.txt"]},
        {"id": "b", "question": "What?", "paths": "pods.json", "conversation": "pod-1"},
        {"id": "c", "question": "What?", "paths": ["chats/bo.txt"], "category": "bees"},
        {"id": "d", "question": "What?"},
    )
    groups = {group.conversation: group for group in found.groups()}
    asked = {name: [q.id for q in group.questions] for name, group in groups.items()}
    assert asked == {"chats/bo.txt": ["a", "c"], "pods.json: pod-1": ["b"], tmp_path.name: ["d"]}
    texts = [turn.text for turn in groups["pods.json: pod-1"].corpus.turns]
    assert texts == ["Hello from pod-1.", "Bye from pod-1."]
    assert found.categories == ("", "bees")


def test_questions_never_answer_themselves(tmp_path: Path) -> None:
    line = {"id": "q", "question": "What?", "paths": [".."], "role": "user", "content": "Read as a chat."}
    (group,) = dataset(tmp_path / "mine", line).groups()
    assert "Read as a chat." not in [turn.text for turn in group.corpus.turns]
    assert len(group.corpus.turns) == 9


def test_bad_lines_are_listed_and_the_rest_kept(tmp_path: Path) -> None:
    found = dataset(
        tmp_path,
        {
            "id": "good",
            "question": "What?",
            "gold": ["nowhere", "chats/bo.txt:99", {"line": 1}, {}, {"x": 1}, {"turn": ["a"]}, True],
        },
        "{broken\n",
        "\n",
        "[1]\n",
        {"question": "No id?"},
        {"id": "x"},
        {"id": "good", "question": "Again?"},
        {"id": "y", "question": "What?", "paths": 3},
        {"id": "z", "question": "What?", "conversation": "pod-9"},
        {"id": "w", "question": "What?", "paths": ["gone.txt"]},
    )
    assert gold(found) == {"good": []}
    starts = [what.partition(": ")[2].partition(":")[0] for what in found.dropped["unreadable"]]
    assert [what.partition(":")[0] for what in found.dropped["unreadable"]] == [
        *("line 2", "line 4", "line 5", "line 6", "line 7", "line 8"),
        *("z", "w"),
    ]
    assert starts[0] == "not JSON"
    assert starts[4] == "the id 'good' is that of line 1"
    assert found.dropped["absent"] == ["good: nowhere", "good: chats/bo.txt:99"]
    assert found.dropped["ambiguous"] == ['good: {"line": 1}']
    assert found.dropped["malformed"] == ["good: {}", 'good: {"x": 1}', 'good: {"turn": ["a"]}', "good: true"]


def test_own_records_are_no_transcripts_and_a_misspelt_field_or_a_path_of_two_files_is_told(
    tmp_path: Path,
) -> None:
    put(tmp_path, "smartsearch-bench/other.json", {"rows": []})
    put(tmp_path, "20261120-134222-chats.json", {"rows": []})
    asked = [{"id": "q", "question": "What?", "golds": ["bo.txt:3"], "hops": 1}]
    asked.append({"id": "p", "question": "What?", "gold": ["bo.txt:3"]})
    assert dataset(tmp_path, *asked).dropped == {"unknown fields": ["q: golds (gold?)"]}
    put(tmp_path, "more/bo.txt", TEXT)
    assert dataset(tmp_path, asked[1]).dropped == {"ambiguous": ["p: bo.txt:3"]}


def test_paths_may_be_told_from_the_current_folder_as_batch_has_them(tmp_path: Path, monkeypatch) -> None:
    put(tmp_path, "chats/bo.txt", TEXT)
    asked = {"id": "q", "question": "What?", "gold": ["bo.txt:3"], "paths": ["chats/bo.txt"]}
    put(tmp_path, "docs/mine.jsonl", lines(asked))
    monkeypatch.chdir(tmp_path)
    assert gold(open_dataset("docs/mine.jsonl")) == {"q": ["Nine hives."]}
