"""How sure a search is, worked out by hand."""

from __future__ import annotations

import pytest

from smartsearch.rank.confidence import UNSAID, WEAK, absent, confidence, is_weak, signals
from smartsearch.types import Query, Scores, Term

TESLA, BUY = Term("Tesla", "PROPN", 3.0), Term("buy", "VERB", 1.0)
QUERY = Query("did we buy a Tesla", (BUY, TESLA))


def test_a_term_that_no_turn_has_is_absent():
    assert absent(QUERY, {"buy": 4}) == (TESLA,)
    assert absent(QUERY, {"buy": 4, "tesla": 1}) == ()


def test_signals_are_the_best_scores_and_the_share_of_the_question_that_was_found():
    scores = [Scores(ce=0.5, colbert=9.0), Scores(ce=0.2, colbert=12.0), Scores(colbert=1.0)]
    seen = signals(QUERY, (TESLA,), scores)
    assert seen["ce"] == pytest.approx(0.0)
    assert (seen["colbert"], seen["typed"]) == (12.0, 0.25)


@pytest.mark.parametrize("query", [QUERY, Query("", ())])
def test_confidence_without_a_turn_is_low_and_never_fails(query):
    seen = signals(query, query.terms, [])
    assert confidence(seen, {"ce": 1.0, "typed": 2.0}) < 0.01


def test_confidence_is_a_logistic_over_the_signals_that_have_weights():
    assert confidence({"bias": 1.0, "ce": 2.0, "typed": 9.0}, {"bias": -1.0, "ce": 0.5}) == 0.5


def test_more_is_asked_of_an_answer_where_nobody_says_a_name_or_any_noun():
    buy, boat, tesla = Term("buy", "VERB", 1.0), Term("boat", "NOUN", 2.0), Term("Tesla", "PROPN", 4.0)
    between = (WEAK + UNSAID) / 2
    asked = Query("did we buy a boat or a Tesla", (buy, boat, tesla))
    assert not is_weak(between, asked, [buy])
    assert not is_weak(between, asked, [boat])
    assert is_weak(between, asked, [tesla])
    assert is_weak(between, Query("did we buy a boat", (buy, boat)), [boat])
    assert not is_weak(UNSAID, asked, [tesla])
    assert is_weak(WEAK - 0.01, asked, [])
