"""C1 and C2: the text by hand, and its words against the charge for any turns kept."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.bench.render import RENDERINGS, initials, rendering
from smartsearch.bench.types import session_numbers
from smartsearch.types import Corpus, Turn

MAY, JUNE = "2023-05-08T13:56:00", "2023-06-07T09:00:00"
CHAT = Corpus(
    (
        Turn("The flute is back", "Ann", MAY, session="1"),
        Turn("Look", "Amy Bell", MAY, caption="a clay flute", session="1"),
        Turn("Rain again", "Ann", JUNE, session="2"),
        Turn("Then tea", "Amy Bell", JUNE, session="2"),
        Turn("Past midnight now", "Ann", "2023-06-08T00:01:00", session="2"),
    )
)


def text(name, kept, chat=CHAT):
    return rendering(name).text(chat, kept, session_numbers(chat))


def characters(line):
    return len(line)


def test_plain_is_what_search_itself_shows():
    assert text("", [2, 0]) == "[2023-06-07] Ann: Rain again\n[2023-05-08] Ann: The flute is back"


def test_c1_groups_by_session_in_the_order_of_the_best_turn():
    assert text("C1", [3, 1, 0, 2]).splitlines() == [
        *("2023-06-07", "Ann: Rain again", "Amy Bell: Then tea"),
        *("2023-05-08", "Ann: The flute is back", "Amy Bell: Look (a clay flute)"),
    ]
    assert rendering("C1").order([3, 1, 0, 2], session_numbers(CHAT)) == [2, 3, 0, 1]


def test_c1_does_not_put_an_undated_session_under_the_date_before_it():
    chat = Corpus((Turn("one", "Ann", MAY, session="1"), Turn("two", "Ann", session="2")))
    assert text("C1", [0, 1], chat).splitlines() == ["2023-05-08", "Ann: one", "undated", "Ann: two"]
    never = Corpus((Turn("one", "Ann", session="1"), Turn("two", "Ann", session="2")))
    assert text("C1", [0, 1], never).splitlines() == ["Ann: one", "Ann: two"]


def test_c2_writes_initials_under_a_legend():
    assert text("C2", [1]).splitlines() == ["A=Ann, AB=Amy Bell", "[2023-05-08] AB: Look (a clay flute)"]
    assert text("C1C2", [1, 2]).splitlines() == [
        *("A=Ann, AB=Amy Bell", "2023-05-08", "AB: Look (a clay flute)", "2023-06-07", "A: Rain again")
    ]


def test_nobody_shares_initials():
    names = ["Ann", "Amy", "Ben", "a1", "+44 7700", "ada lee"]
    short = initials(Corpus(tuple(Turn("x", name) for name in (*names, "Ann", ""))))
    assert short == {"Ann": "A1", "Amy": "A2", "Ben": "B", "a1": "A3", "+44 7700": "47", "ada lee": "AL"}


@given(st.lists(st.text("aAbB1 -", max_size=4), max_size=12))
def test_initials_are_unique_whatever_the_names(names):
    short = initials(Corpus(tuple(Turn("x", name) for name in names)))
    assert len(set(short.values())) == len(short)
    assert all(short.values())


def test_costs_by_hand():
    words, tokens = rendering("C1C2").costs(CHAT, characters)
    assert words.each.tolist() == [5, 5, 3, 3, 5]  # "A: The flute is back" and so on
    assert (words.header.tolist(), words.legend) == ([1, 1], 3)  # A=Ann, AB=Amy Bell
    assert tokens.each.tolist() == [20, 23, 13, 12, 33]
    assert (tokens.header.tolist(), tokens.legend) == ([10, 10], 18)
    words, tokens = rendering("").costs(CHAT, characters)
    assert words.each.tolist() == [turn.words for turn in CHAT.turns]
    assert (words.header.tolist(), words.legend, tokens.legend) == ([0, 0], 0, 0)


TURNS = st.builds(
    Turn,
    text=st.sampled_from(["tea", "the kiln is hot", "two\nlines", " spaced  out ", "no-break\xa0space"]),
    speaker=st.sampled_from(["", "Ann", "Amy", "Ben Stone", " "]),
    time=st.sampled_from(["", MAY, JUNE, "2023-06-08"]),
    caption=st.sampled_from(["", "a jar"]),
    session=st.sampled_from(["1", "2", "3"]),
)


@given(st.data())
def test_the_words_of_the_text_are_those_charged_and_no_turn_is_lost(data):
    chat = Corpus(tuple(data.draw(st.lists(TURNS, max_size=8))))
    places = list(range(len(chat.turns)))
    kept = data.draw(st.permutations(places))[: data.draw(st.integers(0, len(places)))]
    sessions = session_numbers(chat)
    for name in RENDERINGS:
        chosen = rendering(name)
        costs, _ = chosen.costs(chat, characters)
        shown = chosen.text(chat, kept, sessions)
        opened = np.unique(sessions[kept]) if kept else []
        charge = costs.each[kept].sum() if kept else 0
        charge += costs.header[opened].sum() if kept else 0
        charge += costs.legend if kept else 0
        assert len(shown.split()) == charge
        assert sorted(chosen.order(kept, sessions)) == sorted(kept)
        for index in kept:
            assert chat.turns[index].text in shown
