"""Turns joined to pairs, windows and chunks, by hand-worked examples. A token is a whitespace word here."""

from __future__ import annotations

import pytest

from smartsearch.bench.types import Group
from smartsearch.bench.units import chunk_numbers, regroup
from smartsearch.errors import UsageError
from smartsearch.types import Corpus, Skipped, Turn


def turn(session: str, number: int, text: str, speaker: str = "Al", caption: str = "") -> Turn:
    time = f"2024-01-0{session}"
    return Turn(
        text,
        speaker,
        time,
        caption,
        path="a.json",
        line=number,
        conversation="c",
        session=session,
        turn=f"{number}",
    )


CORPUS = Corpus(
    (
        turn("1", 1, "one two"),  # "Al: one two" is 3 tokens
        turn("1", 2, "three", "Bea", "red cat"),  # "Bea: three (red cat)" is 4
        turn("1", 3, "four five six seven eight nine ten"),  # 8
        turn("1", 4, "eleven", ""),  # 1, no speaker
        turn("1", 5, "twelve"),  # 2
        turn("2", 6, "thirteen", "Bea", "blue dog"),  # 4
        turn("2", 7, "fourteen"),  # 2
    ),
    (Skipped("b.json", "unreadable", "gone"),),
)
GROUP = Group("c", CORPUS, ())


def tokens(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("unit", "members"),
    [
        ("turn", [(0,), (1,), (2,), (3,), (4,), (5,), (6,)]),
        ("window:1", [(0,), (1,), (2,), (3,), (4,), (5,), (6,)]),
        ("pair", [(0, 1), (2, 3), (4,), (5, 6)]),
        ("window:3", [(0, 1, 2), (1, 2, 3), (2, 3, 4), (5, 6)]),
        ("window:5", [(0, 1, 2, 3, 4), (5, 6)]),
        ("chunk:7", [(0, 1), (2,), (3, 4), (5, 6)]),
        ("chunk:6", [(0,), (1,), (2,), (3, 4), (5, 6)]),
        ("chunk:9", [(0, 1), (2, 3), (4,), (5, 6)]),
        ("chunk:1000", [(0, 1, 2, 3, 4), (5, 6)]),
    ],
)
def test_units_hold_these_turns(unit: str, members: list[tuple[int, ...]]) -> None:
    regrouped = regroup(GROUP, unit, tokens)
    assert list(regrouped.members) == members
    assert len(regrouped.corpus.turns) == len(members)
    assert regrouped.corpus.skipped == CORPUS.skipped


def test_a_unit_is_the_first_turn_with_the_lines_of_the_rest() -> None:
    units = regroup(GROUP, "pair", tokens).corpus.turns
    assert units[0] == Turn(
        text="one two\nBea: three (red cat)",
        speaker="Al",
        time="2024-01-01",
        path="a.json",
        line=1,
        conversation="c",
        session="1",
        turn="1",
    )
    assert units[1].text == "four five six seven eight nine ten\neleven"
    assert units[3].spoken == "Bea: thirteen (blue dog)\nAl: fourteen"


def test_the_unit_before_is_found_within_the_session_only() -> None:
    assert regroup(GROUP, "pair", tokens).corpus.previous == (-1, 0, 1, -1)
    assert regroup(GROUP, "window:4", tokens).corpus.previous == (-1, 0, -1)


def test_chunk_numbers_say_the_chunk_of_each_turn() -> None:
    numbers = chunk_numbers(CORPUS, 7, tokens)
    assert numbers.tolist() == [0, 0, 1, 2, 2, 3, 3]
    assert numbers.dtype == "int64"


@pytest.mark.parametrize(
    "unit", ["", "word", "pair:2", "turn:1", "window", "window:0", "chunk:", "chunk:-3", "chunk:x"]
)
def test_unknown_units_name_the_known(unit: str) -> None:
    with pytest.raises(UsageError, match="unknown unit") as caught:
        regroup(GROUP, unit, tokens)
    assert "window:N" in caught.value.hint
