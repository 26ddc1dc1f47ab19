"""Validation measures, by hand-worked examples."""

from smartsearch.training.chats import Group
from smartsearch.training.evaluate import fused, ranks_of, summary


def test_each_ranker_and_both_rank_every_trial() -> None:
    trials = [Group("a", "k", "c", "q", "right", ["longer wrong", "wrong"])]
    found = ranks_of(trials, lambda q, t: [float(len(x)) for x in t], lambda q, t: [1.0, 0.0, 0.0])
    assert found == {"crossencoder": [3], "colbert": [1], "fused": [2]}  # a tie counts against the right one
    assert fused([3.0, 2.0], [2.0, 3.0]) == [0.7 / 61 + 0.3 / 62, 0.7 / 62 + 0.3 / 61]
    assert summary([1, 4, 20]) == {"n": 3, "R@1": 0.3333, "R@5": 0.6667, "R@10": 0.6667, "MRR": 0.4333}
