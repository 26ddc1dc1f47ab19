"""The reports are made from the records that are kept beside them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results"
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "benchmarks" / "speed")]

import page as speed_page  # noqa: E402
import records  # noqa: E402
import results_page  # noqa: E402
import run  # noqa: E402
import scale  # noqa: E402
import scale_page  # noqa: E402


def results() -> str:
    names = ("20261120-145432-locomo10.json", "20261120-145252-beam-100K.json")
    read = [records.read(RESULTS / name, "smartsearch bench") for name in names]
    return results_page.page(read, "python page.py")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (results, "| the paper: bge-large, 560M | 2,050 | 87.4% | 3 | 908 |"),
        (results, "| ours: I3 cascade | 2,072 | 87.8% | 1 | - |"),
        (
            lambda: speed_page.page(
                records.read(RESULTS / "20261122-speed.json", run.KIND), "python page.py"
            ),
            "| 10,000 | 1.45 | 13.4 s, 306 MB |",
        ),
        (
            lambda: scale_page.page(
                records.read(RESULTS / "20261122-scale.json", scale.KIND), "python page.py"
            ),
            "| with Ray: the driver alone | - | 6.56 |",
        ),
    ],
)
def test_a_report_has_the_figures_of_its_record_and_whole_tables(text, line: str):
    said = text()
    assert "\n    python page.py" in said
    assert any(found.startswith(line) for found in said.splitlines())
    for block in re.findall(r"(?:^\|.*\n)+", said, re.MULTILINE):
        assert len({len(re.split(r"(?<!\\)\|", row)) for row in block.splitlines()}) == 1, block


def test_what_was_not_measured_is_said():
    assert "not measured" in speed_page.page({"sections": {}}, "").lower()
    assert "Not measured: this part was not run." in scale_page.page({"parts": {}}, "")
