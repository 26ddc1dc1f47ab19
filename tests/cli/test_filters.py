"""Filters, preferred speakers and dates of `query` and `batch`, as typed."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import QUESTION, Run

GROUP = "I went to the support group yesterday."
DOG = "My flatmate adopted a dog named Oscar."
ASK = ("query", "Oscar support group", "--json", "--semantic", "off", "--no-fuzzy")


def texts(run: Run, *options: str) -> set[str]:
    return {hit["text"].partition("\n")[0] for hit in run(*ASK, *options).record["hits"]}


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--since", "2024-05-10"], {"Oscar is a lovely name."}),
        (["--until", "2024-05-09", "--since", "2024-05-09"], {DOG}),
        (["--since", "last week", "--now", "2024-05-17"], {GROUP, DOG, "Oscar is a lovely name."}),
        (["--since", "8d", "--now", "2024-05-17"], {DOG, "Oscar is a lovely name."}),
        (["--since", "may", "--until", "8 may", "--now", "2024-06-01T12:00"], {GROUP}),
        (["--until", "2024-05-08T13:56"], {GROUP}),
        (["--only-speaker", "ILYA"], {DOG}),
        (["--only-speaker", "ilya", "--only-speaker", "mara", "--until", "2024-05-08"], {GROUP}),
        (["--role", "user"], {"Is there a support group nearby?"}),
        (["--role", "User", "--role", "assistant"], {"Is there a support group nearby?"}),
        (["--conversation", "TALK"], {"Is there a support group nearby?"}),
        (["--glob", "*.json"], {"Is there a support group nearby?"}),
        (["--exclude", "*.json"], {GROUP, DOG, "Oscar is a lovely name."}),
    ],
)
def test_only_what_passes_is_found(run: Run, options: list[str], expected: set[str]):
    assert texts(run, *options) == expected


def test_what_was_asked_for_stands_in_the_record(run: Run, zone: Callable[[str], None]):
    zone("UTC")
    given = ["--since", "may", "--now", "2024-05-17", "--speaker", "mara", "--only-speaker", "Mara"]
    assert run(*ASK, *given, "--conversation", "chat").record["filters"] == {
        "conversation": ["chat"],
        "since": ["2024-05-01T00:00:00+00:00"],
        "speaker": ["mara"],
        "only_speaker": ["Mara"],
    }
    assert "filters" not in run(*ASK).record


def test_turns_without_a_time_are_counted_on_standard_error(run: Run):
    ran = run(*ASK, "--since", "2024")
    assert "2 turns without a time were left out" in ran.err
    assert ran.record["warnings"] == ["2 turns without a time were left out: --since and --until cannot tell"]
    assert run(*ASK, "--since", "2024", "--role", "user").code == 1


def test_context_shows_what_was_said_around_though_it_was_filtered_out(run: Run):
    hit = run(*ASK, "--only-speaker", "Ilya", "-C1").record["hits"][0]
    assert hit["text"] == DOG
    around = (*hit["context"]["before"], *hit["context"]["after"])
    assert [turn["speaker"] for turn in around] == ["Ilya", "Mara"]


def test_a_preferred_speaker_comes_first_and_the_others_stay(run: Run):
    plain = run("query", "Oscar", "--json").record
    liked = run("query", "Oscar", "--json", "--speaker", "mara").record
    assert [hit["speaker"] for hit in plain["hits"][:2]] == ["Ilya", "Mara"]
    assert liked["hits"][0]["text"] == "Oscar is a lovely name."
    assert {"text": "by mara", "kind": "SPEAKER", "weight": 4.0, "hop": 1} in liked["hits"][0]["why"]["terms"]
    assert {hit["text"] for hit in plain["hits"]} <= {hit["text"] for hit in liked["hits"]}


def test_a_date_of_the_question_is_a_term(run: Run):
    date = {"text": "2024-05-09", "kind": "DATE", "weight": 2.0, "hop": 1, "source": "yesterday"}
    asked = ("query", "What was lovely or adopted yesterday?", "--json", "--now", "2024-05-10")
    record = run(*asked).record
    assert date in record["terms"]
    assert date in record["hits"][0]["why"]["terms"]
    assert record["hits"][0]["text"] == DOG
    assert {"hop": 1, "kind": "date", "terms": ["2024-05-09"]}.items() <= record["hops"][2].items()
    for more in (["--no-dates"], ["--as", "paper", "--profile", "embedded"]):
        assert date not in run(*asked, *more).record["terms"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--since", "soon"], ["--since 'soon'", "last week"]),
        (["--until", ""], ["--until ''"]),
        (["--since", "2024-05-10", "--until", "2024-05-09"], ["begins after"]),
        (["--now", "tomorrow"], ["--now is 'tomorrow'"]),
        (["--role", "boss"], ["--role is 'boss'", "assistant"]),
        (["--only-speaker", "Marta"], ["no speaker 'Marta'", "Mara"]),
        (["--speaker", "Ilja"], ["no speaker 'Ilja'", "Ilya"]),
    ],
)
def test_what_makes_no_sense_is_an_error_that_helps(run: Run, options: list[str], said: list[str]):
    ran = run("query", QUESTION, *options)
    assert (ran.code, ran.out) == (2, "")
    assert all(part in ran.err for part in said)


def test_a_line_of_a_batch_has_filters_of_its_own(run: Run, chats: Path):
    asked = [
        {"id": 1, "question": "Oscar", "only_speaker": "Mara"},
        {"id": 2, "question": "Oscar", "since": "yesterday", "now": "2024-05-11"},
        {"id": 3, "question": "Oscar", "role": ["user", "assistant"], "since": None},
        {"id": 4, "question": "Oscar", "speaker": ["mara"], "until": "2024-05-09"},
        {"id": 5, "question": "Oscar", "since": "soon"},
        {"id": 6, "question": "Oscar", "since": ["2024", "2023"]},
        {"id": 7, "question": "Oscar", "speaker": "Marta"},
        {"id": 8, "question": "Oscar"},
    ]
    path = chats.parent / "questions.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in asked), encoding="utf-8")
    ran = run("batch", str(path), "--semantic", "off", "--until", "2024-05-10", "--no-fuzzy")
    found = [json.loads(line) for line in ran.out.splitlines()]
    assert ran.code == 2
    speakers = [["Mara"], ["Mara"], [], ["Ilya", "Mara"], [], [], [], ["Ilya", "Mara"]]
    assert [[hit["speaker"] for hit in record.get("hits", ())] for record in found] == speakers
    kinds = [record["error"]["kind"] for record in found[4:7]]
    assert kinds == ["usage", "input", "unknown_speaker"]
    assert set(found[3]["filters"]) == {"until", "speaker"}
    assert set(found[7]["filters"]) == {"until"}
