"""Scores are computed once, kept, and reused; candidates are those of the pipeline."""

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from smartsearch.bench import grid, scoring
from smartsearch.bench.datasets import open_dataset
from smartsearch.bench.ranking import ordered
from smartsearch.bench.scoring import Haystacked
from smartsearch.bench.store import Store
from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.rank.text import PLAIN, SHOWN, Shown
from tests.bench.conftest import group, scoring_of
from tests.conftest import search

CONFIG = Config(cascade=2)


def wanted(retrievals, rankers, config=CONFIG):
    return list(grid.needs(grid.rows(retrievals, rankers, ["B0"], config)))


def test_a_second_run_reads_nothing_again(chats: Path, tools, tmp_path: Path):
    with Store(tmp_path / "s.db") as store:
        ours = scoring_of(tools, store, CONFIG)
        (only,) = open_dataset(str(chats)).groups()
        for question in only.questions:
            ours.score(question, Haystacked(only.corpus), wanted(["I3", "IF0"], ["rrf", "cascade"]))
        read = tools.scorers["ce"].call.read, tools.scorers["colbert"].call.read
        assert read[0] > 0
        assert ours.pairs == read[0]
        again = scoring_of(tools, store, CONFIG)
        for question in only.questions:
            again.score(question, Haystacked(only.corpus), wanted(["I3", "IF0"], ["rrf", "cascade", "ce"]))
        assert (tools.scorers["ce"].call.read, tools.scorers["colbert"].call.read) == read
        assert again.pairs == 0


def test_a_wider_row_only_reads_what_is_missing(tools, tmp_path: Path):
    said = ("Oscar the dog", "a dog", "Oscar", "a cat", "Oscar and the dog")
    one = group(*said, question="Is Oscar a dog?")
    with Store(tmp_path / "s.db") as store:
        ours = scoring_of(tools, store, CONFIG)
        narrow = ours.score(one.questions[0], Haystacked(one.corpus), wanted(["IF3"], ["cascade"]))
        assert tools.scorers["ce"].call.read == 2
        assert int((~np.isnan(narrow.scores["ce", False])).sum()) == 2
        wide = ours.score(one.questions[0], Haystacked(one.corpus), wanted(["IF3"], ["rrf"]))
        assert tools.scorers["ce"].call.read == len(wide.found["IF3"]) == 4
        assert np.isnan(wide.scores["ce", False][3])  # the cat is no candidate


def test_another_model_text_or_context_is_scored_anew(tools, tmp_path: Path):
    one = group("Oscar the dog", "a dog")
    with Store(tmp_path / "s.db") as store:

        def read_by(tools, corpus, show=SHOWN):
            before = tools.scorers["ce"].call.read
            ready = Haystacked(corpus, show)
            scoring_of(tools, store, CONFIG).score(one.questions[0], ready, wanted(["IF3"], ["ce"]))
            return tools.scorers["ce"].call.read - before

        assert read_by(tools, one.corpus) == 1
        assert read_by(tools, one.corpus) == 0
        models = tools.models | {"ce": replace(tools.models["ce"], revision="other")}
        assert read_by(replace(tools, models=models), one.corpus) == 1
        assert read_by(tools, one.corpus, Shown(before=0)) == 1
        assert read_by(tools, one.corpus, PLAIN) == 1
        assert read_by(tools, group("Oscar the cat", "a dog").corpus) == 1


def test_a_profile_without_colbert_retrieves_without_the_dense_search_and_one_without_the_scorer_is_told(
    tools, tmp_path: Path
):
    models = {name: tools.models[name] for name in ("parser", "ce")}
    only_ce = replace(tools, scorers={"ce": tools.scorers["ce"]}, models=models)
    one = group("Oscar the dog", "a cat", question="Where is Oscar?")
    with Store(tmp_path / "s.db") as store:
        ours = scoring_of(only_ce, store, CONFIG)
        scored = ours.score(one.questions[0], Haystacked(one.corpus), wanted(["I3"], ["ce"]))
        bare = scoring_of(replace(only_ce, models={"parser": tools.models["parser"]}), store, CONFIG)
        with pytest.raises(ModelError, match="no ce"):
            bare.score(one.questions[0], Haystacked(one.corpus), wanted(["IF0"], ["ce"]))
    assert scored.found["I3"].tolist() == [0]
    assert ("colbert", False) not in scored.scores


