"""The report: tables in a pipe and on a terminal, the HTML page, docs/results.md."""

from __future__ import annotations

import io
import json
import re
import runpy
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from smartsearch.bench import console as output
from smartsearch.bench import html, paper, plots, tables
from smartsearch.errors import SmartsearchError

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "results_page.py"
DEPTHS = (1, 3, 5, 10)
MEASURES = [f"{level}@{depth}" for level in tables.LEVELS for depth in DEPTHS]
REFERENCE = "I3 cascade B2:0.03:60:4000"
NASTY = 'x</title><script>alert("1")</script>'


def recall(micro: float | None) -> dict[str, float | None]:
    if micro is None:
        return dict.fromkeys(("micro", "macro", "any", "all", "low", "high"))
    far = {"macro": 0.01, "any": 0.02, "all": -0.01, "low": -0.03, "high": 0.03}
    return {"micro": micro, **{name: round(micro + by, 5) for name, by in far.items()}}


def row(name: str, *, kept: float | None = 0.8, top: float | None = 0.9, **more: Any) -> dict[str, Any]:
    """A row of 200 gold turns, named as the grid names it; `more` replaces fields."""
    parts = name.split()
    way, rank, cut = parts if len(parts) == 3 else ("", *parts)
    figures: dict[str, Any] = {
        "questions": 100,
        "gold": 200,
        "candidates": 507.1,
        "first": {"mean": 10.82, "median": 1.0, "found": 99},
        "recall": {
            **{m: recall(0.5) for m in MEASURES},
            "retrieved": recall(0.97),
            "turn@62": recall(top),
            "kept": recall(kept),
        },
        "words": 1979.2,
        "tokens": 2897.8,
        "passages": 60.0,
        "lost": {"not retrieved": 6, "top_k": 4, "tau": 0, "budget": 30},
    }
    record = {"name": name, "retrieval": way, "rank": rank, "cut": cut, **figures, **more}
    record["by_category"] = {"1 multi-hop": dict(figures, gold=77), "2 temporal": dict(figures, gold=123)}
    if name != REFERENCE:
        lower = {"difference": -0.012, "low": -0.02, "high": -0.004, "p": 0.001, "p_holm": 0.01}
        higher = {"difference": 0.034, "low": -0.01, "high": 0.05, "p": 0.2, "p_holm": 0.4}
        record["against"] = {"reference": REFERENCE, "kept": lower, "turn@62": higher}
    return record


def curve(ranking: str) -> dict[str, Any]:
    within = {"1": 0.5, "2": 0.6, "3": 0.7, "5": 0.8, "10": 0.9, "20": 0.95, "50": 0.97, "100": 1.0}
    return {"ranking": ranking, "budgets": [125, 2000], "recall": [0.3, 0.8], "first_within": within}


