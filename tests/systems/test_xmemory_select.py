"""Stage I against brute force and planted duplicates; Stage II against a reader whose doubts are a table."""

import numpy as np
import pytest

from smartsearch.systems.xmemory.select import Choice, edges, gate, representatives
from smartsearch.systems.xmemory.settings import AUTHORS


def units(count, dimensions=6, seed=0):
    vectors = np.random.default_rng(seed).standard_normal((count, dimensions))
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_edges_are_those_of_the_whole_graph_and_symmetric():
    vectors = units(30)
    candidates = [3, 8, 9, 20]
    weights = edges(candidates, vectors, neighbours=5)
    assert np.allclose(weights, weights.T)
    assert (np.diag(weights) == 1.0).all()
    nearest = {n: set(sorted(range(30), key=lambda m: -vectors[n] @ vectors[m])[1:6]) for n in range(30)}
    for a, one in enumerate(candidates):
        for b, other in enumerate(candidates):
            if a != b:
                joined = other in nearest[one] or one in nearest[other]
                assert weights[a, b] == pytest.approx(max(vectors[one] @ vectors[other], 0) if joined else 0)
    for count in (1, 2, 5):  # smaller than its edges
        assert edges(range(count), units(count)).shape == (count, count)


@pytest.mark.parametrize("seed", range(5))
def test_each_step_is_the_best_by_the_formula(seed):
    rng = np.random.default_rng(seed)
    vectors = units(12, seed=seed)
    weights, likeness = edges(range(12), vectors, 3), rng.random(12)
    chosen = representatives(weights, likeness, 5, alpha=0.5, enough=1.1)
    covered: set[int] = set()
    largest = max(sum(row) for row in weights.tolist())
    left = set(range(12))
    for pick in chosen:
        value = {
            i: 0.5 * sum(weights[i, u] for u in range(12) if u not in covered) / largest + 0.5 * likeness[i]
            for i in left
        }
        assert value[pick] == pytest.approx(max(value.values()))
        left.remove(pick)
        covered |= {u for u in range(12) if weights[pick, u] > 0}


def test_of_duplicates_one_stands_for_all():
    """Five that say the same are nearest to the question; coverage leaves four of them out."""
    same = np.tile(np.eye(6)[0], (5, 1))
    vectors = np.vstack([same, np.eye(6)[1:3]])
    likeness = np.array([1.0, 1.0, 1.0, 1.0, 1.0, 0.4, 0.3])
    weights = edges(range(7), vectors)
    assert representatives(weights, likeness, 3, alpha=0.9) == [0, 5, 6]
    assert representatives(weights, likeness, 3, alpha=0.0, enough=1.1) == [0, 1, 2]
    assert len(representatives(np.ones((4, 4)), np.zeros(4), 4)) == 1, "enough is covered"


def doubts(table):
    """A reader as unsure as the table says of what it has read; its calls are noted."""
    asked = []

    def uncertainty(context):
        asked.append("".join(context))
        return table[asked[-1]]

    return uncertainty, asked


A, B, C, D = (Choice(n, (name,), (name, name.lower())) for n, name in enumerate("ABCD"))


def test_the_gate_adds_opens_and_leaves_closed_as_the_table_says():
    reader, asked = doubts({"k": 1.0, "kA": 0.8, "kAa": 0.5, "kAaB": 0.4, "kAaBb": 0.39})
    gated = gate("k", [A, B], reader)
    assert gated.admitted == {0: True, 1: False}
    assert (gated.before, gated.after, gated.asked) == (1.0, 0.4, 5)
    assert asked == ["k", "kA", "kAa", "kAaB", "kAaBb"]
    reader, asked = doubts({"k": 0.0})
    assert (dict(gate("k", [A], reader).admitted), asked) == ({}, ["k"]), "a sure one is asked no more"
    reader, _ = doubts({"k": 1.0, "kA": 0.5, "kAB": 0.1})
    gated = gate("k", [A, B, C], reader, fits=lambda context: len(context) <= 2)
    assert gated.admitted == {0: False}, "nothing is cut: what does not fit whole ends it"


def test_the_gate_stops_after_as_many_failures_in_a_row_as_it_has_patience():
    table = {"k": 1.0, "kA": 0.96, "kB": 0.9, "kBb": 0.9, "kBC": 0.89, "kBA": 0.89, "kBD": 0.1}
    reader, asked = doubts(table)
    assert list(gate("k", [A, B, C, A, D], reader).admitted) == [1]
    assert "kBD" not in asked
    reader, _ = doubts(table | {"kBDd": 0.1})
    assert list(gate("k", [A, B, C, D], reader).admitted) == [1, 3]


def test_the_authors_gate_asks_of_each_episode_alone_and_takes_gains_as_they_are():
    """A is opened (.3), B let in (.0), C too (-.3), D is low (-.41): the second that is low ends it."""
    reader, asked = doubts({"k": 1.0, "kA": 0.7, "kB": 1.0, "kC": 1.3, "kD": 1.41})
    gated = gate("k", [A, B, C, D, D, A], reader, constants=AUTHORS)
    assert gated.admitted == {0: True, 1: False, 2: False}
    assert asked == ["k", "kA", "kB", "kC", "kD", "kD"]
    reader, asked = doubts({"k": 1.0, "kA": 1.5})
    gated = gate("k", [A, B], reader, constants=AUTHORS)  # low among the first three ends it at once
    assert (list(gated.admitted), asked) == ([0], ["k", "kA"])
