"""xMemory behind the seam: hits are turns, what is new alone costs, and a kill at any point costs nothing."""

import os
import random
import signal
import sqlite3
from dataclasses import replace
from functools import partial
from unittest.mock import Mock

import pytest

from smartsearch import systems
from smartsearch.config import Config, check
from smartsearch.errors import CacheError, ConfigError, ModelError
from smartsearch.models import loading
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import quietly
from smartsearch.systems.xmemory import rule
from smartsearch.systems.xmemory.select import stage_one
from smartsearch.systems.xmemory.settings import OURS
from smartsearch.systems.xmemory.store import Store
from smartsearch.types import Corpus
from tests.cli.fakes import fake_tools
from tests.systems.planted import chat, tools

QUESTION = "Which seedlings and compost in the garden?"


def made(turns, folder=None, **settings):
    system = systems.load(Config(system="xmemory", **settings), tools)
    haystack = Haystack(Corpus(tuple(turns)))
    return system, haystack, system.prepare(haystack, folder, quietly)


def answer(turns, kept=None, question=QUESTION, **settings):
    system, haystack, memory = made(turns, **settings)
    if kept is not None:
        haystack = Haystack(haystack.corpus, kept)
    return systems.answer(system, question, haystack, memory, Config(system="xmemory", **settings))


def test_hits_are_turns_of_the_topic_and_all_says_that_it_is_by_rule():
    turns = chat(*range(12))
    result = answer(turns, truncate="none")
    assert result.hits
    assert all(turns[hit.index] is hit.turn for hit in result.hits)
    assert result.hits[0].turn.session in {"s0", "s4", "s8"}
    scores = [hit.scores.more["xmemory"] for hit in result.hits]
    assert scores == sorted(scores, reverse=True)
    own = result.trace.own
    assert (result.system, own["fidelity"], own["gate"].split(":")[0]) == ("xmemory-rule", "rule", "proxy")
    assert (own["messages"], own["episodes"], own["semantics"]) == (72, 12, 48)
    assert own["episodes_added"] <= own["linked_episodes"]
    assert own["uncertainty"][1] <= own["uncertainty"][0]


def test_every_level_leads_back_to_turns():
    turns = chat(*range(8))
    _, _, memory = made(turns)
    for place in memory.semantics.values():
        run = memory.runs[place.episode]
        for turn in place.turns:
            assert turn in run
            assert place.fact.text.split(": ", 1)[1] in turns[turn].text
    shown = memory.outline()
    assert {row["id"] for row in shown if row["level"] == "semantic"} == set(memory.semantics)
    assert [row["source"] for row in shown] == ["rule"] * len(shown)


def test_only_turns_that_may_be_found_are_found():
    turns = chat(*range(12))
    result = answer(turns, kept=range(24, 30), truncate="none")
    assert {hit.index for hit in result.hits} <= set(range(24, 30))
    assert result.hits
    assert not answer(turns, kept=[]).hits
    assert not answer([]).hits


def test_parts_can_be_left_out():
    turns = chat(*range(40))
    whole = answer(turns, truncate="none")
    nearest = answer(turns, truncate="none", xmemory="memory-only")
    assert whole.trace.own["largest_theme"] == 12  # the cap
    assert nearest.trace.own["gate"] == "none"
    assert nearest.trace.own["chosen_themes"] >= whole.trace.own["chosen_themes"]
    assert len(nearest.hits) > len(whole.hits)
    still = answer(turns, xmemory="no-split-merge").trace.own
    assert still["reassigned"] == 0.0 < whole.trace.own["reassigned"]
    assert still["way"] == "no-split-merge"
    with pytest.raises(ConfigError):
        check(Config(xmemory="no-stage3"))
    with pytest.raises(ModelError, match="xmemory needs"):
        systems.load(Config(system="xmemory"), fake_tools)


