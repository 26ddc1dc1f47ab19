"""The last and the first message of somebody; where else such words stand, the order stays."""

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
BOAT, GRAN, ANN = Term("boat", "NOUN", 2.0), Term("Gran", "PROPN", 4.0), Term("Ann", "PROPN", 4.0)
MESSAGE = Term("message", "NOUN", 2.0)
RANKED = [2, 0, 3, 1]


def ordered(question: str, *terms: Term) -> list[int]:
    candidates = tuple(Candidate(index, (), 0.0, 1) for index in RANKED)
    ranking = Ranking(candidates, (Scores(),) * 4, {})
    return [c.index for c in by_time(ranking, Query(question, terms), Corpus(TURNS)).candidates]


@pytest.mark.parametrize(
    ("question", "terms", "expected"),
    [
        ("last message from Gran", (MESSAGE, GRAN), [2, 0, 3, 1]),
        ("first message from Gran", (MESSAGE, GRAN), [0, 2, 3, 1]),
        ("what was the latest text message by Ann?", (MESSAGE, ANN), [1, 3, 2, 0]),
        ("Ann's earliest mail", (ANN,), [3, 1, 2, 0]),
        ("Ann’s most recent post", (ANN,), [1, 3, 2, 0]),
        ("last message from Gran about the boat", (MESSAGE, GRAN, BOAT), [0, 2, 3, 1]),
        ("last message from Ann about the boat", (MESSAGE, ANN, BOAT), [1, 3, 2, 0]),
        ("first reply from Ann about the boat", (ANN, BOAT), [3, 1, 2, 0]),
    ],
)
def test_a_question_for_the_last_or_the_first_message_of_somebody_goes_by_time(question, terms, expected):
    assert ordered(question, *terms) == expected


@pytest.mark.parametrize(
    "question",
    [
        "In what order did we see the boat, starting from the earliest?",
        "which came first, the boat or the rain, from earliest to latest",
        "when did we last see the boat",
        "how long did the boat last",
        "when did Gran see the boat for the first time?",
        "who first mentioned the boat",
        "the latest on the boat",
        "Gran's last boat",
        "the oldest boat",
        "what is still to pay, by the last message, for the boat",
        "the last message of the day from the boat",
        "the first name in the note by the boat",
        "the boat of the last two years",
    ],
)
def test_other_questions_keep_their_order(question):
    assert ordered(question, BOAT, GRAN) == RANKED
