"""One question at a time: work that the main thread does for the thread that speaks the protocol.

The main thread, because only there can Python be made to leave what it is doing: when a request is cancelled,
or its time is up, it is interrupted between two steps of the interpreter. A model's own code in C is not
left before it returns; whoever waited has its answer all the same, and the next in line begins then.
"""

from __future__ import annotations

import asyncio
import queue
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TypeVar

from smartsearch.errors import SearchTimeout, SmartsearchError

WAITING = 16
"""Requests that may wait; the next one is told that the server is busy."""
INTERRUPT = getattr(signal, "SIGUSR1", signal.SIGINT)

T = TypeVar("T")


class _Abandoned(BaseException):
    """Nobody waits any more for what the main thread is doing."""


@dataclass
class _Job:
    work: Callable[[], Any]
    began: Future[None] = field(default_factory=Future)
    done: Future[Any] = field(default_factory=Future)
    abandoned: bool = False


class Desk:
    """Where work is left for the main thread, which does it in `run` until `close` is called."""

    def __init__(self) -> None:
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._main = threading.main_thread().ident or 0
        self._now: _Job | None = None
        self._closed = False
        self.waiting = 0
        self.served = 0

    @property
    def busy(self) -> bool:
        """Whether something is being worked on."""
        return self._now is not None

    def run(self, idle: Callable[[], None] = lambda: None) -> None:
        """Work until the desk is closed; main thread only. `idle` is called when nothing is left to do."""
        signal.signal(INTERRUPT, self._interrupted)
        while (job := self._jobs.get()) is not None and not self._closed:
            self._work(job)
            if self._jobs.empty():
                idle()

    def close(self) -> None:
        """Have `run` return, and what it is at interrupted."""
        self._closed = True
        self._jobs.put(None)
        now = self._now
        if now is not None:
            self._abandon(now)

    def later(self, work: Callable[[], None]) -> None:
        """Have `work` done in its turn; nobody waits for it, and only the end interrupts it."""
        self._jobs.put(_Job(work))

    async def do(self, work: Callable[[], T], seconds: float) -> T:
        """What `work` returns or raises, done in its turn and given up after `seconds` of work.

        Raises SearchTimeout, and SmartsearchError `busy` where too many wait. Where the caller is cancelled
        its place in the queue is free again, and work that has begun is interrupted.
        """
        if self.waiting >= WAITING:
            raise SmartsearchError(
                f"{WAITING} requests wait already", hint="ask again later", kind="busy", retryable=True
            )
        job = _Job(work)
        self._jobs.put(job)
        self.waiting += 1
        try:
            try:
                await asyncio.wrap_future(job.began)
            finally:
                self.waiting -= 1
            return await _within(seconds, asyncio.wrap_future(job.done))
        finally:
            self._abandon(job)

    def _abandon(self, job: _Job) -> None:
        """Nobody waits for `job`: it is not begun, or it is interrupted; no harm where it is done."""
        job.abandoned = True
        if self._now is not job:
            return
        if sys.platform == "win32":  # pragma: no cover
            import _thread

            _thread.interrupt_main(INTERRUPT)
        else:
            signal.pthread_kill(self._main, INTERRUPT)

    def _interrupted(self, number: int, _frame: FrameType | None) -> None:
        if self._now is not None and self._now.abandoned:
            raise _Abandoned
        if number == signal.SIGINT:  # pragma: no cover - Windows
            raise KeyboardInterrupt

    def _work(self, job: _Job) -> None:
        """Do a job; whatever happens, the desk goes on."""
        if job.abandoned or not job.began.set_running_or_notify_cancel():
            return
        job.done.set_running_or_notify_cancel()  # before anybody can wait for it, and cancel it
        job.began.set_result(None)
        try:
            try:
                self._now = job
                if job.abandoned:  # too early to be interrupted
                    raise _Abandoned
                answer = job.work()
            finally:
                self._now = None
            job.done.set_result(answer)
        except _Abandoned:
            self._now = None
            job.done.set_result(None)
        except Exception as error:
            job.done.set_exception(error)
        self.served += 1


async def _within(seconds: float, waited: asyncio.Future[T]) -> T:
    """What `waited` comes to. Raises SearchTimeout after `seconds`."""
    try:
        await asyncio.wait([waited], timeout=seconds)
        if waited.done():
            return waited.result()
    finally:
        waited.cancel()
    hint = "fewer `paths`, or a longer --timeout of the server"
    raise SearchTimeout(f"no answer within {seconds:g} s", hint=hint)
