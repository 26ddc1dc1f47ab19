"""What was typed before what only means the same, worked out on a few turns."""

from __future__ import annotations

import pytest

from smartsearch.config import Config
from smartsearch.rank.cascade import Ranking
from smartsearch.rank.truncate import Tokenizer, truncate
from smartsearch.rank.typed import PLACE, PLACE_LITERAL, typed_first
from smartsearch.types import Candidate, Corpus, Hit, Query, Scores, Term, Turn

NOTHING = Term("x", "NOUN", 2.0)


def lifted(texts, query, counts=None, mended=()):
    """The texts as `typed_first` puts them, and which of them are pinned."""
    corpus = Corpus(tuple(map(Turn, texts)))
    candidates = tuple(Candidate(index, (NOTHING,), 2.0, 1) for index in range(len(texts)))
    ranking = Ranking(candidates, (Scores(),) * len(texts), {})
    done = typed_first(ranking, query, corpus, counts or {}, mended)
    return [texts[c.index] for c in done.candidates], {texts[index] for index in done.pinned}


def literal(*terms, kind="NOUN"):
    return Query(" ".join(terms), tuple(Term(term, kind, 2.0) for term in terms), literal=True)


def test_a_literal_question_behaves_as_grep_whole_words_first():
    texts = ["Swam 30 lengths", "a sailboat", "the BOAT leaks", "boats", "no", "boat again"]
    order, pinned = lifted(texts, literal("boat"))
    assert order == ["the BOAT leaks", "boat again", "a sailboat", "boats", "Swam 30 lengths", "no"]
    assert pinned == set(order[:4])


def test_turns_that_hold_all_of_it_come_before_those_that_hold_a_part():
    order, pinned = lifted(["Mercer", "rain", "Street of Mercer", "Street"], literal("Mercer", "Street"))
    assert order == ["Street of Mercer", "Mercer", "Street", "rain"]
    assert pinned == {"Street of Mercer"}


def test_a_few_words_that_stand_somewhere_as_they_were_typed_come_first():
    query = Query("salad blue", (Term("salad", "NOUN", 2.0), Term("blue", "NOUN", 2.0)))
    order, pinned = lifted(["blue salad", "rain", "a Salad Blue cup"], query)
    assert (order[0], pinned) == ("a Salad Blue cup", {"a Salad Blue cup"})


def test_a_number_within_another_comes_after_itself():
    order, _ = lifted(["13.55 paid", "order 3.5", "3.55"], literal("3.5", kind="NUMBER"))
    assert order == ["order 3.5", "13.55 paid", "3.55"]


def test_what_an_error_of_typing_was_mended_to_counts_as_typed():
    order, pinned = lifted(
        ["rain", "the prius"], literal("prias"), mended=[Term("prius", "FUZZY", 2, source="prias")]
    )
    assert (order, pinned) == (["the prius", "rain"], {"the prius"})


@pytest.mark.parametrize(("kind", "place"), [("NOUN", PLACE), ("CODE", PLACE_LITERAL)])
def test_a_rare_word_of_another_question_lifts_its_turn_and_no_score_cuts_it(kind, place):
    texts = [f"turn {n}" for n in range(30)] + ["about zorb"]
    query = Query("what of zorb", (Term("zorb", kind, 2.0),))
    order, pinned = lifted(texts, query, {"zorb": 1})
    assert order.index("about zorb") == place - 1
    assert pinned == {"about zorb"}
    assert [text for text in order if text != "about zorb"] == texts[:-1]


def test_a_common_word_or_one_that_stands_within_another_lifts_nothing():
    texts = [f"turn {n}" for n in range(30)] + ["about zorbing"]
    query = Query("what of zorb", (Term("zorb", "NOUN", 2.0),))
    assert lifted(texts, query, {"zorb": 1}) == (texts, set())
    assert lifted([*texts, "zorb"], query, {"zorb": 400}) == ([*texts, "zorb"], set())


def test_a_pinned_turn_is_not_cut_by_its_score():
    hits = [Hit(n, Turn(str(n)), Scores(ce=ce), index=n) for n, ce in ((1, 0.9), (2, 0.001), (3, 0.001))]
    kept, _ = truncate(hits, Config(), Tokenizer("words", lambda text: len(text.split())), frozenset((3,)))
    assert [hit.index for hit in kept] == [1, 3]