FILLER = "We talked about the weather and the price of bread for a while. "
LONG = (
    f"{FILLER * 12}Oscar the dog ran away.{FILLER * 12}",
    "Oscar is a dog",
    f"{FILLER * 30}A dog named Bruno came.",
    "a quiet day",
    f"Oscar! {FILLER * 25}The cat sleeps.",
)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("cascade", {}),
        ("cascade", {"cascade": 3}),
        ("rrf", {"candidates": 0}),
        ("ce", {"rank": ("ce",)}),
        ("colbert", {"rank": ("colbert",)}),
    ],
)
@pytest.mark.parametrize("question", ["Is Oscar a dog?", "Which dog did Bruno see?", "Who sleeps?"])
def test_long_turns_are_scored_as_a_search_does(tools, tmp_path: Path, name, changes, question):
    """Order and scores, from an empty store and from a filled one; the last question asks densely."""
    config = replace(CONFIG, truncate="none", **changes)
    one = group(*LONG, question=question)
    ready = Haystacked(one.corpus)
    result = search(question, ready.haystack, config, tools)
    ranker = grid.ranker(name, config)
    with Store(tmp_path / "s.db") as store:
        for _ in range(2):
            needed = wanted(["I3"], [name, "ce", "rrf"], config)
            scored = scoring_of(tools, store, config).score(one.questions[0], ready, needed)
            order = ordered(scored, "I3", ranker, lambda: np.zeros((0, 0)))
            assert [hit.index for hit in result.hits] == order.tolist()
            for hit in result.hits:
                if hit.scores.ce is not None:
                    assert scored.scores["ce", False][hit.index] == pytest.approx(hit.scores.ce, rel=1e-12)
                if hit.scores.colbert is not None:
                    found = scored.scores["colbert", False][hit.index]
                    assert found == pytest.approx(hit.scores.colbert, rel=1e-12)


def test_the_key_of_the_code_covers_what_is_imported_and_misses_nothing_quietly(tmp_path: Path, monkeypatch):
    before = scoring._code_digest()
    assert before == scoring._code_digest()
    gone = ModuleType("gone")
    gone.__file__ = str(tmp_path / "gone.py")
    monkeypatch.setattr(scoring, "_FINDERS", (gone,))
    with pytest.raises(OSError, match="source"):
        scoring._code_digest()
    monkeypatch.setattr(scoring, "_FINDERS", ())
    assert scoring._code_digest() != before


def test_what_answers_the_same_question_shares_what_was_read(tools, tmp_path: Path):
    one = group("Oscar the dog", "a dog", "a cat")
    with Store(tmp_path / "s.db") as store:
        ours = scoring_of(tools, store, CONFIG)
        scored = ours.score(one.questions[0], Haystacked(one.corpus), wanted(["IF3"], ["ce"]))
        shared, read = ours.shared.scorers["ce"], tools.scorers["ce"].call.read
        texts = Haystacked(one.corpus).texts([0, 2])
        again = shared(one.questions[0].text, [texts[0], texts[0], texts[1]])
        assert tools.scorers["ce"].call.read == read + 1  # the cat, which was no candidate
        assert again[0] == again[1] == scored.scores["ce", False][0]
        shared("Another question?", texts)
        assert tools.scorers["ce"].call.read == read + 3


def test_a_fusion_trained_again_is_another_system(tools, tmp_path: Path):
    with Store(tmp_path / "s.db") as store:
        known = {"ce": "ce of our own", "fusion": "one"}
        same, other = (
            scoring.Scoring(tools, store, CONFIG, {**known, "fusion": told}).identity
            for told in ("one", "two")
        )
        assert same == scoring.Scoring(tools, store, CONFIG, known).identity != other
