"""LoCoMo, LongMemEval and BEAM as questions with gold, their drops, and how a dataset is opened."""

import hashlib
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.types import BenchQuestion, Dataset
from smartsearch.errors import InputError, UsageError
from tests.transcripts.build import put

SAMPLE = {
    "sample_id": "conv-7",
    "conversation": {
        "speaker_a": "Ines",
        "speaker_b": "Tom",
        "session_1_date_time": "9:05 am on 2 March, 2022",
        "session_1": [
            {"speaker": "Ines", "dia_id": "D1:1", "text": "The kiln arrived."},
            {"speaker": "Tom", "dia_id": "D1:2", "text": "Finally! Where will it stand?"},
        ],
        "session_2": [
            {"speaker": "Ines", "dia_id": "D2:1", "text": "In the shed."},
            {"speaker": "Tom", "dia_id": "D2:5", "text": "Mind the roof."},
        ],
    },
    "qa": [
        {"question": "What arrived?", "answer": "a kiln", "evidence": ["D1:1"], "category": 4},
        {"question": "Who hates kilns?", "adversarial_answer": "Tom", "evidence": [], "category": 5},
        {"question": "When and where?", "answer": 2022, "evidence": ["D1:1; D:2:01", "D2:05"], "category": 1},
        {"question": "Why?", "answer": "art", "evidence": ["D", "D9:9", None], "category": 3},
        {"question": "", "evidence": [], "category": 4},
        {"question": "Odd?", "evidence": [], "category": [4]},
    ],
}


def asked(dataset: Dataset) -> dict[str, BenchQuestion]:
    return {question.id: question for group in dataset.groups() for question in group.questions}


def gold_texts(dataset: Dataset, identity: str) -> set[str]:
    for group in dataset.groups():
        for question in group.questions:
            if question.id == identity:
                return {group.corpus.turns[place].text for place in question.gold}
    raise AssertionError(identity)


def test_locomo_questions_keep_place_category_and_cleaned_gold(tmp_path: Path) -> None:
    dataset = open_dataset(str(put(tmp_path, "locomo.json", [SAMPLE])))
    assert (dataset.format, dataset.name, dataset.questions) == ("locomo", "locomo", 3)
    assert dataset.categories == ("1 multi-hop", "3 open-domain", "4 single-hop")
    questions = asked(dataset)
    assert list(questions) == ["conv-7/0", "conv-7/2", "conv-7/3"]
    assert questions["conv-7/2"] == BenchQuestion(
        id="conv-7/2",
        text="When and where?",
        category="1 multi-hop",
        gold=frozenset({0, 2, 3}),
        gold_sessions=frozenset({0, 1}),
        answer="2022",
    )
    assert gold_texts(dataset, "conv-7/0") == {"The kiln arrived."}


def test_locomo_lists_what_it_drops_and_counts_the_adversarial(tmp_path: Path) -> None:
    dataset = open_dataset(str(put(tmp_path, "locomo.json", [SAMPLE])))
    assert dataset.dropped == {
        "malformed": ["conv-7/3: D", "conv-7/3: "],
        "absent": ["conv-7/3: D9:9"],
        "unreadable": ["conv-7/4: no question", "conv-7/5: category [4]"],
    }
    assert dataset.notes == (
        "1 question left out: category 5 (adversarial)",
        "1 question without a gold turn",
    )


def test_locomo_ambiguous_turns_and_samples_are_not_guessed(tmp_path: Path) -> None:
    sample = deepcopy(SAMPLE)
    sample["conversation"]["session_2"][0]["dia_id"] = "D1:1"
    dataset = open_dataset(str(put(tmp_path, "a.json", [sample])))
    assert dataset.dropped["ambiguous"] == ["conv-7/0: D1:1", "conv-7/2: D1:1"]
    samples = [SAMPLE, SAMPLE, {**SAMPLE, "sample_id": "x", "qa": 3}]
    twice = open_dataset(str(put(tmp_path, "b.json", samples)))
    assert twice.questions == 3
    assert [what.partition(":")[0] for what in twice.dropped["unreadable"][-2:]] == ["conv-7", "x"]


def haystack(identity: str, **more: Any) -> dict[str, Any]:
    return {
        "question_id": identity,
        "question_type": "multi-session",
        "question": "Which bread did I bake?",
        "answer": "rye",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1", "answer_1"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/21 (Sun) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": "  "}],
            [
                {"role": "user", "content": "I baked rye.", "has_answer": True},
                {"role": "assistant", "content": "Well done.", "has_answer": False},
            ],
        ],
        "answer_session_ids": ["answer_1"],
        **more,
    }


