"""Figures that a page quotes are those of the record it links; the others of two pages are told elsewhere."""

import json
import re
import sys
from functools import cache
from typing import Any

import pytest

from tests.docs.shell import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
results_page = __import__("results_page")

QUOTED = results_page.tomllib.loads((ROOT / "tests/docs/figures.toml").read_text(encoding="utf-8"))
PAGES = QUOTED["claims"]
ELSEWHERE = (
    *("benchmarks/*.md", "benchmarks/*.toml", "benchmarks/*/*.md", "docs/decisions/*.md", "CHANGELOG.md"),
)
"""Where a figure that no record of a benchmark has is told with how it was measured."""
FIGURE = re.compile(r"(?<![\d.])\.\d\d\d?\b")


@cache
def record(name: str) -> dict[str, Any]:
    path = ROOT / "benchmarks" / "results" / f"{QUOTED['records'][name]}.json"
    found: dict[str, Any] = results_page.as_now(json.loads(path.read_text(encoding="utf-8")))
    return found


def value(name: str, row: str, measure: str, reading: str = "micro") -> str:
    """A figure of a record as pages write it."""
    if row == "both":
        return share(record(name)["agreement"][measure][reading])
    if row.startswith("at:"):
        system = row[3:].replace("_c", " c")
        return share(record(name)["compared"]["systems"][system]["kept"][measure][reading])
    found = next(one for one in record(name)["rows"] if one["name"] == QUOTED["rows"][row])
    if measure in ("words", "candidates"):
        return f"{found[measure]:,.0f}"
    if measure in ("p", "p_holm"):
        return f"{found['against']['kept'][measure]:.1g}".lstrip("0")
    return share(found["recall"][measure][reading])


def share(found: float) -> str:
    return f"{found:.3f}".removeprefix("0")


def read(claim: re.Match[str]) -> str:
    said = claim[1].split()
    percent = said[-1] == "%"
    figure = value(*said[: len(said) - percent])
    return f"{100 * float(figure):.1f}%" if percent else figure


def plain(text: str) -> str:
    return " ".join(text.split())


def page(name: str) -> str:
    return plain((ROOT / name).read_text(encoding="utf-8"))


def claims(name: str) -> list[str]:
    return [plain(re.sub(r"\{(.*?)\}", read, line)) for line in PAGES[name].strip().splitlines()]


@pytest.mark.parametrize("name", PAGES)
def test_a_figure_is_what_the_record_has(name):
    assert [claim for claim in claims(name) if claim not in page(name)] == []


@pytest.mark.parametrize("name", ["README.md", "docs/paper.md"])
def test_every_other_figure_stands_in_the_log_a_decision_or_a_report(name):
    texts = [path.read_text(encoding="utf-8") for some in ELSEWHERE for path in ROOT.glob(some)]
    told = {figure for text in texts for figure in FIGURE.findall(text)}
    rest = page(name)
    for claim in claims(name):
        rest = rest.replace(claim, " ")
    assert [figure for figure in FIGURE.findall(rest) if figure not in told] == []
