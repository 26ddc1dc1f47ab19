"""Every measure against numbers worked out by hand."""

import math

import numpy as np
import pytest

from smartsearch.bench import measures
from smartsearch.bench.chunks import chunk_numbers
from smartsearch.bench.cutting import Kept
from smartsearch.bench.measures import Gold, Resampling, holm, ranking_measures, ranks_of, recall, spearman
from smartsearch.types import Corpus, Turn


def gold(*turns, chunks=(), sessions=()):
    return Gold(np.array(turns, dtype=np.int64), frozenset(chunks), frozenset(sessions))


def ranking(order, wanted):
    order = np.array(order)
    ranks = ranks_of(order, wanted, len(SESSIONS))
    return measures.of_ranking(order, ranks, wanted, CHUNKS, SESSIONS)


CHUNKS = np.array([0, 0, 1, 1, 2, 2])
SESSIONS = np.array([0, 0, 0, 1, 1, 1])


def cutting(order, wanted, kept):
    order = np.array(order)
    return measures.of_cut(order, ranks_of(order, wanted, len(SESSIONS)), kept, wanted, SESSIONS)


def test_of_a_ranking():
    """Ranked 4, 1, 0, 5; gold 0 (rank 3), 5 (rank 4) and 3 (not retrieved)."""
    found = ranking([4, 1, 0, 5], gold(0, 3, 5, chunks=(0, 1, 2), sessions=(0, 1)))
    assert found["candidates"] == 4
    assert found["retrieved"] == 2
    assert found["first"] == 3
    assert math.isnan(ranking([1], gold(5))["first"])
    assert [found[f"turn@{k}"] for k in (1, 3, 5, 10, 62)] == [0, 1, 2, 2, 2]
    # chunks in order of their best turn: 2, 0; chunk 1 is not there
    assert [found[f"chunk@{k}"] for k in (1, 3)] == [1, 2]
    # sessions: 1 (turn 4), then 0 (turn 1)
    assert [found[f"session@{k}"] for k in (1, 3)] == [1, 2]


def published(order, wanted, depth):
    """LongMemEval's own rule for sessions of ranked turns: any and all of the gold among the first `depth`.

    As many turns count as it takes to see that many sessions.
    """
    turns = depth
    while turns < len(order) and len({int(SESSIONS[turn]) for turn in order[:turns]}) < depth:
        turns += 1
    seen = {int(SESSIONS[turn]) for turn in order[:turns]}
    return bool(seen & wanted.sessions), wanted.sessions <= seen


def test_sessions_are_counted_as_longmemeval_does(monkeypatch: pytest.MonkeyPatch):
    drawn = np.random.default_rng(7)
    monkeypatch.setattr(f"{__name__}.SESSIONS", np.repeat(np.arange(40), 3))
    monkeypatch.setattr(f"{__name__}.CHUNKS", np.zeros(120, dtype=np.int64))
    for _ in range(200):
        wanted = gold(sessions=drawn.choice(40, drawn.integers(1, 5), replace=False).tolist())
        order = drawn.permutation(120)[: drawn.integers(1, 121)]
        values = ranking(order, wanted)
        for depth in (1, 3, 5, 10):
            found = values[f"session@{depth}"]
            assert (found > 0, found == len(wanted.sessions)) == published(order, wanted, depth)


def test_chunks_are_whole_turns_of_a_session_up_to_a_number_of_tokens():
    """Words a turn, its speaker's with them: 3, 3, 9, 2 and, in another session, 2."""
    texts = ("one two", "three four", "a b c d e f g h", "five", "six")
    turns = tuple(Turn(text, "Ann", session=s) for text, s in zip(texts, "11112", strict=True))
    found = chunk_numbers(Corpus(turns), lambda text: len(text.split()), most=6)
    assert found.tolist() == [0, 0, 1, 2, 3]


