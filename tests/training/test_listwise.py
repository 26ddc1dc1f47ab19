"""Questions and lists that heads are found and measured on."""

from __future__ import annotations

import pytest
import torch

from smartsearch.rank.qrranker import Reader
from smartsearch.training import listwise
from smartsearch.training.listwise import Sample
from smartsearch.types import Corpus, Turn
from tests.rank import causal_models


@pytest.fixture(autouse=True)
def _one_thread():
    torch.set_num_threads(1)


def test_recall_counts_right_turns_that_were_not_found_too():
    one = Sample("?", tuple("abcdefgh"), frozenset({1, 7}), 4)
    assert listwise.recall([one], listwise.as_found) == {"R@3": 0.25, "R@5": 0.25, "R@10": 0.5}
    none = Sample("?", ("a",), frozenset(), 1)
    assert listwise.recall([one, none], listwise.as_found)["R@10"] == 0.25


def test_a_fifth_of_the_conversations_is_held_out_of_one_alone_its_last_questions():
    corpus = Corpus((Turn("a"), Turn("b")))
    asked = [(f"q{n}", {0}) for n in range(5)]
    sides = list(listwise.apart([(corpus, [*asked, ("without gold", set())])]))
    assert [[text for text, _ in one.questions] for one in sides] == [["q0", "q1", "q2", "q3"], ["q4"]]
    assert [one.held_out for one in listwise.apart([(corpus, asked)] * 6)] == [False] * 5 + [True]


def test_a_list_longer_than_the_model_reads_ends_sooner(tmp_path):
    reader = Reader(causal_models.saved(tmp_path, max_position_embeddings=300), "tiny", 1)
    texts = ["rain and hail"] * 20
    most = reader.fitting("Where?", texts)
    assert 0 < most < 20
    assert len(reader.context("Where?", texts[:most]).ids) <= 300
    assert reader.fitting("Where?" * 100, texts) == 0
