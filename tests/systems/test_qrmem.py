"""QRMeM by rule, whole: over made-up chats, behind the door and through the commands."""

import json
from dataclasses import replace

import numpy as np
import pytest

from smartsearch import systems
from smartsearch.bench import rivals
from smartsearch.bench.types import BenchQuestion
from smartsearch.config import Config
from smartsearch.errors import UsageError
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import quietly
from smartsearch.systems.baselines import bm25_turns
from smartsearch.systems.pieces import segmented
from smartsearch.systems.qrmem import rules
from smartsearch.systems.qrmem.rules import Asked
from smartsearch.types import Corpus, Turn
from tests.cli.fakes import fake_tools
from tests.systems.test_systems import TALK

BRIDGE = (
    "That kiln was given to Mara by Oona",
    "Later Oona told that she had it of Tarkus",
    "Back then Tarkus lived in Lisbon",
    "This kiln is hot",
    "Some kiln is broken, a kiln must be dry",
    "One kiln more and the shed is full",
    "Nobody asked for bread",
)
QUESTION = "Where was the kiln of Mara built"
"""From Mara and the kiln over two people to a town: the third turn shares no word with it."""


def conversations(*said: str, speaker: str = "") -> Haystack:
    """A conversation, and so a segment, for each turn."""
    turns = [Turn(text, speaker, path="x.jsonl", line=n, conversation=str(n)) for n, text in enumerate(said)]
    return Haystack(Corpus(tuple(turns)))


def found(haystack: Haystack, question: str = QUESTION, tools=fake_tools, **settings):
    config = Config(system="qrmem", pool=0, **settings)
    system = systems.load(config, tools)
    return systems.answer(system, question, haystack, system.prepare(haystack, None, quietly), config)


def texts(result) -> dict[str, int]:
    """The step that brought each turn, by its text."""
    return {hit.turn.text: hit.hop for hit in result.hits}


def test_a_bridge_of_three_hops_that_bm25_misses_is_walked():
    haystack = conversations(*BRIDGE)
    best = bm25_turns(haystack.corpus)(QUESTION).argsort()[::-1][:3]
    assert 2 not in best
    result = found(haystack, qrmem_scope=0)
    assert texts(result)[BRIDGE[2]] > texts(result)[BRIDGE[1]] > texts(result)[BRIDGE[0]] == 1
    hit = next(hit for hit in result.hits if hit.turn.text == BRIDGE[2])
    assert hit.scores.more["qrmem-rule"] > 0
    walked = [term.text for hop in result.trace.hops for term in hop.terms]
    assert walked.index("Mara") < walked.index("Oona") < walked.index("Tarkus")
    assert result.trace.hops[1].terms[0].source == "built"  # no turn has it: what is lacking
    assert BRIDGE[2] not in texts(found(haystack, qrmem_scope=0, qrmem="no-navigation"))


@pytest.mark.parametrize("way", Config.__dataclass_fields__["qrmem"].metadata["choices"])
def test_every_way_answers_and_says_that_no_model_did(way):
    result = found(conversations(*BRIDGE), qrmem=way)
    assert result.hits
    assert result.system == "qrmem-rule"
    assert (result.trace.own["fidelity"], result.trace.own["mode"]) == ("rule", way)
    assert any("no language model" in said for said in result.trace.degraded)
    hops = result.trace.hops  # steps count the turns that each brought once
    assert hops[0].kind == "entities"
    assert sum(hop.found for hop in hops) == hops[-1].total == len(result.hits)
    assert {hit.hop for hit in result.hits} <= {hop.hop for hop in hops if hop.found}


def test_what_answers_ends_the_walk():
    result = found(conversations("The kiln was built by Mara in Faro", *BRIDGE[3:]))
    assert (result.trace.own["answerable"], result.trace.own["stopped"]) == (True, "answerable")
    assert len(result.trace.hops) == 1


def test_the_scope_limits_the_graph_to_the_best_segments():
    haystack = conversations(*BRIDGE)
    assert found(haystack, qrmem_scope=2).trace.own["scope"] == 2
    assert found(haystack, qrmem_scope=0).trace.own["scope"] == len(BRIDGE)
    every = found(haystack, "kiln Mara", mode="and", qrmem_scope=0)
    assert set(texts(every)) == {BRIDGE[0]}, "every term is still wanted where the mode says so"
    assert not found(haystack, "zeppelin", semantic="off").hits
    assert not found(Haystack(Corpus()), qrmem_scope=0).hits
    some = Haystack(haystack.corpus, [0, 3])
    assert {hit.index for hit in found(some, qrmem_scope=0).hits} <= {0, 3}, "filters hold for it too"