def test_a_reader_is_told_themes_then_facts_then_episodes_and_nothing_of_what_may_not_be_found():
    turns = chat(*range(12))
    system, haystack, memory = made(turns, truncate="none")
    config = Config(system="xmemory", truncate="none")
    told = [one.text for one in systems.answer(system, QUESTION, haystack, memory, config).told]
    kinds = [
        {note.value for note in memory.names.values()},
        {place.fact.text for place in memory.semantics.values()},
        {episode.record for episode in memory.episodes},
    ]
    levels = [next(n for n, known in enumerate(kinds) if text in known) for text in told]
    assert levels == sorted(levels)
    assert set(levels) == {0, 1, 2}
    few = Haystack(haystack.corpus, range(3))  # half of an episode
    known = {place.fact.text for place in memory.semantics.values() if max(place.turns) < 3}
    assert {one.text for one in systems.answer(system, QUESTION, few, memory, config).told} <= known


def test_the_themes_of_the_facts_most_like_the_question_are_chosen_from():
    _, _, memory = made(chat(*range(12)))
    asked = memory.vectors[0]
    themes, facts = stage_one(asked, memory, list(memory.semantics), replace(OURS, pool=1, greedy=False))
    assert (themes, facts) == ([memory.themes.theme[0]], [0])


def test_themes_are_called_by_what_tells_them_from_others():
    named = rule.names({1: ["Ann: I called a donkey", "I called again"], 2: ["Ben: I called marzipan"]})
    assert [name.split(", ")[0] for name in named.values()] == ["donkey", "marzipan"]


def test_only_what_is_new_is_worked_on_and_what_is_gone_is_forgotten(tmp_path, monkeypatch):
    worked = []
    episode = rule.episode

    def noted(key, turns, parser):
        worked.append(turns[0].session)
        return episode(key, turns, parser)

    monkeypatch.setattr(rule, "episode", noted)
    made(chat(0, 1, 2), tmp_path)
    assert worked == ["s0", "s1", "s2"]
    _, _, more = made(chat(0, 1, 3, 2), tmp_path)
    assert worked[3:] == ["s3"]
    assert (more.new, more.gone) == (1, 0)
    _, _, fewer = made(chat(0, 2), tmp_path)
    assert (fewer.new, fewer.gone, len(worked)) == (0, 2, 4)
    assert fewer.statistics["semantics"] == 8
    [file] = tmp_path.glob("*.sqlite*")
    assert b"number 2" in file.read_bytes()
    assert b"number 1" not in file.read_bytes()
    assert not any("number 1" in place.fact.text for place in fewer.semantics.values())
    assert set(fewer.themes.theme.values()) == set(fewer.themes.members)


def test_a_memory_is_read_as_it_was_unless_it_is_damaged_and_other_settings_have_their_own(tmp_path):
    turns = chat(*range(30))
    _, _, first = made(turns, tmp_path)
    system, haystack, again = made(turns, tmp_path)
    assert again.new == 0
    assert again.fingerprint == first.fingerprint
    assert again.themes.theme == first.themes.theme
    assert again.statistics == first.statistics
    fresh = systems.answer(system, QUESTION, haystack, first, Config(system="xmemory"))
    once = systems.answer(system, QUESTION, haystack, again, Config(system="xmemory"))
    assert [hit.index for hit in once.hits] == [hit.index for hit in fresh.hits]
    [before] = tmp_path.glob("*.sqlite")
    before.write_bytes(b"no database at all, but long enough to look like one" * 50)
    anew = made(turns, tmp_path)[2]
    assert (anew.new, anew.fingerprint) == (30, first.fingerprint), "a damaged file begins anew"
    assert made(turns, tmp_path, xmemory_cap=8)[2].new == 30
    assert before not in tmp_path.iterdir()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_at_any_point_it_goes_on_to_the_same_memory(tmp_path):
    """Six children, each of which goes on where the last was killed, at a random statement to SQLite."""
    rng = random.Random(4)
    before, after = chat(*range(20)), chat(*range(10, 40))
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    for folder in (whole, killed):
        folder.mkdir()
        made(before, folder)
    _, _, expected = made(after, whole)
    assert all(dies(lambda: made(after, killed), rng.randrange(5, 120)) for _ in range(6))
    _, _, found = made(after, killed)
    assert 0 < found.new < 30
    assert found.fingerprint == expected.fingerprint
    assert found.themes.theme == expected.themes.theme
    assert found.statistics == expected.statistics


