"""The warm process: it holds the models, and answers one question after the other over a private socket.

The main thread alone works, so that models and current folder have one user and the time limit its alarm;
a thread a client reads, gives signs of life and writes.
"""

from __future__ import annotations

import contextlib
import faulthandler
import json
import os
import queue
import signal
import socket
import sys
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import smartsearch
from smartsearch.ask.library import ask_around
from smartsearch.config import MODELS, Config, check
from smartsearch.errors import SmartsearchError, unexpected
from smartsearch.runtime import ending
from smartsearch.runtime.deadline import deadline
from smartsearch.serve.warm import wire
from smartsearch.serve.warm.codec import decode, encode
from smartsearch.serve.warm.shelf import Reading, Shelf, inside
from smartsearch.serve.warm.wire import Answer, Failure, Json, Request
from smartsearch.types import Corpus, Dropped, Result, Turn

if TYPE_CHECKING:
    from smartsearch.models.tools import Tools

CLIENTS = 8
"""Questions that wait or are worked on at once; the next one is told that the server is busy."""
PATIENCE = 10.0
"""Seconds for a client to send what it announced or to take its answer, and for all of them at the end."""
HUNG = 20.0
"""Seconds without a step of Python's after which a process that works ends itself: its clients have gone."""
LOG_BYTES = 1 << 20


class Files:
    """The files a process was made of, its program and its models, as they are when this is made."""

    def __init__(self, config: Config) -> None:
        from smartsearch.models import profiles

        self._folders = [(Path(smartsearch.__path__[0]), "*.py")]
        self._folders += [(folder, "*") for folder in profiles.folders(config)]
        self._seen = self._now()

    def changed(self) -> bool:
        """Whether one of them is another now, or gone, or new."""
        return self._now() != self._seen

    def _now(self) -> list[tuple[str, int, int]]:
        found = [path for folder, glob in self._folders for path in sorted(folder.rglob(glob))]
        with contextlib.suppress(OSError):
            return [(str(path), (at := path.stat()).st_mtime_ns, at.st_size) for path in found]
        return []


class _Abandoned(BaseException):
    """The client of the question that is worked on has gone."""


class _Unsuited(Exception):
    """A question that this process must not answer: why, empty where the command need not tell."""


@dataclass
class _Job:
    request: Request
    piped: bytes | None
    reply: bytes = b'{"state": "failed", "reason": "it is about to end"}'
    done: threading.Event = field(default_factory=threading.Event)
    abandoned: bool = False


