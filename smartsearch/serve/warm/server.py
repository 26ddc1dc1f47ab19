"""The warm process: it holds the models, and answers one question after the other over a private socket.

The main thread alone works (runtime/work.py); one thread per client reads, gives signs of life and writes.
Between questions it reads turns ahead for the next ones (rank/meaning.py).
"""

from __future__ import annotations

import contextlib
import io
import math
import os
import queue
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import smartsearch
from smartsearch import systems
from smartsearch.ask.door import Door, Found
from smartsearch.ask.library import Library
from smartsearch.config import MODELS, Config, check
from smartsearch.errors import SmartsearchError
from smartsearch.rank.meaning import read_ahead
from smartsearch.runtime import ending, frames
from smartsearch.runtime.deadline import deadline
from smartsearch.runtime.streams import end_after
from smartsearch.runtime.work import INTERRUPT, Job, JobResult, Work, release, report, resident_bytes
from smartsearch.serve.models import Models
from smartsearch.serve.warm import wire
from smartsearch.serve.warm.shelf import Shelf
from smartsearch.serve.warm.wire import Failure, Json, Request
from smartsearch.types import Dropped, Result, Turn

if TYPE_CHECKING:
    from smartsearch.models.tools import Tools
    from smartsearch.rank.scorer import Scorer
    from smartsearch.retrieve.grep import Haystack

CLIENTS = 8
"""Questions that wait or are worked on at once; the next one is told that the server is busy."""
PATIENCE = 10.0
"""Seconds for a client to send what it announced or to take its answer, and for all of them at the end."""
HUNG = 20.0
"""A working process ends itself after this many seconds without a step of Python: its clients have gone."""
AHEAD = 4
"""Windows of turns read ahead at a time: some 10 ms, the most that a question then waits."""
PAUSE = 0.01
"""Seconds between: half of a core is left to others."""
AHEAD_BYTES = 2**30
"""The memory of this process up to which it reads ahead, if it may hold any."""
AHEAD_SHARE = 0.9
"""The share of what it may hold up to which it does so otherwise."""
TIMES = 40
"""How many times the size of their files transcripts take in memory at most, while they are searched."""


class Files:
    """The files of the program and its models, as they are when this is made."""

    def __init__(self, config: Config) -> None:
        from smartsearch.models import profiles

        self._folders = [(Path(smartsearch.__path__[0]), "*.py")]
        self._folders += [(folder, "*") for folder in profiles.folders(config)]
        self._seen = self._now()

    def changed(self) -> bool:
        """Whether a file of them was changed, removed or added."""
        return self._now() != self._seen

    def _now(self) -> list[tuple[str, int, int]]:
        found = [path for folder, glob in self._folders for path in sorted(folder.rglob(glob))]
        with contextlib.suppress(OSError):
            return [(str(path), (at := path.stat()).st_mtime_ns, at.st_size) for path in found]
        return []


class _Unsuited(SmartsearchError):
    """A question that this process must not answer; without a message the command tells no reason."""


