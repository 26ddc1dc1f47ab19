"""Reciprocal rank fusion by hand; the learned fusion: features, the weighted sum, its place in a ranking."""

import numpy as np
import pytest

from smartsearch.config import Config
from smartsearch.rank.cascade import Task, rank
from smartsearch.rank.features import FEATURES, after, features, logit
from smartsearch.rank.fusion import Fusion, order, rrf, weighted
from smartsearch.rank.scorer import Scorer
from smartsearch.types import Candidate, Corpus, Turn

NAN = np.nan


def test_rrf_sums_weight_over_k_plus_rank_from_one_and_the_order_is_stable():
    fused = rrf([(0.7, [10, 20]), (0.3, [20, 30])], k=60)
    assert fused == pytest.approx({10: 0.7 / 61, 20: 0.7 / 62 + 0.3 / 61, 30: 0.3 / 62})
    assert (rrf([(1.0, [1])], k=0), rrf([])) == ({1: 1.0}, {})
    assert order({3: 0.5, 1: 0.9, 2: 0.5}) == [1, 3, 2]


def test_features_are_the_turns_and_its_neighbours_scores():
    assert after((-1, 0, 1, -1, 3)).tolist() == [1, 2, -1, 4, -1]
    previous = (-1, 0, 1, -1)  # three turns of a session, then another session
    ce = np.array([0.5, 0.9, NAN, 0.1])
    colbert = np.array([3.0, 8.0, 6.0, 2.0])
    rows = features(previous, {"ce": ce, "colbert": colbert}, np.array([0, 1, 3]))[:, :6]
    low, high = logit(np.array([0.1]))[0], logit(np.array([0.9]))[0]
    assert rows.tolist() == [
        pytest.approx([0.0, 3.0, low, high, 2.0, 8.0]),  # nothing before it
        pytest.approx([high, 8.0, 0.0, low, 3.0, 6.0]),  # the cross-encoder did not read the turn after
        pytest.approx([low, 2.0, low, low, 2.0, 2.0]),
    ]


def test_the_best_of_the_turns_further_off_counts_within_the_session():
    previous = (-1, 0, 1, 2, 3, 4, -1, 6)
    colbert = np.array([9.0, 2.0, 7.0, NAN, 3.0, 4.0, 8.0, 1.0])
    rows = features(previous, {"ce": np.full(8, 0.5), "colbert": colbert}, np.array([0, 4, 5, 7]))
    assert rows[:, 6:].tolist() == [[1.0, 7.0], [9.0, 1.0], [7.0, 1.0], [1.0, 1.0]]


def test_a_missing_weight_counts_nothing():
    rows = np.arange(16.0).reshape(2, 8)
    assert weighted(rows, {"ce": 2.0, "colbert_after": 0.5}).tolist() == [2.5, 22.5]
    assert weighted(rows, {}).tolist() == [0.0, 0.0]
    assert set(FEATURES) >= {"ce", "colbert_after"}


TURNS = ("where do you swim?", "in the lake", "nice", "I like soup")


def ranking(fusion=None, **settings):
    turns = tuple(Turn(text, "Ann", session="1", conversation="c") for text in TURNS)
    ce = {"wh": 0.9, "in": 0.4, "ni": 0.3, "I ": 0.45}
    scorers = {
        "ce": Scorer(lambda q, texts: np.array([ce[t[5:7]] for t in texts])),
        "colbert": Scorer(lambda q, texts: np.arange(len(texts), 0.0, -1.0)),
    }
    candidates = [Candidate(i, (), 1.0, 1) for i in range(4)]
    learned = Fusion(fusion) if fusion else None
    return rank(Task("q", candidates, Corpus(turns), scorers, Config(**settings), learned))


def indices(found):
    return [c.index for c in found.candidates]


def test_the_sum_decides_and_is_shown():
    plain = ranking()
    assert all(s.fused is None for s in plain.scores)
    weights = {"ce": 1.0, "ce_before": 1.0}
    found = ranking(weights)
    assert indices(found) == [1, 0, 3, 2]  # its question before it lifts the answer
    lows = logit(np.array([0.9, 0.4, 0.3, 0.45]))
    assert found.scores[0].fused == pytest.approx(lows[1] + lows[0])
    assert indices(ranking(weights, fuse="rrf")) == indices(plain)


def test_turns_that_were_not_read_do_not_break_the_way_to_those_further_off():
    turns = tuple(Turn(f"turn {n}", "Ann", session="1") for n in range(6))
    numbered = Scorer(lambda q, texts: np.array([float(t[-1]) / 9 for t in texts]))
    candidates, fusion = [Candidate(i, (), 1.0, 1) for i in (0, 3, 5)], Fusion({"colbert_far_before": 1.0})
    both = {"ce": numbered, "colbert": numbered}
    found = rank(Task("q", candidates, Corpus(turns), both, Config(), fusion))
    fused = {c.index: round(s.fused * 9) for c, s in zip(found.candidates, found.scores, strict=True)}
    assert fused == {0: 0, 3: 0, 5: 2}


def test_what_the_cross_encoder_did_not_read_comes_after_in_the_order_of_rrf():
    found = ranking({"ce": 1.0}, candidates=2)
    assert indices(found) == [0, 1, 2, 3]
    assert [s.fused is None for s in found.scores] == [False, False, True, True]
    assert all(s.fused is None for s in ranking({"ce": 1.0}, rank=("ce",)).scores), "one alone has none"
