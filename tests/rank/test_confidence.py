"""How sure a search is, worked out by hand."""

from dataclasses import replace
from math import log

import pytest

from smartsearch.rank.confidence import (
    FIRST,
    LIKELY,
    UNSAID,
    WEAK,
    absent,
    confidence,
    is_weak,
    signals,
    worth_reading,
)
from smartsearch.types import Budget, Hit, Query, Result, Scores, Term, Trace, Turn

TESLA, BUY = Term("Tesla", "PROPN", 3.0), Term("buy", "VERB", 1.0)
QUERY = Query("did we buy a Tesla", (BUY, TESLA))


def test_signals_tell_of_scores_of_the_question_and_of_the_first_hits():
    assert absent(QUERY, {"buy": 4}) == (TESLA,)
    assert absent(QUERY, {"buy": 4, "tesla": 1}) == ()
    scores = [
        Scores(ce=0.5, fused=9.0, more={"static": 1.0}),
        Scores(ce=0.2, fused=3.0, more={"static": 2.0}),
        Scores(more={"static": 3.0}),
    ]
    seen = signals(QUERY, (TESLA,), scores, ["Ann: no", "Ben: we buy teslas", "buy, buy"])
    zero, outdone = pytest.approx(0.0), pytest.approx(log(3))
    assert seen == {
        **{"bias": 1.0, "ce": zero, "typed": 0.25, "absent": 1.0, "held": 1.0, "ahead": 3.0},
        "outdone": outdone,
    }
    assert signals(QUERY, (), scores, ["no"] * FIRST + ["buy a tesla"])["held"] == 0.0


@pytest.mark.parametrize("query", [QUERY, Query("", ())])
def test_confidence_without_a_turn_is_low_and_never_fails(query):
    seen = signals(query, query.terms, [], [])
    assert confidence(seen, {"ce": 1.0, "typed": 2.0}) < 0.01
    assert confidence({"bias": 1.0, "ce": 2.0, "typed": 9.0}, {"bias": -1.0, "ce": 0.5}) == 0.5


BETWEEN = (WEAK + UNSAID) / 2


def test_more_is_asked_of_an_answer_where_nobody_says_a_name_or_any_noun():
    boat, tesla = Term("boat", "NOUN", 2.0), Term("tesla", "PROPN", 4.0)
    asked = Query("did we buy a boat or a tesla", (BUY, boat, tesla))
    assert not is_weak(BETWEEN, asked, [BUY])
    assert not is_weak(BETWEEN, asked, [boat])
    assert is_weak(BETWEEN, asked, [tesla])
    assert is_weak(BETWEEN, Query("did we buy a boat", (BUY, boat)), [boat])
    assert not is_weak(UNSAID, asked, [tesla])
    assert is_weak(WEAK - 0.01, asked, [])


@pytest.mark.parametrize("kind", ["CODE", "NUMBER", "PHRASE"])
@pytest.mark.parametrize("sure", [None, 1.0])
def test_what_has_to_stand_as_it_is_and_is_nowhere_makes_any_answer_weak(kind, sure):
    code = Term("ERR_9", kind, 3.0)
    asked = Query("what does ERR_9 mean", (code,))
    assert is_weak(sure, asked, [code])
    assert is_weak(sure, asked, [code], near={"ERR_9"})
    assert not is_weak(sure, asked, [])


def test_a_name_is_nowhere_unless_something_near_stands_for_it_or_it_only_begins_the_question():
    assert is_weak(1.0, QUERY, [TESLA])
    assert not is_weak(1.0, QUERY, [TESLA], near={"Tesla"})
    assert not is_weak(1.0, Query("Tesla was bought when", (TESLA,)), [TESLA])
    assert not is_weak(None, Query("did we buy a tesla", (Term("tesla", "PROPN", 3.0),)), [])


def test_a_literal_question_is_answered_by_whoever_says_it():
    word = Term("kitchen", "NOUN", 2.0)
    asked = Query("kitchen", (word,), literal=True)
    assert not is_weak(0.0, asked, [])
    assert not is_weak(0.0, asked, [word], near={"kitchen"})
    assert is_weak(1.0, asked, [word])


def test_a_prompt_is_not_padded_with_turns_of_a_weak_answer_that_are_not_likely():
    hits = tuple(Hit(n, Turn("x"), Scores(ce=ce)) for n, ce in enumerate((0.001, LIKELY, 0.001, None), 1))
    answer = Result("q", "embedded", hits, Budget("none", 0, 0, 0.0, 0.0, 0), Trace(), 1)
    assert worth_reading(answer) == [0, 1, 2, 3]
    assert worth_reading(replace(answer, weak=True)) == [0, 1]
