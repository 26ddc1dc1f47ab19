"""The dense search: by static vectors, or by ColBERT over every turn; and what is read ahead."""

import dataclasses

import numpy as np

from smartsearch.config import Config
from smartsearch.rank import meaning
from smartsearch.rank.cache.vectors import quantised
from smartsearch.rank.meaning import dense_search, read_ahead
from smartsearch.rank.scorer import Scorer
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Corpus, Query, Turn
from tests.conftest import search
from tests.test_pipeline import overlap, tools  # noqa: F401 - a fixture

DEFAULT = Config()
READ: list[str] = []


def by_last(question, haystack, turns):
    """Stands in for static vectors: a later turn is nearer."""
    return np.asarray(turns, np.float32)


def vectors(texts):
    READ.extend(texts)
    return [quantised(np.eye(2)) for _ in texts]


SCORERS = {"colbert": Scorer(overlap, vectors=vectors)}


def many(*said, times=()):
    turns = [Turn(text, time=time) for text, time in zip(said, times or [""] * len(said), strict=True)]
    return Haystack(Corpus(tuple(turns)))


def found(config=DEFAULT, static=None, question="a dog", scorers=SCORERS, said=("rain", "a dog", "a cat")):
    degraded: list[str] = []
    dense = dense_search(Query(question, ()), many(*said), config, scorers, static, degraded)
    return dense and dense(2), degraded


def test_static_vectors_search_and_encode_nothing_and_as_the_paper_colbert_reads_every_turn():
    assert found(static=by_last, scorers={}) == ([2, 1], [])
    assert found(Config(first="match"), by_last) == ([1, 2], [])
    assert found() == ([1, 2], [])  # there are no static vectors


def test_it_is_off_or_impossible_and_says_so_where_it_was_wanted():
    assert found(Config(semantic="off"), by_last) == (None, [])
    assert found(question="?!", static=by_last) == (None, [])
    assert found(scorers={}) == (None, [])
    none, degraded = found(Config(semantic="always"), scorers={})
    assert none is None
    assert "has no ColBERT" in degraded[0]


def test_beyond_so_many_turns_nothing_is_searched_by_meaning_alone_and_it_is_said(monkeypatch):
    monkeypatch.setattr(meaning, "WHOLE", 2)
    near, degraded = found(static=by_last)
    assert (near, "3 turns, more than 2" in degraded[0]) == ([], True)


def test_what_static_vectors_find_is_ranked_first_where_nothing_else_does(tools):  # noqa: F811
    quick = dataclasses.replace(tools, static=by_last)
    hay = many(*(f"word{n}" for n in range(9)), "rain")
    order = search("zzz", hay, Config(rank=(), truncate="none"), quick).hits
    assert [hit.index for hit in order][:3] == [9, 8, 7]
    assert order[0].scores.more == {"static": 9.0}


def test_ahead_the_newest_turns_are_read_first_and_each_once():
    READ.clear()
    hay = many("one", "two", "three", times=("2024-03", "2024-01", "2024-02"))
    assert [read_ahead(hay, SCORERS["colbert"], 2) for _ in range(3)] == [1, 0, 0]
    assert [text.split("]")[-1].split("|")[0].strip() for text in READ] == ["one", "three", "two"]
