"""The seam: every system answers behind the same door, and each command takes it by name."""

import socket
import sys
from dataclasses import replace
from types import ModuleType

import pytest

from smartsearch import systems
from smartsearch.ask.door import Door
from smartsearch.ask.library import Library
from smartsearch.ask.scope import Request, Scope
from smartsearch.config import Config
from smartsearch.errors import ConfigError
from smartsearch.systems.base import Card, Empty, Ranked
from smartsearch.transcripts.filters import Filters
from smartsearch.types import Hit, Scores, Trace
from tests.cli.fakes import fake_tools
from tests.systems.planted import tools

PLAIN = ("bm25", "bm25_neighbours", "grep")
TALK = (
    "Ann: Where did you leave the canoe?",
    "Ben: In the shed behind the bakery.",
    "Ann: The token is ghp_0123456789abcdefghijABCDEFGHIJ012345, keep it.",
    "Ben: And the paddles hang in the kitchen.",
)


@pytest.fixture
def talk(tmp_path):
    (tmp_path / "talk.txt").write_text("\n".join(TALK), encoding="utf-8")
    return tmp_path


def answered(folder, question, library=None, **settings):
    config = Config(**settings)
    door = Door(lambda: systems.load(config, tools), library or Library())
    return door.find(Request(question, Scope((str(folder),)), config)).result


def test_every_system_has_a_card():
    for name in systems.SYSTEMS:
        card = systems.card(name)
        assert card.name == name
        assert card.summary
    with pytest.raises(ConfigError) as caught:
        systems.load(Config(system="elastic"), fake_tools)
    assert "smartsearch, fixed, bm25" in caught.value.hint


@pytest.mark.parametrize("name", PLAIN)
def test_a_plain_search_finds_turns_and_cuts_them_as_the_settings_say(talk, name):
    result = answered(talk, "canoe and paddles in the kitchen", system=name, limit=2)
    assert result.system == name
    assert result.hits[0].turn.text == "And the paddles hang in the kitchen."
    assert result.hits[0].scores.more[name] > 0
    assert len(result.hits) == 2
    assert not answered(talk, "zeppelin", system=name).hits


@pytest.mark.parametrize("name", ["smartsearch", *PLAIN])
def test_a_best_turn_longer_than_the_budget_is_told_whatever_the_system(talk, name):
    said = "Ann: canoe and paddles" + " canoe and paddles" * 9 + "\nBen: no canoe here\n"
    (talk / "talk.txt").write_text(said)
    result = answered(talk, "canoe paddles", system=name, budget=8)
    assert [(hit.rank, hit.turn.words) for hit in result.hits] == [(1, 8)]
    assert any("a turn was cut" in warning for warning in result.warnings)
    result = answered(talk, "canoe paddles", system=name, budget=8, whole=True)
    assert [hit.rank for hit in result.hits] == [2]
    assert any("the best turn is longer than the budget" in warning for warning in result.warnings)


@pytest.mark.parametrize("system", ["grep", "qrmem"])
def test_secrets_are_masked_and_filters_hold_whatever_the_system(talk, system):
    result = answered(talk, "token", system=system, redact=True)
    assert result.hits
    assert not any("ghp_" in hit.turn.text for hit in result.hits)
    config = Config(system=system)
    scope = Scope((str(talk),), Filters(only_speaker=("Ben",)))
    found = Door(lambda: systems.load(config, tools), Library()).find(Request("canoe kitchen", scope, config))
    assert {hit.turn.speaker for hit in found.result.hits} == {"Ben"}


@pytest.mark.parametrize("system", ["qrmem", "xmemory"])
def test_no_socket_is_opened_without_llm_though_a_model_is_set_up(talk, monkeypatch, system):
    def refused(*_arguments, **_options):
        raise AssertionError("a socket was opened")

    monkeypatch.setenv("SMARTSEARCH_LLM_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("SMARTSEARCH_LLM_MODEL", "tiny")
    monkeypatch.setattr(socket, "socket", refused)
    result = answered(talk, "the paddles in the kitchen", system=system)
    assert (bool(result.hits), result.system) == (True, f"{system}-rule")


def test_a_project_file_cannot_choose_the_system_and_its_scores_stand_in_the_record(run, talk, monkeypatch):
    (talk / ".smartsearch.toml").write_text('system = "grep"\n', encoding="utf-8")
    monkeypatch.chdir(talk)
    ran = run("query", "the shed", "--json")
    assert (ran.code, ran.record["system"]) == (0, "smartsearch")
    assert "may not set 'system'" in ran.err
    record = run("query", "the paddles", "--system", "grep", "--json").record
    assert record["system"] == "grep"
    assert (record["hits"][0]["scores"]["grep"], record["hits"][0]["scores"]["ce"]) == (1.0, None)
    assert record["cost"] == {"model_calls": 0, "tokens_in": 0, "tokens_out": 0}


class Stranger:
    """A system with a memory: it counts how often it had to make one, and finds the longest turn."""

    card = Card("stranger", "the longest turn")
    fingerprint = "1"

    def __init__(self):
        self.made = 0

    def prepare(self, corpus, folder, progress):
        self.made += 1
        return Empty()

    def search(self, question, corpus, memory, config):
        index = max(corpus.indices, key=lambda i: len(corpus.corpus.turns[i].text))
        hit = Hit(1, corpus.corpus.turns[index], Scores(more={"length": 1.0}), index=index)
        return Ranked([hit], Trace(own={"longest": index}))


def test_a_stranger_is_a_module_and_a_line(talk, monkeypatch):
    """Its memory is made once while the transcripts are held, and its own part of the trace is told."""
    stranger = Stranger()
    module = ModuleType("stranger")
    module.CARDS = {"stranger": stranger.card}
    module.load = lambda config, tools: stranger
    monkeypatch.setitem(sys.modules, "stranger", module)
    monkeypatch.setitem(systems.SYSTEMS, "stranger", "stranger")
    library = Library()
    for _ in range(2):
        result = answered(talk, "?", library, system="stranger")
    assert result.hits[0].turn.text.startswith("The token")
    assert stranger.made == 1
    assert replace(result.trace, timing_ms={}).own == {"longest": 2}
