"""Questions and lists that heads are found and measured on."""

from unittest.mock import Mock

import pytest
import torch

from smartsearch.config import Config
from smartsearch.rank.qrranker import Reader
from smartsearch.training import listwise
from smartsearch.training.listwise import Sample
from smartsearch.types import Corpus, Turn
from tests.cli.fakes import fake_tools
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


def test_the_score_of_a_head_is_what_it_sends_to_the_right_texts_alone():
    """Two samples: what heads send to texts by hand, those that are wrong far more."""
    sent = iter([torch.tensor([[0.2, 9.0], [0.1, 9.0]]), torch.tensor([[5.0, 0.4], [5.0, 0.7]])])
    reader = Mock(layers=1, width=2, masses=lambda *_: next(sent))
    samples = [Sample("?", ("a", "b"), frozenset({right}), 1) for right in (0, 1)]
    found = listwise.detect(reader, samples, 2, lambda: None)
    assert list(found) == [(0, 1), (0, 0)]
    assert list(found.values()) == pytest.approx([0.4, 0.3])


def test_samples_have_notes_of_the_episodes_where_the_settings_want_them(tmp_path):
    reader = Reader(causal_models.saved(tmp_path), "tiny", 1)
    times = [f"2024-01-0{n + 1}" for n in range(3)]
    turns = tuple(Turn(f"the canoe {n}", session=f"s{n}", path="p", time=t) for n, t in enumerate(times))
    asked = [
        listwise.Asked(Corpus(turns), (("Where is the canoe?", frozenset({1})),), out)
        for out in (False, True)
    ]
    for memory in (False, True):
        config = Config(qr_memory=memory)
        learned, _ = listwise.samples(asked, config, fake_tools(config), reader, 1, 13, lambda: None)
        assert len(learned[0].notes) == 3 * memory
