"""Episodes and semantics by rule: where an episode ends, what it is known by, what it states."""

from dataclasses import replace

import pytest

from smartsearch.config import Config
from smartsearch.models.loading import load_tools
from smartsearch.systems import pieces
from smartsearch.systems.xmemory import rule
from smartsearch.types import Turn
from tests.systems.planted import Statements, chat, session


def said(texts, **fields):
    return [Turn(text, speaker="Ann", path="a", **fields) for text in texts]


def test_a_session_ends_an_episode_and_nothing_is_left_out():
    turns = chat(0, 1, 2)
    runs = pieces.spans(turns)
    assert [n for run in runs for n in run] == list(range(18))
    assert [len(run) for run in runs] == [6, 6, 6]
    assert pieces.spans([]) == []


def apart(time, later):
    return said(["a b", "c d"], time=time) + said(["e", "f"], time=later)


GARDEN = [
    "tomatoes compost seedlings",
    "spade compost garden",
    "garden seedlings rain",
    "rain tomatoes spade",
]
SERVER = ["kernel deploy backup", "disk kernel cluster", "cluster monitor deploy"]


@pytest.mark.parametrize(
    ("turns", "expected"),
    [
        (apart("2024-01-01T10:00", "2024-01-01T10:29"), [4]),
        (apart("2024-01-01T10:00", "2024-01-01T10:31"), [2, 2]),  # half an hour of silence
        (apart("", "x"), [4]),  # times that tell nothing
        (apart("2024-01-01T10:00", "2024-01-01T12:00+02:00"), [4]),
        (said(["yes", "yes", "By the way, the boat", "yes"]), [2, 2]),  # saying that the topic changes
        (said(["yes"] * 30), [12, 12, 6]),
        (said(GARDEN + SERVER), [4, 3]),  # other words
        (said(GARDEN + GARDEN[:3]), [7]),
    ],
)
def test_what_ends_an_episode_and_what_does_not(turns, expected):
    assert [len(run) for run in pieces.spans(turns)] == expected


def test_an_episode_is_known_by_what_was_said_wherever_it_stands():
    turns = session(1)
    runs = [range(6), range(6, 12)]
    moved = [replace(turn, path="elsewhere", session="x") for turn in turns]
    one, two = pieces.keys([*turns, *moved], runs)
    assert two == f"{one}-1"
    assert pieces.keys(session(2), [range(6)]) != [one]
    changed = [*turns[:5], replace(turns[5], text="Oh yes!")]
    assert pieces.keys(changed, [range(6)]) != [one]


def test_a_record_has_statements_with_their_days_and_where_they_stand():
    turns = [
        Turn("Hm.", speaker="Ben", time="2024-05-08T10:00"),
        Turn("I went there yesterday. Nice? I liked it.", speaker="Ann", time="2024-05-08T10:01"),
    ]
    made = rule.episode("k", turns, Statements())
    assert [(fact.text, fact.messages) for fact in made.semantics] == [
        ("Ann: I went there yesterday [= 2024-05-07].", (1,)),
        ("Ann: I liked it.", (1,)),
    ]
    assert (made.messages, made.title, made.time, made.source) == (2, "Hm.", "2024-05-08T10:00", "rule")


def test_an_episode_without_a_statement_is_still_to_be_found():
    made = rule.episode("k", said(["", "ok", "sure"]), Statements())
    assert [(fact.text, fact.messages) for fact in made.semantics] == [("Ann: ok", (1,))]
    assert rule.episode("k", said([""]), Statements()).semantics[0].messages == (0,)


def test_a_theme_is_called_by_the_words_most_facts_have():
    named = rule.names({1: ["Ann: the spade", "Ann: a spade and compost", "some tea"]}, 3)
    assert named == {1: "spade, compost, tea"}


@pytest.mark.models
def test_the_shipped_parser_finds_statements():
    parser = load_tools(Config()).parser
    text = 'Where did you go? I moved to Lisbon in 2019.\nGreat! Maria said "I teach biology." Yes ok.'
    assert parser.statements(text) == ["I moved to Lisbon in 2019.", 'Maria said "I teach biology."']
    assert parser.statements("") == []
