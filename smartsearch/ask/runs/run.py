"""One shard of a run from beginning to end: an engine does what is left; answers are written and counted."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from smartsearch.ask.runs import manifest, pool
from smartsearch.ask.runs.faults import StorageError
from smartsearch.ask.runs.folder import RunFolder
from smartsearch.ask.runs.manifest import Json, Session, Tally
from smartsearch.ask.runs.plan import Plan
from smartsearch.ask.runs.records import failed
from smartsearch.ask.runs.types import Answer, Report, Task
from smartsearch.errors import SmartsearchError

NOTE_SECONDS = 30.0
"""The manifest of a run under way is written this often."""

Engine = Callable[[Sequence[int], Callable[[int], Task]], Iterator[pool.Event]]
"""Does the tasks of these numbers, made by the second argument; yields answers early and reports."""


@dataclass
class Shift:
    """One process's work on a shard: its tasks, and how far it is."""

    folder: RunFolder
    plan: Plan
    identity: Json
    session: Session
    retry_failed: bool = False

    def __post_init__(self) -> None:
        self.tasks = self.folder.shard.range(len(self.plan))
        self._began = time.monotonic()
        self._noted = self._began
        self._earlier: list[Json] = []

    @property
    def lines(self) -> int:
        """Questions of this shard."""
        return sum(len(self.plan.places(task)) for task in self.tasks)

    def begin(self) -> Json | None:
        """Take the folder and find what is done; the manifest if all is. Raises UsageError, InputError."""
        self.folder.begin(self.identity)
        held = self.folder.manifest
        if held is not None:
            self._earlier = list(held.get("sessions", []))
            if self.folder.is_complete(held) and not (self.retry_failed and held["counts"]["failed"]):
                self.folder.drop_parts(held)
                return held
        self.folder.resume(self.plan, self.tasks, retry_failed=self.retry_failed)
        self._note("running")
        return None

    def work(self, engine: Engine, step: Callable[[Answer], None]) -> None:
        """Do what is left; write each answer, then tell `step`.

        Raises what ended the engine, KeyboardInterrupt too; what was answered is written all the same.
        """
        left = [task for task in self.tasks if task not in self.folder.complete]
        refused = list(self._refused(left))
        open_tasks = [task for task in left if self._asked(task)]
        try:
            for event in chain(refused, engine(open_tasks, self._task)):
                self._take(event, step)
        except BaseException:
            self._stop()
            raise

    def finish(self) -> Json:
        """Put the answers in order, count them, and say that the run is complete. Raises as `work`."""
        tally = Tally()
        try:
            self.folder.write_answers(tally.counting(self.folder.records(self.plan, self.tasks)))
            self.folder.write_inputs()
        except BaseException:
            self._stop()
            raise
        whole = self._manifest(
            "complete",
            tally.counts(self.lines),
            answers={"file": self.folder.answers_name, **tally.digests()},
            inputs=self.folder.inputs_summary,
            search_seconds=round(tally.search_ms / 1000.0, 1),
            **tally.details(),
        )
        self.folder.write_manifest(whole)
        if not self.folder.is_complete(self.folder.manifest or {}):
            raise StorageError(
                f"{self.folder.place}: the answers were removed while the run ended",
                hint="the same command again",
            )
        self.folder.drop_parts(whole)
        return whole

    def _asked(self, task: int) -> bool:
        """Whether a task holds lines for an engine."""
        return bool(set(self.plan.lines(task)) - self._without(task))

    def _without(self, task: int) -> set[int]:
        """The lines of a task that are done or cannot be asked."""
        done, refused = self.folder.done(task), self.plan.questions.refused
        return {line for line in self.plan.lines(task) if line in done or line in refused}

    def _task(self, number: int) -> Task:
        return self.plan.task(number, without=self._without(number))

    def _refused(self, tasks: Sequence[int]) -> Iterator[pool.Event]:
        """The answers of lines that cannot be asked, and a report for each task that has no other lines."""
        for task in tasks:
            for line in self.plan.lines(task):
                if line in self.plan.questions.refused and line not in self.folder.done(task):
                    identity, error = self.plan.questions.refused[line]
                    yield task, failed(identity, line, error)
            if not self._asked(task):
                yield Report(task, ())

    def _take(self, event: pool.Event, step: Callable[[Answer], None]) -> None:
        if isinstance(event, Report):
            for answer in event.answers:
                self._put(event.task, answer, step)
            self.folder.close(event.task, event.inputs)
            self.session.worker_deaths += event.deaths
            self.session.worker_peak_bytes = max(self.session.worker_peak_bytes, event.peak)
        else:
            self._put(*event, step)
        if time.monotonic() - self._noted >= NOTE_SECONDS:
            self._note("running")

    def _put(self, task: int, answer: Answer, step: Callable[[Answer], None]) -> None:
        """Note an answer once: a report repeats answers that came one by one, and may itself come twice."""
        if self.folder.put(task, answer):
            self.session.done += 1
            step(answer)

    def _stop(self) -> None:
        """Write what was answered; errors are dropped, for the one that ended the run is told."""
        try:
            self.folder.flush()
            self._note("stopped")
        except SmartsearchError:
            pass

    def _note(self, state: str) -> None:
        counts = {"in": self.lines, "out": self.folder.count, "failed": self.folder.failed}
        self.folder.write_manifest(self._manifest(state, counts))
        self._noted = time.monotonic()

    def _manifest(self, state: str, counts: Json, **more: Any) -> Json:
        """The manifest as it is now: `state` is running, stopped or complete."""
        self.session.seconds = time.monotonic() - self._began
        self.session.ended = manifest.now()
        sessions = [*self._earlier, self.session.value()]
        return {**self.identity, "state": state, "counts": counts, "sessions": sessions, **more}
