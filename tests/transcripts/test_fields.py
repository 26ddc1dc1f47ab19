"""Values out of JSON that anyone may have written, and the captions made of them."""

from __future__ import annotations

from typing import Any

import pytest

from smartsearch.transcripts.formats.captions import attachment, bracketed, linked
from smartsearch.transcripts.formats.fields import (
    in_time,
    last_part,
    mapping,
    misfit,
    number,
    objects,
    sequence,
    string,
    text,
)

VALUE = {
    "a": " ",
    "b": 7,
    "c": "x",
    "d": True,
    "e": ["y", {"z": 1}],
    "f": {"g": {"h": 1}},
    "n": "12",
    "r": 1.5,
}


def test_values_come_only_in_the_type_that_was_asked_for() -> None:
    assert [text(VALUE, *keys) for keys in ("a", "b", ("a", "c"), "q")] == ["", "", "x", ""]
    assert [string(VALUE, key) for key in "abcdeq"] == [" ", "7", "x", "", "", ""]
    assert [number(VALUE, key) for key in "abdnrq"] == [None, 7.0, None, 12.0, 1.5, None]
    assert (sequence(VALUE, "e"), sequence(VALUE, "c"), objects(VALUE, "e")) == (
        ["y", {"z": 1}],
        [],
        [{"z": 1}],
    )
    assert (mapping(VALUE, "f", "g"), mapping(VALUE, "f", "c"), mapping(VALUE, "c", "f")) == (
        {"h": 1},
        {},
        {},
    )


@pytest.mark.parametrize("value", [None, 5, "x", [], [1]])
def test_what_is_no_object_holds_nothing(value: Any) -> None:
    assert (text(value, "a"), string(value, "a"), number(value, "a")) == ("", "", None)
    assert (sequence(value, "a"), objects(value, "a"), mapping(value, "a")) == ([], [], {})


def test_a_number_that_is_none_to_compare_is_none() -> None:
    assert [number({"a": found}, "a") for found in (float("nan"), float("inf"), "9" * 40, "-1", 10**400)] == [
        *(None, None, None, None, None),
    ]


@pytest.mark.parametrize(
    ("value", "kinds", "reason"),
    [
        ({"a": "x"}, (), ""),
        ({"a": None}, (), ""),
        ({}, (), ""),
        ({"a": []}, (str, list), ""),
        ({"a": []}, (), "`a` is a list, not text"),
        ({"a": 1}, (), "`a` is a number, not text"),
        ([], (), "a list in the place of a message"),
        (None, (), "null in the place of a message"),
    ],
)
def test_why_a_record_does_not_fit(value: Any, kinds: tuple[type, ...], reason: str) -> None:
    assert misfit(value, "a", *kinds) == reason


@pytest.mark.parametrize(
    ("times", "order"),
    [
        ([], []),
        ([1, 2, 2, 3], [0, 1, 2, 3]),
        ([3, 2, 2, 1], [3, 2, 1, 0]),
        ([2, 1, 3], [1, 0, 2]),
        ([1, None, 3, 2], [0, 1, 3, 2]),
        ([None, None], [0, 1]),
        ([3, None, 1], [2, 1, 0]),
    ],
)
def test_values_come_earliest_first(times: list[float | None], order: list[int]) -> None:
    assert [position for position, _ in in_time(times, lambda time: time)] == order


@pytest.mark.parametrize(
    ("name", "mime", "caption"),
    [
        ("a.JPG", "", "[image a.JPG]"),
        ("a.bin", "video/mp4", "[video a.bin]"),
        ("a.opus", "application/ogg", "[audio a.opus]"),
        ("plan.pdf", "", "[file plan.pdf]"),
        ("", "", "[file]"),
        ("two\nlines.txt", "text/plain", "[file two lines.txt]"),
    ],
)
def test_an_attachment_is_named_by_what_it_is(name: str, mime: str, caption: str) -> None:
    assert attachment(name, mime) == caption


def test_the_pieces_of_a_caption() -> None:
    assert bracketed("poll", "Soup?", "", "yes / no") == "[poll Soup? yes / no]"
    assert [last_part(path) for path in ("a/b.txt", "a\\b.txt", "b.txt", "a/", "")] == [
        "b.txt",
        "b.txt",
        "b.txt",
        "a",
        "",
    ]
    assert linked("here", "https://a.example") == "here (https://a.example)"
    assert linked("", "https://a.example") == linked("https://a.example", "") == "https://a.example"
