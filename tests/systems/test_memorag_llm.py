"""MemoRAG with a language model: notes made once, clues of it, and what becomes of bad replies."""

import json
from functools import partial

import pytest

from smartsearch import systems
from smartsearch.config import Config
from smartsearch.errors import ConfigError
from smartsearch.models import loading
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import quietly
from smartsearch.systems.memorag import notes
from smartsearch.types import Corpus
from tests import conftest
from tests.llm_server import said, shape, status
from tests.systems import planted

QUESTION = "How old is her pet?"
CLUES = {"kind": "queries", "items": ["When did the flatmate adopt?"], "draft": "The dog Oscar is three."}


@pytest.fixture(autouse=True)
def server(running, monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(loading, "load_tools", planted.tools)
    return running.named(monkeypatch, replies)


def replies(body):
    """A note is the first words of its piece, as many as are wanted; the clues are always the same."""
    if shape(body) == "Note":
        data = json.loads(body["messages"][1]["content"])
        return json.dumps({"text": " ".join(data["chats"].split()[: data["words"]])})
    return json.dumps(CLUES)


def made(turns, folder=None, **settings):
    config = Config(system="memorag", llm=True, **settings)
    system = systems.load(config, planted.tools)
    haystack = Haystack(Corpus(tuple(turns)))
    return system, haystack, system.prepare(haystack, folder, quietly)


def notes_asked(server):
    return sum(shape(body) == "Note" for body in server.requests)


ask = ("query", QUESTION, "chat.txt", "--system", "memorag", "--llm", "--json")


def test_a_clue_finds_a_turn_that_shares_no_word_with_the_question(run, server):
    plain = run("query", QUESTION, "chat.txt", "--semantic", "off", "--truncate", "none", "--json").record
    assert not plain["hits"]
    found = run(*ask, "--semantic", "off", "--truncate", "none").record
    assert any("Oscar" in hit["text"] for hit in found["hits"])
    assert found["system"] == "memorag"
    assert (found["trace"]["memory"], found["trace"]["fidelity"]) == ("gist", "approximate")
    assert (found["trace"]["kind"], found["trace"]["drafted"]) == ("queries", 2)
    clues = {term["source"] for term in found["terms"] if term["kind"] == "CLUE"}
    assert clues <= {CLUES["draft"], *CLUES["items"]}
    assert not any("is three" in hit["text"] for hit in found["hits"])


def test_the_memory_is_made_once_for_many_questions(run, server):
    first = run(*ask).record
    assert (first["ingest_cost"]["model_calls"], first["cost"]["model_calls"]) == (1, 1)
    for number in range(3):
        again = run("query", f"{number}: what else?", "chat.txt", *ask[3:]).record
        assert (again["ingest_cost"]["model_calls"], again["trace"]["new_pieces"]) == (0, 0)
    assert notes_asked(server) == 1
    assert run("memory", "remove", "chat.txt", "--system", "memorag").code == 0
    assert run(*ask).record["trace"]["new_pieces"] == 1


def test_what_is_told_before_is_what_is_sent(run, server):
    told = run(*ask).err
    assert "sends about 1 call" in told
    assert "(1 pieces), then 1 call" in told
    [note] = [body for body in server.requests if shape(body) == "Note"]
    assert QUESTION not in said(note), "no part of what the memory is made of"
    shown = run("memory", "show", "chat.txt", "--system", "memorag", "--llm", "--json").record["memory"]
    assert shown[0]["text"].startswith("[2024-05-08] Mara: I went to the support group")


def test_notes_of_notes_until_they_fit_and_only_new_pieces_are_noted_again(server, tmp_path, monkeypatch):
    monkeypatch.setattr(notes, "PIECE", 200)
    turns = planted.chat(*range(120))
    load = partial(made, folder=tmp_path, memorag_context=2048, memorag_ratio=4)
    _, _, memory = load(turns)
    assert memory.statistics["notes"] > 1
    assert memory.statistics["tokens"] <= 2048
    first = notes_asked(server)
    assert first > len(notes._pieces(turns)) >= 40
    assert load(turns)[2].fingerprint == memory.fingerprint
    assert isinstance(memory.fingerprint, str)
    assert notes_asked(server) == first
    more = load([*turns, *planted.session(120)])[2]
    assert 0 < more.new < first / 3
    again = Haystack(Corpus(tuple(planted.chat(*range(120)))))
    planned, question = load(planted.chat(*range(120)))[0].plan(again, None, Config())
    assert abs(planned.calls - first) <= first / 3
    assert (question.calls, question.prompt_tokens > memory.statistics["tokens"] / 2) == (1, True)


def test_the_prefix_is_the_same_for_each_question(server):
    system, haystack, memory = made(conftest.corpus("Mara: I like flutes.").turns, memorag="long")
    for question in ("Who likes flutes?", "What does Mara like?"):
        systems.answer(system, question, haystack, memory, Config(llm=True))
    one, other = (body["messages"] for body in server.requests)
    assert one[:-1] == other[:-1]
    assert "I like flutes." in one[1]["content"]
    assert one[-1] != other[-1]
    assert notes_asked(server) == 0


def test_chats_that_no_context_holds_and_no_model_are_errors_before_anything_is_sent(run, server, chats):
    (chats / "long.txt").write_text("[2024-05-08 13:56] Mara: " + "many words " * 8000)
    ran = run("query", "words?", "long.txt", *ask[3:], "--set", "memorag=long")
    assert (ran.code, ran.record["error"]["kind"], server.requests) == (2, "context", [])
    assert "more than the context holds (16,384)" in ran.record["error"]["message"]
    with pytest.raises(ConfigError, match="asks a language model for its memory"):
        systems.load(Config(system="memorag"), planted.tools)


def test_replies_that_cannot_be_used_leave_the_question_and_it_is_said(run, server):
    server.reply = lambda body: replies(body) if shape(body) == "Note" else '{"kind": "songs"}'
    record = run(*ask).record
    assert record["cost"]["model_calls"] == 5
    [note] = [text for text in record["degraded"] if "clues" in text]
    assert note.endswith("the question alone was searched")
    server.reset().reply = lambda body: '{"kind": "answers", "items": ["dog Oscar"], "draft": "",}'  # mended
    assert run("query", "And what else?", *ask[2:]).record["trace"]["drafted"] == 1


def test_a_piece_without_a_note_has_its_first_words_and_is_tried_again(server, tmp_path):
    server.reply = lambda body: "no" if shape(body) == "Note" else replies(body)
    turns = conftest.corpus("Mara: I like flutes.").turns
    _, _, memory = made(turns, tmp_path, cache=False)
    assert (memory.failed, memory.new, memory.text) == (1, 0, "Mara: I like flutes.")
    server.reset().reply = replies
    assert made(turns, tmp_path, cache=False)[2].new == 1
    assert notes_asked(server) == 1


def test_a_server_that_refuses_ends_it_and_nothing_is_kept(run, server):
    server.reply = lambda body: status(401)
    ran = run(*ask)
    assert (ran.code, ran.record["error"]["kind"]) == (2, "llm_refused")
    server.reply = replies
    assert run(*ask).record["trace"]["new_pieces"] == 1
