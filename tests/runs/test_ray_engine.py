"""What of the Ray engine needs no Ray: addresses, errors in the user's words, tasks put together again."""

from __future__ import annotations

import json
import shlex
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import pytest

from smartsearch.ask.runs import ray_engine
from smartsearch.ask.runs.types import Answer, Input, Item, Report, Task
from smartsearch.errors import SmartsearchError, UsageError

DOCS = Path(__file__).parent.parent.parent / "docs"


def test_a_sigterm_that_meets_rays_handler_is_the_commands_own():
    """ray.init sets its own, which exits with 15, and takes seconds before it comes back."""

    def stop(_signal: int, _frame: object) -> None:
        raise KeyboardInterrupt

    def ray_init() -> None:
        signal.signal(signal.SIGTERM, lambda number, _frame: sys.exit(number))
        signal.raise_signal(signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, stop)
    try:
        with pytest.raises(KeyboardInterrupt), ray_engine._own_sigterm():
            ray_init()
        assert signal.getsignal(signal.SIGTERM) is stop
    finally:
        signal.signal(signal.SIGTERM, before)


def test_a_head_that_answers_no_more_is_named(monkeypatch: pytest.MonkeyPatch):
    """However the main thread waits; Ray itself would end the process without a word."""
    monkeypatch.setattr(ray_engine, "LISTENS", 0.05)
    monkeypatch.setattr(ray_engine, "HEAD_LOST", 0.3)
    server = socket.create_server(("127.0.0.1", 0))
    address = f"127.0.0.1:{server.getsockname()[1]}"
    before = signal.getsignal(signal.SIGUSR1)
    with ray_engine._head_watched(address):
        time.sleep(1.0)
        server.close()
        with pytest.raises(SmartsearchError, match=f"the head of the Ray cluster at {address}") as raised:
            threading.Event().wait(20)
    assert (raised.value.kind, raised.value.retryable) == ("unreachable", True)
    assert signal.getsignal(signal.SIGUSR1) is before


def test_a_head_that_cannot_be_asked_from_here_is_not_lost(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(ray_engine, "LISTENS", 0.05)
    monkeypatch.setattr(ray_engine, "HEAD_LOST", 0.1)
    with ray_engine._head_watched("nowhere"):
        time.sleep(0.5)


@pytest.mark.parametrize("address", ["", "local"])
def test_without_an_address_a_ray_is_started_here(address: str):
    assert ray_engine._where(address, 0)["address"] == "local"
    assert ray_engine._where(address, 0)["num_cpus"] is None
    assert ray_engine._where(address, 6)["num_cpus"] == 6


def test_a_host_has_the_port_of_ray_start_unless_it_says_another():
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        assert ray_engine._where(address, 0) == {"address": address}
    with pytest.raises(UsageError, match=f"no Ray cluster at {address}"):
        ray_engine._where(address, 0)
    assert ray_engine._host("head.example.com") == ("head.example.com", "6379")


def test_ray_client_is_refused_with_what_to_do_instead():
    with pytest.raises(UsageError, match="Ray Client") as raised:
        ray_engine._where("ray://head:10001", 0)
    assert "ray job submit" in raised.value.hint


def test_ray_that_is_not_installed_is_an_error_with_the_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SmartsearchError) as raised:
        next(ray_engine.run([0], lambda _: TASK, None, address="", workers=0, threads=1))
    assert (raised.value.kind, raised.value.hint) == ("package", "pip install 'smartsearch[ray]'")


def test_no_tasks_need_no_ray(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    assert list(ray_engine.run([], lambda _: TASK, None, address="", workers=0, threads=1)) == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("Could not find any running Ray instance."), "no Ray cluster is running on this"),
        (RuntimeError("Version mismatch: The cluster was\nstarted with: Ray: 2.52.0"), "runs other versions"),
        (
            RuntimeError("No node info found\nmatching"),
            "no connection to Ray (auto): No node info found",
        ),
    ],
)
def test_a_cluster_that_cannot_be_joined_is_told_in_one_line(error: Exception, said: str):
    told = ray_engine._unreached("auto", error)
    assert said in told.message
    assert "\n" not in told.message
    assert told.hint


def test_a_machine_without_smartsearch_is_named_as_that():
    error = RuntimeError("ray::MapWorker.__init__() ... ModuleNotFoundError: No module named 'smartsearch'")
    assert "has no smartsearch" in ray_engine._named(error).message
    assert ray_engine._named(RuntimeError("out of luck")).kind == "internal"


TASK = Task(7, tuple(Item(line, f'{{"id": "q{line}", "question": "Who?"}}'.encode()) for line in (3, 4, 5)))


def test_a_task_done_question_by_question_has_every_answer_once():
    first = Report(7, (Answer(3, b"three"),), (Input("a", "1"), Input("b", "2")), deaths=1, peak=10)
    last = Report(7, (Answer(5, b"five"),), (Input("b", "2"),), deaths=0, peak=30)
    whole = ray_engine._joined(TASK, {5: last, 3: first})
    assert [answer.line for answer in whole.answers] == [3, 4, 5]
    assert [answer.kind for answer in whole.answers] == ["", "worker_died", ""]
    assert json.loads(whole.answers[1].record)["id"] == "q4"
    assert whole.inputs == (Input("b", "2"), Input("a", "1"))
    assert (whole.task, whole.deaths, whole.peak) == (7, 1 + 4, 30)


def test_the_file_for_kuberay_asks_for_options_there_are():
    yaml = pytest.importorskip("yaml")
    job = yaml.safe_load((DOCS / "kuberay.yaml").read_text(encoding="utf-8"))
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    known = (DOCS / "cli.md").read_text(encoding="utf-8")
    options = [word for word in shlex.split(job["spec"]["entrypoint"]) if word.startswith("--")]
    assert options == ["--out", "--engine", "--address", "--threads"]
    assert all(f"`{option}" in known for option in options)
    cluster = job["spec"]["rayClusterSpec"]
    for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"]):
        assert all(isinstance(value, str) for value in group["rayStartParams"].values())
