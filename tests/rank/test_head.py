"""Which turns the cross-encoder reads."""

import numpy as np

from smartsearch.rank.head import among, head

ALONE = [-1, -1, -1, -1]


def test_the_best_by_colbert_where_nothing_is_beside():
    assert head(ALONE, np.array([2.0, 5.0, 3.0, 4.0]), 2).tolist() == [1, 3]
    assert head(ALONE, np.array([2.0, 5.0, 5.0, 4.0]), 9).tolist() == [1, 2, 3, 0]


def test_a_good_neighbour_lifts_a_turn_over_one_that_is_a_little_better():
    scores = np.array([20.0, 10.0, 10.1, 5.0])
    assert head(ALONE, scores, 2).tolist() == [0, 2]
    assert head([-1, 0, -1, -1], scores, 2).tolist() == [0, 1]  # 1 follows 0
    assert head([1, -1, -1, -1], scores, 2).tolist() == [0, 1]  # 0 follows 1


def test_where_all_are_read_the_order_is_colberts_own():
    assert head([-1, 0, -1, -1], np.array([20.0, 10.0, 10.1, 5.0]), 4).tolist() == [0, 2, 1, 3]


def test_neighbours_are_looked_for_among_those_that_were_scored():
    assert among([-1, 0, 1, 2, 3], [3, 0, 4, 2]) == [3, -1, 0, -1]
    assert head([], np.array([]), 3).tolist() == []
