"""The rule for names."""

from __future__ import annotations

import pytest

from smartsearch.transcripts.formats.speakers import Opening, looks_like_name, opening, role, speakers


@pytest.mark.parametrize("name", ["Maya", "Dr. Anna-Lena O'Neil", "Ana Sofia Reis", "田中", "Łukasz"])
def test_names(name: str) -> None:
    assert looks_like_name(name)


@pytest.mark.parametrize("name", ["Note", "PS", "maya", "See also", "The very long way", "12", "http"])
def test_no_names(name: str) -> None:
    assert not looks_like_name(name)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Maya: hi", Opening("plain", "", "Maya", "hi")),
        ("Maya (work): hi", Opening("plain", "", "Maya (work)", "hi")),
        ("[8 May 2023, 18:40] Maya: a: b", Opening("stamped", "8 May 2023, 18:40", "Maya", "a: b")),
        ("+49 170 123: hi", Opening("plain", "", "+49 170 123", "hi")),
        ("## Maya:", Opening("##", "", "Maya", "")),
        ("http://example.org", None),
        ("10:30", None),
        ("- Maya: hi", None),
        ("one two three four five: six", None),
        ("", None),
    ],
)
def test_what_a_line_may_open(line: str, found: Opening | None) -> None:
    assert opening(line) == found


def test_a_name_must_recur_or_look_like_one() -> None:
    openings = [
        Opening("plain", "", name, "") for name in ("maya", "maya", "eggs", "Jonas", "Note", "Note", "user")
    ]
    assert speakers(openings, "plain") == {"maya", "Jonas", "user"}


def test_a_heading_must_be_a_role_or_recur_beside_another() -> None:
    names = ["Plan", "Maya", "Maya", "User"]
    assert speakers([Opening("##", "", name, "") for name in names], "##") == {"User"}
    assert speakers([Opening("##", "", name, "") for name in [*names, "Jonas", "Jonas"]], "##") == {
        "User",
        "Maya",
        "Jonas",
    }


def test_roles_are_known_in_any_case() -> None:
    assert [role(name) for name in ("USER", "ChatGPT", "system", "Maya")] == [
        "user",
        "assistant",
        "system",
        "",
    ]