@pytest.mark.parametrize("way", ["kn", "ges", "te"])
def test_nothing_to_ask_with_and_nothing_said_are_no_errors(way):
    haystack = conversations(*BRIDGE)
    nothing = found(haystack, "of the ?", qrmem=way, semantic="off")
    assert (nothing.hits, nothing.trace.fallback) == ((), "no term in the question")
    nearest = found(haystack, "of the ?", qrmem=way, qrmem_scope=0)  # no entity: the nearest segments
    assert len(nearest.hits) == len(BRIDGE)
    silent = found(conversations("", " "), qrmem=way, qrmem_scope=0)
    assert silent.trace.own["edges"] == 0
    assert not found(Haystack(haystack.corpus, []), qrmem=way, qrmem_scope=0).hits


def related(parser, question: str = "Who repairs the flute?", **settings):
    """The graph of a question about two turns, made with the parser of the tests."""
    said = ("Mara plays the flute in Lisbon.", "Ilya has a dog. Petra has a dog.")
    haystack = conversations(*said, speaker="Ben")
    config = Config(**settings)
    memory = segmented(haystack.corpus.turns, len)
    tools = replace(fake_tools(config), parser=parser)
    scope = rules.scope([0, 1], haystack, memory, 0)
    asked = Asked(parser.parse(question, config), haystack, memory, scope, config, tools, config.qrmem)
    return rules.related(asked)


def test_the_graph_is_the_questions_own_and_each_part_adds_to_it(parser):
    names = {"Ben", "Mara", "Lisbon", "Ilya", "Petra"}
    assert set(related(parser).entities) == names | {"flute", "dog"}
    # "what has a dog" twice: the second question is too like the first to bring the dog again.
    assert [set(fact.mentions) - names for fact in related(parser).facts] == [{"flute"}, {"dog"}, set()]
    assert set(related(parser, qrmem="no-update").entities) == names | {"flute"}
    assert set(related(parser, qrmem="no-open-entities").entities) - {"flute"} == names | {"dog"}
    other = related(parser, "Who has a dog?", qrmem="no-update")
    assert set(other.entities) == names | {"dog"}


@pytest.fixture
def talk(tmp_path):
    (tmp_path / "talk.txt").write_text("\n".join(TALK), encoding="utf-8")
    return str(tmp_path / "talk.txt")


def test_the_commands_take_it(run, talk, tmp_path):
    record = run("query", "the paddles in the kitchen", talk, "--system", "qrmem", "--json").record
    assert (record["system"], record["trace"]["fidelity"]) == ("qrmem-rule", "rule")
    assert record["hits"][0]["text"] == "And the paddles hang in the kitchen."
    assert record["cost"]["model_calls"] == 0
    questions = tmp_path / "q.jsonl"
    questions.write_text(json.dumps({"id": "q", "question": "the shed"}), encoding="utf-8")
    line = json.loads(run("batch", str(questions), talk, "--system", "qrmem", "--set", "qrmem=te").out)
    assert (line["system"], line["trace"]["mode"]) == ("qrmem-rule", "te")
    every = run("query", "the shed", talk, "--system", "qrmem", "--set", "qrmem_scope=all", "--json").record
    assert every["trace"]["scope"] == every["trace"]["segments"] == 1
    told = run("query", "the shed", talk, "--system", "qrmem", "--explain").out
    assert "# qrmem-rule: fidelity rule, mode kn, segments 1" in told
    refused = run("query", "the shed", talk, "--system", "qrmem", "--set", "qrmem_scope=few")
    assert (refused.code, "--set qrmem_scope" in refused.err) == (2, True)


def test_bench_asks_it_as_a_rival_in_each_of_its_ways(tmp_path):
    assert "qrmem" not in rivals.available()
    haystack, config = conversations(*BRIDGE), Config(qrmem_scope=0, pool=0)
    loaded = rivals.load(["qrmem", "qrmem:no-navigation"])
    assert [rival.name for rival in loaded] == ["qrmem-rule", "qrmem-rule:no-navigation"]
    opened = [rival.open(config, fake_tools(config)) for rival in loaded]
    walked, stood = (rivals.Running(one, haystack, config, tmp_path) for one in opened)
    assert walked.fingerprint != stood.fingerprint
    scores = walked(BenchQuestion("q", QUESTION))
    assert scores.shape == (len(BRIDGE),)
    assert np.nanargmax(scores) == 0
    assert not np.isnan(scores[2])
    assert np.isnan(stood(BenchQuestion("q", QUESTION))[2])
    for wrong in ("qrmem:dfs", "grep:te", "qrmem:"):
        with pytest.raises(UsageError):
            rivals.load([wrong])
