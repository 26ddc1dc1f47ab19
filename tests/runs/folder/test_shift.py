"""A shard's work with an engine of our own: what it yields, its end, and where a kill leaves the folder."""

import json
import shutil
from collections.abc import Generator
from dataclasses import replace
from pathlib import Path

import pytest

from smartsearch.ask.runs import plan
from smartsearch.ask.runs.faults import StorageError
from smartsearch.ask.runs.folder import RunFolder
from smartsearch.ask.runs.manifest import Session
from smartsearch.ask.runs.run import Shift
from smartsearch.ask.runs.types import Answer, Input, Report
from smartsearch.errors import UsageError
from tests.runs.folder.conftest import Lines, records


class Killed(BaseException):
    """Stands for a kill: nothing but the block it hits knows of it."""


def answer(line: int, *, failed: bool = False) -> Answer:
    value = {"id": f"q{line}", "line": line}
    if failed:
        error = {"kind": "input", "message": "no", "hint": "", "retryable": False}
        return Answer(line, json.dumps(value | {"error": error}).encode(), "input")
    value |= {"hits": [], "skipped": [], "timing_ms": {"total": 1.0}}
    return Answer(line, json.dumps(value).encode())


def shift(questions: str, *, retry: bool = False, parquet: bool = False) -> Shift:
    planned = plan.Plan(plan.read(Path(questions)))
    folder = RunFolder("out", plan.Shard(), parquet=parquet)
    return Shift(folder, planned, {"questions": {"path": questions}}, Session("local", 1, 1), retry)


def engine(asked: list[int], *, fails: bool = False):
    """Answers every line; with `fails`, the first line of each task in vain."""

    def run(numbers, load) -> Generator:
        for number in numbers:
            lines = [item.line for item in load(number).items]
            asked.extend(lines)
            yield Report(number, tuple(answer(n, failed=fails and n == lines[0]) for n in lines))

    return run


def done(questions: str, **how) -> list[int]:
    """Run to the end; the lines that were asked."""
    asked: list[int] = []
    how.setdefault("fails", False)
    fails = how.pop("fails")
    one = shift(questions, **how)
    if one.begin() is None:
        one.work(engine(asked, fails=fails), lambda answer: None)
        one.finish()
    return asked


@pytest.fixture
def questions(asked: Lines, write) -> str:
    return write([{"id": f"q{n}", "question": "Where?", "paths": [f"{n % 3}.txt"]} for n in range(1, 13)])


def lines() -> list[int]:
    return [record["line"] for record in records(Path("out"))]


def test_a_report_that_comes_twice_counts_once(questions: str, monkeypatch):
    monkeypatch.setattr(plan, "TASKS", 3)  # of four lines each

    def twice(numbers, load) -> Generator:
        for number in numbers:
            whole = tuple(answer(item.line) for item in load(number).items)
            yield Report(number, whole)
            yield number, whole[0]
            yield Report(number, whole[:1])

    one = shift(questions)
    one.begin()
    one.work(twice, lambda answer: None)
    assert one.finish()["counts"]["out"] == 12
    assert lines() == list(range(1, 13))


def test_answers_from_two_states_of_a_memory_are_not_mixed(questions: str):
    """Neither in one go nor by one that goes on; other transcripts have a memory of their own."""

    def engine(*states: str, tasks: int):
        def run(numbers, load) -> Generator:
            for number, state in zip(list(numbers)[:tasks], states, strict=False):
                for item in load(number).items:
                    place = json.loads(item.raw)["paths"][0]
                    memory = Input(place, f"{state}{place}", memory=True)
                    yield number, replace(answer(item.line), memory=memory)
                yield Report(number, ())

        return run

    def work(*states: str, tasks: int = 12) -> dict:
        one = shift(questions)
        one.begin()
        one.work(engine(*states, tasks=tasks), lambda answer: None)
        return one.finish() if tasks == 12 else {}

    with pytest.raises(UsageError, match=r"holds of 1\.txt is not what earlier answers"):
        work("a", "b")
    work(*"a" * 5, tasks=5)
    held = _held()
    with pytest.raises(UsageError, match=r"holds of \d.txt is not"):
        work(*"b" * 12)
    assert set(held) <= set(_held())
    assert work(*"a" * 12)["inputs"]["files"] == 0
    listed = next(Path("out").glob("inputs-*")).read_text().splitlines()
    assert listed == [f"# memory a{n}.txt  {n}.txt" for n in range(3)]


