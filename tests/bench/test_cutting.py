"""The grid's cut is the pipeline's own, over arrays."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.bench import cutting
from smartsearch.bench.cutting import BUDGET, KEPT, TAU, TOP_K, compressed, cut
from smartsearch.bench.grid import Cut
from smartsearch.config import Config
from smartsearch.rank.excerpts import excerpted
from smartsearch.rank.truncate import Tokenizer, truncate
from smartsearch.types import Corpus, Hit, Scores, Turn


def fates(order, ce, how, words, pinned=frozenset()):
    scores = None if ce is None else np.array(ce, dtype=float)
    costs = np.array(words, dtype=np.int64)
    return cut(np.array(order, dtype=np.int64), scores, how, costs, costs, pinned)


scores = st.one_of(st.none(), st.floats(0.01, 0.99))
turns = st.lists(st.tuples(st.integers(1, 9), scores), min_size=1, max_size=12)


@given(
    turns,
    st.sampled_from(["none", "fixed", "adaptive"]),
    st.integers(1, 40),
    st.floats(0, 0.9),
    st.integers(1, 12),
    st.sampled_from(["stop", "skip"]),
    st.frozensets(st.integers(0, 11)),
)
def test_what_stays_is_what_truncate_keeps(drawn, kind, words, alpha, top_k, fill, pinned):
    hits = [
        Hit(rank, Turn(text=" ".join(["word"] * count)), Scores(1.0, ce), index=rank - 1)
        for rank, (count, ce) in enumerate(drawn, 1)
    ]
    config = Config(truncate=kind, budget=words, alpha=alpha, top_k=top_k, fill=fill)
    kept, budget = truncate(hits, config, Tokenizer("words", lambda text: len(text.split())), pinned)
    how = Cut("", kind, 0 if kind == "none" else words, alpha, top_k, fill=fill)
    ce = [float("nan") if score is None else score for _, score in drawn]
    found = fates(range(len(drawn)), ce, how, [count for count, _ in drawn], pinned)
    assert [hit.index for hit in kept] == np.flatnonzero(found.fate == KEPT).tolist()
    assert found.words == budget.used_words
    reasons = {TOP_K: "top_k", TAU: "tau", BUDGET: "budget"}
    dropped = {d.rank - 1: d.reason for d in budget.dropped}
    assert {i: reasons[f] for i, f in enumerate(found.fate) if f != KEPT} == dropped


@pytest.mark.parametrize(
    ("compress", "words", "shown"),
    [
        (("dates",), 11, "[2023-05-08]\nAnn: one two\n[2023-05-09]\nBo: three\nAnn: four five"),
        (("dates",), 8, "[2023-05-08]\nAnn: one two\n[2023-05-09]\nBo: three"),
        (
            ("speakers",),
            17,
            "A = Ann\n[2023-05-08] A: one two\nB = Bo\n[2023-05-09] B: three\n[2023-05-08] A: four five",
        ),
    ],
)
def test_the_compressions_are_those_of_a_query_and_cost_what_is_written(compress, words, shown):
    days = ("2023-05-08", "2023-05-09", "2023-05-08", "2023-05-08")
    said = ("Ann one two", "Bo three", "Ann four five", "Ann " + "six " * 30)
    split = [line.split(" ", 1) for line in said]
    corpus = Corpus(tuple(Turn(text, who, day, session="s") for (who, text), day in zip(split, days)))
    how = Cut("", "fixed", words, compress=compress)
    kept = compressed(np.arange(4), None, how, corpus, Tokenizer("words", lambda text: len(text.split())))
    stayed = [turn for turn, fate in zip(corpus.turns, kept.fate) if fate == KEPT]
    assert cutting.text(stayed, how) == shown
    assert kept.words == kept.tokens == len(shown.split()) <= words
    assert kept.fate[len(stayed) :].tolist() == [BUDGET] * (4 - len(stayed))


def test_a_compressed_cut_skips_what_does_not_fit_where_the_cut_says_so():
    corpus = Corpus((Turn("one two", "Ann"), Turn("six " * 30, "Ann"), Turn("three", "Bo")))
    words = Tokenizer("words", lambda text: len(text.split()))
    for fill, kept in (("stop", [0]), ("skip", [0, 2])):
        how = Cut("", "fixed", 11, fill=fill, compress=("speakers",))
        found = compressed(np.arange(3), None, how, corpus, words)
        assert np.flatnonzero(found.fate == KEPT).tolist() == kept


def test_a_cut_in_parts_is_that_of_a_query():
    long = " ".join(f"Line {n} is about the weather of day {n} and no more." for n in range(40))
    corpus = Corpus((Turn(f"{long} The boat cost 40. {long}", "Ann"), Turn("The boat is blue", "Bo")))
    words = Tokenizer("words", lambda text: len(text.split()))
    how = Cut("", "fixed", 300, fill="skip", parts=True)
    found = compressed(np.arange(2), None, how, corpus, words, question="What did the boat cost?")
    hits = [Hit(n + 1, turn, Scores(), index=n) for n, turn in enumerate(corpus.turns)]
    config = Config(truncate="fixed", budget=300)
    kept, budget = truncate(hits, config, words, excerpt=partial(excerpted, "What did the boat cost?"))
    assert found.shown == tuple(hit.shown for hit in kept)
    assert "cost 40" in found.shown[0].text
    assert (found.fate.tolist(), found.words) == ([KEPT, KEPT], budget.used_words)


@pytest.mark.parametrize(
    ("kind", "words", "share", "stay"),
    [
        ("cumulative", 0, 0.2, 1),  # of 2.0 in all, .4 is exceeded by the first turn
        ("cumulative", 0, 0.5, 2),  # 1.0 is reached by the first, exceeded by the second
        ("cumulative", 2, 0.8, 2),  # the third exceeds 1.6 and no longer fits
        ("tail", 0, 0.2, 3),  # 1.6 is reached within the third turn; the fourth is the tail
        ("tail", 2, 0.2, 2),  # of the 1.5 that fit, 1.2 is reached within the second
        ("tail", 2, 0.4, 1),
    ],
)
def test_the_controls_by_a_share_of_the_summed_scores(kind, words, share, stay):
    how = Cut("", kind, words, share=share)
    kept = fates([0, 1, 2, 3], [1.0, 0.5, 0.3, 0.2], how, [1, 1, 1, 1])
    assert np.flatnonzero(kept.fate == KEPT).tolist() == list(range(stay))


def test_the_floor_control_keeps_what_is_above_it_and_never_nothing():
    """The floor is of the cross-encoder's own output: 0 is a score of .5, -4 one of .018."""
    how = Cut("", "floor", 0, floor=0.0)
    assert fates([0, 1, 2], [0.9, 0.5, 0.6], how, [1, 1, 1]).fate.tolist() == [KEPT, TAU, KEPT]
    assert fates([0, 1, 2], [0.4, 0.1, 0.2], how, [1, 1, 1]).fate.tolist() == [KEPT, TAU, TAU]
    how = Cut("", "floor", 0, floor=-4.0)
    assert fates([0, 1, 2], [0.4, 0.0181, 0.0179], how, [1, 1, 1]).fate.tolist() == [KEPT, KEPT, TAU]