def test_longmemeval_gold_is_has_answer_and_the_named_sessions_and_abstention_has_none(
    tmp_path: Path,
) -> None:
    dataset = open_dataset(str(put(tmp_path, "lme.json", [haystack("q1"), haystack("q2_abs")])))
    assert (dataset.format, dataset.questions, dataset.dropped) == ("longmemeval", 2, {})
    abstained = asked(dataset)["q2_abs"]
    assert (abstained.abstention, abstained.category) == (True, "multi-session")
    assert abstained.gold == abstained.gold_sessions == frozenset()
    assert dataset.notes[0].startswith("1 abstention question: ids ending in _abs")
    assert asked(dataset)["q1"] == BenchQuestion(
        id="q1",
        text="Which bread did I bake?",
        category="multi-session",
        gold=frozenset({1}),  # the empty turn is none
        gold_sessions=frozenset({1}),
        answer="rye",
        date="2023-05-30T23:40:00",
    )
    assert gold_texts(dataset, "q1") == {"I baked rye."}


def test_longmemeval_drops_are_named(tmp_path: Path) -> None:
    empty = haystack("q3")
    empty["haystack_sessions"][0][1]["has_answer"] = True
    items = [
        haystack("q1", answer_session_ids=["gone"]),
        haystack("q1"),
        haystack("q2", question=None),
        empty,
        4,
    ]
    dataset = open_dataset(str(put(tmp_path, "lme.json", items)))
    assert list(asked(dataset)) == ["q1", "q3"]
    assert dataset.dropped["absent"] == ["q1: session gone", "q3: turn 2 of session 1 has no text"]
    assert [what.partition(":")[0] for what in dataset.dropped["unreadable"]] == ["q1", "q2", "lme-4"]
    whole = json.dumps([haystack("q1"), haystack("q2"), haystack("q3")])
    cut_off = open_dataset(str(put(tmp_path, "lme.json", whole[:-300])))
    assert list(asked(cut_off)) == ["q1", "q2"]
    assert cut_off.dropped["unreadable"][0].startswith("after 2 questions the JSON breaks off")


def beam(folder: Path, chat: str, asked: Any, name: str = "chat.json", first: int = 10) -> None:
    turns = [
        {"role": "user", "id": first, "content": "My savings goal is 900. ->-> 1,1"},
        {"role": "assistant", "id": first + 1, "content": "Noted."},
    ]
    later = [{"role": "user", "id": first + 2, "content": "Make it 1200."}]
    batches = [{"batch_number": 1, "turns": [turns]}, {"batch_number": 2, "turns": [later]}]
    put(folder, f"{chat}/{name}", batches)
    put(folder, f"{chat}/probing_questions/probing_questions.json", asked)


def test_beam_gold_is_flattened_and_abstention_has_none(tmp_path: Path) -> None:
    questions = {
        "abstention": [{"question": "Why?", "ideal_response": "Not said.", "source_chat_ids": [10]}],
        "knowledge_update": [
            {
                "question": "What is my goal?",
                "answer": "1200",
                "source_chat_ids": {"original_info": [[10]], "updated_info": [12, 12]},
            }
        ],
        "summarization": [{"question": "Sum up.", "ideal_summary": "Goals.", "source_chat_ids": []}],
    }
    beam(tmp_path, "3", questions)
    dataset = open_dataset(str(tmp_path))
    assert (dataset.format, dataset.questions, dataset.dropped) == ("beam", 3, {})
    found = asked(dataset)
    assert list(found) == ["3/abstention/0", "3/knowledge_update/0", "3/summarization/0"]
    assert found["3/abstention/0"].abstention
    assert not found["3/abstention/0"].gold
    update = found["3/knowledge_update/0"]
    assert (update.gold, update.gold_sessions, update.answer) == ({0, 2}, {0, 1}, "1200")
    assert found["3/summarization/0"].answer == "Goals."
    assert dataset.categories == ("abstention", "knowledge_update", "summarization")
    assert dataset.notes == (
        "1 abstention question: no gold, left out of recall",
        "1 question without a gold turn",
    )


def test_beam_takes_the_truncated_chat_and_orders_chats_by_number(tmp_path: Path) -> None:
    questions = {"temporal_reasoning": [{"question": "When?", "source_chat_ids": [20, 10]}]}
    for chat in ("10", "9"):
        beam(tmp_path, chat, questions)
    beam(tmp_path, "10", questions, "chat_trunecated.json", first=20)
    put(tmp_path, "11/chat.json", [])  # about which nothing is asked
    dataset = open_dataset(str(tmp_path))
    assert [group.conversation for group in dataset.groups()] == ["9", "10"]
    assert dataset.dropped["absent"] == ["9/temporal_reasoning/0: 20", "10/temporal_reasoning/0: 10"]
    assert open_dataset(str(tmp_path / "10")).dropped["absent"] == ["10/temporal_reasoning/0: 10"]


