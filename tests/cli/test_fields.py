"""`--fields` at every door: wherever `--input-format` is, with the same turns."""

import json
from pathlib import Path

import pytest

from smartsearch.cli import options
from tests.cli.conftest import Run

FIELDS = "speaker=/by/nick,text=line,time=at"
ROWS = [
    {"by": {"nick": "Orla"}, "line": "The kiln shelf cracked", "at": 1707210600},
    {"by": {"nick": "Tove"}, "line": "Use the spare batts", "at": "1707210660000"},
]


@pytest.fixture(autouse=True)
def odd(chats: Path) -> None:
    (chats / "odd.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS), encoding="utf-8")


def test_it_is_wherever_input_format_is_and_goes_with_the_choice_of_files() -> None:
    written = options.FilterOptions(fields="text=line").written
    assert written.input_format == "fields:text=line"
    assert options.FilterOptions(fields="text=line", input_format="table").written == written
    assert options.FilterOptions().written.input_format == "auto"
    reference = (Path(__file__).parents[2] / "docs" / "cli.md").read_text(encoding="utf-8")
    commands = [part for part in reference.split("\n## ") if "| `--input-format` NAME " in part]
    assert len(commands) >= 6
    assert all("| `--fields` NAME=KEY,... " in part for part in commands)


def test_query_batch_and_show_read_the_same(run: Run) -> None:
    line = "odd.jsonl:2:[2024-02-06] Tove: Use the spare batts\n"
    found = run("query", "spare batts", "odd.jsonl", "--fields", FIELDS, "-n1")
    assert (found.code, found.out, found.err) == (0, line, "")
    Path("q.jsonl").write_text(json.dumps({"id": 1, "question": "spare batts"}), encoding="utf-8")
    (hit, *_) = run("batch", "q.jsonl", "odd.jsonl", "--fields", FIELDS).record["hits"]
    assert (hit["speaker"], hit["time"], hit["line"]) == ("Tove", "2024-02-06T09:11:00+00:00", 2)
    assert run("show", "odd.jsonl:2", "--fields", FIELDS, "-C0").out == line
