"""Cuts the lines of a questions file into tasks, and the tasks into shards: the same on every machine.

Lines that search the same places are neighbours, in order of first appearance, so that one worker reads,
folds and encodes them once. A shard is a contiguous run of tasks.
"""

from __future__ import annotations

import hashlib
import os
import stat
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import BinaryIO

from smartsearch.ask import batch
from smartsearch.ask.runs.types import Item, Task
from smartsearch.errors import InputError, SmartsearchError, UsageError
from smartsearch.types import Identity

TASK_LINES = 32
"""The most lines of a task, the unit that Ray hands out and repeats when an actor is lost."""
TASKS = 64
"""At least so many tasks, if there are as many lines, so that workers can share them."""
UNSCOPED = ("now", "speaker")
"""Filters that do not decide what is read."""


@dataclass(frozen=True)
class Shard:
    """Part `number` (1-based) of `of` equal parts of a run."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """From `2/8`. Raises UsageError."""
        number, slash, of = text.partition("/")
        if not (slash and number.isdecimal() and of.isdecimal() and 1 <= int(number) <= int(of) <= 99_999):
            raise UsageError(f"--shard is {text!r}", hint="which of how many, such as 2/8")
        return cls(int(number), int(of))

    def __str__(self) -> str:
        return f"{self.number:05d}-of-{self.of:05d}"

    def range(self, total: int) -> range:
        """Its part of `total` things in a row."""
        return range((self.number - 1) * total // self.of, self.number * total // self.of)


@dataclass
class Questions:
    """A questions file as read once: where its lines are, which group each belongs to, which are refused.

    `refused` are lines that cannot be asked, with the id if there is one. `sha256` is of the whole file.
    """

    path: Path
    lines: array[int] = field(default_factory=lambda: array("Q"))
    starts: array[int] = field(default_factory=lambda: array("Q"))
    groups: array[int] = field(default_factory=lambda: array("Q"))
    refused: dict[int, tuple[Identity | None, SmartsearchError]] = field(default_factory=dict)
    text: bool = False  # plain lines, each made the object that asks it
    sha256: str = ""
    bytes: int = 0
    changed: int = 0  # when the file last changed, in ns

    def __len__(self) -> int:
        """Lines that are not blank."""
        return len(self.lines)

    def items(self, places: Sequence[int]) -> Iterator[Item]:
        """The lines at these places among those that are not blank. Raises InputError."""
        with _opened(self.path) as file:
            facts = os.fstat(file.fileno())
            if (facts.st_size, facts.st_mtime_ns) != (self.bytes, self.changed):
                raise InputError(
                    f"{self.path} has changed since the run began",
                    hint="the same command goes on if it is as it was; for other questions another --out",
                    kind="questions_changed",
                )
            for place in places:
                file.seek(self.starts[place])
                raw, number = file.readline().rstrip(b"\r\n"), self.lines[place]
                yield Item(number, batch.worded(raw, number) if self.text else raw)


def read(path: Path) -> Questions:
    """Read a questions file once. Raises InputError where it cannot be read."""
    questions, seen, groups = Questions(path), {}, {}  # type: ignore[var-annotated]
    digest, start = hashlib.sha256(), 0
    with _opened(path) as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            raise InputError(f"{path} is no file that can be read again", hint="a file of questions")
        questions.changed = facts.st_mtime_ns
        questions.text = batch.is_text(file)
        file.seek(0)
        for number, raw in enumerate(file, start=1):
            digest.update(raw)
            if raw.strip():
                asked = batch.worded(raw, number) if questions.text else raw
                key = _key(questions, number, asked, seen)
                questions.lines.append(number)
                questions.starts.append(start)
                questions.groups.append(groups.setdefault(key, len(groups)))
            start += len(raw)
    questions.sha256, questions.bytes = digest.hexdigest(), start
    return questions


def _key(questions: Questions, number: int, raw: bytes, seen: dict[Identity, int]) -> object:
    """The key of where a line is searched; a line that cannot be asked is noted as refused."""
    identity: Identity | None = None
    try:
        values = batch.values_of(raw)
        identity = batch.identity_of(values)
        if seen.setdefault(identity, number) != number:
            raise batch.again(identity, seen[identity])
        question = batch.question_of(identity, number, values)
    except InputError as error:
        questions.refused[number] = identity, error
        return None
    scoped = tuple(pair for pair in sorted(question.filters.items()) if pair[0] not in UNSCOPED)
    return question.paths, scoped


def _opened(path: Path) -> BinaryIO:
    try:
        return path.open("rb")
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}", hint="a file of questions") from error


class Plan:
    """The tasks of a whole questions file by number, each the places of its lines."""

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self.size = max(1, min(TASK_LINES, len(questions) // TASKS))
        order = sorted(range(len(questions)), key=questions.groups.__getitem__)
        self._tasks = list(_cut(order, questions.groups, self.size))

    def __len__(self) -> int:
        return len(self._tasks)

    def places(self, number: int) -> array[int]:
        """Where the lines of a task are among those that are not blank."""
        return self._tasks[number]

    def lines(self, number: int) -> list[int]:
        """The line numbers of a task."""
        return [self.questions.lines[place] for place in self._tasks[number]]

    def task(self, number: int, without: Iterable[int] = ()) -> Task:
        """A task with its lines, `without` those that need not be done."""
        left = set(self.lines(number)) - set(without)
        places = [place for place in self._tasks[number] if self.questions.lines[place] in left]
        return Task(number, tuple(self.questions.items(places)))


def _cut(order: Sequence[int], groups: Sequence[int], size: int) -> Iterator[array[int]]:
    """Runs of at most `size` places; a group that fits into one is not divided."""
    task: array[int] = array("Q")
    for _, places in groupby(order, groups.__getitem__):
        group = list(places)
        if len(task) + len(group) > size:
            yield from [task] if task else []
            task = array("Q")
        while len(group) > size:
            yield array("Q", group[:size])
            del group[:size]
        task.extend(group)
    if task:
        yield task