def result(*rows: dict[str, Any], **more: Any) -> dict[str, Any]:
    named = rows or (
        row(REFERENCE),
        row("I3 rrf B1:2000", kept=0.82),
        row("bm25 B1:2000", kept=0.7, top=0.75),
    )
    tally = {
        "questions": 100,
        "kinds": {"search miss": 3, "reranker/budget": 21, "ok": 76},
        "splits": {"cascade": 14, "budget": 7},
        "gold": {"not retrieved": 6, "cascade": 17, "budget": 17, "kept": 160},
        "answer_absent": 2,
    }
    return {
        "schema_version": 1,
        "kind": "smartsearch bench",
        "reference": REFERENCE,
        "dataset": {
            "name": "locomo10",
            "format": "locomo",
            "path": "data/locomo10.json",
            "sha256": "abc123",
            "questions": 104,
            "dropped": {"malformed": ["c1/3: 'D'"]},
            "notes": ["5 questions left out: adversarial"],
        },
        "rows": list(named),
        "gold": {"turn": 200, "chunk": 190, "session": 150},
        "questions": {"asked": 104, "with_gold": 100, "abstention": 4},
        "passages_a_question": 601.4,
        "agreement": {
            "spearman": {"mean": 0.51, "p5": 0.2, "median": 0.52, "p95": 0.7},
            "union@62": recall(0.95),
            "gold_ranks": [[1, 1], [2, 90], [70, 3], [400, 300]],
        },
        "curves": [curve(name) for name in dict.fromkeys(tables.ranking(r) for r in named)],
        "latency": {
            "questions": 40,
            "candidates": 504.2,
            "stages": {"parse": {"p50": 3.1, "p95": 4.9}, "total": {"p50": 702.4, "p95": 861.2}},
            "first_ms": 2310.0,
        },
        "oracle": {
            "questions": 104,
            "with_gold": 100,
            "solved": 90,
            "solved_share": 0.9,
            "hops": {"1": 87, "2": 3},
            "hop_shares": {"1": 0.9667, "2": 0.0333},
            "tools": {"grep": 91, "and": 0, "semantic": 2},
            "tool_shares": {"grep": 0.9785, "and": 0.0, "semantic": 0.0215},
            "semantic_needed": 2,
            "semantic_needed_share": 0.0222,
            "semantic_ties": 9,
            "semantic_ties_share": 0.1,
            "unsolved": {"no gold": 4, "no path": 10, "capped": 0},
            "expansions": 1234,
        },
        "failures": {
            "reference": REFERENCE,
            "all": {"overall": tally, "by_category": {"1 multi-hop": tally}},
            "any": {"overall": {**tally, "kinds": {"search miss": 1, "ok": 99}}, "by_category": {}},
        },
        "accuracy": None,
        "run": {
            "version": "0.3.0",
            "commit": "deadbeef",
            "dirty": True,
            "date": "2026-11-20T13:00:00+00:00",
            "command": "smartsearch bench data/locomo10.json --grid paper",
            "machine": {
                "cpu": "a cpu",
                "cores": 2,
                "memory_gib": 24.0,
                "python": "3.11.9",
                "system": "Linux",
            },
            "threads": 2,
            "profile": "embedded",
            "models": [{"role": "colbert", "id": "tiny", "revision": "r1", "precision": "int8"}],
            "unit": "turn",
            "context": True,
            "tokenizer": "bert-base-uncased",
            "seconds": 212.4,
            "config": {},
        },
        **more,
    }


BARE = {"agreement": {}, "latency": None, "oracle": None, "failures": None, "curves": []}


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.8641, ".864"), (1.0, "1.000"), (-0.0124, "-.012"), (-0.0001, ".000"), (0.9999, "1.000"), (None, "-")],
)
def test_a_share_is_printed_as_papers_do(value: float | None, said: str):
    assert tables.share(value) == said


def test_rows_give_figures_and_a_star_where_the_difference_is_significant():
    table = tables.rows(result())
    lines = {line[0]: dict(zip(table.head, line, strict=True)) for line in table.rows}
    rrf = lines["I3 rrf B1:2000"]
    assert rrf["candidates"] == "507"
    assert rrf["first"] == "10.8 / 1"
    assert (rrf["top 62"], rrf["kept"], rrf["95%"]) == (".900", ".820", "[.790, .850]")
    assert (rrf["words"], rrf["tokens"], rrf["difference"]) == ("1,979", "2,898", "-.012*")
    assert lines[REFERENCE]["difference"] == "reference"
    assert tables.gap(result()["rows"][1], "turn@62") == "+.034"


def test_losses_count_every_gold_turn_once():
    (line,) = tables.losses([row(REFERENCE)]).rows
    assert line == (REFERENCE, "200", "6", "4", "0", "30", "160", "80.0%")


def test_accuracy_is_told_by_category_without_the_verdicts():
    tally = {"correct": 8, "wrong": 1, "unjudged": 0, "failed": 1, "questions": 10, "accuracy": 8 / 9}
    table = tables.accuracy(
        result(
            accuracy={
                "protocol": "memos",
                "reader": ["m"],
                "judge": ["j"],
                "overall": tally,
                "by_category": {"1 multi-hop": tally},
                "usage": {"reader": {"prompt_tokens": 12345, "completion_tokens": 67}},
                "cost": None,
                "verdicts": {"q1": True},
                "errors": {},
                "stopped": None,
            }
        )
    )
    assert table is not None
    assert table.rows[-1] == ("all", "10", "8", "1", "0", "1", "88.9%")
    assert "reader 12,345 tokens in, 67 out" in table.caption


def test_a_pipe_gets_aligned_columns_and_marked_titles(capsys: pytest.CaptureFixture[str]):
    output.show(result(**BARE))
    said = capsys.readouterr().out.splitlines()
    assert said[:6] == [
        "# locomo10: 104 questions, 100 with gold, 601.4 passages to search a question",
        "",
        "# Rows",
        "row                         candidates  first     retrieved  R@5   R@10  top 62  kept  95%"
        "           words  tokens  difference",
        "I3 cascade B2:0.03:60:4000  507         10.8 / 1  .970       .500  .500  .900    .800  [.770, .830]"
        "  1,979  2,898   reference",
        "I3 rrf B1:2000              507         10.8 / 1  .970       .500  .500  .900    .820  [.790, .850]"
        "  1,979  2,898   -.012*",
    ]
    assert "# By category: I3 cascade B2:0.03:60:4000" in said
    assert "2 temporal   100        123   10.8 / 1  .970       .500  .500  .900    .800" in said


