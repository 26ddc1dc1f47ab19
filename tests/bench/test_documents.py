"""QuALITY's and LongBench's files: paragraphs, answers and choices. The samples are ours, in their form."""

import json
from pathlib import Path

import pytest

from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.overlap import best
from smartsearch.bench.types import BenchQuestion
from tests.transcripts.build import put

OPTIONS = ["In the mill", "On the quay", "At school", "Nowhere"]
QUALITY = {
    "article_id": "7",
    "article": "The Ferry\n\nOda waited on the quay.\n  The ferry was late. \n",
    "questions": [
        {"question": "Where did Oda wait?", "question_unique_id": "7_1", "options": OPTIONS}
        | {"gold_label": 2, "difficult": 1},
        {"question": "Who is late?", "question_unique_id": "7_2", "options": OPTIONS},
    ],
}
LONGBENCH = {
    "input": "Which town has the older bridge?",
    "context": "Passage 1:\nArl\nIts bridge is of 1204.\n\nPassage 2:\nBeck\nIts bridge is of 1877.",
    "answers": ["Arl", "the town of Arl"],
    **{"dataset": "hotpotqa", "length": 20, "language": "en", "all_classes": None, "_id": "a1"},
}


def opened(folder: Path, *records: object):
    path = put(folder, "data.jsonl", "\n".join(r if isinstance(r, str) else json.dumps(r) for r in records))
    data = open_dataset(str(path))
    return data, list(data.groups())


def test_quality_has_choices_and_paragraphs_as_turns(tmp_path: Path):
    data, [group, second] = opened(tmp_path, QUALITY, "", {**QUALITY, "article": "One."}, "{broken")
    assert (data.format, data.with_gold) == ("documents", 0)
    paragraphs = ["The Ferry", "Oda waited on the quay.", "The ferry was late."]
    assert [turn.text for turn in group.corpus.turns] == paragraphs
    [one] = group.questions
    assert (one.id, one.category, one.answer, one.choices) == ("7_1", "difficult", OPTIONS[1], tuple(OPTIONS))
    assert one.asked.splitlines()[0] == one.text
    assert one.asked.splitlines()[-1] == "D. Nowhere"
    assert second.corpus.turns[0].line == 3
    assert len(data.dropped["unreadable"]) == 3  # a question without a label, twice, and a line


def test_longbench_has_several_right_answers(tmp_path: Path):
    data, [group] = opened(tmp_path, LONGBENCH, {**LONGBENCH, "answers": []}, {**LONGBENCH, "context": " "})
    [one] = group.questions
    assert (one.id, one.category, one.answer, one.others) == ("a1", "hotpotqa", "Arl", ("the town of Arl",))
    assert one.asked == one.text == LONGBENCH["input"]
    assert best("The town of Arl.", (one.answer, *one.others))["exact"] == 1.0
    assert len(data.dropped["unreadable"]) == 2


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        *(("B", 1), ("b)", 1), ("(B) On the quay", 1), ("B. In the mill", 1), ("She waited on the quay.", 1)),
        *(("A mill is in the mill", 0), ("E", None), ("in the mill or at school", None), ("", None)),
    ],
)
def test_a_choice_is_named_by_its_letter_or_else_by_its_words(answer: str, place: int | None):
    question = BenchQuestion("q", "Where?", answer=OPTIONS[1], choices=tuple(OPTIONS))
    assert question.chosen(answer) == ("" if place is None else OPTIONS[place])