def test_a_complete_run_whose_answers_are_gone_is_not_complete(questions: str):
    done(questions)
    next(Path("out").glob("answers-*")).unlink()
    assert sorted(done(questions)) == list(range(1, 13))
    assert lines() == list(range(1, 13))


@pytest.mark.parametrize("retry", [False, True])
def test_answers_in_another_format_are_not_asked_for_again(questions: str, retry: bool):
    pytest.importorskip("pyarrow")
    done(questions, fails=True)
    with pytest.raises(UsageError, match=r"its answers are in answers-00001-of-00001\.jsonl"):
        done(questions, parquet=True, retry=retry)


@pytest.mark.parametrize("left", ["answers", "manifest", "inputs", "parts"])
def test_a_folder_with_files_of_a_run_and_no_plan_is_left_alone(questions: str, left: str):
    done(questions)
    for path in Path("out").iterdir():
        if not path.name.startswith(left):
            path.unlink()
    if left == "parts":
        Path("out/parts-00001-of-00001").mkdir()
        Path("out/parts-00001-of-00001/00000000.jsonl").write_text("")
    before = {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()}
    with pytest.raises(UsageError, match=f"out/{left}.* is there, and no plan says whose it is") as caught:
        done(questions)
    assert caught.value.hint == "another --out, or remove that folder"
    assert {path: path.read_bytes() for path in Path("out").rglob("*") if path.is_file()} == before


def test_answers_that_go_while_the_run_ends_are_told(questions: str, monkeypatch):
    write = RunFolder.write_manifest

    def removed(folder: RunFolder, value: dict) -> None:
        write(folder, value)
        if value["state"] == "complete":
            Path("out/answers-00001-of-00001.jsonl").unlink()

    with monkeypatch.context() as patch:
        patch.setattr(RunFolder, "write_manifest", removed)
        with pytest.raises(StorageError, match="the answers were removed while the run ended"):
            done(questions)
    assert (done(questions), lines()) == ([], list(range(1, 13)))


STEPS = ("write_answers", "write_inputs", "write_manifest", "drop_parts")


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("before", [True, False])
@pytest.mark.parametrize("retry", [True, False])
def test_a_kill_at_the_end_loses_nothing(questions: str, monkeypatch, step: str, before: bool, retry: bool):
    one = shift(questions)
    one.begin()
    one.work(engine([], fails=True), lambda answer: None)
    act = getattr(one.folder, step)

    def killed(*arguments) -> None:
        if not before:
            act(*arguments)
        raise Killed

    monkeypatch.setattr(one.folder, step, killed)
    with pytest.raises(Killed):
        one.finish()
    failed = {record["line"] for record in map(json.loads, _held()) if "error" in record}
    assert set(done(questions, retry=retry)) == (failed if retry else set())
    assert lines() == list(range(1, 13))
    assert bool(list(Path("out").glob("parts-*"))) is not retry  # as long as lines failed


def _held() -> list[bytes]:
    """The records as they lie in parts, else in the answers."""
    files = sorted(Path("out").glob("parts-*/*.jsonl")) or sorted(Path("out").glob("answers-*"))
    return [raw for file in files for raw in file.read_bytes().splitlines()]


@pytest.mark.parametrize("after", range(1, 18))
@pytest.mark.parametrize("retry", [True, False])
def test_a_kill_while_failures_are_taken_up_again_loses_nothing(questions: str, after: int, retry: bool):
    """Killed at each step of the storage in turn: the parts, the answers that go, the manifest."""
    done(questions, fails=True)
    before = _held()
    one = shift(questions, retry=True)
    held = one.folder._storage
    left = iter(range(after))

    class Ends:
        def __getattr__(self, name: str):
            act = getattr(held, name)

            def step(*arguments):
                if name == "write" and next(left, None) is None:
                    raise Killed
                return act(*arguments)

            return step

    one.folder._storage = Ends()  # type: ignore[assignment]
    try:
        one.begin()
        one.work(engine([]), lambda answer: None)
    except Killed:
        pass
    assert done(questions, retry=retry, fails=True) is not None
    assert lines() == list(range(1, 13))
    good = [raw for raw in before if b'"error"' not in raw]
    assert set(good) <= set(_held())
    shutil.rmtree("out")
