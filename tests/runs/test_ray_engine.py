"""What of the Ray engine needs no Ray: addresses, errors in the user's words, tasks put together again."""

import json
import signal
import socket
import sys
import threading
import time

import pytest

from smartsearch.ask.runs import ray_engine
from smartsearch.ask.runs.types import Answer, Input, Item, Report, Task
from smartsearch.errors import SmartsearchError, UsageError
from smartsearch.runtime import extras
from tests.waiting import HANG


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
    with ray_engine._head_watched("nowhere"):  # one that cannot be asked from here is not lost
        time.sleep(0.5)
    with ray_engine._head_watched(address):
        time.sleep(1.0)
        server.close()
        with pytest.raises(SmartsearchError, match=f"the head of the Ray cluster at {address}") as raised:
            threading.Event().wait(HANG)
    assert (raised.value.kind, raised.value.retryable) == ("unreachable", True)
    assert signal.getsignal(signal.SIGUSR1) is before


def test_an_address_is_a_ray_of_ones_own_or_a_host_that_listens(monkeypatch: pytest.MonkeyPatch):
    for address in ("", "local"):
        own = ray_engine._where(address, 6)
        told = (own["address"], own["num_cpus"], ray_engine._where(address, 0)["num_cpus"])
        assert told == ("local", 6, None)
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        address = f"127.0.0.1:{port}"
        assert ray_engine._where(address, 0) == {"address": address}
        monkeypatch.setattr(ray_engine, "PORT", str(port))
        assert ray_engine._where("127.0.0.1", 0) == {"address": address}
    with pytest.raises(UsageError, match=f"no Ray cluster at {address}"):
        ray_engine._where(address, 0)
    with pytest.raises(UsageError, match="Ray Client") as raised:
        ray_engine._where("ray://head:10001", 0)
    assert "ray job submit" in raised.value.hint


def test_ray_that_is_not_installed_is_an_error_with_the_command(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    nothing = ray_engine.run([], lambda _: TASK, None, address="", workers=0, threads=1)
    assert list(nothing) == []
    with pytest.raises(SmartsearchError) as raised:
        next(ray_engine.run([0], lambda _: TASK, None, address="", workers=0, threads=1))
    assert (raised.value.kind, raised.value.hint) == ("package", extras.command("ray"))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("Could not find any running Ray instance."), "no Ray cluster is running on this"),
        (RuntimeError("Version mismatch: The cluster was\nstarted with: Ray: 2.52.0"), "runs other versions"),
        (RuntimeError("No node info found\nmatching"), "no connection to Ray (auto): No node info found"),
    ],
)
def test_a_cluster_that_cannot_be_joined_is_told_in_one_line(error: Exception, said: str):
    told = ray_engine._unreached("auto", error)
    assert said in told.message
    assert "\n" not in told.message
    assert told.hint


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
