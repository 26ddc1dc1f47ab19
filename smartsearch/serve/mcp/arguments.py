"""What the tools take: each argument declared once, with the bounds that its JSON schema shows and we hold.

A new filter is a field of `SearchArguments` and a line where `tools.py` makes the scope or the config of it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any, TypeVar, get_type_hints

from smartsearch.errors import UsageError

KIND = "argument"
LONGEST_NAME = 1000
"""Characters of an id, a place or a path."""

T = TypeVar("T")
Json = dict[str, Any]


def argument(help: str, least: int, most: int, default: Any = dataclasses.MISSING) -> Any:
    """A field that is an argument: a text of `least` to `most` characters, a number, or so many names."""
    return dataclasses.field(default=default, metadata={"help": help, "least": least, "most": most})


@dataclass(frozen=True)
class SearchArguments:
    """What `search` takes."""

    question: str = argument("What you want to know, as a question or as words; names help.", 1, 2000)
    paths: tuple[str, ...] = argument(
        "Search only these files or folders, named as in the places of hits.", 0, 32, ()
    )
    limit: int = argument("Most hits.", 1, 50, 8)
    line: int = argument("Most characters of a hit's line.", 40, 500, 160)
    since: str = argument("Only turns from then on: 2023-05-08, 2023-05, 7d, last week.", 0, 60, "")
    until: str = argument("Only turns up to then, written as `since`.", 0, 60, "")
    speakers: tuple[str, ...] = argument("Prefer what these people said; others stay.", 0, 8, ())
    roles: tuple[str, ...] = argument("Only turns of these roles: user, assistant, system, tool.", 0, 4, ())


@dataclass(frozen=True)
class ExpandArguments:
    """What `expand` takes."""

    ids: tuple[str, ...] = argument("Ids of hits, or places such as `chat.txt:12`.", 1, 20)
    around: int = argument("Turns before and after each, of the same session.", 0, 20, 2)
    tokens: int = argument("Most tokens of text in all.", 100, 20_000, 2000)


@dataclass(frozen=True)
class StatusArguments:
    """What `status` takes: nothing."""


def schema(kind: type) -> Json:
    """The JSON schema of a record of arguments."""
    hints = get_type_hints(kind)
    properties: Json = {}
    for field in fields(kind):
        least, most = field.metadata["least"], field.metadata["most"]
        shape: Json = {
            str: {"type": "string", "minLength": least, "maxLength": most},
            int: {"type": "integer", "minimum": least, "maximum": most},
        }.get(hints[field.name]) or {
            "type": "array",
            "items": {"type": "string", "minLength": 1, "maxLength": LONGEST_NAME},
            "minItems": least,
            "maxItems": most,
        }
        shape["description"] = field.metadata["help"]
        if field.default not in (dataclasses.MISSING, (), ""):
            shape["default"] = field.default
        properties[field.name] = shape
    needed = [field.name for field in fields(kind) if field.default is dataclasses.MISSING]
    required: Json = {"required": needed} if needed else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def parse(kind: type[T], given: Mapping[str, Any]) -> T:
    """The record of what an agent sent. Raises UsageError `argument` that names the first wrong one."""
    made: Any = kind
    known = {field.name: field for field in fields(made)}
    for name in given:
        if name not in known:
            close = get_close_matches(name, known, n=1)
            meant = f"did you mean {close[0]}?" if close else f"it takes {', '.join(known) or 'none'}"
            raise UsageError(f"no argument {name[:60]!r}", hint=meant, kind=KIND)
    hints = get_type_hints(made)
    values = {}
    for name, field in known.items():
        if given.get(name) is not None:
            values[name] = _value(name, hints[name], given[name], **_bounds(field))
        elif field.default is dataclasses.MISSING:
            raise UsageError(f"{name} is missing", hint=field.metadata["help"], kind=KIND)
    record: T = made(**values)
    return record


def _bounds(field: dataclasses.Field[Any]) -> dict[str, int]:
    return {"least": field.metadata["least"], "most": field.metadata["most"]}


def _value(name: str, kind: Any, given: Any, least: int, most: int) -> Any:
    if kind is int:
        whole = given if type(given) is int else None
        if type(given) is float and given.is_integer():
            whole = int(given)
        if whole is None or not least <= whole <= most:
            raise _wrong(name, given, f"a whole number from {least} to {most}")
        return whole
    if kind is str:
        if type(given) is not str or not least <= len(given.strip()) or len(given) > most:
            raise _wrong(name, given, f"a text of {least} to {most:,} characters")
        return given
    names = [given] if type(given) is str else given
    right = type(names) is list and least <= len(names) <= most
    if not right or not all(type(n) is str and 0 < len(n) <= LONGEST_NAME for n in names):
        texts = f"a list of {least} to {most} texts, of at most {LONGEST_NAME:,} characters each"
        raise _wrong(name, given, texts)
    return tuple(names)


def _wrong(name: str, given: Any, wanted: str) -> UsageError:
    said = repr(given)
    shown = said if len(said) <= 60 else f"{said[:57]}..."
    return UsageError(f"{name} is {shown}", hint=f"{name} takes {wanted}", kind=KIND)
