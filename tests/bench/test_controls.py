"""The negative controls by hand: lemmas of questions, MMR."""

import numpy as np
import pytest

from smartsearch.bench.controls import mmr, with_lemmas
from smartsearch.types import Query, Term
from tests.conftest import haystack


def expanded(query, hay):
    return [(t.text, t.kind, t.weight) for t in with_lemmas(Query("?", query), hay).terms]


def test_a_term_gains_the_words_of_its_lemma():
    hay = haystack("Mara: the children ran and swam", "Ilya: she runs", "Ilya: a running child")
    assert expanded((Term("ran", "VERB", 1.0), Term("child", "NOUN", 2.0)), hay) == [
        ("ran", "VERB", 1.0),
        ("runs", "VERB", 1.0),
        ("running", "VERB", 1.0),
        ("child", "NOUN", 2.0),
    ]
    known = (Term("ran", "VERB", 1.0), Term("runs", "NOUN", 2.0), Term("ran far", "ENT", 3.0))
    hay = haystack("Mara: she runs", "Ilya: they ran")
    assert [text for text, _, _ in expanded(known, hay)] == ["ran", "runs", "ran far"]


# Turns 0 and 1 say the same; 2 stands at right angles to them; 3 is the opposite of 0.
VECTORS = np.array([[1, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32)


def order(*places):
    return np.array(places, dtype=np.int64)


def test_equal_relevance_and_no_turns():
    assert mmr(order(0, 1, 2), np.ones(3), VECTORS).tolist() == [0, 2, 1]
    assert mmr(order(), np.zeros(0), VECTORS).tolist() == []


@pytest.mark.parametrize("trade_off", [0.0, 0.3, 0.7, 1.0])
def test_against_the_definition_one_turn_at_a_time(trade_off):
    random = np.random.default_rng(7)
    vectors = random.normal(size=(60, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    given, relevance = random.permutation(60), np.sort(random.random(60))[::-1]
    scaled = (relevance[:40] - relevance[39]) / (relevance[0] - relevance[39])
    left, taken = list(range(40)), []
    while left:

        def value(i):
            near = max((float(vectors[given[i]] @ vectors[given[j]]) for j in taken), default=0.0)
            return trade_off * scaled[i] - (1 - trade_off) * near

        best = max(left, key=lambda i: (value(i), -i))
        taken.append(best)
        left.remove(best)
    expected = [int(given[i]) for i in taken] + given[40:].tolist()
    assert mmr(given, relevance, vectors, trade_off=trade_off, depth=40).tolist() == expected