@pytest.mark.parametrize(("kind", "fate"), [("adaptive", KEPT), ("floor", TAU)])
def test_a_pinned_turn_is_spared_by_the_adaptive_cut_alone(kind, fate):
    how = Cut("", kind, 0, alpha=0.5, top_k=9, floor=0.0)
    assert fates([0, 1, 2], [0.9, 0.1, 0.1], how, [1, 1, 1], {2}).fate.tolist() == [KEPT, TAU, fate]


@pytest.mark.parametrize("kind", ["none", "fixed", "adaptive", "floor", "cumulative", "tail"])
def test_nothing_ranked_is_nothing_kept(kind):
    found = fates([], np.zeros(3), Cut("", kind, 5, 0.1, 3), [1, 1, 1])
    assert found.fate.tolist() == []
    assert found.words == 0


@pytest.mark.parametrize(("kind", "share"), [("floor", 0.0), ("cumulative", 0.6), ("tail", 0.1)])
def test_the_controls_prune_what_has_no_score(kind, share):
    """A cascade leaves turns unread; they must not fill the room of those that were pruned."""
    nan = float("nan")
    how = Cut("", kind, 0, share=share, floor=0.0)
    assert fates([0, 1, 2], [0.9, 0.8, nan], how, [1, 1, 1]).fate.tolist() == [KEPT, KEPT, TAU]
