"""Who scores what: side by side over all, or ColBERT first and the cross-encoder on the best."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from smartsearch.config import RANKERS, Config
from smartsearch.rank.cascade import Task, head, rank
from smartsearch.rank.features import among
from smartsearch.rank.fusion import Fusion
from smartsearch.rank.scorer import Scorer
from smartsearch.rank.windows import windows
from smartsearch.settings import Reads
from smartsearch.types import Candidate, Term
from tests.conftest import corpus
from tests.waiting import HANG

TURNS = corpus(*[f"Mara: t{i}" for i in range(10)])
CANDIDATES = [Candidate(i, (), 1.0, 1) for i in range(10)]


def scorer(values, seen):
    """Scores turn `tN` with values[N] and notes which turns it was shown."""

    def score(question, texts):
        numbers = [int(text.split("Mara: t")[1].split(" |")[0]) for text in texts]
        seen.extend(numbers)
        return np.array([values[n] for n in numbers], dtype=float)

    return Scorer(score)


def both(call):
    return {"ce": Scorer(call), "colbert": Scorer(call)}


def ranked(config, ce=range(10), colbert=range(10)):
    seen = {"ce": [], "colbert": []}
    scorers = {"ce": scorer(ce, seen["ce"]), "colbert": scorer(colbert, seen["colbert"])}
    return rank(Task("q", CANDIDATES, TURNS, scorers, config)), seen


ALL = list(range(10))


@pytest.mark.parametrize(
    ("config", "scores", "read", "order"),
    [
        (Config(candidates=0), ALL, (ALL, ALL), ALL[::-1]),  # both rankers see every candidate
        (Config(), ALL, (ALL, ALL), ALL[::-1]),  # few are all seen by default
        (Config(candidates=0), [0] * 10, (ALL, ALL), ALL),  # equal scores keep the order of match weight
        (Config(rank=()), ALL, ([], []), ALL),
        (Config(colbert_turns=4, cascade=2), ALL, ([2, 3], [0, 1, 2, 3]), [3, 2, 1, 0, *ALL[4:]]),
    ],
)
def test_who_reads_what_and_in_which_order_the_candidates_come(config, scores, read, order):
    ranking, seen = ranked(config, scores, scores)
    assert (sorted(seen["ce"]), sorted(seen["colbert"])) == read
    assert [c.index for c in ranking.candidates] == order
    assert ranking.degraded == ()


def test_the_cascade_gives_the_cross_encoder_the_best_of_colbert_and_drops_none():
    ranking, seen = ranked(Config(candidates=3), ce=[-1.0 * i for i in range(10)])
    assert sorted(seen["ce"]) == [7, 8, 9]
    order = [c.index for c in ranking.candidates]
    assert set(order[:3]) == {7, 8, 9}
    assert order[3:] == [6, 5, 4, 3, 2, 1, 0]
    assert ranking.scores[3].ce is None
    assert ranking.scores[3].colbert == 6.0


def test_weights_and_k_decide_the_fusion():
    ranking, _ = ranked(Config(candidates=0), ce=range(10), colbert=range(9, -1, -1))
    assert ranking.candidates[0].index == 9
    assert ranking.scores[0].rrf == pytest.approx(0.7 / 61 + 0.3 / 70)
    other = Config(candidates=0, weight_ce=0.3, weight_colbert=0.7)
    flipped, _ = ranked(other, ce=range(10), colbert=range(9, -1, -1))
    assert flipped.candidates[0].index == 0


@pytest.mark.parametrize(("candidates", "head", "read"), [(0, False, 10), (3, False, 10), (3, True, 3)])
def test_a_third_scorer_reads_all_or_the_best_and_rrf_fuses(monkeypatch, candidates, head, read):
    monkeypatch.setitem(RANKERS, "third", Reads(0.5, head))
    seen = {"ce": [], "colbert": [], "third": []}
    scorers = {name: scorer(range(10), seen[name]) for name in ("ce", "colbert")}
    scorers["third"] = scorer(range(9, -1, -1), seen["third"])
    config = Config(rank=("ce", "colbert", "third"), candidates=candidates)
    ranking = rank(Task("q", CANDIDATES, TURNS, scorers, config, Fusion({"ce": 1.0, "colbert": 1.0})))
    assert len(seen["third"]) == read
    assert ranking.candidates[0].index == 9
    assert ranking.scores[0].more == {"third": 0.0}
    assert ranking.scores[0].rrf == pytest.approx(0.7 / 61 + 0.3 / 61 + 0.5 / (60 + read))
    assert ranking.scores[0].fused is None


@pytest.mark.parametrize("only", ["ce", "colbert"])
def test_one_ranker_alone_sees_all_and_its_error_reaches_the_caller(only):
    ranking, seen = ranked(Config(rank=(only,)))
    assert len(seen[only]) == 10
    assert ranking.candidates[0].index == 9
    assert set(ranking.timing_ms) == {"crossencoder" if only == "ce" else "colbert"}

    def broken(question, texts):
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        rank(Task("q", CANDIDATES, TURNS, both(broken), Config(candidates=0)))


class TestLongTurns:
    """A turn of 600 words with the answer in its last sentence, among others."""

    ANSWER = "The spare key lies under the blue flowerpot."
    FILLER = "We talked about the weather and the price of bread for a while. "
    TURNS = corpus("Mara: the key turns well", "Mara: fine", f"Mara: {FILLER * 45}{ANSWER}")
    QUESTION = "Where is the spare key?"

    def ranked(self, config, names=("ce", "colbert")):
        """ColBERT counts "spare", the cross-encoder "weather" besides; and what each was shown."""
        seen = {"ce": [], "colbert": []}

        def counting(name, *wanted):
            def score(question, texts):
                seen[name] += texts
                return np.array([float(sum(text.count(word) for word in wanted)) for text in texts])

            return Scorer(score)

        scorers = {"ce": counting("ce", "spare", "weather"), "colbert": counting("colbert", "spare")}
        found = [Candidate(i, (), 1.0, 1) for i in range(3)]
        shown = {name: scorers[name] for name in names}
        return rank(Task(self.QUESTION, found, self.TURNS, shown, config)), seen

    @pytest.mark.parametrize("candidates", [-1, 0, 2])
    def test_the_answer_at_the_end_is_found_and_scored_by_its_window(self, candidates):
        ranking, seen = self.ranked(Config(candidates=candidates))
        assert ranking.candidates[0].index == 2
        assert ranking.scores[0].colbert == 1.0
        read = [text for text in seen["ce"] if len(text) > 100]
        assert len(read) == 1
        assert read[0].endswith(self.ANSWER)
        assert ranking.scores[0].ce == 1.0 + read[0].count("weather")

    @pytest.mark.parametrize("most", [1, 4])
    @pytest.mark.parametrize("candidates", [0, 3])
    def test_both_read_the_same_windows(self, monkeypatch, most, candidates):
        monkeypatch.setattr("smartsearch.rank.windows.READ_WINDOWS", most)
        ranking, seen = self.ranked(Config(candidates=candidates))
        assert sorted(seen["colbert"]) == sorted(seen["ce"])
        assert len(seen["ce"]) == 2 + most
        long = next(s for c, s in zip(ranking.candidates, ranking.scores) if c.index == 2)
        assert long.ce == max(text.count("weather") + text.count("spare") for text in seen["ce"])

    @pytest.mark.parametrize("most", [1, 4])
    def test_both_rankers_run_at_the_same_time_whatever_the_length(self, monkeypatch, most):
        """Each waits for the other: one after the other would never end."""
        monkeypatch.setattr("smartsearch.rank.windows.READ_WINDOWS", most)
        two = threading.Barrier(2, timeout=HANG)

        def waits(question, texts):
            two.wait()
            return np.zeros(len(texts))

        assert len(windows(self.TURNS.turns[2])) > 4
        found = [Candidate(i, (), 1.0, 1) for i in range(3)]
        for more in ({}, {"windows": False}):
            config = Config(candidates=0, **more)
            rank(Task(self.QUESTION, found, self.TURNS, both(waits), config))
            assert not two.broken

    def test_whole_means_one_text_of_all_words(self):
        _, seen = self.ranked(Config(candidates=0, windows=False, beside=()))
        whole = sorted(turn.spoken for turn in self.TURNS.turns)
        assert sorted(seen["ce"]) == sorted(seen["colbert"]) == whole

    def test_one_alone_reads_the_window_that_shares_most_words_or_takes_the_best(self):
        ranking, _ = self.ranked(Config(rank=("colbert",)), names=("colbert",))
        assert [c.index for c in ranking.candidates] == [2, 0, 1]
        assert ranking.scores[0].colbert == 1.0
        ranking, seen = self.ranked(Config(rank=("ce",)), names=("ce",))
        assert ranking.scores[0].ce > 1.0
        assert [text.endswith(self.ANSWER) for text in seen["ce"]] == [False, False, True]


def test_the_turns_after_the_best_are_ranked_too():
    some = [Candidate(i, (), 1.0, 1) for i in (0, 4, 8)]
    seen = {"ce": [], "colbert": []}
    scorers = {name: scorer(range(10), seen[name]) for name in seen}
    task = Task("q", some, TURNS, scorers, Config(candidates=2))
    ranking = rank(replace(task, following={0: 1, 4: 5, 8: -1}.__getitem__))
    assert sorted(seen["colbert"]) == [0, 1, 4, 5, 8]
    assert {c.index: (c.terms, c.hop) for c in ranking.candidates}[5] == ((), 0)
    assert [c.index for c in rank(task).candidates] == [8, 4, 0]


def test_a_turn_after_the_best_that_was_found_too_comes_back_once():
    """It was not among the likeliest: words found it, and its neighbour has it read."""
    scorers = {name: scorer(range(10), []) for name in ("ce", "colbert")}
    config = Config(candidates=2, colbert_turns=4)
    task = Task("q", CANDIDATES, TURNS, scorers, config, following=lambda index: index + 1)
    found = rank(task)
    assert "15 turns were found; the 10 likeliest" in rank(replace(task, unread=5)).degraded[0]
    assert sorted(c.index for c in found.candidates) == list(range(10))
    assert {c.index: s.colbert for c, s in zip(found.candidates, found.scores)}[4] == 4.0


def test_words_and_static_vectors_choose_what_colbert_reads():
    rare = Term("rare", "NOUN", 1.0)
    some = [Candidate(i, (rare,) if i in (3, 8) else (), 1.0, 1) for i in range(10)]
    near = {5: 9.0, 6: 8.0}
    config = Config(candidates=3, colbert_turns=8)
    read: list[int] = []
    scorers = {"ce": scorer(range(10), []), "colbert": scorer(range(10), read)}
    task = Task("q", some, TURNS, scorers, config, counts={"rare": 2})

    def seen(task):
        read.clear()
        return rank(task), set(read)

    found, both = seen(replace(task, near=lambda turns: np.array([near.get(i, 0.0) for i in turns])))
    by_words = {3, 8, 2, 4, 7, 9}  # what holds the word, and what stands beside
    assert both == {5, 6} | by_words
    assert [s.more["static"] for s in found.scores if s.more["static"]] == [8.0, 9.0]
    assert seen(task)[1] == {0, 1} | by_words  # without static vectors
    assert seen(replace(task, config=replace(config, first="match")))[1] == set(range(8))


def test_where_few_are_wanted_the_cross_encoder_is_spared_and_its_score_guessed(monkeypatch):
    monkeypatch.setattr("smartsearch.rank.cascade.FEW_READ", 3)
    line = {"bias": -20.0, "colbert": 2.0, "best": 0.0}
    fusion = Fusion({"ce": 1.0, "colbert": 1.0}, line=line)

    def read(limit, **settings):
        seen: list[int] = []
        scorers = {"ce": scorer([0.5] * 10, seen), "colbert": scorer(range(10), [])}
        config = Config(cascade=6, limit=limit, **settings)
        found = rank(Task("q", CANDIDATES, TURNS, scorers, config, fusion))
        return sorted(seen), {c.index: s for c, s in zip(found.candidates, found.scores, strict=True)}

    seen, scores = read(limit=5)
    assert seen == [7, 8, 9]
    assert (scores[9].ce, scores[9].chance, scores[6].ce) == (0.5, 0.5, None)
    assert scores[6].chance == scores[6].more["guess"] == pytest.approx(1 / (1 + np.exp(8)))
    assert scores[6].fused is not None
    assert scores[3].chance is None  # ColBERT alone read it
    for asked in ({"limit": 0}, {"limit": 21}, {"limit": 5, "fuse": "rrf"}, {"limit": 5, "rank": ("ce",)}):
        assert len(read(**asked)[0]) > 3
    assert len(read(limit=5, candidates=5)[0]) == 5


ALONE = [-1, -1, -1, -1]


def test_the_best_by_colbert_and_a_good_neighbour_lifts_a_turn_over_one_that_is_a_little_better():
    assert head(ALONE, np.array([2.0, 5.0, 5.0, 4.0]), 9).tolist() == [1, 2, 3, 0]
    scores = np.array([20.0, 10.0, 10.1, 5.0])
    assert head([-1, 0, -1, -1], scores, 4).tolist() == [0, 2, 1, 3], "all are read: the order is its own"
    assert head(ALONE, scores, 2).tolist() == [0, 2]
    assert head([-1, 0, -1, -1], scores, 2).tolist() == [0, 1]  # 1 follows 0
    assert head([1, -1, -1, -1], scores, 2).tolist() == [0, 1]  # 0 follows 1


def test_neighbours_are_looked_for_among_those_that_were_scored():
    assert among([-1, 0, 1, 2, 3], [3, 0, 4, 2]) == [3, -1, 0, -1]
    assert head([], np.array([]), 3).tolist() == []
