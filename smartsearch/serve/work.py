"""What processes that stay have in common: one job at a time, which may be abandoned.

The main thread alone works, so that the models and the current folder have one user and a time limit its
alarm. A signal interrupts it between two steps of the interpreter. Native code that holds Python's lock
hears no signal: there a watch ends the process.
"""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

from smartsearch.errors import SmartsearchError, unexpected
from smartsearch.types import Corpus, Turn

if TYPE_CHECKING:
    from smartsearch.config import Config
    from smartsearch.models.tools import Tools

INTERRUPT = getattr(signal, "SIGUSR1", signal.SIGINT)
"""The signal that has a process leave an abandoned job."""


class _Abandoned(BaseException):
    """Nobody waits any more for what is being done."""


@dataclass(frozen=True)
class JobResult:
    """What came of a job: an answer or an error; neither where it was abandoned.

    `foreseen` is false for an error that nobody thought of.
    """

    answer: Any = None
    error: SmartsearchError | None = None
    foreseen: bool = True


@dataclass
class Job:
    """What is to be done, and whom to tell what came of it.

    `hung` is after how many seconds without a step of Python's the process ends (0: never); `abandoned` says
    that nobody waits any more, so that INTERRUPT ends the job.
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
        """Do each of `jobs`, whatever comes of it, until there are no more. To be called once."""
        signal.signal(INTERRUPT, self._interrupted)
        for job in jobs:
            job.tell(JobResult() if job.abandoned else self._result(job))

    def alive(self, job: Job) -> None:
        """Python still runs while `job` is worked on: the watch begins anew."""
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
        """Nothing is worked on."""
        with self._watch:
            self.now = None
            faulthandler.cancel_dump_traceback_later()

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        if self.now is not None and (self._one_client or self.now.abandoned):
            raise _Abandoned


def report(error: Exception) -> None:
    """Write where an unforeseen error came from to standard error, where SMARTSEARCH_DEBUG is set."""
    if os.environ.get("SMARTSEARCH_DEBUG"):
        sys.stderr.write("".join(traceback.format_exception(error)))


def end_after(seconds: float, last: Callable[[], None] = lambda: None, code: int = 0) -> None:
    """End this process with `code` in so many seconds, unless it has ended by itself by then.

    `last` is called before.
    """

    def end() -> None:
        last()
        os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()


class Models:
    """SmartSearch's models, loaded when a system first asks for them, and tried on a question.

    So what loads late has loaded too. A failed try is told, and made again by the next that asks.
    """

    def __init__(self, config: Config, load: Callable[[Config], Tools]) -> None:
        self._config, self._load = config, load
        self._tools: Tools | None = None
        self.state = "not loaded"

    def __call__(self, _config: Config | None = None) -> Tools:
        """The models. Raises ModelError."""
        if self._tools is None:
            self.state = "loading"
            try:
                tools = self._load(self._config)
                self._try(tools)
            except BaseException as error:
                self.state = f"failed: {error}"
                raise
            self._tools, self.state = tools, "ready"
        return self._tools

    @property
    def ran(self) -> list[dict[str, Any]]:
        """What is loaded."""
        return [asdict(model) for model in self._tools.models.values()] if self._tools else []

    def _try(self, tools: Tools) -> None:
        import smartsearch.transcripts.corpus  # noqa: F401 - the readers, too
        from smartsearch import systems
        from smartsearch.retrieve.grep import Haystack
        from smartsearch.systems.base import Empty
        from smartsearch.systems.smartsearch import SmartSearch

        lines = ("I adopted a dog in Lisbon.", "What is it called?", "Pickle, after my grandmother's recipe.")
        chat, config = (
            Haystack(Corpus(tuple(Turn(line, "Mara") for line in lines))),
            replace(self._config, timeout=0),
        )
        systems.answer(SmartSearch(tools), "When did Mara adpot the dog?", chat, Empty(), config)


def resident_bytes() -> int:
    """The memory that this process holds, or at most held where the system tells no more."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # pragma: no cover - not Linux
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