class Server:
    """A warm process for the `models` of `config`, which load when a question needs them.

    `changed` tells whether the models or the program on the disk differ from those in memory. `most` is how
    many bytes it may hold (0: any): it leaves questions over more text to the command, forgets transcripts
    beyond that, and ends where this is not enough.
    """

    def __init__(
        self, config: Config, models: Models, changed: Callable[[], bool] = lambda: False, most: int = 0
    ) -> None:
        self._config, self._models, self._changed, self._most = config, models, changed, most
        self._shelf = Shelf()
        self._ahead: tuple[Haystack, Scorer] | None = None
        self._work = Work()
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._room = threading.BoundedSemaphore(CLIENTS)
        self._ending = False
        self._served = 0

    def heed_signals(self) -> None:
        """From now on a signal to end does not end this process at once: `run` returns."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._end)

    def run(self, listener: socket.socket, idle: float) -> None:
        """Serve until `idle` seconds (0: any time) pass without a question, or a signal says to end."""
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        self._work.run(self._asked(idle))
        self._ending = True

    def _asked(self, idle: float) -> Iterator[Job]:
        """The questions as they arrive, until it is time to end."""
        while not self._ending and self._fits():
            until = time.monotonic() + (idle or math.inf)
            while self._jobs.empty() and not self._ending and time.monotonic() < until and self._read_ahead():
                time.sleep(PAUSE)
            if self._jobs.empty():
                ending.finish()  # what the last question left to be written
            try:
                job = self._jobs.get(timeout=max(0.0, until - time.monotonic()) if idle else None)
            except queue.Empty:
                return
            if job is not None:
                yield job

    def _read_ahead(self) -> bool:
        """Read a few turns of what was asked last; whether some are left. An error ends it."""
        if self._ahead is None or resident_bytes() > (self._most * AHEAD_SHARE or AHEAD_BYTES):
            return False
        haystack, scorer = self._ahead
        try:
            left = read_ahead(haystack, scorer, AHEAD)
        except Exception as error:
            report(error)
            left = 0
        if not left:
            self._ahead = None
        return left > 0

    def look(self, request: Request) -> bool:
        """Read the transcripts of a question that was answered elsewhere, so that its turns are read ahead.

        False where they are more than this process may hold.
        """
        try:
            with _inside(request.folder):
                if not self._takes(self._shelf.size(request.scope)):
                    return False
                self._shelf.haystack(request.scope)
            self._ahead = self._readable(request.config)
        except SmartsearchError:
            self._ahead = None
        return True

    def _takes(self, size: int) -> bool:
        """Whether transcripts of that many bytes may be searched here."""
        return not self._most or size * TIMES < self._most / 2

    def _fits(self) -> bool:
        """Whether this process stays within its memory, if need be by dropping its transcripts."""
        if not self._most or resident_bytes() <= self._most:
            return True
        self._ahead, self._shelf = None, Shelf()
        release()
        return resident_bytes() <= self._most

    def _readable(self, config: Config) -> tuple[Haystack, Scorer] | None:
        """The transcripts of the last question and the scorer that may read them ahead, if any."""
        haystack = self._shelf.latest
        wanted = config.typed and config.semantic != "off" and "colbert" in config.rank
        if haystack is None or not wanted or not len(haystack):
            return None
        colbert = self._models().scorers.get("colbert")
        return (haystack, colbert) if colbert and colbert.vectors else None

    def finish(self) -> None:
        """Tell waiting clients that there is no answer, and let replies under way arrive, for a while."""
        until = time.monotonic() + PATIENCE
        for _ in range(CLIENTS):
            while not self._room.acquire(timeout=0.05):
                while not self._jobs.empty():
                    if (job := self._jobs.get()) is not None:
                        job.tell(JobResult())
                if time.monotonic() > until:
                    return

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._ending = True
        self._jobs.put(None)
        end_after(2 * PATIENCE, code=1)

    def _answer(self, request: Request, piped: bytes | None) -> Found:
        """Raises SmartsearchError as searching does, and _Unsuited."""
        if self._changed():
            self._end(signal.SIGTERM, None)
            raise _Unsuited("its models or its program have changed since it started, so it ended")
        config = request.config
        if config.llm:
            raise _Unsuited("it asks no language model")
        with _inside(request.folder), deadline(config.timeout):
            if wire.places(request.scope) != request.places:
                raise _Unsuited("it sees other files than you do")
            if not self._takes(self._shelf.size(request.scope) if piped is None else len(piped)):
                raise _Unsuited("")
            system = systems.load(config, self._tools)
            library = self._shelf if piped is None else Library(io.BytesIO(piped))
            found = Door(lambda: system, library).find(request)
        if piped is None and self._models.state == "ready":
            self._ahead = self._readable(config)
        return Found(found.result if request.explain else _light(found.result), found.around)

    def _tools(self, config: Config) -> Tools:
        """What SmartSearch needs. Raises ModelError, and _Unsuited where these models lack a ranker."""
        tools = self._models()
        if set(config.rank) - tools.scorers.keys():
            raise _Unsuited("")  # whether this is an error depends on the profile, and loading it tells
        return tools

    def _accept(self, listener: socket.socket) -> None:
        while not self._ending:
            try:
                connection, _ = listener.accept()
            except OSError:  # closed, or no descriptor left
                time.sleep(0.05)
                continue
            if self._room.acquire(blocking=False):
                threading.Thread(target=self._attend, args=(connection,), daemon=True).start()
            else:
                with connection, contextlib.suppress(OSError):
                    connection.settimeout(0)
                    if wire.same_user(connection):
                        self._say(connection, "busy", reason=f"it is busy with {CLIENTS} other questions")

    def _attend(self, connection: socket.socket) -> None:
        try:
            with connection, contextlib.suppress(OSError, ValueError):
                connection.settimeout(PATIENCE)
                if wire.same_user(connection):
                    self._say(connection, "ready")
                    self._serve(connection)
        finally:
            self._room.release()

    def _serve(self, connection: socket.socket) -> None:
        """Serve one client. Raises OSError when it goes, and ValueError when it makes no sense."""
        request = wire.hear(connection, wire.REQUEST_BYTES)
        if request == {"do": "status"}:
            working = self._work.now is not None
            self._say(connection, "status", working=working, served=self._served, rss_bytes=resident_bytes())
            return
        try:
            self._check(request)
        except (ValueError, SmartsearchError) as error:
            self._say(connection, "refused", reason=f"it refused the question: {error}")
            return
        self._say(connection, "accepted")
        piped = frames.receive(connection.recv, wire.PIPED_BYTES) if request.piped else None
        told: queue.SimpleQueue[JobResult] = queue.SimpleQueue()

        def tell(outcome: JobResult) -> None:
            self._served += 1
            told.put(outcome)

        job = Job(lambda: self._answer(request, piped), tell, HUNG)
        self._jobs.put(job)
        try:
            outcome = self._waited(connection, job, told)
        except OSError:
            job.abandoned = True
            if self._work.now is job:
                signal.pthread_kill(threading.main_thread().ident or 0, INTERRUPT)
            told.get()
            raise
        wire.say(connection, _reply(outcome))

    def _waited(self, connection: socket.socket, job: Job, told: queue.SimpleQueue[JobResult]) -> JobResult:
        """The result of a job; meanwhile its client gets signs of life. Raises OSError when it goes."""
        while True:
            with contextlib.suppress(queue.Empty):
                return told.get(timeout=wire.ALIVE_EVERY)
            self._work.alive(job)
            frames.send(connection.send, b"")

    def _check(self, request: object) -> None:
        """Raise ValueError or ConfigError for anything but a question for these models."""
        if not isinstance(request, Request) or not isinstance(request.config, Config):
            raise ValueError("it is not a question")  # noqa: TRY004 - what came is wrong, not the program
        asked = check(request.config)
        if any(getattr(asked, name) != getattr(self._config, name) for name in (*MODELS, "cores")):
            raise ValueError("its models are others")

    def _say(self, connection: socket.socket, state: str, **more: object) -> None:
        version = {"protocol": wire.PROTOCOL, "version": smartsearch.__version__}
        wire.say(connection, {"state": state, **version, **more})


@contextmanager
def _inside(folder: str) -> Iterator[None]:
    """The block with `folder` as the current folder, and the root afterwards. Raises _Unsuited."""
    try:
        os.chdir(folder)
    except OSError as error:
        raise _Unsuited(f"it cannot use {folder}: {error.strerror}") from error
    try:
        yield
    finally:
        os.chdir("/")


def _light(result: Result) -> Result:
    """The result without the turns that were cut or hidden: there may be many, and none is shown."""
    bare = tuple(Dropped(d.rank, d.reason, Turn("")) for d in result.budget.dropped)
    return replace(result, budget=replace(result.budget, dropped=bare, hidden=()))


def _reply(outcome: JobResult) -> Json | Found | Failure:
    """The reply to a client; a SmartsearchError of the search is an answer too."""
    error = outcome.error
    if isinstance(error, _Unsuited):
        return {"state": "unsuited", "reason": error.message}
    if error is not None and not outcome.foreseen:
        return {"state": "failed", "reason": f"it failed: {error.message}"}
    if error is not None:
        return Failure(error.message, error.hint, error.kind, error.retryable)
    answer: Found | None = outcome.answer
    return answer or {"state": "failed", "reason": "it is about to end"}
