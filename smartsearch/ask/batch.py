"""Many questions, one after the other: lines in, outcomes out in the same order."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from smartsearch.config import FIELDS, Config, names
from smartsearch.errors import ConfigError, InputError, ModelError, SmartsearchError, UsageError, unexpected
from smartsearch.transcripts.filters import NAMES, SWITCHES, Filters
from smartsearch.types import Answered, Identity, Result

FATAL = (ModelError, ConfigError, UsageError)
"""Errors that every further question would meet too: they end the run."""

SETTINGS = tuple(name for name, field in FIELDS.items() if field.metadata["panel"] == "Filters")
FILTERS = (*NAMES, *SETTINGS)
"""Filters that a line of a batch, or an agent, may set for one question."""
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


@contextmanager
def lines(name: str, stdin: BinaryIO | None) -> Iterator[tuple[Iterable[bytes], int | None, bool]]:
    """The lines of a questions file, how many are not blank, and whether they are text, made JSON here.

    Of `stdin`, if given, as they arrive: its first line decides whether it is text.
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
    """A line of plain text as the JSON object that asks it. Anything else stays as it is, to be reported."""
    try:
        text = raw.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        return raw
    if not text or "\0" in text or _JSON.match(raw):  # NUL: UTF-16
        return raw
    return json.dumps({"id": number, "question": text}).encode()


def run(lines: Iterable[bytes], ask: Callable[[Question], Result]) -> Iterator[Answered]:
    """One outcome a line, in order; a blank line gives none.

    A line that cannot be read or answered becomes an error and the run goes on. Raises only what
    every line would meet: a missing model, an unusable setting.
    """
    seen: dict[Identity, int] = {}
    for number, raw in enumerate(lines, start=1):
        if not raw.strip():
            continue
        identity = identity_in(raw)
        first = number if identity is None else seen.setdefault(identity, number)
        if identity is None or first == number:
            yield outcome(raw, number, ask)
        else:
            yield Answered(identity, number, error=again(identity, first))


def outcome(
    raw: bytes, number: int, ask: Callable[[Question], Result], fatal: tuple[type[Exception], ...] = FATAL
) -> Answered:
    """The outcome of a line; only `fatal` errors are raised."""
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
"""Half a surrogate pair: JSON can hold it and UTF-8 cannot, so no record could name such an id."""
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
        raise InputError("no question", hint=_SHAPE if line else "what you want to know, in words")
    filters = {name: given for name in FILTERS if (given := _texts(values, name))}
    for name, given in filters.items():
        if name in SINGLE and len(given) > 1:
            raise InputError(f"{name} is more than one", hint=_SHAPE)
    return Question(identity, line, text, _texts(values, "paths"), filters)


def _texts(values: dict[str, Any], name: str) -> tuple[str, ...]:
    """The strings of a field that holds one or a list; an absent field and null give no string."""
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


def settings(config: Config) -> dict[str, Any]:
    """The settings that an answer depends on, by name."""
    told = {name: getattr(config, name) for name in names("find", "rank", "cut")}
    return told | ({"llm": True} if config.llm else {})  # a run's memories tell which model


def differences(held: Mapping[str, Any], wanted: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """What two runs disagree in, in words; the path of the questions file does not count."""
    for key in dict.fromkeys([*held, *wanted]):
        one, other = held.get(key), wanted.get(key)
        if isinstance(one, dict) and isinstance(other, dict):
            yield from differences(one, other, f"{above}{key}.")
        elif one != other and f"{above}{key}" != "questions.path":
            yield f"{above}{key} was {json.dumps(one)[:80]}, is {json.dumps(other)[:80]}"


_RECORD = re.compile(rb'\{"id":(?:null|-?\d+|"(?:[^"\\]|\\.)*"),"(?:schema_version|line)":')


_BEGUN = b'{"id":'


def has_answers(path: Path) -> bool:
    """Whether every line of a file begins as what `batch` writes: else it may be a transcript.

    The last one may be cut off.
    """
    try:
        with path.open("rb") as file:
            whole = _RECORD.match(file.readline()) is not None
            return whole and all(
                _RECORD.match(line) or (line[-1:] != b"\n" and line[:6] == _BEGUN[: len(line)])
                for line in file
            )
    except OSError:
        return False
