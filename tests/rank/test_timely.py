"""The last and the first of something."""

from __future__ import annotations

import pytest

from smartsearch.rank.cascade import Ranking
from smartsearch.rank.timely import by_time
from smartsearch.types import Candidate, Corpus, Query, Scores, Term, Turn

TURNS = (
    Turn("the boat leaks", "Gran", "2024-03-01"),
    Turn("a new boat", "Ann", "2024-05-01"),
    Turn("rain", "Gran", "2024-04-01"),
    Turn("boat sold", "Ann", "2024-01-01"),
)
BOAT, GRAN, MESSAGE = Term("boat", "NOUN", 2.0), Term("Gran", "PROPN", 4.0), Term("message", "NOUN", 2.0)


def ordered(question: str, *terms: Term) -> list[int]:
    candidates = tuple(Candidate(index, (), 0.0, 1) for index in (2, 0, 3, 1))
    ranking = Ranking(candidates, (Scores(),) * 4, {})
    return [c.index for c in by_time(ranking, Query(question, terms), Corpus(TURNS)).candidates]


@pytest.mark.parametrize(
    ("question", "terms", "expected"),
    [
        ("when did we last see the boat", (BOAT,), [1, 0, 3, 2]),
        ("the latest on the boat", (BOAT,), [1, 0, 3, 2]),
        ("the most recent boat", (BOAT,), [1, 0, 3, 2]),
        ("earliest word of the boat", (BOAT,), [3, 0, 1, 2]),
        ("who first mentioned the boat", (BOAT,), [3, 0, 1, 2]),
        ("last message from Gran", (MESSAGE, GRAN), [2, 0, 3, 1]),
        ("last message from Gran about the boat", (MESSAGE, GRAN, BOAT), [0, 2, 3, 1]),
    ],
)
def test_a_question_for_the_last_or_the_first_goes_by_time(question, terms, expected):
    assert ordered(question, *terms) == expected


@pytest.mark.parametrize(
    "question",
    [
        "what was the boat last week",
        "the boat of the last two years",
        "the last name of the boat",
        "how long did the boat last",
        "how long did the boat last?",
        "the boat at last arrived",
        "first name of the boat",
        "the boat on Monday first thing in the morning",
        "the first boat",
        "last thing",
    ],
)
def test_other_questions_keep_their_order(question):
    assert ordered(question, *([BOAT] if "boat" in question else [])) == [2, 0, 3, 1]