def dies(prepare, statements):
    """Whether a child that prepares a memory ended at that statement."""
    child = os.fork()
    if child == 0:
        left = iter(range(statements))
        connect = sqlite3.connect

        def counted(_):
            if next(left, None) is None:
                os.kill(os.getpid(), signal.SIGKILL)

        def traced(*arguments, **settings):
            connection = connect(*arguments, **settings)
            connection.set_trace_callback(counted)
            return connection

        sqlite3.connect = traced
        try:
            prepare()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)


@pytest.fixture
def known_words(monkeypatch):
    monkeypatch.setattr(loading, "load_tools", tools)


def test_the_commands_take_it(run, chats, known_words, cache):
    query = partial(run, "query", "the support group", "chat.txt", "--system", "xmemory", "--json")
    first, again = query().record, query().record
    assert first["system"] == "xmemory-rule"
    assert first["hits"][0]["text"] == "I went to the support group yesterday."
    assert first["hits"] == again["hits"]
    assert (first["trace"]["new_episodes"] > 0, again["trace"]["new_episodes"]) == (True, 0)
    without = query("--set", "xmemory=no-stage2")
    assert without.record["trace"]["way"] == "no-stage2"


@pytest.fixture
def cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache" / "smartsearch" / "systems"


def test_a_memory_is_built_listed_shown_and_removed(run, chats, known_words, cache):
    for words in (("build", "chat.txt"), ("status",)):
        ran = run("memory", *words, "--system", "bm25")
        assert (ran.code, "xmemory" in ran.err) == (2, True), "one without a memory has none to build"
    assert run("memory", "status").err.startswith("smartsearch: there is no memory")
    [built] = run("memory", "build", "chat.txt", "--json").record["memories"]
    assert (built["system"], built["messages"]) == ("xmemory", 4)
    assert built["paths"] == [str(chats / "chat.txt")]
    [folder] = cache.iterdir()
    assert {path.stat().st_mode & 0o077 for path in (cache, folder, *folder.iterdir())} == {0}
    assert built["bytes"] >= sum(path.stat().st_size for path in folder.glob("*.sqlite"))
    asked = run("query", "the dog", "chat.txt", "--system", "xmemory", "--json")
    assert asked.record["trace"]["new_episodes"] == 0
    assert "takes in what is new" not in asked.err
    rows = run("memory", "show", "chat.txt", "--json").record["memory"]
    assert rows[0]["level"] == "theme"
    assert {"chat.txt:1"} <= {row["turn"] for row in rows}
    assert [one["system"] for one in run("memory", "status", "--json").record["memories"]] == ["xmemory"]
    run("query", "the dog", "chat.txt", "--exclude", "*.json", "--system", "xmemory")
    assert len(list(cache.iterdir())) == 2
    (chats / "chat.txt").unlink()
    assert run("memory", "remove", "chat.txt").code == 0
    assert not list(cache.iterdir())
    assert run("memory", "remove", "chat.txt").code == 1


def test_a_build_that_was_stopped_is_listed_and_can_be_removed(run, chats, known_words, cache, monkeypatch):
    run("memory", "build", "talk.json")
    with monkeypatch.context() as patched:
        patched.setattr(Store, "add", Mock(side_effect=CacheError("no room")))
        assert run("memory", "build", "chat.txt").code == 2
    listed = {one["paths"][0]: one for one in run("memory", "status", "--json").record["memories"]}
    assert listed[str(chats / "talk.json")]["episodes"] > 0
    assert listed[str(chats / "chat.txt")]["episodes"] is None
    assert " -  " in run("memory", "status").out
    assert run("memory", "remove", "chat.txt").code == 0
    assert len(list(cache.iterdir())) == 1


def test_a_file_that_changed_costs_only_what_is_new_in_it(run, chats, known_words, cache):
    ask = partial(run, "query", "the dog", "chat.txt", "--system", "xmemory", "--json")
    first = ask()
    assert "xmemory takes in what is new first, 3 parts; `smartsearch memory build PATH" in first.err
    assert "takes in" not in run("query", "the dog", "talk.json", "--system", "xmemory", "-q").err
    assert first.record["trace"]["new_episodes"] == 3
    with (chats / "chat.txt").open("a", encoding="utf-8") as file:
        file.write("[2024-06-01 10:00] Mara: I painted the kennel.\n")
    trace = ask().record["trace"]
    assert (trace["new_episodes"], trace["gone_episodes"], trace["episodes"]) == (1, 0, 4)
