"""Imports that leave something out."""

import importlib
import sys

import pytest

from smartsearch.lean import module, standing_in


def test_a_stub_stands_in_and_the_real_one_can_be_had_afterwards():
    sys.modules.pop("colorsys", None)
    with standing_in({"colorsys": module("colorsys", answer=42)}):
        assert importlib.import_module("colorsys").answer == 42
    assert importlib.import_module("colorsys").rgb_to_hsv(0, 0, 0) == (0.0, 0.0, 0)


def test_none_is_a_module_that_is_not_there():
    sys.modules.pop("colorsys", None)
    with standing_in({"colorsys": None}), pytest.raises(ImportError):
        importlib.import_module("colorsys")


def test_what_is_loaded_stays_and_an_error_leaves_nothing_behind():
    real = importlib.import_module("json")
    with standing_in({"json": None}):
        assert importlib.import_module("json") is real
    assert sys.modules["json"] is real
    sys.modules.pop("colorsys", None)
    with pytest.raises(ZeroDivisionError), standing_in({"colorsys": None}):
        raise ZeroDivisionError
    assert "colorsys" not in sys.modules
