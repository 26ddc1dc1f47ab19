"""`smartsearch batch --engine ray` as a process: killed and gone on with, stopped, what it leaves behind."""

import json
import os
import re
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

pytest.importorskip("ray")

import ray

from tests.ray.conftest import ROOT
from tests.waiting import HANG, until

pytestmark = pytest.mark.ray

LINES = 160
MARK = "SMARTSEARCH_TEST_RAY"
"""In the environment of a run and of everything that it starts."""
AGENTS = ("ray::DashboardAgent", "ray::RuntimeEnvAgent")
"""Processes of Ray that miss a killed driver after a minute only; they hold nothing."""


Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start(folder: Path) -> Iterator[Start]:
    """Start a run in the folder; what is left of it at the end of the test is killed."""
    begun: list[subprocess.Popen[str]] = []

    def run(*options: str, mark: str = "-") -> subprocess.Popen[str]:
        begun.append(process(folder, *options, mark=mark))
        return begun[-1]

    yield run
    for one in begun:
        if one.poll() is None:
            one.kill()


def process(folder: Path, *options: str, mark: str) -> subprocess.Popen[str]:
    lines = [json.dumps({"id": f"q{n}", "question": f"Slow Mara {n}"}) for n in range(1, LINES + 1)]
    (folder / "questions.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    command = [sys.executable, "-m", "tests.ray.fakes", "batch", "questions.jsonl", "chats", "--no-cache"]
    environment = os.environ | {"PYTHONPATH": str(ROOT), MARK: mark}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    own = {"cwd": folder, "env": environment, "start_new_session": True, "preexec_fn": heedful}
    return subprocess.Popen([*command, "--out", "out", "--engine", "ray", *options], **pipes, **own)


def heedful() -> None:
    """Heed Ctrl-C though whoever runs the tests does not: `nohup make test-all &` is deaf to it."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def parts(folder: Path) -> int:
    return len(list(folder.glob("out/parts-*/*.jsonl")))


def test_a_killed_driver_is_gone_on_with(start: Start, folder: Path, cluster):
    first = start("--workers", "2", "--address", cluster.address)
    until(lambda: parts(folder) >= 2, "two parts are written")
    first.kill()
    first.wait()
    until(lambda: ray.available_resources().get("CPU") == 2.0, "the workers are gone")
    second = start("--workers", "2", "--address", cluster.address)
    out, err = second.communicate(timeout=HANG)
    assert (second.returncode, out) == (0, "")
    before = re.search(rf"(\d+) of {LINES} were done before", err)
    assert before, err
    assert 0 < int(before[1]) < LINES
    records = [json.loads(line) for line in (folder / "out/answers-00001-of-00001.jsonl").open()]
    assert [record["id"] for record in records] == [f"q{n}" for n in range(1, LINES + 1)]


@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_takes_its_own_ray_with_it(stop: signal.Signals, start: Start, folder: Path):
    mark = uuid.uuid4().hex
    run = start("--workers", "2", mark=mark)
    until(lambda: parts(folder) >= 1, "a part is written")
    if stop == signal.SIGINT:
        os.killpg(run.pid, stop)  # as a terminal does, to all that it started
    else:
        run.send_signal(stop)
    out, err = run.communicate(timeout=HANG)
    assert (run.returncode, out) == (130, ""), err
    assert "Traceback" not in err
    assert "the same command goes on" in err
    until(lambda: not marked(mark), 60)


def test_a_killed_driver_takes_its_own_ray_with_it(start: Start, folder: Path):
    mark = uuid.uuid4().hex
    run = start("--workers", "2", mark=mark)
    until(lambda: parts(folder) >= 1, "a part is written")
    run.kill()
    until(lambda: all(name in AGENTS for name in marked(mark)), 40)


def marked(mark: str) -> list[str]:
    """The names of the processes that have it in their environment."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if f"{MARK}={mark}".encode() in (process / "environ").read_bytes():
                found.append((process / "cmdline").read_bytes().split(b"\0")[0].decode().strip())
        except OSError:
            continue  # it has ended
    return found
