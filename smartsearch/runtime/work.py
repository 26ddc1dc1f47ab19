"""One job at a time, which may be abandoned: how a process that stays does its work.

The main thread alone works, so that the models and the current folder have one user and a time limit its
alarm. A signal interrupts it between two steps of the interpreter. Native code that holds Python's lock
hears no signal: there a watch ends the process.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from smartsearch.errors import SmartsearchError, unexpected

INTERRUPT = getattr(signal, "SIGUSR1", signal.SIGINT)
"""The signal that has a process leave an abandoned job."""


class _Abandoned(BaseException):
    """The client of this job has gone."""


@dataclass(frozen=True)
class JobResult:
    """The result of a job: an answer or an error; neither if it was abandoned.

    `foreseen` is false for an error that our code does not raise on purpose.
    """

    answer: Any = None
    error: SmartsearchError | None = None
    foreseen: bool = True


@dataclass
class Job:
    """A piece of work, and whom to tell its result.

    The process ends after `hung` seconds without a step of Python (0: never). `abandoned`: the client has
    gone, so INTERRUPT ends the job.
    """

    do: Callable[[], Any]
    tell: Callable[[JobResult], None]
    hung: float = 0.0
    abandoned: bool = False


class Work:
    """The jobs of this process, done by its main thread one after the other.

    With `one_client` every INTERRUPT is for the job that is being done.
    """

    def __init__(self, *, one_client: bool = False) -> None:
        self.now: Job | None = None
        self._one_client = one_client
        self._watch = threading.Lock()

    def run(self, jobs: Iterable[Job]) -> None:
        """Do all `jobs`, one after the other, whatever their results. Call it once."""
        signal.signal(INTERRUPT, self._interrupted)
        for job in jobs:
            job.tell(JobResult() if job.abandoned else self._result(job))

    def alive(self, job: Job) -> None:
        """Restart the watch: Python still runs while `job` is worked on."""
        with self._watch:
            if self.now is job and job.hung:
                faulthandler.dump_traceback_later(job.hung, exit=True)

    def _result(self, job: Job) -> JobResult:
        try:
            self.now = job
            self.alive(job)
            try:
                return JobResult(job.do())
            finally:
                self._rest()
        except _Abandoned:
            return JobResult()
        except SmartsearchError as error:
            return JobResult(error=error)
        except Exception as error:
            report(error)
            return JobResult(error=unexpected(error), foreseen=False)
        finally:
            self._rest()

    def _rest(self) -> None:
        """There is no job now."""
        with self._watch:
            self.now = None
            faulthandler.cancel_dump_traceback_later()

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        if self.now is not None and (self._one_client or self.now.abandoned):
            raise _Abandoned


def report(error: Exception) -> None:
    """Print the traceback of an unforeseen error, if SMARTSEARCH_DEBUG is set."""
    if os.environ.get("SMARTSEARCH_DEBUG"):
        sys.stderr.write("".join(traceback.format_exception(error)))


def resident_bytes() -> int:
    """The memory that this process holds, or the most it held where the system tells no more."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # pragma: no cover - not Linux
        return peak_bytes()


def release() -> None:
    """Give memory that nothing uses back to the system."""
    import ctypes
    import gc

    gc.collect()
    with contextlib.suppress(OSError, AttributeError):  # not glibc
        ctypes.CDLL(None).malloc_trim(0)


def peak_bytes() -> int:
    """The most memory that this process has held."""
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024
