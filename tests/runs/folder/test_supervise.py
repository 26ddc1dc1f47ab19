"""A worker process that dies, hangs or cannot start: real signals, real hangs; the rest is answered."""

import json
import os
import pickle
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from smartsearch.ask.runs.supervise import Closed, Keeper
from smartsearch.ask.runs.types import Item, Report, Setup, Task
from smartsearch.ask.scope import Scope, Written
from smartsearch.config import Config
from smartsearch.errors import InputError, ModelError, SmartsearchError
from tests.waiting import until


@pytest.fixture
def setup(asked: list, chats: Path) -> Setup:
    config = Config(now="2024-06-01", cache=False, daemon="never")
    source = Scope((".",), indexed=False)
    return Setup(config, source, Written(), str(chats), 20.0, "tests.runs.folder.fakes:poisoned")


def task(*questions: str, paths: str = ".") -> Task:
    lines = [{"id": f"q{n}", "question": q, "paths": [paths]} for n, q in enumerate(questions, start=1)]
    return Task(0, tuple(Item(n, json.dumps(line).encode()) for n, line in enumerate(lines, start=1)))


def worked(setup: Setup, asked: Task) -> tuple[Report, list[dict]]:
    worker = Keeper(setup, 1)
    try:
        report = worker.work(asked)
    finally:
        worker.close()
    return report, [json.loads(answer.record) for answer in report.answers]


def test_a_task_is_answered_line_by_line(setup: Setup):
    seen: list[int] = []
    worker = Keeper(setup, 1)
    report = worker.work(task("Where is Oscar?", "Who met Selma?"), lambda answer: seen.append(answer.line))
    worker.close()
    records = [json.loads(answer.record) for answer in report.answers]
    assert seen == [1, 2]
    assert [r["id"] for r in records] == ["q1", "q2"]
    assert [r["line"] for r in records] == [1, 2]
    assert "Oscar" in records[0]["hits"][0]["text"]
    assert "threads" not in records[0]
    read = {"chat.txt", "talk.json", "Oscar.txt", "Selma.txt", "Bruno.txt", "Tilda.txt"}
    assert {one.path for one in report.inputs} == read
    assert report.deaths == 0
    assert report.peak > 10_000_000


@pytest.mark.parametrize(
    ("text", "limit", "deaths", "kind", "said"),
    [
        ("segfault", 20.0, 3, "worker_died", "reading it ended the worker 3 times (SIGSEGV)"),
        ("out of memory", 20.0, 3, "worker_died", "reading it ended the worker 3 times (SIGKILL)"),
        ("native hang", 1.0, 3, "worker_died", "reading it ended the worker 3 times (it "),
        ("slow python", 1.0, 0, "timeout", "reading it took longer than 1 s, 3 times"),
    ],
)
def test_a_file_that_ends_or_hangs_the_worker_is_left_out(setup, chats, text, limit, deaths, kind, said):
    (chats / "Poison.txt").write_text(f"Eve: {text}\n")
    report, records = worked(replace(setup, limit=limit), task("Where is Oscar?", "Who met Selma?"))
    assert report.deaths == deaths
    for record, name in zip(records, ("Oscar", "Selma"), strict=True):
        assert name in record["hits"][0]["text"]
        assert [(s["path"], s["kind"]) for s in record["skipped"]] == [("Poison.txt", kind)]
        assert said in record["skipped"][0]["reason"]


@pytest.mark.parametrize(
    ("text", "deaths", "kind", "said"),
    [
        ("segfault", 3, "worker_died", "the question ended its worker 3 times (SIGSEGV)"),
        ("slow python", 0, "timeout", "no answer within 1 s"),
    ],
)
def test_a_question_that_ends_or_hangs_the_worker_fails_alone(setup: Setup, text, deaths, kind, said):
    config = replace(setup.config, timeout=1.0 if kind == "timeout" else 0.0)
    asked = task("Where is Oscar?", f"{text}?", "Who met Selma?")
    report, records = worked(replace(setup, config=config), asked)
    assert (report.deaths, [r["id"] for r in records]) == (deaths, ["q1", "q2", "q3"])
    assert (records[1]["error"]["kind"], records[1]["error"]["message"]) == (kind, said)
    for place, name in ((0, "Oscar"), (2, "Selma")):
        assert name in records[place]["hits"][0]["text"]


