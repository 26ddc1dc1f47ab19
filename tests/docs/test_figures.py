"""Figures that a page quotes are those of the records it links; the others stand in the log, a decision or a report."""

from __future__ import annotations

import json
import re
import sys
from functools import cache
from typing import Any

import pytest

from tests.docs.shell import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
results_page = __import__("results_page")

RECORDS = {
    "now": "20261128-235149-locomo10",
    "beam-now": "20261128-235404-beam-100K",
    "whole": "20261128-083842-locomo10",
    "beam-whole": "20261128-065303-beam-100K",
    "long": "20261124-235122-longmemeval-rebuilt",
}
ROWS = {
    "default": "I3 cascade B2:0.01:60:4000+skip",
    "paper": "IP+speakers rrf+plain B2:0.01:60:4000+skip",
    **{f"default-{words}": f"I3 cascade B1:{words}+skip" for words in (500, 1000, 2000)},
    "paper-2000": "IP+speakers rrf+plain B1:2000+skip",
    **{rank: f"I3 {rank} B1:2000" for rank in ("cascade", "ce", "colbert", "rrf")},
    **{rival: f"{rival} B1:2000" for rival in ("bm25", "bm25_date", "minilm_date")},
}
CLAIMS = {
    "README.md": """
| **{now default turn@62 %}** | 90.9% | {whole bm25_date turn@62 %} | {whole minilm_date turn@62 %} |
up to 124 turns; of ours {whole both %}
({beam-whole paper kept} of the gold, ours {beam-whole default kept} by the same cut) and less of LoCoMo ({whole paper kept}, ours {whole default kept})
""",
    "docs/figures.md": """
| `I3 cascade` | **{now default turn@62}** | **{beam-now default turn@62}** |
| the same by its scores alone | | {whole default turn@62} | {beam-whole default turn@62} |
| `I3 rrf` | {whole rrf turn@62} | {beam-whole rrf turn@62} |
| `IP+speakers rrf+plain` | {whole paper turn@62} | {beam-whole paper turn@62} |
| `bm25_date` | {whole bm25_date turn@62} | {beam-whole bm25_date turn@62} |
| `minilm_date` | {whole minilm_date turn@62} | {beam-whole minilm_date turn@62} |
| | {whole both} | {beam-whole both} |
R@5 {now default turn@5}, over questions {now default turn@5 macro}, R@10 over questions {now default turn@10 macro};
all gold within 5, 10, 62 in {now default turn@5 all}, {now default turn@10 all}, {now default turn@62 all} of the questions;
R@3/5/10 {now default chunk@3 macro}/{now default chunk@5 macro}/{now default chunk@10 macro} (QRR
words {now default-500 kept}, {now default-1000 kept}, {now default-2000 kept} (the paper .958,
`IP+speakers rrf+plain` {whole paper-2000 kept} in 2,000), by the default cut {now default kept} at {now default words} words
(`IP+speakers rrf+plain` {whole paper kept} at {whole paper words})
R@5 over questions {beam-now default turn@5 macro}, R@10 {beam-now default turn@10 macro};
all gold within 5, 10, 62 in {beam-now default turn@5 all}, {beam-now default turn@10 all}, {beam-now default turn@62 all};
kept in 2,000 words {beam-now default-2000 kept}, by the default cut {beam-now default kept} at {beam-now default words} words.
has R@5 {beam-whole paper turn@5 macro}, R@10 {beam-whole paper turn@10 macro}, kept {beam-whole paper-2000 kept} in 2,000 words (p .013; with
and {beam-whole paper kept} at {beam-whole paper words} by the
smartsearch {long cascade turn@5 macro} {long cascade turn@62}, ColBERT alone {long colbert turn@5 macro} {long colbert turn@62}, BM25 {long bm25 turn@5 macro} {long bm25 turn@62}
""",
    "docs/paper.md": """
| the cross-encoder | {whole ce turn@62} | .909
| ColBERT | {whole colbert turn@62} | .844
| {whole rrf turn@62} by RRF, {whole cascade turn@62} by the cascade, {now default turn@62} with
| either: up to 124 turns | {whole both} | .922 |
R@10 macro {whole paper turn@10 macro} to {now default turn@10 macro}, top 62 {whole paper turn@62} to {now default turn@62},
keeps {beam-whole paper kept} of its gold, our cascade by its scores {beam-whole default kept}
""",
    "smartsearch/models/CARD.md": """
LoCoMo top 62 {now default turn@62 %}, R@5 {now default turn@5 macro}; BEAM {beam-now default turn@62 %}, {beam-now default turn@5 macro}.
By the scores alone: {whole default turn@62 %}, {whole default turn@5 macro} (without
; BEAM {beam-whole default turn@62 %}, {beam-whole default turn@5 macro}
""",
}
"""What pages say of the records: `{record row measure reading}`, micro where it is not said; `%` in per cent."""
SYSTEMS = {"smartsearch": "I3 cascade", "QRMeM `ges`": "qrmem-rule:ges", "xMemory": "xmemory-rule"}
SYSTEMS |= {"BM25, neighbours, dates": "bm25_date", "all-MiniLM": "minilm"}
ELSEWHERE = ("benchmarks/*.md", "benchmarks/*.toml", "benchmarks/*/*.md", "docs/decisions/*.md", "CHANGELOG.md")
FIGURE = re.compile(r"(?<![\d.])\.\d\d\d?\b")


