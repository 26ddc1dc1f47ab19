"""Many questions, one after the other: lines in, outcomes out in the same order, resumable."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from smartsearch.config import FIELDS
from smartsearch.errors import (
    ConfigError,
    InputError,
    ModelError,
    SmartsearchError,
    UsageError,
    unexpected,
)
from smartsearch.transcripts.filters import NAMES, SWITCHES, Filters
from smartsearch.types import Answered, Identity, Result

FATAL = (ModelError, ConfigError, UsageError)
"""Errors that every further question would meet too: they end the run."""

SETTINGS = tuple(name for name, field in FIELDS.items() if field.metadata["panel"] == "Filters")
FILTERS = (*NAMES, *SETTINGS)
"""What a line, or an agent, may say for itself, as the options of these names do for all."""
SINGLE = tuple(
    field.name for field in (*fields(Filters), *FIELDS.values()) if not isinstance(field.default, tuple)
)


@dataclass(frozen=True)
class Question:
    """One line of the input: its number (1-based), the question, and where to search if it says so.

    `filters` are the values of its own by the names of FILTERS, as written.
    """

    id: Identity
    line: int
    text: str
    paths: tuple[str, ...] = ()
    filters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass
class Done:
    """What an earlier run left in its output file: ids, lines without one, failures, and bytes of it all."""

    ids: set[Identity] = field(default_factory=set)
    lines: set[int] = field(default_factory=set)
    failed: int = 0
    size: int = 0

    def __len__(self) -> int:
        return len(self.ids) + len(self.lines)

    def has(self, identity: Identity | None, line: int) -> bool:
        """Whether that line was dealt with: by its id, or by its number where it has no id."""
        return line in self.lines if identity is None else identity in self.ids


@contextmanager
def lines(name: str, stdin: BinaryIO | None) -> Iterator[tuple[Iterable[bytes], int | None, bool]]:
    """The lines of a questions file, how many are not blank, and whether they are text, made JSON here.

    Of `stdin`, if given, as they come: there the first line tells.
    """
    if stdin is not None:
        head = []
        for line in stdin:
            head.append(line)
            if line.strip():
                break
        text = is_text(head)
        yield _read(chain(head, stdin), text=text), None, text
        return
    try:
        with Path(name).open("rb") as counted:
            total = sum(1 for line in counted if line.strip())
            counted.seek(0)
            text = is_text(counted)
        file = Path(name).open("rb")  # noqa: SIM115 - closed below; what the block raises is not caught here
    except OSError as error:
        raise InputError(f"{name}: {error.strerror}", hint="a file of questions, or -") from error
    with file:
        yield _read(file, text=text), total, text


def _read(lines: Iterable[bytes], *, text: bool) -> Iterable[bytes]:
    return (worded(raw, number) for number, raw in enumerate(lines, start=1)) if text else lines


_JSON = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:\{|\[\s*(?:[\[\]{\"0-9-]|\Z))")
"""How an object or a list of JSON begins."""
TEXT = "lines of text: each is a question, its number the id"
"""What a user is told of a file of plain text."""


def is_text(lines: Iterable[bytes]) -> bool:
    """Whether lines are plain text, a question each: not all are blank, and none begins as JSON does."""
    blank = True
    for line in filter(bytes.strip, lines):
        if _JSON.match(line):
            return False
        blank = False
    return not blank


def worded(raw: bytes, number: int) -> bytes:
    """A line of plain text as the object that asks it. What is no text stays as it is, to be reported."""
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return raw
    if not text or "\0" in text or _JSON.match(raw):  # NUL: UTF-16
        return raw
    return json.dumps({"id": number, "question": text}).encode()


def run(lines: Iterable[bytes], ask: Callable[[Question], Result], done: Done) -> Iterator[Answered]:
    """One outcome a line, in order; blank lines and those already `done` give none.

    A line that cannot be read or answered becomes an error and the run goes on. Raises only what
    every line would meet: a missing model, an unusable setting.
    """
    seen: dict[Identity, int] = {}
    for number, raw in enumerate(lines, start=1):
        identity = identity_in(raw)
        if not raw.strip() or done.has(identity, number):
            continue
        if identity is not None and seen.setdefault(identity, number) != number:
            yield Answered(identity, number, error=again(identity, seen[identity]))
        else:
            yield outcome(raw, number, ask)


def outcome(
    raw: bytes, number: int, ask: Callable[[Question], Result], fatal: tuple[type[Exception], ...] = FATAL
) -> Answered:
    """What becomes of a line; only what is `fatal` is raised."""
    identity: Identity | None = None
    try:
        values = values_of(raw)
        identity = identity_of(values)
        return Answered(identity, number, result=ask(question_of(identity, number, values)))
    except fatal:
        raise
    except SmartsearchError as error:
        return Answered(identity, number, error=error)
    except Exception as error:
        return Answered(identity, number, error=unexpected(error))


def again(identity: Identity, line: int) -> InputError:
    """The error of an id that stands on an earlier line."""
    return InputError(f"the id {identity!r} stands on line {line} already", hint="give each its own")


def values_of(raw: bytes) -> dict[str, Any]:
    """The object of a line. Raises InputError."""
    try:
        values = json.loads(raw.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8: {error}", hint="a file in UTF-8") from error
    except (ValueError, RecursionError) as error:  # ValueError: no JSON, a number of 5,000 digits
        raise InputError(f"not a line of JSON: {error}", hint=_SHAPE) from error
    if not isinstance(values, dict):
        raise InputError("not a JSON object", hint=_SHAPE)
    return values


_HALF = re.compile(r"[\ud800-\udfff]")
"""Half a surrogate pair: JSON can write it and UTF-8 cannot, so no record could name such an id."""
_SHAPE = '{"id": "q1", "question": "...", "paths": ["chats/"], "conversation": "..."} on one line'


def identity_of(values: dict[str, Any]) -> Identity:
    """The id of a line. Raises InputError."""
    identity = values.get("id")
    if isinstance(identity, bool) or not isinstance(identity, str | int):
        raise InputError("no id: a string or a whole number", hint=_SHAPE)
    if isinstance(identity, int) and abs(identity) > 2**53:
        raise InputError("the id is a number of more than 53 bits", hint="make it a string")
    if isinstance(identity, str) and not identity.isascii() and _HALF.search(identity):
        raise InputError("the id holds half a character (`\\ud800`)", hint="an id of whole characters")
    return identity


def identity_in(raw: bytes) -> Identity | None:
    """The id of a line, None where it has none that can be read."""
    try:
        return identity_of(values_of(raw))
    except InputError:
        return None


def question_of(identity: Identity, line: int, values: dict[str, Any]) -> Question:
    """The question of a line, and where it is to be searched. Raises InputError."""
    text = values.get("question")
    if not isinstance(text, str) or not text.strip():
        raise InputError("no question", hint=_SHAPE)
    filters = {name: given for name in FILTERS if (given := _texts(values, name))}
    for name, given in filters.items():
        if name in SINGLE and len(given) > 1:
            raise InputError(f"{name} is more than one", hint=_SHAPE)
    return Question(identity, line, text, _texts(values, "paths"), filters)


def _texts(values: dict[str, Any], name: str) -> tuple[str, ...]:
    """A string or a list of strings; absent or null is none."""
    value = values.get(name)
    if value is None:
        return ()
    if name in SWITCHES:
        if not isinstance(value, bool):
            raise InputError(f"{name} is neither true nor false", hint=_SHAPE)
        return (str(value).lower(),)
    listed = [value] if isinstance(value, str) else value
    if not isinstance(listed, list) or not all(isinstance(item, str) for item in listed):
        raise InputError(f"{name} is not a string or a list of strings", hint=_SHAPE)
    return tuple(listed)


def resume(output: Path) -> Done:
    """What is done already according to `output`; a last line torn by a kill is cut off, to be redone.

    Raises InputError when the file holds something that is not the output of a batch.
    """
    done = Done()
    if not output.is_file():
        return done
    whole = 0
    with output.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.endswith(b"\n"):
                break
            _note(done, raw, f"{output}:{number}")
            whole += len(raw)
    with output.open("rb+") as file:
        file.truncate(whole)
    done.size = whole
    return done


def _note(done: Done, raw: bytes, where: str) -> None:
    try:
        record = json.loads(raw)
        identity, line = record["id"], record.get("line", 0)
        if identity is None:
            done.lines.add(line)
        else:
            done.ids.add(identity)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(
            f"{where} is no result of a batch", hint="--out another file, or leave out --resume"
        ) from error
    done.failed += "error" in record
