"""A worker process from outside: started, watched, replaced; what ends it again and again is left out."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, NamedTuple

import smartsearch
from smartsearch.ask.batch import identity_in
from smartsearch.ask.runs.records import failed
from smartsearch.ask.runs.staging import sweep
from smartsearch.ask.runs.types import GRACE, TRIES, Answer, Input, Item, Report, Setup, Task
from smartsearch.errors import SmartsearchError
from smartsearch.types import Skipped

PATIENCE = 2 * GRACE
"""Seconds a worker gets beyond its own limit (worker.py) before it is ended from here."""
GOODBYE = 5.0
"""Seconds that a process with nothing left to do may take to end."""
STARTING = 300.0
"""Seconds that a process may take to start and to load the models."""
_WORDS = 1 << 16  # bytes: a dump of every thread's stack
_THREAD_COUNTS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_BLAS = {"OPENBLAS_NUM_THREADS": "1"}  # where nobody has set it: see __main__
_ROOT = Path(smartsearch.__file__).parent.parent

_IDLE = ("idle", "")
_UNREADY = (("starting", ""), ("loading", "models"), _IDLE)

Put = Callable[[Answer], None]


class Closed(Exception):
    """The worker was closed while it worked."""


class _Death(NamedTuple):
    """What the process was at, with which file or line, and how it ended."""

    at: tuple[str, Any]
    how: str


class Worker:
    """One process that holds the models: started at the first task, replaced when it dies or hangs.

    Only `close` may be called from another thread. The models use `threads` threads.
    """

    def __init__(self, setup: Setup, threads: int) -> None:
        self._setup = setup
        self._threads = threads
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._said: IO[bytes] | None = None
        self._tries: Counter[tuple[str, Any]] = Counter()
        self._refused: dict[str, Skipped] = {}
        self._closed = threading.Event()

    @property
    def pid(self) -> int:
        """Of the process, 0 while there is none."""
        return self._process.pid if self._process else 0

    def work(self, task: Task, put: Put | None = None) -> Report:
        """An answer for each line of `task`; `put` hears of each at once.

        Raises only what every task would meet, as a SmartsearchError, and Closed.
        """
        answers: dict[int, Answer] = {}
        inputs: list[Input] = []
        deaths = peak = 0

        def note(answer: Answer) -> None:
            answers[answer.line] = answer
            if put is not None:
                put(answer)

        while left := tuple(item for item in task.items if item.line not in answers):
            outcome = self._pass(left, note, inputs)
            if isinstance(outcome, _Death):
                deaths += 1
                if (given_up := self._blame(outcome, left)) is not None:
                    note(given_up)
            else:
                peak = outcome
        in_order = tuple(answers[item.line] for item in task.items)
        return Report(task.number, in_order, tuple(inputs), deaths, peak)

    def dismiss(self) -> None:
        """Nothing is left to do: the process may write what it holds back (vectors of turns) and end."""
        process = self._process
        if process is not None and self._connection is not None:
            with suppress(OSError, subprocess.TimeoutExpired):
                self._connection.send(None)
                process.wait(GOODBYE)
        self.close()

    def close(self) -> None:
        """End the process; a `work` under way in another thread raises Closed."""
        self._closed.set()
        _end(self._process)

    def _pass(self, items: tuple[Item, ...], note: Put, inputs: list[Input]) -> int | _Death:
        """Have the lines answered; the worker's peak memory in bytes, or how it ended before."""
        at: tuple[str, Any] = ("starting", "")
        try:
            connection = self._started()
            connection.send((items, self._refused))
            while True:
                patience = STARTING if at[0] in ("starting", "loading") else self._limit + PATIENCE
                if not connection.poll(patience):
                    return self._ended(at, f"it was still at it after {patience:g} s")
                what, which = connection.recv()
                if what == "answer":
                    note(which)
                    at = _IDLE
                    self._well()
                elif what == "input":
                    inputs.append(which)
                elif what == "done":
                    return int(which)
                elif what == "fatal":
                    raise which
                else:
                    if at[0] == "reading":  # done: what ended earlier processes there was not the file
                        self._tries.pop(at, None)
                    at = (what, which)
        except (EOFError, OSError):
            return self._ended(at, self._ending())

    def _ended(self, at: tuple[str, Any], how: str) -> _Death:
        """Have no process; the next pass starts one. Raises Closed where that was wanted."""
        _end(self._process)
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = None
        if self._closed.is_set():
            raise Closed
        return _Death(at, how)

    @property
    def _limit(self) -> float:
        return self._setup.config.timeout or self._setup.limit

    def _started(self) -> Connection:
        """The line to the process, which is started if there is none. Raises SmartsearchError, and OSError
        where it has ended already."""
        if self._connection is not None:
            return self._connection
        if self._closed.is_set():
            raise Closed
        try:
            self._connection = self._start()
        except OSError as error:
            raise SmartsearchError(
                f"no worker process can be started: {error.strerror}",
                hint="fewer --workers leave more of everything to each",
                kind="worker_died",
                retryable=True,
            ) from error
        if self._closed.is_set():
            _end(self._process)
        self._connection.send((self._setup, self._threads))
        return self._connection

    def _start(self) -> Connection:
        ours, theirs = socket.socketpair()
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - as long as the process
        environment = _BLAS | os.environ | dict.fromkeys(_THREAD_COUNTS, str(self._threads))
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "smartsearch.ask.runs.worker", str(theirs.fileno())],
                cwd=_ROOT,  # where `-m` finds this very package, and nothing of a folder of chats
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=self._said,
                stderr=self._said,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # a Ctrl-C is for who started us
            )
        return Connection(ours.detach())

    def _ending(self) -> str:
        """How the process ended, in words."""
        assert self._process is not None
        if b"Timeout (" in self._last_words():
            return f"it did not come back within {self._limit + GRACE:g} s"
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            code = self._process.wait()
        if code >= 0:
            return f"exit code {code}"
        try:
            return signal.Signals(-code).name
        except ValueError:
            return f"signal {-code}"

    def _blame(self, death: _Death, left: tuple[Item, ...]) -> Answer | None:
        """Count a death for what it was at; the answer of a question that is given up, if it is.

        Raises SmartsearchError where processes die before they are ready.
        """
        what, which = death.at
        self._tries[death.at] += 1
        if self._tries[death.at] < TRIES:
            return None
        if what == "reading":
            said = f"reading it ended the worker {TRIES} times ({death.how})"
            self._refused[which] = Skipped(which, "worker_died", said)
            return None
        if what == "asking":
            item = next(item for item in left if item.line == which)
            error = SmartsearchError(
                f"the question ended its worker {TRIES} times ({death.how})",
                hint="--retry-failed tries it again; fewer --workers leave more memory to each",
                kind="worker_died",
                retryable=True,
            )
            return failed(identity_in(item.raw), item.line, error)
        lines = self._last_words().decode("utf-8", "replace").strip().splitlines()
        raise SmartsearchError(
            ": ".join(
                [f"a worker process ended {TRIES} times while it was {what} ({death.how})", *lines[-1:]]
            ),
            hint="smartsearch doctor; fewer --workers leave more memory to each",
            kind="worker_died",
        )

    def _well(self) -> None:
        """A process that answers was ready: what came before does not count against the next."""
        for unready in _UNREADY:
            self._tries.pop(unready, None)

    def _last_words(self) -> bytes:
        """The end of what the process printed."""
        if self._said is None:
            return b""
        self._said.seek(0, os.SEEK_END)
        self._said.seek(max(0, self._said.tell() - _WORDS))
        return self._said.read()


def _end(process: subprocess.Popen[bytes] | None) -> None:
    """Have a process gone, and what it fetched."""
    if process is not None:
        process.kill()
        process.wait()
        sweep()
