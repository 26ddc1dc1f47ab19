"""The report of a run, made of a record that is kept: tables in a pipe and on a terminal, the page."""

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from smartsearch.bench import console, tables

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
results_page, page = __import__("results_page"), __import__("record_page")

RECORD = BENCHMARKS / "results" / "20261128-083842-locomo10.json"
REFERENCE = "I3 cascade B2:0.01:60:4000+skip"
NASTY = 'x</title><script>alert("1")</script>{0}'


@pytest.fixture
def result() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return found


def test_rows_give_figures_and_a_star_where_the_difference_is_significant(result):
    table = tables.rows(result)
    lines = {line[0]: dict(zip(table.head, line, strict=True)) for line in table.rows}
    cascade, bm25 = lines["I3 cascade B1:2000"], lines["bm25 B1:2000"]
    assert (cascade["candidates"], cascade["first"], cascade["top 62"]) == ("506", "6.7 / 1", ".919")
    assert (cascade["kept"], cascade["95%"]) == (".911", "[.892, .927]")
    assert (cascade["words"], cascade["tokens"]) == ("1,979", "2,916")
    assert bm25["difference"].startswith("-.")
    assert bm25["difference"].endswith("*")
    assert lines[REFERENCE]["difference"] == "reference"


def test_accuracy_is_told_by_category_without_the_verdicts(result):
    tally = {"correct": 8, "wrong": 1, "unjudged": 0, "failed": 1, "questions": 10, "accuracy": 8 / 9}
    tally["overlap"] = {"f1": 0.5, "bleu1": 0.25, "rouge_l": 0.5, "exact": 0.0, "contained": 0.75}
    accuracy = {
        **{"protocol": "memos", "reader": ["m"], "judge": ["j"], "cost": None, "stopped": None},
        **{"overall": tally, "by_category": {"1 multi-hop": tally}, "verdicts": {"q1": True}, "errors": {}},
        "usage": {"reader": {"prompt_tokens": 12345, "completion_tokens": 67}},
    }
    accuracy |= {"abstention": tally, "with_abstention": tally | {"questions": 20}}
    assert tables.accuracy({**result, "accuracy": accuracy}).rows[-1][:2] == ("with abstention", "20")
    del accuracy["abstention"], accuracy["with_abstention"]
    table = tables.accuracy({**result, "accuracy": accuracy})
    assert table is not None
    words = (".500", ".250", ".500", ".000", ".750")
    assert table.rows[-1] == ("all", "10", "8", "1", "0", "1", "88.9%", *words)
    assert "reader 12,345 tokens in, 67 out" in table.caption


def test_a_pipe_gets_one_aligned_line_a_row_whatever_a_category_is_called(result, capsys):
    base = tables.reference(result)
    assert base["name"] == REFERENCE
    base["by_category"]["one\ntwo\x1b[31m"] = base["by_category"].pop("2 temporal")
    console.show(result)
    said = capsys.readouterr().out
    lines = said.splitlines()
    assert lines[0] == "# locomo10: 1540 questions, 1536 with gold, 601.4 passages to search a question"
    assert lines[2] == "# Rows"
    places = [lines[n].index(word) for n, word in ((3, "candidates"), (4, "506"))]
    assert places[0] == places[1]
    assert r"one\ntwo\x1b[31m" in said
    assert "\x1b" not in said


def test_the_page_has_plots_in_words_too_and_escapes_what_comes_from_the_data(result):
    result["dataset"]["name"] = NASTY
    text = page.page(result)
    assert NASTY not in text
    assert "x&lt;/title&gt;&lt;script&gt;" in text
    assert "<script" not in text
    assert 'src="data:image/svg+xml;base64,' in text
    assert "I3 cascade from 0.5" in text
    assert not re.search(r"""(src|href)=["'](?!data:)""", text)
    for title in ("Rows", "By category", "Gold turns by category", "Receipt", "Turns, chunks, sessions"):
        assert title in text


