"""Who scores what: side by side over all, or ColBERT first and the cross-encoder on the best."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from smartsearch.config import RANKERS, Config
from smartsearch.rank.cascade import rank
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

    return score


def ranked(config, ce=range(10), colbert=range(10)):
    seen = {"ce": [], "colbert": []}
    scorers = {"ce": scorer(ce, seen["ce"]), "colbert": scorer(colbert, seen["colbert"])}
    return rank("q", CANDIDATES, TURNS, scorers, config), seen


def test_all_means_both_rankers_see_every_candidate():
    ranking, seen = ranked(Config(candidates=0))
    assert sorted(seen["ce"]) == sorted(seen["colbert"]) == list(range(10))
    assert [c.index for c in ranking.candidates] == list(range(9, -1, -1))


def test_both_rankers_run_at_the_same_time():
    both = threading.Barrier(2, timeout=HANG)

    def waits(question, texts):
        both.wait()
        return np.zeros(len(texts))

    rank("q", CANDIDATES, TURNS, {"ce": waits, "colbert": waits}, Config(candidates=0))


def test_the_cascade_gives_the_cross_encoder_the_best_of_colbert_and_drops_none():
    ranking, seen = ranked(Config(candidates=3), ce=[-1.0 * i for i in range(10)])
    assert sorted(seen["ce"]) == [7, 8, 9]
    order = [c.index for c in ranking.candidates]
    assert set(order[:3]) == {7, 8, 9}
    assert order[3:] == [6, 5, 4, 3, 2, 1, 0]
    assert ranking.scores[3].ce is None
    assert ranking.scores[3].colbert == 6.0


def test_few_candidates_are_all_seen_by_default():
    _, seen = ranked(Config())
    assert len(seen["ce"]) == 10


def test_weights_and_k_decide_the_fusion():
    ranking, _ = ranked(Config(candidates=0), ce=range(10), colbert=range(9, -1, -1))
    assert ranking.candidates[0].index == 9
    assert ranking.scores[0].rrf == pytest.approx(0.7 / 61 + 0.3 / 70)
    flipped, _ = ranked(
        Config(candidates=0, weight_ce=0.3, weight_colbert=0.7), ce=range(10), colbert=range(9, -1, -1)
    )
    assert flipped.candidates[0].index == 0


@pytest.mark.parametrize(("candidates", "head", "read"), [(0, False, 10), (3, False, 10), (3, True, 3)])
def test_a_third_scorer_reads_all_or_the_best_and_rrf_fuses(monkeypatch, candidates, head, read):
    monkeypatch.setitem(RANKERS, "third", Reads(0.5, head))
    seen = {"ce": [], "colbert": [], "third": []}
    scorers = {name: scorer(range(10), seen[name]) for name in ("ce", "colbert")}
    scorers["third"] = scorer(range(9, -1, -1), seen["third"])
    config = Config(rank=("ce", "colbert", "third"), candidates=candidates)
    ranking = rank("q", CANDIDATES, TURNS, scorers, config, {"ce": 1.0, "colbert": 1.0})
    assert len(seen["third"]) == read
    assert ranking.candidates[0].index == 9
    assert ranking.scores[0].more == {"third": 0.0}
    assert ranking.scores[0].rrf == pytest.approx(0.7 / 61 + 0.3 / 61 + 0.5 / (60 + read))
    assert ranking.scores[0].fused is None


def test_equal_scores_keep_the_order_of_match_weight():
    ranking, _ = ranked(Config(candidates=0), ce=[0] * 10, colbert=[0] * 10)
    assert [c.index for c in ranking.candidates] == list(range(10))


@pytest.mark.parametrize("only", ["ce", "colbert"])
def test_one_ranker_alone_sees_all(only):
    ranking, seen = ranked(Config(rank=(only,)))
    assert len(seen[only]) == 10
    assert ranking.candidates[0].index == 9
    assert set(ranking.timing_ms) == {"crossencoder" if only == "ce" else "colbert"}


def test_no_ranker_leaves_the_match_order():
    ranking, seen = ranked(Config(rank=()))
    assert not seen["ce"]
    assert [c.index for c in ranking.candidates] == list(range(10))


def test_a_pool_beyond_colberts_share_is_cut_by_match_weight_and_said_so():
    ranking, seen = ranked(Config(colbert_turns=4, cascade=2))
    assert sorted(seen["colbert"]) == [0, 1, 2, 3]
    assert [c.index for c in ranking.candidates] == [3, 2, 1, 0, 4, 5, 6, 7, 8, 9]
    assert "10 turns" in ranking.degraded[0]
    assert "the 4 likeliest" in ranking.degraded[0]


def test_an_error_in_a_ranker_reaches_the_caller():
    def broken(question, texts):
        raise RuntimeError("boom")

    with pytest.raises(RuntimeError, match="boom"):
        rank("q", CANDIDATES, TURNS, {"ce": broken, "colbert": broken}, Config(candidates=0))


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

            return score

        scorers = {"ce": counting("ce", "spare", "weather"), "colbert": counting("colbert", "spare")}
        found = [Candidate(i, (), 1.0, 1) for i in range(3)]
        shown = {name: scorers[name] for name in names}
        return rank(self.QUESTION, found, self.TURNS, shown, config), seen

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
        both = threading.Barrier(2, timeout=HANG)

        def waits(question, texts):
            both.wait()
            return np.zeros(len(texts))

        assert len(windows(self.TURNS.turns[2])) > 4
        found = [Candidate(i, (), 1.0, 1) for i in range(3)]
        for more in ({}, {"windows": False}):
            config = Config(candidates=0, **more)
            rank(self.QUESTION, found, self.TURNS, {"ce": waits, "colbert": waits}, config)
            assert not both.broken

    def test_whole_means_one_text_of_all_words(self):
        _, seen = self.ranked(Config(candidates=0, windows=False, beside=()))
        assert (
            sorted(seen["ce"]) == sorted(seen["colbert"]) == sorted(turn.spoken for turn in self.TURNS.turns)
        )

    def test_a_cross_encoder_alone_reads_the_window_that_shares_most_words(self):
        ranking, seen = self.ranked(Config(rank=("ce",)), names=("ce",))
        assert ranking.scores[0].ce > 1.0
        assert [text.endswith(self.ANSWER) for text in seen["ce"]] == [False, False, True]

    def test_colbert_alone_takes_the_best_window(self):
        ranking, _ = self.ranked(Config(rank=("colbert",)), names=("colbert",))
        assert [c.index for c in ranking.candidates] == [2, 0, 1]
        assert ranking.scores[0].colbert == 1.0


def test_the_turns_after_the_best_are_ranked_too():
    some = [Candidate(i, (), 1.0, 1) for i in (0, 4, 8)]
    seen = {"ce": [], "colbert": []}
    scorers = {name: scorer(range(10), seen[name]) for name in seen}
    following = {0: 1, 4: 5, 8: -1}.__getitem__
    ranking = rank("q", some, TURNS, scorers, Config(candidates=2), following=following)
    assert sorted(seen["colbert"]) == [0, 1, 4, 5, 8]
    assert {c.index: (c.terms, c.hop) for c in ranking.candidates}[5] == ((), 0)
    assert [c.index for c in rank("q", some, TURNS, scorers, Config(candidates=2)).candidates] == [8, 4, 0]


@pytest.mark.parametrize(
    ("config", "colbert", "read"),
    [
        (Config(candidates=3, semantic_max_turns=9), range(10, 0, -1), 6),  # the last two are worse: enough
        (Config(candidates=3, semantic_max_turns=9), range(10), 10),  # the last are always the best
        (Config(candidates=3, semantic_max_turns=9), [*range(6), *[0] * 4], 8),
        (Config(candidates=3, semantic_max_turns=10), range(10, 0, -1), 10),  # the corpus is not that large
        (Config(candidates=0, semantic_max_turns=9), range(10, 0, -1), 10),
    ],
)
def test_of_a_large_corpus_colbert_reads_on_while_it_finds_better_turns(monkeypatch, config, colbert, read):
    for name, value in (("FIRST", 4), ("PART", 2)):
        monkeypatch.setattr(f"smartsearch.rank.cascade.{name}", value)
    monkeypatch.setattr("smartsearch.retrieve.likely.BEST", 3)
    ranking, seen = ranked(config, colbert=colbert)
    assert seen["colbert"] == list(range(read))
    assert len(ranking.candidates) == 10
    told = [f"the {read} likeliest were ranked" in note for note in ranking.degraded]
    assert told == [True] * (read < 10)


def test_the_likeliest_are_read_first(monkeypatch):
    for name, value in (("FIRST", 2), ("PART", 2)):
        monkeypatch.setattr(f"smartsearch.rank.cascade.{name}", value)
    rare = Term("rare", "NOUN", 1.0)
    some = [Candidate(i, (rare,) if i in (3, 8) else (), 1.0, 1) for i in range(10)]
    seen: list[int] = []
    values = [9.0 if i in (3, 8) else 0.0 for i in range(10)]
    scorers = {"ce": scorer(range(10), []), "colbert": scorer(values, seen)}
    rank("q", some, TURNS, scorers, Config(candidates=3, semantic_max_turns=9), counts={"rare": 2})
    assert seen[:2] == [3, 8]
