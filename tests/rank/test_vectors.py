"""Late interaction over int8 vectors, held to the plain float64 definition."""

import numpy as np
import pytest

from smartsearch.rank.cache import vectors
from smartsearch.rank.cache.vectors import TokenVectors, maxsim, quantised


def unit(rng, tokens, dim=96):
    made = rng.normal(size=(tokens, dim))
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def plain(question, turn):
    return (question @ turn.T).max(axis=1).sum()


def test_maxsim_sums_the_best_cosine_of_each_question_token():
    question = np.array([[1.0, 0.0], [0.0, 1.0]])
    turns = [quantised(np.array(t)) for t in ([[1.0, 0.0], [0.6, 0.8]], [[0.0, 1.0]])]
    assert maxsim(question, turns) == pytest.approx([1.8, 1.0], abs=0.01)
    assert maxsim(question, []).shape == (0,)


def test_int8_stays_near_the_definition():
    rng = np.random.default_rng(1)
    question, turns = unit(rng, 32), [unit(rng, n) for n in (5, 40, 120)]
    exact = [plain(question, turn) for turn in turns]
    assert maxsim(question, [quantised(t) for t in turns]) == pytest.approx(exact, rel=2e-3)


def test_a_score_does_not_depend_on_what_else_is_scored(monkeypatch):
    rng = np.random.default_rng(2)
    question = unit(rng, 32)
    turns = [quantised(unit(rng, int(n))) for n in rng.integers(1, 60, 200)]
    together = maxsim(question, turns).tolist()
    assert [float(maxsim(question, [turn])[0]) for turn in turns] == together
    monkeypatch.setattr(vectors, "TOKENS", 100)
    assert maxsim(question, turns).tolist() == together


def test_products_of_the_largest_numbers_are_exact():
    question = np.ones((1, 1040))
    turn = TokenVectors(np.full((1, 1040), 127, np.int8), np.ones(1, np.float32))
    assert maxsim(question, [turn])[0] == pytest.approx(127 * 1040, rel=1e-7)


def test_a_turn_without_a_token_scores_nothing_and_a_vector_of_zeros_stays_one():
    empty = quantised(np.zeros((0, 4)))
    some = quantised(np.eye(4)[:2])
    assert maxsim(np.eye(4)[:1], [empty, some, empty])[[0, 2]].tolist() == [0.0, 0.0]
    zeros = quantised(np.zeros((2, 4)))
    assert (zeros.values.tolist(), zeros.scales.tolist()) == ([[0] * 4] * 2, [0.0, 0.0])
