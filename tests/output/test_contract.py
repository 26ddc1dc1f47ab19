"""The JSON contract: what is declared is what is printed. All that the commands' tests print is held to it
too (`run` in tests/cli/conftest.py)."""

import ast
import json
from dataclasses import replace
from pathlib import Path

import pytest

import smartsearch
from smartsearch.config import Config
from smartsearch.errors import InputError
from smartsearch.output import contract, record
from smartsearch.types import Answered, Cost, Hit, Met, Nearby, Scores, Skipped, Term
from tests.cli.conftest import GOLDEN
from tests.contract import TOLD_BY, hold, validator
from tests.output.samples import FULL, turn


def full() -> dict[str, object]:
    """A record with all that a record can have."""
    said = turn("kites, again", 9, caption="[image kite.jpg]", title="Sundays")
    reply = Hit(0, said, Scores(), excerpt=said, index=8)
    first = replace(
        replace(FULL.hits[0], turn=said, excerpt=said, reply=reply),
        terms=(Term("kite", "FUZZY", 1.0, source="kit"),),
        met=(Met("bird", "kite", 0.5),),
    )
    trace = replace(FULL.trace, ingest=Cost(1, 2, 3), own={"steps": [1]}, estimates=("hops",))
    skipped = (Skipped("b.txt", "binary", "no text"),)
    answer = replace(FULL, hits=(first,), trace=trace, filters={"since": ("2024-05",)}, skipped=skipped)
    near = (Nearby(0, (said,), (said,)),)
    return json.loads(record.dumps(record.result(answer, Config(compress=("dates",)), near, explain=True)))


def keys(value: object) -> set[str]:
    """The keys of a value and of all that is in it."""
    if isinstance(value, dict):
        return set(value).union(*map(keys, value.values()))
    return set().union(*map(keys, value)) if isinstance(value, list) else set()


def declared(shape: object) -> set[str]:
    """The keys that a schema names."""
    if isinstance(shape, dict):
        own = set(shape["properties"]) if isinstance(shape.get("properties"), dict) else set()
        return own.union(*map(declared, shape.values()))
    return set().union(*map(declared, shape)) if isinstance(shape, list) else set()


def test_a_record_has_every_key_that_is_declared_and_no_other():
    whole = full()
    hold(whole)
    named = declared(contract.schema("query"))
    assert named <= keys(whole), named - keys(whole)
    for hit in whole["hits"]:
        hold(hit, "hit")


def test_lines_of_a_batch_hold_too():
    for done in (Answered("q", 1, result=FULL), Answered(None, 2, error=InputError("no", hint="yes"))):
        hold(record.outcome(done, Config()), "batch")


@pytest.mark.parametrize("wrong", [{"rank": "1"}, {"place": 1}, {"scores": {}}])
def test_what_is_not_declared_fails(wrong: dict[str, object]):
    with pytest.raises(AssertionError):
        hold(full()["hits"][0] | wrong, "hit")


@pytest.mark.parametrize("golden", sorted(GOLDEN.glob("*.json*")), ids=lambda path: path.name)
def test_what_was_promised_before_still_holds(golden: Path):
    """But for the times, which the golden files leave out."""
    for line in golden.read_text(encoding="utf-8").splitlines():
        hold(json.loads(line.replace('"timing_ms":{}', '"timing_ms":{"total":0}')))


def test_every_reply_has_a_schema_that_is_one():
    assert {*TOLD_BY.values(), "batch", "mcp"} == set(contract.NAMES), "what the commands print is held to it"
    for name in contract.NAMES:
        assert validator(name)


RAISED = ("error", "fault", "SmartsearchError", "StorageError", "LLMError")


def test_every_kind_of_error_is_told_with_what_to_do():
    """Each that the code names where it raises one: a new kind needs its line in `ERRORS`."""
    used = set()
    for path in Path(smartsearch.__file__).parent.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef) and any(getattr(b, "id", "") in RAISED for b in node.bases):
                used |= {n.value.value for n in node.body if isinstance(n, ast.Assign) and named(n) == "kind"}
            others = ("FormatError", "Skipped", "argsort", "sort")
            if isinstance(node, ast.Call) and called(node) not in others:
                used |= {
                    word.value.value
                    for word in node.keywords
                    if word.arg == "kind" and isinstance(word.value, ast.Constant) and raises(called(node))
                }
    assert used <= contract.ERRORS.keys(), used - contract.ERRORS.keys()
    assert len(used) > 40


def called(node: ast.Call) -> str:
    return getattr(node.func, "id", "") or getattr(node.func, "attr", "")


def raises(name: str) -> bool:
    return name.endswith("Error") or name == "error"


def named(node: ast.Assign) -> str:
    return getattr(node.targets[0], "id", "")
