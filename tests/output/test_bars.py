from __future__ import annotations

import math

import pytest

from smartsearch.output.bars import ABOVE, BELOW, Scale, bar, columns, heights, parts, scale


@pytest.mark.parametrize(
    ("share", "drawn", "plain"),
    [
        (1.0, "████", "####"),
        (0.5, "██  ", "##  "),
        (0.3125, "█▎  ", "#   "),  # 10 eighths
        (0.0, "▏   ", "#   "),
    ],
)
def test_a_bar_is_filled_by_eighths(share: float, drawn: str, plain: str):
    assert bar(share, 4) == drawn
    assert bar(share, 4, ascii_only=True) == plain


def test_a_scale_leaves_out_what_is_no_number():
    assert scale([3.0, None, math.nan, 1.0, math.inf]) == Scale(1.0, 3.0)
    assert scale([None]).share(7.0) == 1.0
    assert [Scale(1.0, 3.0).share(value) for value in (0.0, 1.0, 2.5, 9.0)] == [0.0, 0.0, 0.75, 1.0]


@pytest.mark.parametrize(
    ("values", "width", "cells"),
    [
        ([1, 1, 2], 8, [2, 2, 4]),
        ([1, 1, 1], 8, [3, 3, 2]),
        ([0, 5], 3, [0, 3]),
        ([0, 0], 3, [0, 0]),
        ([-1, 4, 4], 4, [0, 2, 2]),
    ],
)
def test_parts_fill_the_width(values: list[float], width: int, cells: list[int]):
    assert parts(values, width) == cells


def test_what_is_on_the_line_stands_over_it_and_what_is_below_does_not():
    line = BELOW * 8
    assert heights([0.8, 0.4, 0.39999, 0.2, 1e-30, 0.0, None], 0.4) == [
        line + ABOVE * 8,  # the best
        line + 1,  # on the line
        line - 1,
        1,  # half of tau lies as far below as the best above: 24 eighths, and there are 16
        1,
        1,
        1,
    ]


def test_a_plot_where_nothing_is_above_its_line_or_the_line_is_nothing():
    assert heights([0.4, 0.4], 0.4) == [BELOW * 8 + 1] * 2
    assert heights([0.5], 0.0) == [1]
    assert heights([], 0.4) == []


def test_columns_stack_from_below():
    assert columns([40, 20, 3]) == ["█  ", "█  ", "█▄ ", "██ ", "██▃"]
    assert columns([40, 20, 3], ascii_only=True) == ["#  ", "#  ", "## ", "## ", "##."]