class Server:
    """A warm process for the models `tools` of `config`; `run` is its life.

    `changed` tells whether the models or the program on the disk are others than those in memory.
    """

    def __init__(
        self,
        config: Config,
        tools: Tools,
        changed: Callable[[], bool] = lambda: False,
        log: Path = Path(os.devnull),
    ) -> None:
        self._config, self._tools = config, tools
        self._changed, self._log = changed, log
        self._shelf = Shelf()
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._room = threading.BoundedSemaphore(CLIENTS)
        self._now: _Job | None = None
        self._ending = False
        self._served = 0
        self._watch = threading.Lock()

    def heed_signals(self) -> None:
        """From now on a signal to end does not end this process at once: `run` returns."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._end)
        signal.signal(signal.SIGUSR1, self._interrupt)

    def run(self, listener: socket.socket, idle: float) -> None:
        """Serve until `idle` seconds (0: any time) pass without a question, or a signal says to end."""
        threading.Thread(target=self._accept, args=(listener,), daemon=True).start()
        while not self._ending:
            try:
                job = self._jobs.get(timeout=idle or None)
            except queue.Empty:
                break
            if job is not None:
                self._work(job)
        self._ending = True

    def finish(self) -> None:
        """Tell those who wait that there is no answer, and let what is being sent arrive, within bounds."""
        until = time.monotonic() + PATIENCE
        for _ in range(CLIENTS):
            while not self._room.acquire(timeout=0.05):
                self._dismiss()
                if time.monotonic() > until:
                    return

    def _dismiss(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                job = self._jobs.get_nowait()
                if job is not None:
                    job.done.set()

    def _end(self, _signal: int, _frame: FrameType | None) -> None:
        self._ending = True
        self._jobs.put(None)
        threading.Thread(target=_exit_at_last, daemon=True).start()

    def _interrupt(self, _signal: int, _frame: FrameType | None) -> None:
        if self._now is not None and self._now.abandoned:
            raise _Abandoned

    def _work(self, job: _Job) -> None:
        """Answer a question; whatever happens, the server goes on."""
        try:
            if not job.abandoned:
                with deadline(job.request.config.timeout):
                    self._now = job
                    self._alive(job)
                    try:
                        answer = self._answer(job)
                    finally:
                        self._rest()
                job.reply = _packed("answer", answer=encode(answer))
        except _Abandoned:
            pass
        except _Unsuited as error:
            job.reply = _packed("unsuited", reason=str(error))
        except SmartsearchError as error:
            failure = Failure(error.message, error.hint, error.kind, error.retryable)
            job.reply = _packed("error", error=encode(failure))
        except Exception as error:
            if os.environ.get("SMARTSEARCH_DEBUG"):
                sys.stderr.write(traceback.format_exc())
            job.reply = _packed("failed", reason=f"it failed: {unexpected(error).message}")
        finally:
            self._rest()
            self._served += 1
            job.done.set()
        _trim(self._log)
        if self._jobs.empty():
            ending.finish()  # what this question left to be written

    def _alive(self, job: _Job) -> None:
        """Python still runs while `job` is worked on: what hangs in native code holds its lock, and only what
        needs no lock can end that."""
        with self._watch:
            if self._now is job:
                faulthandler.dump_traceback_later(HUNG, exit=True)

    def _rest(self) -> None:
        """Nothing is worked on."""
        with self._watch:
            self._now = None
            faulthandler.cancel_dump_traceback_later()

    def _answer(self, job: _Job) -> Answer:
        request = job.request
        rankers = set(request.config.rank)
        if self._changed():
            self._end(signal.SIGTERM, None)
            raise _Unsuited("its models or its program have changed since it started, so it ended")
        if rankers - self._tools.scorers.keys():
            raise _Unsuited  # whether this is an error depends on the profile, and loading it tells
        try:
            with inside(request.folder):
                same = wire.places(request.scope) == request.places
        except OSError as error:
            raise _Unsuited(f"it cannot use {request.folder}: {error.strerror}") from error
        if not same:
            raise _Unsuited("it sees other files than you do")
        library = Reading(self._shelf, request.folder, job.piped)
        result, around = ask_around(
            request.question,
            request.scope,
            request.config,
            lambda: self._tools,
            library,
            request.before,
            request.after,
        )
        return Answer(result if request.explain else _light(result), tuple(around))

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
        """One client. Raises OSError when it goes, and ValueError when it makes no sense."""
        head = wire.receive_json(connection, wire.REQUEST_BYTES)
        if head.get("do") == "status":
            self._say(connection, "status", **self._status())
            return
        try:
            request = self._checked(head)
        except (ValueError, SmartsearchError) as error:
            self._say(connection, "refused", reason=f"it refused the question: {error}")
            return
        self._say(connection, "accepted")
        job = _Job(request, wire.receive(connection, wire.PIPED_BYTES) if request.piped else None)
        self._jobs.put(job)
        try:
            while not job.done.wait(wire.ALIVE_EVERY):
                self._alive(job)
                wire.send(connection, b"")
        except OSError:
            job.abandoned = True
            if self._now is job:
                signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGUSR1)
            job.done.wait()
            raise
        wire.send(connection, job.reply)

    def _checked(self, head: Json) -> Request:
        """The request, if it is one and for these models. Raises ValueError and ConfigError."""
        request = decode(Request, head.get("request"))
        asked = check(request.config)
        if any(getattr(asked, name) != getattr(self._config, name) for name in (*MODELS, "cores")):
            raise ValueError("its models are others")
        return request

    def _say(self, connection: socket.socket, state: str, **more: object) -> None:
        version = {"protocol": wire.PROTOCOL, "version": smartsearch.__version__}
        wire.send_json(connection, {"state": state, **version, **more})

    def _status(self) -> Json:
        working = self._now is not None
        return {"working": working, "served": self._served, "rss_bytes": resident_bytes()}


def _light(result: Result) -> Result:
    """The result without the turns that were cut or hidden, which nobody will look at: there may be many."""
    bare = tuple(Dropped(d.rank, d.reason, Turn("")) for d in result.budget.dropped)
    return replace(result, budget=replace(result.budget, dropped=bare, hidden=()))


def _packed(state: str, **more: object) -> bytes:
    return json.dumps({"state": state, **more}).encode()


def _trim(log: Path) -> None:
    """Empty the log that standard error goes to if it has grown long; any other file is left alone."""
    with contextlib.suppress(OSError, ValueError):
        standard_error = os.fstat(2)
        if standard_error.st_size > LOG_BYTES and os.path.samestat(standard_error, log.stat()):
            os.ftruncate(2, 0)


def _exit_at_last() -> None:
    time.sleep(2 * PATIENCE)
    os._exit(1)


def warm_up(tools: Tools, config: Config) -> None:
    """Run a question through all of the models, so that what loads late has loaded. Raises ModelError."""
    from smartsearch import transcripts  # noqa: F401 - the readers, too
    from smartsearch.retrieve.grep import Haystack
    from smartsearch.systems.smartsearch.pipeline import search

    lines = ("I adopted a dog in Lisbon.", "What is it called?", "Pickle, after my grandmother's recipe.")
    corpus = Corpus(tuple(Turn(line, "Mara") for line in lines))
    search("When did Mara adpot the dog?", Haystack(corpus), replace(config, timeout=0), tools)


def resident_bytes() -> int:
    """The memory that this process holds, or at most held where the system tells no more."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):  # pragma: no cover - not Linux
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024