def test_a_ranking_has_cuts_that_skip_on_the_page_where_they_were_run(result):
    def told(rows: list[dict[str, Any]]) -> str:
        told = results_page.page([{**result, "rows": rows, "compared": None}], "command")
        return told.split("### Table 9")[0]

    rows = result["rows"]
    skips = [line for line in told(rows).splitlines() if line.startswith("| B1:2000+skip |")]
    assert [line.split(" | ")[5] for line in skips] == [".885", ".900", ".911"]
    assert "+skip |" not in told([row for row in rows if "+skip" not in row["cut"]])


def test_the_rows_of_an_older_record_stand_under_the_names_of_what_they_measured(result):
    now = results_page.as_now(result)
    names = {row["name"] for row in now["rows"]}
    assert {
        "IP+speakers rrf+plain B1:2000",
        "IP+A2+speakers cascade B1:2000",
        "I0 rrf+plain B1:2000",
    } <= names
    assert not [name for name in names if re.match(r"(IF[123]|IP(\+A2)?) |.* A1v1", name)]
    told = results_page.page([now], "command")
    assert "`I3 cascade`: of 3,981 words the cap of 60 turns leaves 2,180, alpha .03 1,595." in told
    assert "| dearest tool: grep | 98.9% | - / - |" in told
    assert results_page.as_now(now | {"schema_version": 2})["rows"] == now["rows"]


def test_a_later_record_of_the_same_data_sets_the_default_beside_the_order_of_its_scores(result):
    alone = results_page.page([result], "command")
    later = json.loads(json.dumps(result))
    wanted = ("I3 cascade B1:2000", "I3 ce B1:2000")
    later["rows"] = [row for row in later["rows"] if row["name"] in wanted]
    later["rows"][0]["recall"]["turn@5"]["micro"] = 0.123
    told = results_page.page([result, later], "command")
    assert told.count("## LoCoMo: locomo10") == 1
    lines = [line for line in told.splitlines() if line not in alone.splitlines()]
    parts = (line.split(" | ") for line in lines if line.startswith("| I3"))
    shown = {part[0].strip("| "): part[2] for part in parts}
    assert shown == {
        "I3 cascade B1:2000, scores alone": ".674 / .796",
        "I3 cascade B1:2000, as `query` orders": ".123 / .796",
    }


def test_a_sample_and_another_parser_stand_under_the_questions_they_were_asked(result):
    wanted = ("IF0 ce+plain B1:2000", "I0 rrf+plain B1:2000")
    sample = json.loads(json.dumps(result))
    sample["rows"] = [row for row in sample["rows"] if row["name"] in wanted]
    sample["dataset"]["every"] = 16
    other = json.loads(json.dumps(sample))
    other["run"]["models"][0]["id"] = "en_other"
    other["rows"][0] |= {"candidates": 17.0}
    told = results_page.page([results_page.as_now(one) for one in (result, sample, other)], "command")
    assert "### The paper's reading, every 16th question" in told
    assert told.count("| IF0 ce+plain B1:2000 |") == 3
    assert "| IF0 ce+plain B1:2000 | ours | 1,540 | 429 | .992 | .887 | .877 |" in told
    assert "| IF0 ce+plain B1:2000 | the paper's | 1,540 | 17 | .992 | .887 | .877 |" in told


def test_the_papers_of_other_systems_stand_beside_ours_as_not_comparable(result):
    assert "not comparable" not in results_page.page([{**result, "compared": None}], "command")
    told = results_page.page([result], "command")
    assert "| smartsearch (I3 cascade) | approximate | .779 | .854 | .911 | reference |" in told
    _, theirs = told.split("## What other systems' papers report")
    lines = [line for line in theirs.splitlines() if line.startswith("| ")][1:]
    assert {line.split(" | ")[0].strip("| ").split(",")[0] for line in lines} >= {"xMemory", "QRMeM"}
    assert all("| not comparable: " in line for line in lines)
