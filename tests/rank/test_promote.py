from __future__ import annotations

from smartsearch.rank.cascade import Ranking
from smartsearch.rank.promote import promoted
from smartsearch.types import Candidate, Scores, Turn

TURNS = tuple(Turn(str(n), "Ann Lee" if n in (3, 4) else "Ben") for n in range(5))
RANKING = Ranking(
    tuple(Candidate(n, (), 5.0 - n, 1) for n in range(5)), tuple(Scores(5.0 - n) for n in range(5)), {}
)


def order(names, share):
    return [c.index for c in promoted(RANKING, TURNS, names, share).candidates]


def test_a_preferred_turn_counts_as_at_a_share_of_its_rank():
    """Ranks 4 and 5 become 2 and 2.5; of equal ones the first stays first."""
    assert order(("ann",), 0.5) == [0, 1, 3, 4, 2]
    assert order(("ann",), 0.2) == [3, 0, 4, 1, 2]
    assert order(("ann", "ben"), 0.5) == [0, 1, 2, 3, 4]
    assert order((), 0.5) == [0, 1, 2, 3, 4]


def test_scores_go_with_their_turns_and_nothing_is_lost():
    after = promoted(RANKING, TURNS, ("lee",), 0.5)
    assert [s.match for s in after.scores] == [c.weight for c in after.candidates]
    assert set(after.candidates) == set(RANKING.candidates)
