"""The reports are made from the records that are kept beside them, and of records with little in them."""

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

SPEED = records.read(RESULTS / "20261122-speed.json", run.KIND)
SCALE = records.read(RESULTS / "20261122-scale.json", scale.KIND)


def results() -> str:
    names = ("20261120-145432-locomo10.json", "20261120-145252-beam-100K.json")
    read = [records.read(RESULTS / name, "smartsearch bench") for name in names]
    return results_page.page(read, "python page.py")


def scaled(record: dict, **assumed: float) -> str:
    return scale_page.page(record, SPEED, scale_page.Assumed(**assumed), "python page.py")


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            results(),
            [
                "| gold turns | 2,345 | 2,360 |",
                "| mean rank of the first gold turn: cross-encoder | 8 | 10.7 |",
                "| the paper: bge-large, 560M | 2,050 | 87.4% | 3 | 908 |",
                "| ours: I3 cascade | 2,072 | 87.8% | 1 | - |",
                r"| A2 | I3+A2 cascade B1:2000 | .864 \[.843, .883\] | .864 | +.000 | 1,979 | 1,979 | +0.5 |",
                "| gold turns | 1,094 |",  # BEAM, of which the paper has nothing
                "| A1v1 | I3 cascade A1v1:0.2:2000 | not run | - | - | - | - |",
            ],
        ),
        (
            speed_page.page(SPEED, "python page.py"),
            [
                "| `--help` | 0.15 s or less | 0.195 s | not reached | 1.30 | 10 |",
            ],
        ),
        (
            scaled(SCALE),
            [
                "| transcripts | 10^10 × 147 bytes a turn | 1.47 TB |",
                "| a question each, both rankers: vCPU-hours | 10^6 × 18.2 s / 3,600 | 5,047 |",
                "| with Ray: the driver alone | 1 / 6.56 ms of processor | 153 | 2,771 |",
            ],
        ),
    ],
    ids=["results", "performance", "scale"],
)
def test_a_report_has_the_figures_of_its_record_and_whole_tables(text: str, lines: list[str]):
    assert "\n    python page.py" in text
    for line in lines:
        assert line in text.splitlines()
    for block in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        assert len({len(re.split(r"(?<!\\)\|", line)) for line in block.splitlines()}) == 1, block


def test_what_is_assumed_is_an_option():
    text = scaled(SCALE, price=0.1, users=1000.0)
    assert "| ... money | 5.05 × $0.1 | $0.505 |" in text
    assert "| `--price` | $ for a vCPU-hour, on demand | 0.1 |" in text


def test_what_was_not_measured_is_said():
    assert "not measured: this section was not run" in speed_page.page({"sections": {}}, "")
    text = scaled({"parts": {}})
    assert "Not computed: not measured yet: start, size, coordinator." in text
    assert "Not measured: this part was not run." in text


def test_figures_to_doubt_are_marked():
    section = {**SPEED["sections"]["warm"], "busy": 0.4, "quick": True}
    said = list(speed_page.doubts({"sections": {"warm": section}}))
    assert "others used 40% of the cores" in said[1]
    assert "no figures to quote" in said[0]


def test_a_file_that_is_no_record_is_refused(tmp_path: Path):
    bad = tmp_path / "record.json"
    for text in ("[]", '{"kind": "smartsearch bench"}'):
        bad.write_text(text)
        with pytest.raises(SystemExit, match="record"):
            records.read(bad, run.KIND)