def test_a_pipe_gets_one_line_a_row_whatever_a_category_is_called(capsys: pytest.CaptureFixture[str]):
    odd = row(REFERENCE)
    odd["by_category"] = {"one\ntwo\x1b[31m": odd["by_category"]["2 temporal"]}
    output.show(result(odd))
    said = capsys.readouterr().out
    assert r"one\ntwo\x1b[31m" in said
    assert "\x1b" not in said


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("columns", "whole"), [("200", True), ("80", False)])
def test_a_narrow_terminal_has_ranking_and_cut_apart(
    monkeypatch: pytest.MonkeyPatch, columns: str, whole: bool
):
    screen = _Terminal()
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    output.show(result(), color="never")
    lines = screen.getvalue().splitlines()
    heads = [line for line in lines if line.startswith("row ")]
    assert any("candidates" in head and "tokens" in head for head in heads) is whole
    assert max(map(len, lines)) <= int(columns)
    assert ".800" in screen.getvalue()


class _Page(HTMLParser):
    """Tags that are open at the end, every attribute, the text by tag."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[tuple[str, str]] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def of(self, tag: str) -> list[str]:
        return [text for inside, text in self.texts if inside == tag]


@pytest.fixture(scope="module")
def page() -> str:
    odd = {**result()["dataset"], "name": NASTY, "format": "beam"}
    return html.page([result(), result(row("I3 cascade B0"), **{**BARE, "dataset": odd})])


def test_the_page_is_well_formed_and_has_each_plot_with_a_label(page: str):
    parsed = _Page(page)
    assert parsed.open == []
    for title in (
        "Recall over budget",
        "Rank of the first gold turn",
        "Recall at the cut",
        "Latency by stage",
        "Cross-encoder against ColBERT",
    ):
        assert title in parsed.of("h3")
    labels = [value for tag, name, value in parsed.attributes if tag == "svg" and name == "aria-label"]
    assert len(labels) == 6
    assert "I3 cascade from .300 to .800" in labels[0]
    assert any("25.0% of the 4 gold turns" in label for label in labels)
    ids = [value for _, name, value in parsed.attributes if name == "id"]
    assert len(ids) == len(set(ids))
    referred = {value[1:] for _, name, value in parsed.attributes if name == "xlink:href"}
    assert referred
    assert referred <= set(ids)


def test_the_page_needs_no_network_and_runs_nothing(page: str):
    assert not re.search(r"<script|https?:|@import|javascript:|\bsrc=|<image", page)


def test_the_page_escapes_what_comes_from_the_data(page: str):
    assert NASTY not in page
    assert NASTY in "".join(_Page(page).of("h2"))


def test_the_page_follows_light_and_dark(page: str):
    assert "prefers-color-scheme: dark" in page
    drawn = page[page.index("</style>") :]
    assert set(re.findall(r"(?:fill|stroke): (#\w+)", drawn)) == set()
    assert "var(--s0)" in drawn


def test_the_page_is_the_same_for_the_same_results(page: str):
    again = html.page([json.loads(json.dumps(result()))])
    assert again[again.index("<section>") : again.index("</section>")] in page


def test_what_was_not_measured_is_left_out_of_the_page():
    nothing = row(REFERENCE, kept=None, top=None, candidates=None, words=None, tokens=None)
    nothing["first"] = {"mean": None, "median": None, "found": 0}
    titles = _Page(html.page([result(nothing, **BARE)])).of("h3")
    assert "Recall over budget" not in titles
    assert "Recall at the cut" not in titles
    assert "Rows" in titles


def test_a_plot_has_few_lines_with_the_reference_and_rivals_among_them():
    named = [REFERENCE, *(f"I3 rrf:0.{n} B1:2000" for n in range(1, 10)), "IF0 ce B1:2000", "bm25 B1:2000"]
    plot = plots.recall_over_budget(result(*map(row, reversed(named))), "x")
    assert plot is not None
    label = plot.svg[: plot.svg.index(">")]
    assert label.count(" from .300") == 8
    for ranking in ("I3 cascade", "IF0 ce", "bm25"):
        assert f"{ranking} from" in label
    assert "4 more rankings are left out here" in plot.caption


def test_without_matplotlib_the_page_says_what_to_install(monkeypatch: pytest.MonkeyPatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(SmartsearchError) as failed:
        html.page([result()])
    assert failed.value.kind == "package"
    assert "smartsearch[bench]" in failed.value.hint


def markdown(*results: dict[str, Any]) -> str:
    text: str = runpy.run_path(str(SCRIPT))["page"](results, "python page.py a.json")
    return text


def cells(text: str, heading: str, first: str) -> list[str]:
    """The cells of the line of a table that begins with `first`, under a heading."""
    part = text[text.index(heading) :]
    (line, *_) = [line for line in part.splitlines() if line.startswith(f"| {first} |")]
    return [cell.strip() for cell in line.strip("|").split(" | ")]


def test_the_tables_put_the_paper_beside_ours():
    rows = [
        row(REFERENCE, kept=0.86),
        row("I3 corpus B0", first={"mean": 190.5, "median": 150.0, "found": 99}),
        row("I3 corpus B1:2000", kept=0.21),
        row("IF0 ce B1:2000", kept=0.84, candidates=429.4),
        row("I3 rrf B2:0.1:60:4000", kept=0.83),
        row("bm25 B1:2000", top=0.75),
    ]
    text = markdown(result(*rows))
    one = "### Table 1"
    assert cells(text, one, "gold turns")[1:] == ["2,345", "200"]
    assert cells(text, one, "of these in 1 hop")[1:] == ["97.0%", "96.7%"]
    assert cells(text, one, "of these in 3 hops")[1:] == ["0.2%", "0.0%"]
    assert cells(text, one, "edges: semantic")[1:] == ["1.0%", "2.1%"]
    assert cells(text, one, "candidates: grep of the question's terms (IF0)")[1:] == ["431", "429"]
    assert cells(text, one, "mean rank of the first gold turn: unranked, corpus order")[1:] == [
        "195",
        "190.5",
    ]
    assert cells(text, one, "mean rank of the first gold turn: cross-encoder")[1:] == ["8", "not run"]
    kept = cells(text, one, "gold kept unranked, 2,000 words: corpus order")
    assert kept[1:] == [".225", ".210 (macro .220, any .230, all .200)"]
    three = cells(text, "### Table 3", "IF0 ce B1:2000: grep alone; cross-encoder")
    assert three[1:] == [".960", "429", ".970", ".840 (macro .850, any .860, all .830)"]
    assert cells(text, "### Table 3", "IF1 ce B1:2000: with PRF")[1:] == [
        "-",
        "not run",
        "not run",
        "not run",
    ]
    ours = ["1,979", "2,898", ".830", r"\[.800, .860\]", ".840", ".850", ".820"]
    assert cells(text, "| I3 rrf |", "B2:.1:60:4000")[1:] == ["1,458", ".922", *ours]
    assert cells(text, "| I3 rrf |", "B1:2000")[1:4] == ["2,967", ".958", "not run"]
    assert cells(text, "| I3 cascade |", "B2:.03:60:4000")[1:6] == ["2,277", ".945", "1,979", "2,898", ".860"]
    assert "`I0 rrf`: not run." in text
    nine = "### Table 9"
    assert cells(text, nine, "the paper: bge-large, 560M")[1:] == ["2,050", "87.4%", "3", "908"]
    assert cells(text, nine, "ours: I3 cascade")[1:] == ["180", "90.0%", "1", "702"]
    assert cells(text, nine, "ours: bm25")[1:] == ["150", "75.0%", "1", "-"]
    assert cells(text, nine, "ours: cross-encoder or ColBERT")[1:3] == ["190", "95.0%"]


def test_times_go_to_the_ranking_that_was_timed():
    rows = [row(REFERENCE), row("I3 rrf B1:2000")]
    run = {**result()["run"], "config": {"candidates": 0}}
    text = markdown(result(*rows, run=run))
    assert cells(text, "### Table 9", "ours: I3 rrf")[4] == "702"
    assert cells(text, "### Table 9", "ours: I3 cascade")[4] == "-"


def test_a_sample_is_called_one():
    sampled = {**result()["dataset"], "every": 8}
    assert "A sample, every 8th question" in markdown(result(dataset=sampled))
    assert "A sample" not in markdown(result())


def test_other_data_have_the_same_tables_without_the_paper():
    other = {**result()["dataset"], "name": "100K", "format": "beam"}
    text = markdown(result(dataset=other))
    assert "the paper:" not in text[text.index("## BEAM: 100K") :]
    assert cells(text, "### Table 1", "gold turns")[1:] == ["200"]
    assert cells(text, "| I3 rrf |", "B1:2000")[1:4] == ["1,979", "2,898", ".820"]
    small = {**other, "name": "longmemeval_s", "format": "longmemeval"}
    text = markdown(result(dataset=small))
    assert cells(text, "### Table 1", "passages a question")[1:] == ["494", "601.4"]
    assert cells(text, "### Table 1", "gold turns")[1:] == ["-", "200"]
    assert cells(text, "| I3 rrf |", "B1:2000")[1:3] == ["2,443", ".928"]


def test_controls_stand_beside_the_row_they_change():
    rows = [
        row("I3 cascade B1:2000", kept=0.80, words=1900.0),
        row("I3 cascade A1v1:0.2", kept=0.74, words=900.0),
        row("I3 cascade B1:2000+C1C2", kept=0.81),
        row("I3+lemma cascade B1:2000", kept=0.79),
        row("I3 mmr:0.7 B1:2000", kept=0.60),
    ]
    text = markdown(result(*rows))
    under = "### Negative controls"
    gone = cells(text, under, "A1v1")
    assert gone[1:] == [
        "I3 cascade A1v1:0.2",
        r".740 \[.710, .770\]",
        ".800",
        "-.060",
        "900",
        "1,900",
        "-2.3",
    ]
    assert cells(text, under, "C1C2")[3:5] == [".800", "+.010"]
    assert cells(text, under, "lemma")[3:5] == [".800", "-.010"]
    assert cells(text, under, "MMR")[3:5] == ["not run", "-"]
    assert cells(text, under, "A2")[1] == "not run"


def test_losses_classes_and_receipt_are_on_the_page():
    text = markdown(result())
    assert f"Of 200 gold turns, `{REFERENCE}` does not retrieve 6 and ranks 14 (7.0%) below 62." in text
    lost = cells(text, "### Where the gold was lost", REFERENCE)
    assert lost[1:] == ["200", "6", "4", "0", "30", "160", "80.0%"]
    assert cells(text, "Failure classes", "search miss")[1:] == ["3", "1"]
    assert cells(text, "How far the gold", "1 multi-hop")[1:] == ["200", "6", "17", "17", "160"]
    receipt = text[text.index("### Receipt") :]
    assert "    smartsearch bench data/locomo10.json --grid paper\n" in receipt
    assert cells(receipt, "| what", "code")[1] == (
        "smartsearch 0.3.0, commit deadbeef with changes that are not committed"
    )
    assert cells(receipt, "| reason", "malformed")[1:] == ["1", "c1/3: 'D'"]
    assert "    python page.py a.json\n" in text


def test_markdown_shows_names_as_they_are():
    text = markdown(result(dataset={**result()["dataset"], "name": "a|b <i>\n# c"}))
    assert r"## LoCoMo: a\|b \<i> # c" in text.splitlines()


def test_the_script_reads_files_and_names_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    path = tmp_path / "a b.json"
    path.write_text(json.dumps(result(**BARE)), encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["results_page.py", str(path)])
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    runpy.run_path(str(SCRIPT), run_name="__main__")
    sys.stdout.flush()
    said = sys.stdout.buffer.getvalue().decode()  # type: ignore[attr-defined]
    assert f"    python benchmarks/results_page.py '{path}' > docs/results.md" in said
    assert "Not run." in said


def test_the_script_names_a_file_that_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = tmp_path / "a.json"
    path.write_text("[]", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["results_page.py", str(path)])
    with pytest.raises(SystemExit, match=r"a\.json cannot be read as a result"):
        runpy.run_path(str(SCRIPT), run_name="__main__")


def test_the_paper_agrees_with_itself():
    for ranker in paper.RERANKERS:
        assert ranker.found / paper.GOLD == pytest.approx(ranker.share, abs=0.0006)
    solved = paper.SOLVED / paper.QUESTIONS
    assert solved == pytest.approx(paper.SOLVED_SHARE, abs=0.0006)
    assert sum(paper.HOPS.values()) == pytest.approx(1)
    assert sum(paper.TOOLS.values()) == pytest.approx(1)
