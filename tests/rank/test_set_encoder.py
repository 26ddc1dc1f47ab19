"""The set encoder: what it sees of a list, worked out by hand, and that it is a part of the fused score."""

import numpy as np
import pytest

from smartsearch.models import manifest
from smartsearch.rank.fusion import Fusion
from smartsearch.rank.set_encoder import APART, FACTS, NEAR, SetEncoder, facts_of, listed, relations
from smartsearch.types import Corpus, Turn

TURNS = (
    Turn("Which boats are left?", "Ann Lee", session="1"),
    Turn("the red one", "Ben", session="1"),
    Turn("and the dinghy", "Ben", session="1"),
    Turn("soup?", "Ann Lee", session="2"),
    *(Turn("more of it", "Ben", session="2") for _ in range(7)),
)
READ = np.array([0, 1, 3, 10])
ROWS = np.array(
    [
        [1.0, 8.0, -3.0, 0.0, 2.0, 9.0, 2.0, 4.0],
        [3.0, 14.0, 1.0, -3.0, 8.0, 6.0, 2.0, 2.0],
        [-3.0, 2.0, -3.0, -3.0, 2.0, 2.0, 2.0, 2.0],
        [0.0, 5.0, 1.0, 1.0, 6.0, 7.0, 8.0, 9.0],
    ]
)


def seen():
    return listed("What did Ann say of boats?", TURNS, Corpus(TURNS).previous, READ)


def test_what_is_told_of_a_turn():
    told = seen().told
    assert told[:, 0].tolist() == [1, 0, 1, 0]  # it asks
    assert told[:, 1].tolist() == [0, 1, 0, 0]  # the turn before it asks, in the session
    assert told[:, 2].tolist() == [1, 0, 1, 0]  # the question names the speaker


def test_scores_beside_the_lists_best_and_the_neighbours():
    facts = facts_of(seen(), ROWS)
    assert facts.shape == (4, FACTS)
    assert facts[0, :4].tolist() == pytest.approx([0.25, 0.0, -0.5, -1.5])
    assert facts[:, 4].tolist() == pytest.approx((np.log([2, 1, 4, 3]) / 3).tolist())  # ranks 1, 0, 3, 2
    assert facts[1, 6:12].tolist() == pytest.approx([-0.5, -1.5, -1.5, -2.0, -3.0, -3.0])


def test_where_turns_stand_to_each_other():
    step, same = relations(seen())
    assert step[0].tolist() == [NEAR, NEAR + 1, APART, APART]
    assert step[1].tolist() == [NEAR - 1, NEAR, APART, APART]
    assert step[2].tolist() == [APART, APART, NEAR, 2 * NEAR]
    assert same.tolist() == [[1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1]]


def test_other_turns_of_a_list_move_a_turn_and_their_order_does_not():
    encoder, order = SetEncoder(manifest.SET_ENCODER), [2, 0, 3, 1]
    whole = encoder(seen(), ROWS)
    other = listed("What did Ann say of boats?", TURNS, Corpus(TURNS).previous, READ[order])
    turned = encoder(other, ROWS[order])
    assert turned.tolist() == pytest.approx(whole[order].tolist(), abs=1e-5)
    others = ROWS.copy()
    others[1, 0] += 4.0
    assert abs(encoder(seen(), others)[0] - whole[0]) > 1e-3


def test_the_list_is_a_part_of_the_fused_score():
    scores = {"ce": np.array([0.5, 0.9, 0.2]), "colbert": np.array([3.0, 8.0, 6.0])}
    asked = ("q", TURNS[:3], Corpus(TURNS[:3]).previous, scores, np.array([0, 2]))
    fused = Fusion({"ce": 1.0}, lambda one, rows: np.arange(len(rows)) + len(one.told))(*asked)
    alone = Fusion({"ce": 1.0})(*asked)
    assert fused.added.tolist() == [2, 3]
    assert (fused.scores - fused.added).tolist() == pytest.approx(alone.scores.tolist())
    assert alone.added.tolist() == [0, 0]
    one = Fusion({"ce": 1.0}, lambda one, rows: np.ones(len(rows)))
    first = {"ce": np.array([0.5]), "colbert": np.array([3.0])}
    assert one("q", TURNS[:1], (-1,), first, np.array([0])).added.tolist() == [0], "one turn is no list"