def test_of_a_cut_says_where_each_gold_turn_was_lost_and_the_curve_what_each_budget_holds():
    """Ranked 4, 1, 0, 5, 2 with fates kept, tau, kept, top_k, budget; gold is everything, 3 not retrieved."""
    kept = Kept(np.array([0, 2, 0, 1, 3], dtype=np.int8), 12, 15)
    found = cutting([4, 1, 0, 5, 2], gold(*range(6), sessions=(0, 1)), kept)
    assert found["session kept"] == 2
    fates = {name: found[f"fate {name}"] for name in ("kept", "tau", "top_k", "budget", "not retrieved")}
    assert fates == {"kept": 2, "tau": 1, "top_k": 1, "budget": 1, "not retrieved": 1}
    assert (found["words"], found["tokens"], found["passages"]) == (12, 15, 2)
    # passages of 10 words each, gold at ranks 1 and 3; the first is always kept
    found = measures.curve(ranks_of(np.array([2, 0, 5]), gold(2, 5), 6), np.array([10, 20, 30]), (5, 20, 30))
    assert found == {"5": 1, "20": 1, "30": 2}


def test_four_readings_of_a_recall():
    """1 of 2, 3 of 3, 0 of 1; a question without gold does not count."""
    read = recall(np.array([1.0, 3, 0, 0]), np.array([2.0, 3, 1, 0]))
    wanted = {"micro": 4 / 6, "macro": (0.5 + 1 + 0) / 3, "any": 2 / 3, "all": 1 / 3}
    assert read == pytest.approx(wanted)


def test_the_interval_holds_the_recall_and_narrows_with_questions():
    def width(questions):
        found = np.tile([1.0, 0.0, 1.0, 1.0], questions // 4)
        low, high = Resampling(questions).interval(found[:, None], np.ones(questions))
        assert low[0] < 0.75 < high[0]
        return high[0] - low[0]

    # the standard error of a share of .75 is sqrt(.1875 / n): about .34 and .085 for 1.96 times both sides
    assert width(100) == pytest.approx(2 * 1.96 * math.sqrt(0.1875 / 100), rel=0.15)
    assert width(1600) == pytest.approx(2 * 1.96 * math.sqrt(0.1875 / 1600), rel=0.15)


def test_the_paired_test_gives_the_share_of_all_signs_that_are_as_uneven():
    random = np.random.default_rng(5)
    one = random.integers(0, 2, 60).astype(float)
    other = np.where(random.random(60) < 0.8, one, 1 - one)
    other[:6] = 0.0
    ((gap, low, high, p),) = Resampling(60).differences((one - other)[:, None], np.ones(60))
    apart, uneven = np.count_nonzero(one != other), abs(np.sum(one - other))
    as_uneven = sum(math.comb(apart, ups) for ups in range(apart + 1) if abs(2 * ups - apart) >= uneven)
    assert gap == pytest.approx(float(one.mean() - other.mean()))
    assert low <= gap <= high
    assert p == pytest.approx(as_uneven / 2**apart, abs=0.03)


def test_holm_multiplies_the_smallest_by_the_number_of_tests():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
    assert math.isnan(holm([0.01, float("nan")])[1])
    assert holm([0.01, float("nan")])[0] == 0.01


def test_spearman_looks_at_turns_both_read():
    one = np.array([1.0, 2, 3, np.nan, 9])
    assert spearman(one, np.array([10.0, 20, 30, 0, np.nan])) == pytest.approx(1.0)
    assert spearman(one, np.array([30.0, 20, 10, 0, np.nan])) == pytest.approx(-1.0)
    assert spearman(np.array([1.0, 1, 2]), np.array([1.0, 2, 3])) == pytest.approx(math.sqrt(3) / 2)
    assert math.isnan(spearman(one[:2], one[:2]))


def test_the_librarys_measures_by_hand():
    """Gold at ranks 2 and 4 of question a; question b finds nothing."""
    found = ranking_measures({"a": [7, 3, 5, 9], "b": [1]}, {"a": [3, 9], "b": [2]})
    ideal = 1 + 1 / math.log2(3)
    ndcg = (1 / math.log2(3) + 1 / math.log2(5)) / ideal
    assert found["ndcg@10"] == pytest.approx(ndcg / 2)
    assert found["mrr@100"] == pytest.approx(0.5 / 2)
    assert found["map@100"] == pytest.approx((1 / 2 + 2 / 4) / 2 / 2)
