"""Keeps a worker process at work: starts, watches and replaces it, and leaves out what ends it repeatedly."""

from __future__ import annotations

import os
import tempfile
import threading
from collections import Counter
from collections.abc import Callable
from typing import IO, Any, NamedTuple

from smartsearch.ask.batch import identity_in
from smartsearch.ask.runs.records import failed
from smartsearch.ask.runs.types import GRACE, TRIES, Answer, Input, Item, Report, Setup, Task
from smartsearch.errors import SmartsearchError
from smartsearch.runtime import worker
from smartsearch.types import Skipped

PATIENCE = 2 * GRACE
"""Seconds a worker gets beyond its own limit (worker.py) before it is ended from here."""
GOODBYE = 5.0
"""Seconds that a process with nothing left to do may take to end."""
STARTING = 300.0
"""Seconds that a process may take to start and to load the models."""
_WORDS = 1 << 16  # bytes: a dump of every thread's stack
_THREAD_COUNTS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
_BLAS = {"OPENBLAS_NUM_THREADS": "1"}  # unless it is set: see __main__
_FEWER = "fewer --workers leave more memory to each"

Step = tuple[str, Any]
"""What a worker does now: starting, loading, idle, reading a file or asking a line, and which."""
_IDLE: Step = ("idle", "")
_UNREADY: tuple[Step, ...] = (("starting", ""), ("loading", "models"), _IDLE)

Put = Callable[[Answer], None]


class Closed(Exception):
    """The keeper was closed while its worker worked."""


class _Death(NamedTuple):
    """The last step of a process, and how it ended."""

    at: Step
    how: str


class Keeper:
    """Keeps one process at work, which holds the models: started at the first task, replaced when it dies.

    Only `close` may be called from another thread. The models use `threads` threads.
    """

    def __init__(self, setup: Setup, threads: int) -> None:
        self._setup = setup
        self._threads = threads
        self._worker: worker.Worker | None = None
        self._printed: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - as long as this
        self._own: tempfile.TemporaryDirectory[str] | None = None
        self._tries: Counter[Step] = Counter()
        self._refused: dict[str, Skipped] = {}
        self._closed = threading.Event()

    @property
    def pid(self) -> int:
        """The number of the process, 0 while none runs."""
        return self._worker.pid if self._worker else 0

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
        """Let the process write what it still holds (vectors of turns), and end it: no task is left."""
        if self._worker is not None:
            self._worker.dismiss(GOODBYE)
        self.close()

    def close(self) -> None:
        """End the process; a `work` under way in another thread raises Closed."""
        self._closed.set()
        self._end()

    def _pass(self, items: tuple[Item, ...], note: Put, inputs: list[Input]) -> int | _Death:
        """Have the lines answered; gives the worker's peak memory in bytes, or its death."""
        at, patience = _UNREADY[0], STARTING
        try:
            if self._worker is None:
                self._start()
            else:
                self._worker.tell((items, self._refused))
            assert self._worker is not None
            while True:
                what, which = self._worker.hear(patience)
                patience = STARTING if what == "loading" else self._limit + PATIENCE
                if what == "answer":
                    note(which)
                    at = _IDLE
                    for unready in _UNREADY:  # it answered, so it was ready: earlier failed starts are over
                        self._tries.pop(unready, None)
                elif what == "input":
                    inputs.append(which)
                elif what == "done":
                    return int(which)
                else:
                    if what == "idle":
                        self._worker.tell((items, self._refused))
                    if at[0] == "reading":  # the file is read: it did not end the earlier processes
                        self._tries.pop(at, None)
                    at = (what, which)
        except TimeoutError:
            return self._ended(at, f"it was still at it after {patience:g} s")
        except OSError:
            return self._ended(at, self._fate())

    def _ended(self, at: Step, how: str) -> _Death:
        """Forget the process; the next pass starts one. Raises Closed after `close`."""
        self._end()
        self._worker = None
        if self._closed.is_set():
            raise Closed
        return _Death(at, how)

    def _end(self) -> None:
        """End the process, and remove its temporary folder with what it fetched."""
        if self._worker is not None:
            self._worker.kill()
        if self._own is not None:
            self._own.cleanup()

    @property
    def _limit(self) -> float:
        return self._setup.config.timeout or self._setup.limit

    def _start(self) -> None:
        """Start a process, which says when it is idle. Raises SmartsearchError, and Closed."""
        if self._closed.is_set():
            raise Closed
        self._printed.seek(0)
        self._printed.truncate()
        self._own = tempfile.TemporaryDirectory(prefix="smartsearch-", ignore_cleanup_errors=True)
        self._worker = worker.Worker(
            "smartsearch.ask.runs.worker",
            (self._setup, self._threads),
            errors=self._printed,
            env=_BLAS
            | os.environ
            | {**dict.fromkeys(_THREAD_COUNTS, str(self._threads)), "TMPDIR": self._own.name},
            hint="fewer --workers leave more of everything to each",
        )
        if self._closed.is_set():  # `close` may have seen no process
            self._end()

    def _fate(self) -> str:
        """How the process ended, in words."""
        assert self._worker is not None
        if b"Timeout (" in self._last_words():
            return f"it did not come back within {self._limit + GRACE:g} s"
        return self._worker.fate()

    def _blame(self, death: _Death, left: tuple[Item, ...]) -> Answer | None:
        """Count a death against its step; gives the answer of a question that is now given up.

        Raises SmartsearchError where processes die before they are ready.
        """
        what, which = death.at
        self._tries[death.at] += 1
        if self._tries[death.at] < TRIES:
            return None
        if what == "reading":
            said = f"reading it ended the worker {TRIES} times ({death.how})"
            self._refused[which] = Skipped(which, worker.DIED, said)
            return None
        if what == "asking":
            item = next(item for item in left if item.line == which)
            said = f"the question ended its worker {TRIES} times ({death.how})"
            hint = f"--retry-failed tries it again; {_FEWER}"
            error = SmartsearchError(said, hint=hint, kind=worker.DIED, retryable=True)
            return failed(identity_in(item.raw), item.line, error)
        said = f"a worker process ended {TRIES} times while it was {what} ({death.how})"
        lines = self._last_words().decode("utf-8", "replace").strip().splitlines()
        hint = f"smartsearch doctor; {_FEWER}"
        raise SmartsearchError(": ".join([said, *lines[-1:]]), hint=hint, kind=worker.DIED)

    def _last_words(self) -> bytes:
        """The end of what the process printed."""
        self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, self._printed.tell() - _WORDS))
        return self._printed.read()
