"""Branches of a tree of messages."""

from __future__ import annotations

import pytest

from smartsearch.transcripts.formats.branch import chain, latest_leaf

TREE = {"root": "", "a": "root", "b": "a", "c": "a", "d": "c"}


@pytest.mark.parametrize(
    ("leaf", "expected"),
    [("b", ["root", "a", "b"]), ("d", ["root", "a", "c", "d"]), ("root", ["root"]), ("gone", [])],
)
def test_a_chain_leads_from_the_root_to_the_leaf(leaf: str, expected: list[str]) -> None:
    assert chain(TREE, leaf) == expected


def test_a_circle_is_followed_once() -> None:
    assert chain({"a": "b", "b": "a"}, "a") == ["b", "a"]


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        ({"b": "2024-01-02", "d": "2024-01-01"}, "b"),
        ({"b": "2024-01-02", "d": "2024-01-03"}, "d"),
        ({"b": "2024-01-02", "c": "2024-01-03"}, "d"),
        ({"a": "2024-01-02"}, "d"),
        ({}, "d"),
    ],
)
def test_the_latest_leaf_is_that_of_the_branch_with_the_latest_time(
    times: dict[str, str], expected: str
) -> None:
    assert latest_leaf(TREE, times) == expected


def test_nothing_has_no_leaf_and_a_circle_has_one() -> None:
    assert latest_leaf({}, {}) == ""
    assert latest_leaf({"a": "b", "b": "a"}, {}) == "b"
