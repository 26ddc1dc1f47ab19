"""Failure classes and where the gold was lost, on hand-worked rankings."""

import numpy as np
import pytest

from smartsearch.bench.cutting import REASONS
from smartsearch.bench.failures import Outcome, answer_absent, classify, losses, summary


def outcome(gold, fates, **rest):
    """`fates` is `place:fate` in ranked order; a place with `*` the cross-encoder did not read."""
    ranked = [item.partition(":") for item in fates.split()]
    return Outcome(
        gold=frozenset(gold),
        ranked=np.array([int(place.strip("*")) for place, _, _ in ranked], dtype=np.int64),
        fate=np.array([REASONS.index(fate) for _, _, fate in ranked], dtype=np.int8),
        read=np.array(["*" not in place for place, _, _ in ranked], dtype=bool),
        **rest,
    )


RANKED = "7:kept 3:kept 9:tau 4:kept 1:budget 2:top_k *5:top_k"


@pytest.mark.parametrize(
    ("counts", "gold", "rest", "expected"),
    [
        ("all", {7, 4}, {}, ("ok", "")),
        ("all", {7, 4}, {"right": True}, ("ok", "")),
        ("all", {7, 4}, {"right": False}, ("LLM inference", "")),
        ("all", {1}, {"right": True}, ("ok", "")),
        ("all", set(), {}, ("no evidence", "")),
        ("all", {7}, {"missing": 1}, ("no evidence", "")),
        ("all", {0, 8}, {}, ("search miss", "")),
        ("all", {7, 8}, {}, ("search miss", "")),
        ("all", {9}, {}, ("reranker/budget", "tau")),
        ("all", {1}, {}, ("reranker/budget", "budget")),
        ("all", {2}, {"right": False}, ("reranker/budget", "top_k")),
        ("all", {5}, {}, ("reranker/budget", "cascade")),
        ("all", {7, 1, 2}, {}, ("reranker/budget", "top_k")),
        ("all", {8, 1}, {}, ("reranker/budget", "budget")),
        ("any", {7, 8, 1}, {}, ("ok", "")),
        ("any", {7, 8}, {"right": False}, ("LLM inference", "")),
        ("any", {7}, {"missing": 1}, ("ok", "")),
        ("any", set(), {"missing": 2}, ("no evidence", "")),
        ("any", {0, 8}, {}, ("search miss", "")),
        ("any", {8, 9, 1, 5}, {}, ("reranker/budget", "budget")),
    ],
)
def test_the_class_when_all_gold_counts_and_when_any_does(counts, gold, rest, expected):
    assert classify(outcome(gold, RANKED, **rest), counts) == expected


def test_each_gold_turn_is_followed_to_where_it_was_lost():
    expected = {"not retrieved": 2, "cascade": 1, "top_k": 1, "tau": 1, "budget": 1, "kept": 2}
    assert losses(outcome({0, 1, 2, 4, 5, 7, 8, 9}, RANKED)) == expected
    assert losses(outcome(set(), RANKED)) == {}


@pytest.mark.parametrize(
    ("answer", "absent"),
    [
        *(("A piccolo", True), ("the FLUTE, and a piccolo", False), ("2023", False), ("in 2024", True)),
        *(("Straße", False), ("he was", False), ("", False), ("no", False)),
    ],
)
def test_an_answer_none_of_whose_words_was_said(answer, absent):
    assert answer_absent(answer, "[2023-05-07] mara: i sold my flutes in the hauptstrasse") is absent


def test_a_summary_counts_by_category_in_order():
    cases = [
        ("2 temporal", outcome({7}, RANKED)),
        ("1 multi-hop", outcome({7, 1}, RANKED, answer_absent=True)),
        ("1 multi-hop", outcome({8}, RANKED)),
        ("1 multi-hop", outcome({9, 2}, RANKED)),
    ]
    got = summary(cases, "all")
    assert list(got["by_category"]) == ["1 multi-hop", "2 temporal"]
    assert got["by_category"]["1 multi-hop"] == {
        "questions": 3,
        "kinds": {"search miss": 1, "reranker/budget": 2},
        "splits": {"top_k": 1, "budget": 1},
        "gold": {"not retrieved": 1, "top_k": 1, "tau": 1, "budget": 1, "kept": 1},
        "answer_absent": 1,
    }
    overall = got["overall"]
    assert (overall["questions"], overall["kinds"]["ok"], overall["gold"]["kept"]) == (4, 1, 2)
