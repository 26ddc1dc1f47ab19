"""MMR against steps worked by hand."""

from __future__ import annotations

import time

import numpy as np
import pytest

from smartsearch.bench.mmr import mmr

# Turns 0 and 1 say the same; 2 stands at right angles to them; 3 is the opposite of 0.
VECTORS = np.array([[1, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32)


def order(*places):
    return np.array(places, dtype=np.int64)


def test_a_repeat_falls_behind_what_is_new():
    # Scaled relevance 1, .9, .5, 0. After turn 0, by .5 * rel - .5 * cos: turn 1 .45 - .5, turn 2 .25 - 0,
    # turn 3 0 + .5. So turn 3; then turn 2 (.25 - 0) before turn 1 (.45 - .5).
    relevance = np.array([30.0, 29.0, 25.0, 20.0])
    assert mmr(order(0, 1, 2, 3), relevance, VECTORS, trade_off=0.5).tolist() == [0, 3, 2, 1]


def test_the_scale_of_relevance_does_not_matter():
    relevance = np.array([0.030, 0.029, 0.025, 0.020])
    assert mmr(order(0, 1, 2, 3), relevance, VECTORS, trade_off=0.5).tolist() == [0, 3, 2, 1]


def test_relevance_is_aligned_with_the_order_not_with_the_turns():
    # Best first: 2, 0, 1. After turn 2, turns 0 and 1 are equally new: .7 * .5 before .7 * 0.
    assert mmr(order(2, 0, 1), np.array([3.0, 2.0, 1.0]), VECTORS).tolist() == [2, 0, 1]
    # After turn 1: turn 0 .7 * .9 - .3 = .33, turn 2 .7 * 0 - 0 = 0; a trade-off of .2 turns it round.
    given = order(1, 0, 2), np.array([10.0, 9.0, 0.0])
    assert mmr(*given, VECTORS).tolist() == [1, 0, 2]
    assert mmr(*given, VECTORS, trade_off=0.2).tolist() == [1, 2, 0]


def test_relevance_alone_keeps_the_order():
    relevance = np.array([4.0, 3.0, 2.0, 1.0])
    assert mmr(order(3, 1, 0, 2), relevance, VECTORS, trade_off=1.0).tolist() == [3, 1, 0, 2]


def test_what_lies_below_the_depth_stays_where_it_was():
    relevance = np.array([30.0, 29.0, 25.0, 20.0])
    assert mmr(order(0, 1, 2, 3), relevance, VECTORS, trade_off=0.5, depth=3).tolist() == [0, 2, 1, 3]
    assert mmr(order(0, 1, 2, 3), relevance, VECTORS, trade_off=0.5, depth=0).tolist() == [0, 1, 2, 3]


def test_equal_relevance_and_no_turns():
    assert mmr(order(0, 1, 2), np.ones(3), VECTORS).tolist() == [0, 2, 1]
    assert mmr(order(), np.zeros(0), VECTORS).tolist() == []


@pytest.mark.parametrize("trade_off", [0.0, 0.3, 0.7, 1.0])
def test_against_the_definition_one_turn_at_a_time(trade_off):
    random = np.random.default_rng(7)
    vectors = random.normal(size=(60, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    given, relevance = random.permutation(60), np.sort(random.random(60))[::-1]
    scaled = (relevance[:40] - relevance[39]) / (relevance[0] - relevance[39])
    left, taken = list(range(40)), []
    while left:

        def value(i):
            near = max((float(vectors[given[i]] @ vectors[given[j]]) for j in taken), default=0.0)
            return trade_off * scaled[i] - (1 - trade_off) * near

        best = max(left, key=lambda i: (value(i), -i))
        taken.append(best)
        left.remove(best)
    expected = [int(given[i]) for i in taken] + given[40:].tolist()
    assert mmr(given, relevance, vectors, trade_off=trade_off, depth=40).tolist() == expected


def test_a_hundred_turns_take_under_ten_milliseconds_of_computing():
    random = np.random.default_rng(1)
    vectors = random.normal(size=(600, 384)).astype(np.float32)
    spent = []
    for _ in range(5):
        start = time.thread_time()
        mmr(random.permutation(600), np.sort(random.random(600))[::-1], vectors)
        spent.append(time.thread_time() - start)
    assert min(spent) < 0.01
