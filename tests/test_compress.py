"""Fewer tokens: dates once a session, initials with a legend."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.config import Config
from smartsearch.output.plain import context
from smartsearch.rank.compress import initials, legend, writing
from smartsearch.rank.truncate import Tokenizer, truncate
from smartsearch.types import Hit, Nearby, Scores, Turn

LETTERS = Tokenizer("letters", lambda text: sum(c.isalpha() for c in text))


def said(text: str, speaker: str = "Maya", time: str = "2023-05-08T10:00:00", session: str = "s1") -> Turn:
    return Turn(text, speaker, time, session=session, conversation="c", path="c.json")


def ranked(*turns: Turn) -> list[Hit]:
    return [Hit(n, turn, Scores(1.0, ce=1.0 / n), index=n) for n, turn in enumerate(turns, 1)]


def block(hits: list[Hit], *measures: str) -> list[str]:
    return list(context(hits, [Nearby(hit.index) for hit in hits], measures))


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["Maya", "Jonas"], {"Maya": "M", "Jonas": "J"}),
        (["Maya", "Mara"], {"Maya": "M", "Mara": "Ma"}),
        (["Maya Reis", "Mara Ott", "Mia"], {"Maya Reis": "M", "Mara Ott": "MO", "Mia": "Mi"}),
        (["Al", "A"], {}),
        (["", "user", "assistant"], {"user": "U", "assistant": "A"}),
    ],
)
def test_initials_tell_speakers_apart(names, short):
    turns = [said("x", name) for name in names]
    assert initials(turns) == short


@given(st.lists(st.text(max_size=12), max_size=12))
def test_initials_are_unique_shorter_and_nobody_elses_name(names):
    short = initials([said("x", name) for name in names])
    assert len(set(short.values())) == len(short)
    assert all(len(letters) < len(name) for name, letters in short.items())
    assert not set(short.values()) & set(names)


def test_the_block_says_a_date_once_and_names_by_a_legend():
    hits = ranked(
        said("The key is under the pot."),
        said("Thanks, I found it.", "Jonas"),
        said("We moved the party.", "Jonas", "2023-06-01T09:00:00", "s2"),
    )
    assert block(hits, "dates", "speakers") == [
        *("M = Maya, J = Jonas", "", "## conversation c, session s1, 2023-05-08"),
        *("M: The key is under the pot.", "J: Thanks, I found it.", ""),
        *("## conversation c, session s2, 2023-06-01", "J: We moved the party."),
    ]
    assert block(hits[:1]) == [
        "## conversation c, session s1, 2023-05-08",
        "[2023-05-08] Maya: The key is under the pot.",
    ]


def test_a_date_that_changes_inside_a_session_is_said():
    hits = ranked(
        said("One."),
        said("Two.", time="2023-05-09"),
        said("Three.", time="2023-05-09"),
        said("Four.", time=""),
    )
    lines = ["Maya: One.", "[2023-05-09]", "Maya: Two.", "Maya: Three.", "[no date]", "Maya: Four."]
    assert block(hits, "dates")[1:] == lines


def test_counting_says_date_and_name_once():
    hits = ranked(said("one two"), said("three"), said("four", "Jonas"))
    kept, budget = truncate(hits, Config(truncate="fixed", compress=("dates", "speakers")), LETTERS)
    # M = Maya | [2023-05-08] | M: one two ... M: three ... J = Jonas | J: four
    assert budget.used_words == (3 + 1 + 3) + 2 + (3 + 2)
    assert [hit.turn for hit in kept] == [hit.turn for hit in hits]
    assert truncate(hits, Config(truncate="fixed"), LETTERS)[1].used_words == 4 + 3 + 3


def test_what_is_saved_makes_room_for_more():
    hits = ranked(*(said(f"word{n}") for n in range(10)))
    plain, _ = truncate(hits, Config(truncate="fixed", budget=20), LETTERS)
    short, _ = truncate(hits, Config(truncate="fixed", budget=20, compress=("dates",)), LETTERS)
    assert (len(plain), len(short)) == (6, 9)  # 3 words each; 1 for the date and 2 each


def test_without_measures_nothing_changes():
    turn = said("Hello there")
    assert writing([turn], ()).adding(turn)[0] == turn.rendered
    assert legend({}) == ""
