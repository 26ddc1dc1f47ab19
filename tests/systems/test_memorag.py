"""MemoRAG behind the seam: clues of a memory find turns, and what the memory holds is made once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest

from smartsearch import systems
from smartsearch.bench import rivals
from smartsearch.config import Config
from smartsearch.models import loading
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import quietly
from smartsearch.systems.memorag import extractive
from smartsearch.systems.memorag.clues import MOST, Clues, clue_terms
from smartsearch.types import Corpus
from tests import conftest
from tests.cli.fakes import STOP, words
from tests.systems import xmemory

QUESTION = "Where does Zoe keep the kayak?"
TALK = (
    "Zoe: I bought a kayak, Bruno built the shed.",
    "Ann: Nice! The kayak fits Bruno well.",
    "Zoe: Bruno and the kayak, always.",
    "Ann: I like rain.",
    *(f"Ann: Number {n} of the many things that nobody asked about." for n in range(30)),
    "Ben: The hut of Bruno is behind the mill.",
)


class Nouns(xmemory.Statements):
    def nouns(self, texts):
        return [(word, 1) for text in texts for word in words(text) if word.lower() not in STOP]


def tools(config, *, cache=True):
    return replace(xmemory.tools(config), parser=Nouns())


def made(turns=None, folder=None, **settings):
    system = systems.load(Config(system="memorag", **settings), tools)
    haystack = Haystack(Corpus(tuple(turns))) if turns is not None else conftest.haystack(*TALK)
    return system, haystack, system.prepare(haystack, folder, quietly)


def answer(question=QUESTION, **settings):
    system, haystack, memory = made(**settings)
    return systems.answer(system, question, haystack, memory, Config(system="memorag", **settings))


def test_what_is_named_together_is_a_clue_and_finds_a_turn_that_shares_no_word_with_the_question():
    result = answer(semantic="off", hops=1, prf=False, truncate="none")
    assert result.system == "memorag-rule"
    assert made()[2].clues(QUESTION).texts == ("I bought a kayak, Bruno built the shed.", "kayak: Bruno")
    [found] = [hit for hit in result.hits if hit.turn.speaker == "Ben"]
    assert {(term.text, term.kind, term.weight) for term in found.terms} == {("Bruno", "CLUE", 2.0)}
    plain = systems.load(Config(semantic="off", hops=1, prf=False), tools).search(
        QUESTION, conftest.haystack(*TALK), None, Config(semantic="off", hops=1, prf=False, truncate="none")
    )
    assert not any(hit.turn.speaker == "Ben" for hit in plain.hits)
    own = result.trace.own
    assert (own["memory"], own["fidelity"], own["source"]) == ("extractive", "rule", "rule")
    assert "not MemoRAG's model" in own["about"]


def test_hits_are_turns_and_no_clue_is_one():
    result = answer(truncate="none")
    turns = conftest.haystack(*TALK).corpus.turns
    assert all(turns[hit.index] == hit.turn for hit in result.hits)
    assert [hit.rank for hit in result.hits] == list(range(1, len(result.hits) + 1))


def test_clues_only_search_in_the_question_s_place():
    only = answer(memorag_clues="only", semantic="off", hops=1, prf=False, truncate="none")
    assert only.query == QUESTION
    assert only.trace.own["clues"] == "only"
    assert only.hits
    assert all(term.source for term in only.trace.terms)
    scores = [hit.scores.rrf for hit in only.hits]
    assert scores == sorted(scores, reverse=True)
    assert sum(hit.turn.words for hit in answer(memorag_clues="only", budget=20).hits) <= 20


def test_a_memory_that_knows_nothing_leaves_the_question_and_says_so():
    only = answer("zeppelin?", memorag_clues="only")
    assert "the memory had no clue: the question alone was searched" in only.trace.degraded
    assert only.trace.own["clues"] == "with the question"
    assert not answer("zeppelin?").trace.degraded


def test_only_turns_that_may_be_found_are_found():
    system, haystack, memory = made()
    kept = Haystack(haystack.corpus, [0, 3])
    for clues in ("with", "only"):
        result = systems.answer(system, QUESTION, kept, memory, Config(system="memorag", memorag_clues=clues))
        assert {hit.index for hit in result.hits} <= {0, 3}
    empty = Haystack(Corpus(()))
    assert not systems.answer(system, QUESTION, empty, system.prepare(empty, None, quietly), Config()).hits


def test_a_clue_is_read_as_a_question_is_and_names_weigh_most():
    terms = clue_terms("Mara repaired flute", {"mara"}, Nouns(), Config())
    assert [(term.text, term.weight) for term in terms] == [("repaired", 2.0), ("flute", 2.0)]
    assert {(term.kind, term.source) for term in terms} == {("CLUE", "Mara repaired flute")}
    assert Clues(items=("a b", "A  b", "", *"cdefghij"), draft="a b").texts == ("A b", *"cdefg")
    assert len(Clues(items=tuple("abcdefghij")).texts) == MOST


def test_a_verb_of_a_clue_weighs_little(parser):
    weights = {
        term.text: term.weight for term in clue_terms("Mara plays organ in Lisbon", (), parser, Config())
    }
    assert weights == {"Mara": 2.0, "plays": 0.5, "organ": 2.0, "Lisbon": 2.0}


def test_built_once_and_only_what_is_new_is_worked_on(tmp_path, monkeypatch):
    worked = []
    record = extractive._record

    def noted(turns, parser, config):
        worked.append(turns[0].session)
        return record(turns, parser, config)

    monkeypatch.setattr(extractive, "_record", noted)
    chats = partial(_chats, "s0", "s1", "s2")
    system, haystack, memory = made(chats(), tmp_path)
    for _ in range(3):
        systems.answer(system, QUESTION, haystack, memory, Config(system="memorag"))
    assert len(worked) == 3
    _, _, again = made(chats(), tmp_path)
    assert (again.built.new, again.fingerprint, len(worked)) == (0, memory.fingerprint, 3)
    _, _, more = made(_chats("s0", "s1", "s3"), tmp_path)
    assert (more.built.new, more.built.gone, worked[3:]) == (1, 1, ["s3"])
    [file] = tmp_path.glob("memory-*")
    assert b"of s2" not in file.read_bytes()
    file.write_bytes(b'{"version": 1, "records": {"')
    assert made(_chats("s0"), tmp_path)[2].built.new == 1
    file.unlink()
    assert made(_chats("s0"), tmp_path)[2].built.new == 1
    assert made(_chats("s0"), tmp_path, memorag_ratio=2)[2].built.new == 1
    assert len(list(tmp_path.glob("memory-*"))) == 1


def _chats(*sessions):
    return [
        replace(turn, text=f"{turn.text} of {session}.", session=session, conversation=session)
        for session in sessions
        for turn in conftest.corpus(*TALK[:3]).turns
    ]


def test_the_memory_is_smaller_by_its_ratio():
    said = [f"Ann: I painted the {name} of Petra number {n}." for n, name in enumerate(["door"] * 64)]
    small, large = (
        made(conftest.corpus(*said).turns, memorag_ratio=ratio)[2].statistics["sentences"]
        for ratio in (16, 2)
    )
    assert 0 < small * 4 <= large <= 40


def test_a_table_says_which_rows_are_by_rule():
    names = [rival.name for rival in rivals.load(["memorag", "memorag:extractive", "memorag:kv"])]
    assert names == ["memorag-rule", "memorag-rule:extractive", "memorag:kv"]


@pytest.fixture
def known_words(monkeypatch):
    monkeypatch.setattr(loading, "load_tools", tools)


def test_the_commands_take_it(run, chats, known_words, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    query = partial(run, "query", "the support group", "chat.txt", "--system", "memorag", "--json")
    first, again = query().record, query().record
    assert first["system"] == "memorag-rule"
    assert first["hits"] == again["hits"]
    assert (first["trace"]["new_pieces"], again["trace"]["new_pieces"]) == (1, 0)
    assert "for " in run("query", "the support group", "chat.txt", "--system", "memorag", "--explain").out
    [row] = run("memory", "remove", "chat.txt", "--system", "memorag", "--json").record["memories"]
    assert row["pieces"] == 1
    assert query().record["trace"]["new_pieces"] == 1
    shown = run("memory", "show", "chat.txt", "--system", "memorag", "--json").record["memory"]
    assert "chat.txt:1" in {one["turn"] for one in shown}


def test_the_reader_is_given_turns_and_no_clue(run, chats, known_words, monkeypatch):
    clues = Clues(items=("the zebra of Oscar",), draft="Oscar is a zebra")
    monkeypatch.setattr(extractive.Extractive, "clues", lambda self, question: clues)
    told = run("answer", "What is the dog called?", "chat.txt", "--system", "memorag", "--show-prompt").out
    assert "Oscar" in told
    assert "zebra" not in told
    explained = run("query", "What is the dog called?", "chat.txt", "--system", "memorag", "--explain").out
    assert "zebra" in explained
    assert "for the zebra of Oscar" in explained or "for Oscar is a zebra" in explained
