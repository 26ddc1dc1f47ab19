"""Reciprocal rank fusion against sums worked out by hand."""

from __future__ import annotations

import pytest

from smartsearch.rank.fuse import order, rrf


def test_rrf_sums_weight_over_k_plus_rank_from_one():
    fused = rrf([(0.7, [10, 20]), (0.3, [20, 30])], k=60)
    assert fused[10] == pytest.approx(0.7 / 61)
    assert fused[20] == pytest.approx(0.7 / 62 + 0.3 / 61)
    assert fused[30] == pytest.approx(0.3 / 62)


def test_an_item_missing_from_a_list_gets_no_term():
    assert rrf([(1.0, [1])], k=0) == {1: 1.0}
    assert rrf([]) == {}


def test_order_is_descending_and_stable():
    assert order({3: 0.5, 1: 0.9, 2: 0.5}) == [1, 3, 2]
