"""Every format, by cases: what is in a file, and what must come of it.

`cases/FORMAT.jsonl` has a case a line: the promise it keeps (`case`), a file by name with its content as
`json`, `lines` (of JSON) or `text`, or one of `samples/`, the files `beside` it, and what has to be read: of
each turn the fields that the promise is about, `skipped` as kind and reason, and `warnings`. The samples are
invented, in the structure of real exports.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import FORMATS, read
from smartsearch.transcripts.corpus import read_one
from smartsearch.transcripts.source import Source
from tests.transcripts.build import lines, put

HERE = Path(__file__).parent
DOCS = Path(__file__).parents[2] / "docs"
SAMPLES = HERE / "samples"
CASES = {
    path.stem: [json.loads(line) for line in path.read_text(encoding="utf-8").rstrip("\n").split("\n")]
    for path in sorted((HERE / "cases").glob("*.jsonl"))
}
SAMPLED = [(name, case) for name, cases in CASES.items() for case in cases if "sample" in case]
GENERIC = {"messages", "table", "html", "chat", "prose"}
"""What takes a file that no other format claims."""


def written(folder: Path, case: dict[str, Any]) -> Path:
    """The file of a case."""
    if "sample" in case:
        return SAMPLES / case["sample"]
    content = lines(*case["lines"]) if "lines" in case else case.get("text", case.get("json"))
    path = put(folder, case["file"], content)
    for name, beside in case.get("beside", {}).items():
        put(path.parent, name, beside)
    return path


@pytest.mark.parametrize("name", CASES)
def test_what_comes_of_a_file(tmp_path: Path, name: str) -> None:
    """Every case of a format; those that fail are told by their names."""
    wrong = {}
    for number, case in enumerate(CASES[name]):
        try:
            check(tmp_path / str(number), name, case)
        except Exception as error:
            wrong[case["case"]] = f"{type(error).__name__}: {error}"
    assert not wrong, "\n\n".join(f"{case}\n{said}" for case, said in wrong.items())


def check(folder: Path, name: str, case: dict[str, Any]) -> None:
    """Read the file of a case, in a folder of its own. Raises AssertionError for anything unexpected."""
    path = written(folder / "in", case)
    found, known = read_one(str(path))
    assert (known.name if known else "none") == name
    assert len(found.turns) == len(case["turns"])
    for turn, expected in zip(found.turns, case["turns"]):
        assert {"caption": "", **expected} == {key: getattr(turn, key) for key in {"caption": "", **expected}}
        assert turn.path == str(path)
    assert [[entry.kind, entry.reason] for entry in found.skipped] == case.get("skipped", [])
    assert [said.removeprefix(f"{path}: ") for said in found.warnings] == case.get("warnings", [])


@pytest.mark.parametrize(("name", "case"), SAMPLED, ids=[case["sample"] for _, case in SAMPLED])
def test_no_other_format_claims_a_sample(name: str, case: dict[str, Any]) -> None:
    text = (SAMPLES / case["sample"]).read_text(encoding="utf-8-sig")
    source = Source(str(SAMPLES / case["sample"]), text)
    assert {known.name for known in FORMATS if known.detect(source)} - GENERIC == {name} - GENERIC


def test_every_sample_is_a_case_and_every_format_has_one() -> None:
    files = {path.relative_to(SAMPLES).as_posix() for path in SAMPLES.rglob("*") if path.is_file()}
    assert {case["sample"] for _, case in SAMPLED} == files
    assert CASES.keys() == {known.name for known in FORMATS} | {"none"}


def test_formats_describe_themselves_and_how_a_person_gets_such_a_file() -> None:
    assert len({known.name for known in FORMATS}) == len(FORMATS)
    assert all(known.description and known.extensions for known in FORMATS)
    assert all(len(known.how) < 160 and "\n" not in known.how for known in FORMATS)
    assert FORMATS[-1].name == "prose"


@pytest.mark.parametrize("name", ["chatgpt", "claude-ai", "gemini-cli", "slack"])
def test_the_other_files_of_an_export_are_passed_over_in_silence(name: str) -> None:
    found = read([str(SAMPLES / name)])
    assert (found.skipped, found.warnings) == ((), ())
    assert found.turns


def test_our_documents_are_prose_or_chats() -> None:
    for path in sorted(DOCS.rglob("*.md")):
        source = Source(str(path), path.read_text(encoding="utf-8"))
        assert {known.name for known in FORMATS if known.detect(source)} <= GENERIC, path
