"""Imports that leave something out."""

import importlib
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from smartsearch.runtime.lean import module, standing_in, unsaid


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


def test_what_a_library_says_is_left_out_and_nothing_else(capfd):
    def say(_: int) -> None:
        with unsaid(b"noise"):
            os.write(2, b"noise 1\nof others\n")
        os.write(2, b"after\n")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(say, range(20)))
    said = capfd.readouterr().err.splitlines()
    assert sorted(said) == ["after"] * 20 + ["of others"] * 20


def test_a_closed_standard_error_is_no_bug():
    program = "import os; os.close(2); from smartsearch.runtime.lean import unsaid\n"
    program += "with unsaid(b'x'): print('inside')"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert ran.stdout == b"inside\n"
