"""MemoRAG behind the seam: clues of a memory find turns, and none is shown as one."""

from dataclasses import replace

import pytest

from smartsearch import systems
from smartsearch.config import Config
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems import memorag
from smartsearch.systems.base import quietly
from smartsearch.systems.memorag import notes, search
from smartsearch.systems.memorag.notes import MOST, NOTHING, Clues, Memory
from smartsearch.systems.memorag.search import System, clue_terms
from smartsearch.types import Corpus
from tests import conftest
from tests.cli.fakes import STOP, words
from tests.systems import planted

QUESTION = "Where does Zoe keep the kayak?"
TALK = (
    "Zoe: I bought a kayak, Bruno built the shed.",
    "Ann: Nice! The kayak fits Bruno well.",
    "Zoe: Bruno and the kayak, always.",
    "Ann: I like rain.",
    *(f"Ann: Number {n} of the many things that nobody asked about." for n in range(30)),
    "Ben: The hut of Bruno is behind the mill.",
)


def drafted(*items, draft=""):
    return Clues(kind="answers", items=list(items), draft=draft)


DRAFTED = drafted("I bought a kayak, Bruno built the shed.", "kayak: Bruno")


class Nouns(planted.Statements):
    def nouns(self, texts):
        return [(word, 1) for text in texts for word in words(text) if word.lower() not in STOP]


def tools(config, *, cache=True):
    return replace(planted.tools(config), parser=Nouns())


class Drafting(System):
    """MemoRAG whose memory always drafts what stands in the place of its asker."""

    def prepare(self, corpus, folder, progress):
        return Memory("", "scripted")


@pytest.fixture(autouse=True)
def scripted(monkeypatch):
    monkeypatch.setattr(notes, "clues", lambda memory, question, asker: (asker, ""))


def made(clues=DRAFTED, turns=None, **settings):
    config = Config(system="memorag", **settings)
    system = Drafting(replace(memorag.CARD, needs="none"), tools(config), config, "0", clues)
    haystack = Haystack(Corpus(tuple(turns))) if turns is not None else conftest.haystack(*TALK)
    return system, haystack, system.prepare(haystack, None, quietly)


def answer(clues=DRAFTED, **settings):
    system, haystack, memory = made(clues, **settings)
    return systems.answer(system, QUESTION, haystack, memory, Config(system="memorag", **settings))


def test_a_clue_finds_a_turn_that_shares_no_word_with_the_question():
    result = answer(semantic="off", hops=1, prf=False, truncate="none")
    assert result.system == "memorag"
    [found] = [hit for hit in result.hits if hit.turn.speaker == "Ben"]
    assert {(term.text, term.kind, term.weight) for term in found.terms} == {("Bruno", "CLUE", 2.0)}
    plain = answer(NOTHING, semantic="off", hops=1, prf=False, truncate="none")
    assert not any(hit.turn.speaker == "Ben" for hit in plain.hits)
    assert result.trace.own["drafted"] == 2
    turns = conftest.haystack(*TALK).corpus.turns
    assert all(turns[hit.index] == hit.turn for hit in result.hits), "no clue is shown as a turn"
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))


def test_clues_only_search_in_the_question_s_place():
    only = answer(memorag_clues="only", semantic="off", hops=1, prf=False, truncate="none")
    assert only.query == QUESTION
    assert only.trace.own["clues"] == "only"
    assert only.hits
    assert {term.source for term in only.trace.terms} >= {QUESTION}  # its authors' code appends it
    alone = answer(memorag_clues="formula", semantic="off", hops=1, prf=False, truncate="none")
    assert alone.trace.own["clues"] == "formula"
    assert alone.trace.terms
    assert QUESTION not in {term.source for term in alone.trace.terms}
    scores = [hit.scores.rrf for hit in only.hits]
    assert scores == sorted(scores, reverse=True)
    assert sum(hit.turn.words for hit in answer(memorag_clues="only", budget=20).hits) <= 20


def test_a_memory_that_knows_nothing_leaves_the_question_and_says_so():
    only = answer(NOTHING, memorag_clues="only")
    assert "the memory had no clue: the question alone was searched" in only.trace.degraded
    assert only.trace.own["clues"] == "with the question"
    assert not answer(NOTHING).trace.degraded


def test_only_turns_that_may_be_found_are_found():
    system, haystack, memory = made()
    kept = Haystack(haystack.corpus, [0, 3])
    for clues in ("with", "only"):
        result = systems.answer(system, QUESTION, kept, memory, Config(system="memorag", memorag_clues=clues))
        assert {hit.index for hit in result.hits} <= {0, 3}
    assert not systems.answer(system, QUESTION, Haystack(Corpus(())), memory, Config()).hits


def test_a_clue_is_read_as_a_question_is_and_names_weigh_most_and_verbs_little(parser):
    terms = clue_terms("Mara repaired flute", {"mara"}, Nouns(), Config())
    assert [(term.text, term.weight) for term in terms] == [("repaired", 2.0), ("flute", 2.0)]
    assert {(term.kind, term.source) for term in terms} == {("CLUE", "Mara repaired flute")}
    assert drafted("a b", "A  b", "", *"cdefghij", draft="a b").texts == ("A b", *"cdefg")
    assert len(drafted(*"abcdefghij").texts) == MOST
    said = clue_terms("Mara plays organ in Lisbon", (), parser, Config())
    assert {term.text: term.weight for term in said} == {
        **{"Mara": 2.0, "plays": 0.5, "organ": 2.0, "Lisbon": 2.0},
    }


def test_the_reader_is_given_turns_and_no_clue(run, chats, monkeypatch):
    clues = drafted("the zebra of Oscar", draft="Oscar is a zebra")
    monkeypatch.setattr(search, "load", lambda config, tools: made(clues)[0])
    told = run("answer", "What is the dog called?", "chat.txt", "--system", "memorag", "--show-prompt").out
    assert "Oscar" in told
    assert "zebra" not in told
    explained = run("query", "What is the dog called?", "chat.txt", "--system", "memorag", "--explain").out
    assert "zebra" in explained
    assert "for the zebra of Oscar" in explained or "for Oscar is a zebra" in explained
