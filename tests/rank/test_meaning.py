"""The nearest turns in meaning where there are too many to read all."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from smartsearch.config import Config
from smartsearch.rank.cache.vectors import RUN, maxsim, quantised, sketch
from smartsearch.rank.meaning import nearest_sketches, nearest_turns, read_ahead
from smartsearch.rank.sketches import Sketches
from smartsearch.rank.windows import all_windows
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Corpus, Turn
from tests.conftest import search
from tests.test_pipeline import overlap, tools  # noqa: F401 - a fixture


class Sketcher:
    """A scorer by shared words that remembers what it read, and makes sketches of a vector a word."""

    def __init__(self, kept=()) -> None:
        self.read: list[str] = []
        self.kept, self._words = set(kept), {}
        self.sketcher = self

    def __call__(self, question, texts):
        return overlap(question, texts)

    def question_vectors(self, text):
        words = text.lower().replace(":", " ").split()
        places = [self._words.setdefault(word, len(self._words)) for word in words]
        return np.eye(128, dtype=np.float32)[places]

    def kept_sketches(self, texts):
        return {text: quantised(self.question_vectors(text)) for text in texts if text in self.kept}

    def sketches(self, texts):
        self.read += texts
        return [quantised(self.question_vectors(text)) for text in texts]


def many(*said, times=()):
    turns = [Turn(text, time=time) for text, time in zip(said, times or [""] * len(said), strict=True)]
    return Haystack(Corpus(tuple(turns)))


def test_every_turn_is_read_where_they_are_few():
    assert nearest_turns("a dog", many("rain", "a dog", "a cat"), Sketcher(), 2).turns == [1, 2]


def texts_of(hay):
    return [text for some in all_windows(hay.corpus, hay.indices) for text in some]


def near(question, hay, scorer, top, most_new, found=()):
    return nearest_sketches(question, hay, scorer, scorer, top, most_new, found)


def test_each_question_reads_on_until_all_is_read():
    dates = ("2024-01-01", *["2024-02-02"] * 3)
    scorer, hay = Sketcher(), many("the dog", "rain", "sun", "soup", times=dates)
    first = near("dog", hay, scorer, 1, 3)
    assert (first.unread, 0 in first.turns) == (1, False)  # the oldest is left to the next
    then = near("dog", hay, scorer, 1, 3)
    assert (then.turns, then.unread) == ([0], 0)


def test_the_turns_beside_what_words_found_are_read_first():
    scorer, hay = Sketcher(), many(*(f"turn {n}" for n in range(20)))
    near("dog", hay, scorer, 1, 3, (10,))
    assert [text.split(" | ")[0] for text in scorer.read] == ["turn 10", "turn 11", "turn 9"]


def test_what_is_read_ahead_is_there_for_the_question():
    scorer, hay = Sketcher(), many("the dog", "rain", "sun")
    assert [read_ahead(hay, scorer, 2) for _ in range(3)] == [3, 1, 0]  # it looks for what was kept first
    assert near("dog", hay, scorer, 1, 0).turns == [0]


def test_what_was_kept_is_not_read_again():
    scorer = Sketcher(kept=("the dog", "rain | the dog"))
    hay = many("the dog", "rain", "sun")
    assert (near("dog", hay, scorer, 1, 0).turns, scorer.read) == ([0], [])
    assert (read_ahead(hay, scorer, 9), scorer.read) == (0, ["sun | rain"])


def test_what_was_kept_is_looked_for_a_few_turns_at_a_time(monkeypatch):
    monkeypatch.setattr("smartsearch.rank.sketches.LOOKED_UP", 2)
    scorer = Sketcher(kept=("the dog", "sun | rain"))
    hay = many("the dog", "rain", "sun")
    assert [read_ahead(hay, scorer, 9) for _ in range(3)] == [2, 1, 0]
    assert scorer.read == ["rain | the dog"]


def test_only_turns_that_may_be_found_are():
    hay = Haystack(Corpus((Turn("a dog"), Turn("rain"), Turn("sun"), Turn("the dog"))), [2, 3])
    assert near("dog", hay, Sketcher(), 1, 9, (3,)).turns == [3]


def test_a_long_turn_is_as_near_as_its_nearest_window_wherever_it_stands():
    rain = " ".join(f"It rained on day {n}." for n in range(60))
    hay = many("soup", f"{rain} The dog barked. {rain}", "sun")
    scorer = Sketcher()
    while read_ahead(hay, scorer, 9):
        pass
    held = Sketches(hay, Sketcher(kept=scorer.read))
    while held.look_up():
        pass
    assert held.scores("dog").argmax() == 1
    assert held.scores("dog")[1] == pytest.approx(1.0, abs=0.02)


def test_sketches_are_compared_as_one_by_one_however_they_came(monkeypatch):
    monkeypatch.setattr("smartsearch.rank.sketches.TOKENS", 7)
    hay = many(*(f"word{n % 9} word{n % 5} of many" for n in range(40)))
    scorer = Sketcher()
    for most in (0, 1, 2, 3, 30, 9):
        read_ahead(hay, scorer, most)
    assert sorted(scorer.read) == sorted(texts_of(hay))
    held = Sketches(hay, Sketcher(kept=scorer.read))
    while held.look_up():
        pass
    one = [maxsim(scorer.question_vectors("word3 many"), scorer.sketches([t]))[0] for t in texts_of(hay)]
    assert held.scores("word3 many").tolist() == one


def test_a_turn_without_a_token_has_a_sketch_and_scores_nothing():
    hay, scorer = many("...", "a dog"), Sketcher()
    scorer.sketches = lambda texts: [quantised(np.zeros((0, 128))) for _ in texts]
    held = Sketches(hay, scorer)
    held.read(9)
    assert (held.unread, held.scores("dog").tolist()) == (0, [0.0, 0.0])


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