def test_beam_odd_records_are_survived_and_counted(tmp_path: Path) -> None:
    record = {"question": "Which?", "source_chat_ids": "[[10], ['11']]"}
    questions = {
        "a": str([record]),
        "b": "not a list",
        "c": [str(record), "plain text", {"question": 3}],
        "d": [{"question": "Odd ids?", "source_chat_ids": [True, 1.5, None, "later", 12]}],
    }
    beam(tmp_path, "1", str(questions))
    dataset = open_dataset(str(tmp_path))
    gold = {key: question.gold for key, question in asked(dataset).items()}
    assert gold == {"1/a/0": {0, 1}, "1/c/0": {0, 1}, "1/d/0": {2}}
    assert dataset.dropped == {
        "unreadable": ["1/b: str, not a list of questions", "1/c/1: no question", "1/c/2: no question"],
        "malformed": ["1/d/0: true", "1/d/0: 1.5"],
        "absent": ["1/d/0: later"],
    }


def many(tmp_path: Path) -> Path:
    """Three samples with 3, 1 and 3 questions."""
    qa = SAMPLE["qa"][:1]
    samples = [{**SAMPLE, "sample_id": name, "qa": qa * n} for name, n in (("a", 3), ("b", 1), ("c", 3))]
    return put(tmp_path, "many.json", samples)


def test_every_nth_question_is_taken_across_groups(tmp_path: Path) -> None:
    dataset = open_dataset(str(many(tmp_path)), every=4)  # places 0 and 4 of 7
    assert dataset.questions == 2
    groups = [(group.conversation, [q.id for q in group.questions]) for group in dataset.groups()]
    assert groups == [("a", ["a/0"]), ("c", ["c/0"])]
    assert dataset.notes == ("every 4th question: 2 of 7",)
    assert asked(dataset) == asked(dataset)  # groups reads again
    for wrong, said in ({"every": 0}, "every 0"), ({"format": "squad"}, "squad"):
        with pytest.raises(UsageError, match=said):
            open_dataset(str(many(tmp_path)), **wrong)


def test_hash_is_of_the_bytes_and_of_all_files_used(tmp_path: Path) -> None:
    path = many(tmp_path)
    assert open_dataset(str(path)).sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    questions = {"a": [{"question": "Which?", "source_chat_ids": [10]}]}
    beam(tmp_path / "beam", "1", questions)
    before = open_dataset(str(tmp_path / "beam")).sha256
    beam(tmp_path / "moved", "1", questions)
    put(tmp_path / "moved", "1/topic.json", {"unused": True})
    assert open_dataset(str(tmp_path / "moved")).sha256 == before
    beam(tmp_path / "beam", "1", questions, first=11)
    assert open_dataset(str(tmp_path / "beam")).sha256 != before


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.json", "no json here", "is not JSON"),
        ("a.json", "", "is not JSON"),
        ("a.json", {"apples": 1, "pears": 2}, "whose first record has apples, pears"),
        ("a.json", [], "an empty list"),
        ("a.json", [3], "a int"),
        ("a.json", [{"conversation": SAMPLE["conversation"]}], "whose first record has conversation"),
        ("folder/readme.md", "hello", "a folder with readme.md"),
        ("a.json", [{**SAMPLE, "qa": []}], "no question could be read as locomo"),
        ("a.json", [{**SAMPLE, "qa": [{"question": 1}]}], "unreadable: conv-7/0: no question"),
    ],
)
def test_what_is_no_dataset_is_said(tmp_path: Path, name: str, content: Any, said: str) -> None:
    path = put(tmp_path, name, content)
    with pytest.raises(InputError) as caught:
        open_dataset(str(tmp_path / "folder" if path.parent != tmp_path else path))
    assert said in caught.value.message
    assert caught.value.kind == "dataset"


@pytest.mark.parametrize("name", ["locomo", "longmemeval", "beam", "folder"])
@pytest.mark.parametrize("as_folder", [False, True])
def test_a_forced_format_that_does_not_fit_is_an_error(tmp_path: Path, name: str, as_folder: bool) -> None:
    path = put(tmp_path, "a.json", {"apples": 1})
    with pytest.raises(InputError) as caught:
        open_dataset(str(path.parent if as_folder else path), format=name)
    assert caught.value.kind == "dataset"