def test_what_dies_once_is_answered_at_the_second_try(setup: Setup, tmp_path: Path):
    report, records = worked(setup, task(f"Where is Oscar? once {tmp_path / 'note'}", "Who met Selma?"))
    assert report.deaths == 1
    assert not [r for r in records if "error" in r]


def test_a_file_that_is_read_in_the_end_is_not_to_blame(setup: Setup, chats: Path, tmp_path: Path):
    """In a long run a file may be unlucky more than three times: killed from outside as it was read."""
    note = tmp_path / "note"
    (chats / "Unlucky.txt").write_text(f"Eve: I saw Oscar\nEve: once {note}\n")
    worker = Keeper(setup, 1)
    for others in ([], ["Oscar.txt"], ["Selma.txt"], ["Bruno.txt"]):  # read anew for each
        note.unlink(missing_ok=True)
        line = {"id": "q", "question": "Where is Oscar?", "paths": ["Unlucky.txt", *others]}
        report = worker.work(Task(0, (Item(1, json.dumps(line).encode()),)))
        record = json.loads(report.answers[0].record)
        assert (report.deaths, record["skipped"]) == (1, [])
    worker.close()


def test_a_worker_that_is_dismissed_writes_what_it_holds_back(setup: Setup, tmp_path: Path):
    note = tmp_path / "note"
    worker = Keeper(replace(setup, loader="tests.runs.folder.fakes:holding_back"), 1)
    worker.work(task(f"Where is Oscar? {note}"))
    assert not note.exists()
    worker.dismiss()
    assert note.exists()
    with pytest.raises(Closed):
        worker.work(task("Where is Oscar?"))


def test_what_every_task_would_meet_is_raised(setup: Setup):
    with pytest.raises(ModelError, match="not on this machine"):
        worked(replace(setup, loader="tests.runs.folder.fakes:missing"), task("Where is Oscar?"))
    with pytest.raises(InputError, match="there is no folder /nowhere"):
        worked(replace(setup, cwd="/nowhere"), task("Where is Oscar?"))
    with pytest.raises(SmartsearchError, match=r"exit code 3.*no such instruction") as caught:
        worked(replace(setup, loader="tests.runs.folder.fakes:broken"), task("Where is Oscar?"))
    assert caught.value.kind == "worker_died", "one that cannot start is told with its last words"


def test_a_worker_ends_when_whoever_started_it_does(setup: Setup, tmp_path: Path):
    """Also while native code of it hangs with the interpreter's lock: its own watchdog needs none."""
    program = (
        "import pickle, sys\n"
        "from smartsearch.ask.runs.supervise import Keeper\n"
        "setup, task = pickle.load(open(sys.argv[1], 'rb'))\n"
        "worker = Keeper(setup, 1)\n"
        "worker.work(task, lambda answer: print(worker.pid, flush=True))\n"
    )
    job = tmp_path / "job"
    job.write_bytes(pickle.dumps((replace(setup, limit=2.0), task("Where is Oscar?", "native hang?"))))
    root = Path(__file__).parents[3]
    command = [sys.executable, "-c", program, str(job)]
    owner = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=root, text=True)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    owner.kill()
    owner.wait()
    until(lambda: not Path(f"/proc/{pid}").exists(), "the worker ends")


def test_a_worker_that_is_closed_while_it_starts_says_so(setup: Setup, monkeypatch):
    """The process is there, and has been ended, before anything was said to it."""
    worker = Keeper(setup, 1)
    start = worker._start

    def started() -> None:
        start()
        worker.close()

    monkeypatch.setattr(worker, "_start", started)
    with pytest.raises(Closed):
        worker.work(task("Where is Oscar?"))


def test_a_process_that_ends_before_it_is_spoken_to_is_a_death(setup: Setup, monkeypatch):
    worker = Keeper(setup, 1)
    start = worker._start
    ended: list[int] = []

    def started() -> None:
        start()
        if not ended:
            ended.append(worker.pid)
            os.kill(worker.pid, signal.SIGKILL)
            until(lambda: worker._worker.ended, "the process ends")

    monkeypatch.setattr(worker, "_start", started)
    report = worker.work(task("Where is Oscar?"))
    worker.close()
    assert (report.deaths, report.answers[0].kind) == (1, "")


def test_no_process_to_be_had_is_told_in_words(setup: Setup, monkeypatch):
    def full(*arguments: object, **more: object) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    monkeypatch.setattr("subprocess.Popen", full)
    with pytest.raises(SmartsearchError, match="no worker process can be started: Resource temporarily"):
        Keeper(setup, 1).work(task("Where is Oscar?"))
