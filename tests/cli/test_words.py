"""Questions typed without a command or without quotes, and what waits in a pipe."""

import os
from pathlib import Path

import pytest

from smartsearch.cli import words
from smartsearch.cli.app import COMMANDS, _below
from smartsearch.errors import UsageError
from tests.cli.conftest import QUESTION, Run

ASKED = QUESTION.split()


@pytest.mark.parametrize(
    "typed",
    [
        ["when", "did", "we", "book", "the", "boat"],
        *(["boat", "chats/"], ["boat", "-"], ["when did we?"], ["when did we?", "-n", "3"]),
        ["qurey", "when", "did", "we"],
        ["answers", "from", "the", "doctor"],  # like a command, and a question
        *map(str.split, ("show me the boat", "memory of the lake", "models of boats")),
        *map(str.split, ("index of the book we read", "live in Ghent since")),
        *map(str.split, ("show me the boat chats/", "cache of the lake ./a b.txt")),
    ],
)
def test_several_words_that_cannot_be_a_commands_arguments_are_a_question(typed: list[str]):
    assert words.commanded(typed, COMMANDS, _below) == ["query", *typed]


@pytest.mark.parametrize(
    "typed",
    [
        *("", "--version", "-h", "query boat", "answer when did we", "show me it"),
        *("show chat.txt:1 2 3", "show 1 2 3", "cache clear it", "memory build the lake"),
        *("batch a b.jsonl c", "index a/ b c", "index a b c/", "show me the b.txt:3"),
    ],
)
def test_a_command_stays_one_where_words_can_be_its_arguments(typed: str):
    assert words.commanded(typed.split(), COMMANDS, _below) == typed.split()
    assert words.commanded([""], COMMANDS) == [""]


@pytest.mark.parametrize("typed", ["show me keys", "answer who gave her the drone", "cache keys"])
def test_an_error_says_both_readings_where_words_may_have_been_a_question(run: Run, typed: str):
    ran = run(*typed.split())
    assert ran.code == 2
    assert f"or, as a question: smartsearch query '{typed}'" in ran.err
    assert f"query '{typed}' ./chats" in run(*typed.split(), "./chats").err
    for place in ("show nowhere.txt", "show chat.txt:99999999999", "index nowhere/"):
        assert "as a question" not in run(*place.split()).err


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        (["qurey"], "did you mean query?"),
        (["qurey", "when did we?", "chats"], "did you mean query?"),
        (["bacth", "questions.jsonl", "chats"], "did you mean batch?"),
        (["boat"], "smartsearch query boat, or smartsearch --help"),
        (["boat", "-n3"], "smartsearch query boat, or smartsearch --help"),
    ],
)
def test_a_single_word_is_a_mistake_with_a_suggestion(typed: list[str], hint: str):
    with pytest.raises(UsageError) as caught:
        words.commanded(typed, COMMANDS)
    assert caught.value.hint == hint


@pytest.mark.parametrize(
    ("typed", "question", "paths"),
    [
        ("when did we book", "when did we book", []),
        ("when did we book chat.txt", "when did we book", ["chat.txt"]),
        ("when did we book talk.json -", "when did we book", ["talk.json", "-"]),
        ("when did we book gone.txt", "when did we book", ["gone.txt"]),
        ("when did we book ./gone @all", "when did we book", ["./gone", "@all"]),
        ("boat chat.txt", "boat", ["chat.txt"]),
        ("boat gone", "boat", ["gone"]),  # a script's path
        ("boat chat.txt gone", "boat", ["chat.txt", "gone"]),
        ("boat", "boat", []),
    ],
)
def test_trailing_words_are_paths_where_they_are_there_or_look_like_it(typed, question, paths: list[str]):
    first, *rest = typed.split()
    assert words.asked(first, rest) == (question, paths)


@pytest.mark.parametrize(
    ("typed", "near"),
    [
        ("who is on call cool", "cools"),
        ("who is on call orq", ""),  # too short to be told from a word
        ("when did we fly tripp", "trip.csv"),
        ("cool", ""),
        ("who is on the boat", ""),
    ],
)
def test_a_last_word_that_a_file_is_nearly_called_is_told(tmp_path: Path, monkeypatch, typed: str, near: str):
    for name in ("cools", "or", "trip.csv"):
        (tmp_path / name).touch()
    monkeypatch.chdir(tmp_path)
    told = words.near_path(typed.split())
    assert bool(told) is bool(near)
    assert told.endswith(f"smartsearch query '{' '.join(typed.split()[:-1])}' {near}" if near else "")


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("fromats detect chat.txt", "if formats was meant: smartsearch formats detect chat.txt"),
        ("quary dog chat.txt", "if query was meant: smartsearch query dog chat.txt"),
        ("model list", "if models was meant: smartsearch models list"),
        ("quary dog chat.txt -q", ""),
        ("answers from the doctor", ""),
        ("quarry of the dog", ""),
    ],
)
def test_a_first_word_that_is_nearly_a_command_is_told(run: Run, typed: str, told: str):
    err = run(*typed.split()).err
    assert (told or "taken for") in err if told else "taken for" not in err


def test_two_words_at_a_prompt_are_a_question_and_a_quoted_one_is_whole(monkeypatch: pytest.MonkeyPatch):
    assert words.asked("when did we?", ["gone", "lost"]) == ("when did we?", ["gone", "lost"])
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert words.asked("boat", ["deposit"]) == ("boat deposit", [])


def test_unquoted_words_find_what_the_quoted_ones_do(run: Run):
    quoted = run("query", QUESTION).out
    assert quoted
    assert run("query", *ASKED).out == run(*ASKED).out == quoted
    assert run(*ASKED, "chat.txt", "-n1", "--json").record["query"] == QUESTION


def test_a_path_that_is_missing_costs_itself(run: Run):
    ran = run("query", QUESTION, "chat.txt", "chaat.txt", "--json")
    assert ran.code == 0
    reason = "no such file or folder (did you mean chat.txt?)"
    assert ran.record["skipped"] == [{"path": "chaat.txt", "kind": "path_not_found", "reason": reason}]
    assert {hit["path"] for hit in ran.record["hits"]} == {"chat.txt"}
    assert "left out: chaat.txt" in run("query", QUESTION, "chaat.txt", "chat.txt").err
    assert run("query", QUESTION, "chaat.txt", "nowhere.txt").code == 2
    assert run("query", QUESTION, "chat.txt", "").code == 2


def test_a_pipe_that_nobody_asked_for_is_told_and_never_waited_for(run: Run, chats: Path):
    reader, writer = os.pipe()
    kept = os.dup(0)
    try:
        os.dup2(reader, 0)
        assert run("query", QUESTION).err == ""
        os.write(writer, b"Zoe: hello\n")
        assert run("query", QUESTION).err == "smartsearch: standard input is not read: - as a PATH reads it\n"
        assert run("query", QUESTION, "-q").err == ""
        assert run("query", QUESTION, "chat.txt").err == ""
    finally:
        os.dup2(kept, 0)
        for descriptor in (kept, reader, writer):
            os.close(descriptor)
