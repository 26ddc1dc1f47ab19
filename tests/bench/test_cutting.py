"""The grid's cut is the pipeline's own, over arrays."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.bench.cutting import BUDGET, KEPT, TAU, TOP_K, Costs, cut
from smartsearch.bench.grid import Cut
from smartsearch.config import Config
from smartsearch.rank.truncate import Tokenizer, truncate
from smartsearch.types import Hit, Scores, Turn

NO_HEADERS = np.zeros(1, dtype=np.int64)


def costs(*each: int) -> Costs:
    return Costs(np.array(each, dtype=np.int64), NO_HEADERS, 0)


def fates(order, ce, how, words):
    sessions = np.zeros(len(words), dtype=np.int64)
    scores = None if ce is None else np.array(ce, dtype=float)
    return cut(np.array(order), scores, how, costs(*words), costs(*words), sessions)


turns = st.lists(
    st.tuples(st.integers(1, 9), st.one_of(st.none(), st.floats(0.01, 0.99))), min_size=1, max_size=12
)


@given(
    turns,
    st.sampled_from(["none", "fixed", "adaptive"]),
    st.integers(1, 40),
    st.floats(0, 0.9),
    st.integers(1, 12),
)
def test_what_stays_is_what_truncate_keeps(drawn, kind, words, alpha, top_k):
    hits = [
        Hit(rank, Turn(text=" ".join(["word"] * count)), Scores(1.0, ce), index=rank - 1)
        for rank, (count, ce) in enumerate(drawn, 1)
    ]
    config = Config(truncate=kind, budget=words, alpha=alpha, top_k=top_k)
    kept, budget = truncate(hits, config, Tokenizer("words", lambda text: len(text.split())))
    how = Cut("", kind, 0 if kind == "none" else words, alpha, top_k)
    ce = [float("nan") if score is None else score for _, score in drawn]
    found = fates(range(len(drawn)), ce, how, [count for count, _ in drawn])
    assert [hit.index for hit in kept] == np.flatnonzero(found.fate == KEPT).tolist()
    assert found.words == budget.used_words
    reasons = {TOP_K: "top_k", TAU: "tau", BUDGET: "budget"}
    dropped = {d.rank - 1: d.reason for d in budget.dropped}
    assert {i: reasons[f] for i, f in enumerate(found.fate) if f != KEPT} == dropped


def test_headers_are_charged_with_a_sessions_first_turn_and_the_legend_once():
    words = Costs(np.array([2, 2, 2, 2]), np.array([1, 1]), 3)
    sessions = np.array([0, 0, 1, 1])
    kept = cut(np.array([2, 0, 3, 1]), None, Cut("", "fixed", 12), words, words, sessions)
    # 3 + (2+1) + (2+1) + 2 = 11; the fourth would make 13
    assert kept.fate.tolist() == [KEPT, KEPT, KEPT, BUDGET]
    assert kept.words == 11


def test_the_cumulative_control_drops_the_tail_that_holds_less_than_its_share():
    how = Cut("", "cumulative", 0, share=0.2)
    # of 2.0 in all, 80% is reached within the third turn; the fourth is the tail
    kept = fates([0, 1, 2, 3], [1.0, 0.5, 0.3, 0.2], how, [1, 1, 1, 1])
    assert kept.fate.tolist() == [KEPT, KEPT, KEPT, TAU]


def test_the_cumulative_control_looks_at_what_fits():
    how = Cut("", "cumulative", 3, share=0.2)
    # three fit, 1.8 in all, of which the first two hold 1.5: more than 80%
    kept = fates([0, 1, 2, 3], [1.0, 0.5, 0.3, 9.0], how, [1, 1, 1, 1])
    assert kept.fate.tolist() == [KEPT, KEPT, TAU, BUDGET]


def test_the_floor_control_keeps_what_is_above_it_and_never_nothing():
    how = Cut("", "floor", 0, floor=0.5)
    assert fates([0, 1, 2], [0.9, 0.5, 0.6], how, [1, 1, 1]).fate.tolist() == [KEPT, TAU, KEPT]
    assert fates([0, 1, 2], [0.4, 0.1, 0.2], how, [1, 1, 1]).fate.tolist() == [KEPT, TAU, TAU]


def test_a_first_turn_longer_than_the_budget_is_cut_to_it():
    kept = fates([0, 1], None, Cut("", "fixed", 5), [9, 1])
    assert kept.fate.tolist() == [KEPT, BUDGET]
    assert kept.words == 5


@pytest.mark.parametrize("kind", ["none", "fixed", "adaptive", "floor", "cumulative"])
def test_nothing_ranked_is_nothing_kept(kind):
    found = cut(
        np.zeros(0, dtype=np.int64),
        np.zeros(3),
        Cut("", kind, 5, 0.1, 3),
        costs(1, 1, 1),
        costs(1, 1, 1),
        np.zeros(3, dtype=np.int64),
    )
    assert found.fate.tolist() == []
    assert found.words == 0


@pytest.mark.parametrize("kind", ["floor", "cumulative"])
def test_the_controls_prune_what_has_no_score(kind):
    """A cascade leaves turns unread; they must not fill the room of those that were pruned."""
    nan = float("nan")
    how = Cut("", kind, 0, share=0.1, floor=0.5)
    assert fates([0, 1, 2], [0.9, 0.8, nan], how, [1, 1, 1]).fate.tolist() == [KEPT, KEPT, TAU]
