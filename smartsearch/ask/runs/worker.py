"""The process that holds the models and answers tasks.

It announces each step, so that the process that started it knows where it died (supervise.py).
"""

from __future__ import annotations

import contextlib
import faulthandler
import hashlib
import os
import pkgutil
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from smartsearch import systems
from smartsearch.ask import batch
from smartsearch.ask.batch import FATAL
from smartsearch.ask.door import Door
from smartsearch.ask.library import Library, in_background
from smartsearch.ask.runs.records import answered, failed
from smartsearch.ask.runs.staging import Staging
from smartsearch.ask.runs.storage import shown
from smartsearch.ask.runs.types import GRACE, TRIES, Answer, Input, Item, Setup
from smartsearch.ask.scope import Request
from smartsearch.errors import InputError, SearchTimeout
from smartsearch.runtime import worker
from smartsearch.runtime.work import Job, JobResult, peak_bytes
from smartsearch.types import Result, Skipped

_CHUNK = 1 << 20

Tell = Callable[..., None]


class Answerer:
    """Answers one line after the other; follows the reading as a Watch (transcripts/corpus.py)."""

    def __init__(self, setup: Setup, threads: int, tell: Tell) -> None:
        self._setup = setup
        self._config = replace(setup.config, threads=threads)
        self._tell = tell
        self._library = Library(watch=self)
        self._staging = Staging(globs=setup.source.globs)
        self._system = in_background(lambda: systems.load(self._config, pkgutil.resolve_name(setup.loader)))
        self._limit = setup.config.timeout or setup.limit
        self._reading = ""
        self._line = 0
        self._slow: Counter[str] = Counter()
        self._hashed: set[tuple[str, int, int]] = set()
        self.refused: dict[str, Skipped] = {}

    def load(self) -> None:
        """Wait for the models. Raises what every question would meet."""
        self._system()

    def work(self, items: Sequence[Item], refused: Mapping[str, Skipped]) -> None:
        """Tell the record of each line; the files in `refused` are left out from now on."""
        self.refused.update(refused)
        for item in items:
            self._tell("answer", self.answer(item))

    def answer(self, item: Item) -> Answer:
        """The record of one line, whatever happens but for errors that every line would meet (FATAL)."""
        self._line, self._reading = item.line, ""
        while (answer := self._tried(item)) is None:
            pass
        return answer

    def _tried(self, item: Item) -> Answer | None:
        """As `answer`; None where reading a file took too long."""
        try:
            answer = self._answer(item)
            _alarm(0.0)  # here, so that a late alarm is caught below
            return answer
        except SearchTimeout as error:
            if not self._reading:
                return failed(batch.identity_in(item.raw), item.line, error, self._config)
            self._note_slow(self._reading)
            return None
        finally:
            _alarm(0.0)

    def _answer(self, item: Item) -> Answer:
        config, memory = self._config, None

        def ask(question: batch.Question) -> Result:
            nonlocal config, memory
            source, config = self._setup.filters.own(question, self._setup.source, self._config)
            local = replace(source, paths=self._staging.local(source.paths))
            found = Door(self._system, self._library).find(Request(question.text, local, config))
            if found.memory:
                memory = Input("\n".join(map(shown, source.paths)), found.memory, memory=True)
            return self._staging.restored(found.result)

        self._step("asking", item.line)
        outcome = batch.outcome(item.raw, item.line, ask, (*FATAL, SearchTimeout))
        if error := outcome.error:  # told with the user's own paths
            error.message, error.hint = self._staging.named(error.message), self._staging.named(error.hint)
        return answered(outcome, config, memory)

    def begin(self, path: str) -> Skipped | None:
        """Say which file is read next; one that is to be left out is reported."""
        shown = self._staging.named(path)
        if shown in self.refused:
            return replace(self.refused[shown], path=path)
        self._slow.pop(self._reading, None)
        self._reading = shown
        self._step("reading", shown)
        self._tell_input(path, shown)
        return None

    def end(self) -> None:
        """All files are read; from here on the question's own time runs."""
        self._slow.pop(self._reading, None)
        self._reading = ""
        self._step("asking", self._line)

    def _step(self, what: str, which: str | int | Input) -> None:
        """Tell, with no alarm: it would tear a message, and a listener may be slow. Then the limit begins."""
        _alarm(0.0)
        self._tell(what, which)
        _alarm(self._limit)

    def _note_slow(self, path: str) -> None:
        self._reading = ""
        self._slow[path] += 1
        if self._slow[path] >= TRIES:
            said = f"reading it took longer than {self._limit:g} s, {TRIES} times"
            self.refused[path] = Skipped(path, "timeout", said)

    def _tell_input(self, path: str, shown: str) -> None:
        """Tell what was read, once per state of the file; of a file in an archive, the archive."""
        file = Path(path)
        while not file.is_file() and file != file.parent:
            file, shown = file.parent, os.path.dirname(shown)  # noqa: PTH120 - as the user types it
        try:
            facts = file.stat()
            known = (shown, facts.st_size, facts.st_mtime_ns)
            if known in self._hashed:
                return
            digest = _sha256(file)
        except OSError:
            return  # the reader reports that
        self._hashed.add(known)
        self._step("input", Input(shown, digest))


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while chunk := opened.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _alarm(seconds: float) -> None:
    """Raise SearchTimeout in the main thread after `seconds`, 0 for never; end the process GRACE later.

    Native code that hangs may hold the interpreter's lock; what ends the process needs none.
    """

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise SearchTimeout(
            f"no answer within {seconds:g} s", hint="a longer --timeout, or fewer --candidates"
        )

    signal.setitimer(signal.ITIMER_REAL, 0.0)
    faulthandler.cancel_dump_traceback_later()
    if seconds:
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        faulthandler.dump_traceback_later(seconds + GRACE, exit=True)


def begin(given: tuple[Setup, int], tell: worker.Tell) -> Callable[[tuple[Any, ...]], Job]:
    """What makes a job of the lines of a task and the files to leave out; `given` has the number of threads.

    It sends its steps, "idle" when the models are loaded, each answer, and "done" with the peak of its
    memory. Raises what every question would meet.
    """
    setup, threads = given
    with contextlib.suppress(OSError):  # where memory runs out, a worker should go first
        Path("/proc/self/oom_score_adj").write_text("900")
    try:
        os.chdir(setup.cwd)
    except OSError as error:
        said = f"there is no folder {setup.cwd} on {os.uname().nodename}: {error.strerror}"
        hint = "absolute paths on storage that every machine sees, or URIs"
        raise InputError(said, hint=hint) from error
    tell(("loading", "models"))
    answerer = Answerer(setup, threads, lambda *event: tell(event))
    answerer.load()
    tell(("idle", ""))

    def told(result: JobResult) -> None:
        if not result.foreseen:
            os._exit(1)  # as any death: the line is tried again, then given up
        tell(result.error or ("done", peak_bytes()))

    return lambda task: Job(partial(answerer.work, *task), told)