@cache
def record(name: str) -> dict[str, Any]:
    path = ROOT / "benchmarks" / "results" / f"{RECORDS[name]}.json"
    found: dict[str, Any] = results_page.as_now(json.loads(path.read_text(encoding="utf-8")))
    return found


def read(claim: re.Match[str]) -> str:
    """The figure that the record has."""
    name, row, *said = claim[1].split()
    if row == "both":
        value = record(name)["agreement"]["union@62"]["micro"]
    else:
        found = next(one for one in record(name)["rows"] if one["name"] == ROWS[row])
        if said[0] == "words":
            return f"{found['words']:,.0f}"
        if said[0] in ("p", "p_holm"):
            return f"{found['against']['kept'][said[0]]:.1g}".lstrip("0")
        reading = next((word for word in said[1:] if word != "%"), "micro")
        value = found["recall"][said[0]][reading]
    return f"{value:.1%}" if said[-1:] == ["%"] else f"{value:.3f}".lstrip("0")


def plain(text: str) -> str:
    return " ".join(text.split())


def page(name: str) -> str:
    return plain((ROOT / name).read_text(encoding="utf-8"))


def claims(name: str) -> list[str]:
    return [plain(re.sub(r"\{(.*?)\}", read, line)) for line in CLAIMS[name].strip().splitlines()]


@pytest.mark.parametrize("name", CLAIMS)
def test_a_figure_is_what_the_record_has(name):
    assert [claim for claim in claims(name) if claim not in page(name)] == []


def test_systems_are_compared_as_the_record_has_them():
    systems = record("whole")["compared"]["systems"]
    text = page("docs/figures.md")
    for said, name in SYSTEMS.items():
        line = text[text.rindex(f"| {said} |") :]
        kept = [f"{systems[name]['kept'][words]['micro']:.3f}".lstrip("0") for words in ("500", "1000", "2000")]
        assert FIGURE.findall(line)[:3] == kept


@pytest.mark.parametrize("name", [name for name in CLAIMS if not name.endswith("CARD.md")])
def test_every_other_figure_stands_in_the_log_a_decision_or_a_report(name):
    texts = [path.read_text(encoding="utf-8") for some in ELSEWHERE for path in ROOT.glob(some)]
    told = {figure for text in texts for figure in FIGURE.findall(text)}
    rest = page(name)
    for claim in claims(name):
        rest = rest.replace(claim, " ")
    assert [figure for figure in FIGURE.findall(rest) if figure not in told] == []
