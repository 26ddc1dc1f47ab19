"""The process that answers, in this process: its alarm and what it says."""

import hashlib
import time
from pathlib import Path

import pytest

from smartsearch import systems
from smartsearch.ask.runs import worker
from smartsearch.ask.runs.remote import storage
from smartsearch.ask.runs.types import Answer, Input, Setup
from smartsearch.ask.runs.worker import Answerer
from smartsearch.ask.scope import Scope, Written
from smartsearch.config import Config
from smartsearch.errors import SearchTimeout
from smartsearch.systems.base import Empty
from smartsearch.systems.smartsearch import SmartSearch
from smartsearch.transcripts import corpus
from tests.runs.folder.test_supervise import task


def answerer(chats: Path, tell, loader: str = "tools", limit: float = 0.5) -> Answerer:
    config = Config(now="2024-06-01", cache=False, daemon="never")
    setup = Setup(config, Scope((".",)), Written(), str(chats), limit, f"tests.runs.folder.fakes:{loader}")
    made = Answerer(setup, 1, tell)
    made.load()
    return made


def test_a_slow_listener_is_no_slow_file(chats: Path, asked: list):
    """Who listens may write to a full disk: the alarm neither counts that nor tears what is being said."""
    said: list[tuple] = []

    def slowly(what: str, which: object) -> None:
        time.sleep(2.2 * (what == "reading"))
        said.append((what, which))

    [item] = task("Where is Oscar?", paths="Oscar.txt").items
    answer = answerer(chats, slowly, limit=2.0).answer(item)
    assert not answer.kind
    assert [what for what, _ in said] == ["asking", "reading", "input", "asking"]


def test_what_was_fetched_is_told_by_its_uri_with_the_hash_of_what_was_read(chats: Path, asked: list):
    pytest.importorskip("fsspec")
    text = b"Oscar: I am at the harbour.\n"
    place = f"memory://{chats.parent.name}/chats"
    storage(place).write("Oscar.txt", text)
    said: list[tuple] = []
    made = answerer(chats, lambda *event: said.append(event), limit=30.0)
    [item] = task("Where is Oscar?", paths=place).items
    assert not made.answer(item).kind
    told = [which for what, which in said if what == "input"]
    assert told == [Input(f"{place}/Oscar.txt", hashlib.sha256(text).hexdigest())]


def test_an_answer_names_the_memory_it_was_found_in(chats: Path, asked: list, monkeypatch):
    class Remembers(SmartSearch):
        fingerprint = "settings"

        def prepare(self, *given: object) -> Empty:
            memory = Empty()
            memory.fingerprint = "turns"
            return memory

    made = answerer(chats, lambda *event: None, limit=30.0)
    [item] = task("Where is Oscar?", paths="Oscar.txt").items
    assert made.answer(item).memory is None
    monkeypatch.setattr(systems, "load", lambda config, tools: Remembers(tools(config)))
    made = answerer(chats, lambda *event: None, limit=30.0)
    assert made.answer(item).memory == Input("Oscar.txt", "settings-turns", memory=True)


def test_a_slow_question_is_not_laid_to_a_file_that_was_read_before(chats: Path, asked: list, monkeypatch):
    read = corpus.read_file

    def broken(path: str, *rest: object) -> None:
        if path == "Poison.txt":
            raise RuntimeError("no reader of ours does that")
        read(path, *rest)

    monkeypatch.setattr(corpus, "read_file", broken)
    (chats / "Poison.txt").write_text("Eve: I am Oscar.\n")
    said: list[tuple] = []
    made = answerer(chats, lambda *event: said.append(event), "poisoned")
    [known] = task("Where is Oscar?", paths="Oscar.txt").items
    [poison] = task("Where is Oscar?", paths="Poison.txt").items
    [slow] = task("slow python?", paths="Oscar.txt").items
    assert made.answer(known).kind == ""
    assert made.answer(poison).kind == "internal"
    said.clear()
    assert made.answer(slow).kind == "timeout"
    assert len(said) == 1  # asked once


def test_an_alarm_at_the_last_moment_is_a_timeout_and_not_the_end(chats: Path, asked: list, monkeypatch):
    made = answerer(chats, lambda *event: None)
    [item] = task("Where is Oscar?").items
    rings = iter([True])

    def alarm(seconds: float) -> None:
        if next(rings, False):
            raise SearchTimeout("no answer within 0.5 s")

    monkeypatch.setattr(made, "_answer", lambda item: Answer(item.line, b"{}"))
    monkeypatch.setattr(worker, "_alarm", alarm)
    assert made.answer(item).kind == "timeout"
