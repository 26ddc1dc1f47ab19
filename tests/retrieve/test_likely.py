"""Which candidates the rankers read, where there are too many."""

from smartsearch.retrieve.likely import AFTER, BEFORE, likelihood, rarity
from smartsearch.types import Candidate, Corpus, Term, Turn

NAME, WORD = Term("Zoe", "PROPN", 1.0), Term("ferret", "NOUN", 0.5)
COUNTS = {"zoe": 50, "ferret": 2}


def corpus(count=100, session=lambda n: "one"):
    return Corpus(tuple(Turn(f"turn {n}", session=session(n)) for n in range(count)))


def candidate(index, *terms):
    return Candidate(index, terms, sum(t.weight for t in terms), 1)


def chosen(candidates, most, of=None):
    return list(likelihood(candidates, of or corpus(), COUNTS))[:most]


def test_a_rare_word_counts_more_than_a_heavy_one_that_is_everywhere():
    assert WORD.weight * rarity(100, 2) > NAME.weight * rarity(100, 50)
    assert chosen([candidate(5, NAME), candidate(9, WORD)], 1) == [9]


def test_the_order_given_settles_ties():
    some = [candidate(30, NAME), candidate(10, WORD), candidate(20, NAME), candidate(40, NAME)]
    assert chosen(some, 9) == [10, 30, 20, 40]


def test_neighbours_in_the_session_lend_weight():
    alone, between = candidate(50, NAME), [candidate(n, NAME) for n in (10, 11, 12)]
    assert chosen([alone, *between], 1) == [11]
    assert BEFORE > AFTER
    assert chosen([candidate(11, NAME), candidate(12, NAME)], 1) == [12]


def test_a_turn_of_another_session_lends_none():
    parted = corpus(session=lambda n: "one" if n < 11 else "two")
    some = [candidate(10, NAME), candidate(11, NAME), candidate(20, NAME), candidate(21, NAME)]
    assert chosen(some, 2, parted) == [21, 20]


def test_a_turn_without_terms_weighs_what_its_neighbours_lend():
    nearest = [candidate(70), candidate(13), candidate(12, NAME)]
    assert chosen(nearest, 2) == [12, 13]
