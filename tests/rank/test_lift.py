"""What moves up over the rankers' order, and that nothing does where it is switched off."""

from __future__ import annotations

from dataclasses import replace

import pytest

from smartsearch.config import Config
from smartsearch.rank.lift import ranked
from smartsearch.retrieve.grep import Haystack
from smartsearch.retrieve.hops import Evidence
from smartsearch.types import Candidate, Corpus, Query, Term, Turn

TURNS = (
    Turn("Is the boat sold?", "Gran", "2024-01-01"),
    Turn("Yes.", "Ann", "2024-01-02"),
    Turn("the boathouse burnt", "Bo", "2024-03-01"),
    Turn("a new boat", "Gran", "2024-05-01"),
)
BOAT, GRAN = Term("boat", "NOUN", 2.0), Term("Gran", "PROPN", 4.0)
CONFIG = Config(rank=())


def order(query: Query, config: Config) -> list[int]:
    """The turns as they are put, the rankers' order being 0, 2, 3, 1."""
    candidates = tuple(Candidate(n, (BOAT,) if n != 1 else (), 1.0, 1) for n in (0, 2, 3, 1))
    found = ranked(query, Evidence(candidates, ()), Haystack(Corpus(TURNS)), config, {})
    return [candidate.index for candidate in found.candidates]


@pytest.mark.parametrize(
    ("question", "literal", "expected"),
    [
        ("Did they ever manage to sell the boat?", False, [0, 1, 2, 3]),  # the reply after its question
        ("boat", True, [0, 3, 2, 1]),  # whole words before inner matches
        ("the last message from Gran about the boat", False, [3, 0, 1, 2]),
    ],
)
def test_replies_what_was_typed_and_the_last_move_up_where_lift_is_on(question, literal, expected):
    query = Query(question, (BOAT,) if literal else (BOAT, GRAN), literal=literal)
    assert order(query, CONFIG) == expected
    for off in ({"lift": False}, {"typed": False}):
        assert order(query, replace(CONFIG, **off)) == [0, 2, 3, 1]


@pytest.mark.parametrize("lift", [True, False])
def test_preferred_speakers_move_up_in_any_case(lift):
    config = replace(CONFIG, speaker=("Bo",), speaker_rank=0.1, lift=lift)
    assert order(Query("Did they ever manage to sell the boat?", (BOAT,)), config)[0] == 2
