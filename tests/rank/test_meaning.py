"""The nearest turns in meaning where there are too many to read all."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from smartsearch.config import Config
from smartsearch.rank.cache.vectors import RUN, maxsim, quantised, sketch
from smartsearch.rank.meaning import nearest_sketches, nearest_turns, read_ahead
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.smartsearch.pipeline import search
from smartsearch.types import Corpus, Turn
from tests.test_pipeline import overlap, tools  # noqa: F401 - a fixture


class Sketcher:
    """A scorer by shared words that remembers what it read, as OnnxColbert does."""

    def __init__(self) -> None:
        self.read: list[str] = []

    def __call__(self, question, texts):
        return overlap(question, texts)

    def sketched(self, question, texts, most_new):
        fresh = [text for text in dict.fromkeys(texts) if text not in self.read]
        self.read += fresh[:most_new]
        known = np.array([text in self.read for text in texts])
        return np.where(known, overlap(question, texts), np.nan)


def many(*said, times=()):
    turns = [Turn(text, time=time) for text, time in zip(said, times or [""] * len(said), strict=True)]
    return Haystack(Corpus(tuple(turns)))


def test_every_turn_is_read_where_they_are_few():
    assert nearest_turns("a dog", many("rain", "a dog", "a cat"), Sketcher(), 2).turns == [1, 2]


def test_each_question_reads_on_until_all_is_read():
    scorer, hay = (
        Sketcher(),
        many("the dog", "rain", "sun", "soup", times=("2024-01-01", *["2024-02-02"] * 3)),
    )
    first = nearest_sketches("dog", hay, scorer, scorer.sketched, 1, 3, ())
    assert (first.unread, 0 in first.turns) == (1, False)  # the oldest is left to the next
    then = nearest_sketches("dog", hay, scorer, scorer.sketched, 1, 3, ())
    assert (then.turns, then.unread) == ([0], 0)


def test_the_turns_beside_what_words_found_are_read_first():
    scorer, hay = Sketcher(), many(*(f"turn {n}" for n in range(20)))
    nearest_sketches("dog", hay, scorer, scorer.sketched, 1, 3, (10,))
    assert {text.split(" | ")[0] for text in scorer.read} == {"turn 10", "turn 11", "turn 9"}


def test_what_is_read_ahead_is_there_for_the_question():
    scorer, hay = Sketcher(), many("the dog", "rain", "sun")
    assert [read_ahead(hay, scorer.sketched, 2) for _ in range(2)] == [1, 0]
    assert nearest_sketches("dog", hay, scorer, scorer.sketched, 1, 0, ()).turns == [0]


def test_only_turns_that_may_be_found_are():
    hay = Haystack(Corpus((Turn("a dog"), Turn("rain"), Turn("sun"), Turn("the dog"))), [2, 3])
    scorer = Sketcher()
    assert nearest_sketches("dog", hay, scorer, scorer.sketched, 1, 9, ()).turns == [3]


def test_a_search_says_how_much_it_saw_and_what_it_left_out(tools):  # noqa: F811
    quick = dataclasses.replace(tools, scorers={"ce": overlap, "colbert": Sketcher()})
    hay = many(*(f"word{n}" for n in range(40)), "again rain")
    few = Config(pool_max_turns=10, semantic_max_turns=10, semantic_new=15, fuzzy=False)
    told = [search("zzz rain again", hay, few, quick).trace.degraded for _ in range(3)]
    assert "15 of 41 turns" in told[0][0]
    assert "30 of 41 turns" in told[1][0]
    assert told[2] == ()
    over = dataclasses.replace(few, sketch_max_turns=20)
    assert "41 turns, more than 20" in search("zzz rain", hay, over, quick).trace.degraded[0]


@pytest.mark.parametrize("tokens", [0, 1, RUN, 3 * RUN + 1])
def test_a_sketch_has_a_vector_for_each_run_of_tokens(tokens):
    vectors = np.random.default_rng(3).normal(size=(tokens, 16))
    short = sketch(quantised(vectors))
    assert len(short.values) == -(-tokens // RUN)
    if 0 < tokens <= RUN:
        mean = vectors.mean(axis=0)
        best = maxsim(mean[None] / np.linalg.norm(mean), [short])
        assert best[0] == pytest.approx(1.0, abs=0.02)
