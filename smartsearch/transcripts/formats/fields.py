"""Values out of JSON objects that may hold anything: what is of the wrong type is as good as absent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, pairwise, repeat
from typing import Any

_KINDS = {"dict": "an object", "list": "a list", "str": "a string", "NoneType": "null", "bool": "a boolean"}


def string(value: object, *keys: str) -> str:
    """The first of `keys` in an object that holds a non-empty string or an integer, as a string, or ""."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str):
                if found:
                    return found
            elif isinstance(found, int) and not isinstance(found, bool):
                return str(found)
    return ""


def text(value: object, *keys: str) -> str:
    """The first of `keys` that holds a string which is not blank, or ""."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and found.strip():
                return found
    return ""


def number(value: object, *keys: str) -> float | None:
    """The first of `keys` that holds a number or the digits of one; None where none does."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and len(found) <= 20 and found.isdecimal():
                return float(found)
            if isinstance(found, int | float) and not isinstance(found, bool) and abs(found) < 1e300:
                return float(found)
    return None


def mapping(value: object, *path: str) -> dict[str, Any]:
    """The object that one key after the other leads to, or an empty one."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def sequence(value: object, key: str) -> list[Any]:
    """The list under `key`, or an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def objects(value: object, key: str) -> list[dict[str, Any]]:
    """The objects in the list under `key`."""
    return [found for found in sequence(value, key) if isinstance(found, dict)]


def kind(value: object) -> str:
    """What a JSON value is, for an error message: `a list`."""
    return _KINDS.get(type(value).__name__, "a number")


def escaped(key: str) -> str:
    """A key as a step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def last_part(path: str) -> str:
    """The name at the end of a path of any system: `harbour` of `/home/ines/harbour` and `C:\\harbour`."""
    return re.split(r"[\\/]", path.rstrip("\\/"))[-1]


def misfit(value: object, key: str, *kinds: type) -> str:
    """Why a value is no message with its text under `key`, or "". `kinds` of text: strings if not given."""
    if not isinstance(value, dict):
        return f"{kind(value)} in the place of a message"
    found = value.get(key)
    if found is None or isinstance(found, kinds or (str,)):
        return ""
    return f"`{key}` is {kind(found)}, not text"


def filled(said: str, sign: str, names: Iterable[str]) -> str:
    """A text with names where a sign stands for each, in their order; signs beyond the last name stay."""
    first, *rest = said.split(sign)
    return first + "".join(f"{name}{piece}" for piece, name in zip(rest, chain(names, repeat(sign))))


def in_time(values: Sequence[Any], when: Callable[[Any], float | None]) -> Iterator[tuple[int, Any]]:
    """The values with their positions, earliest first; one without a time stays behind the one before it.

    Values that come latest first are turned round, so that those of one second are in order too.
    """
    order = list(enumerate(values))
    times = [when(value) for value in values]
    known = [time for time in times if time is not None]
    if all(one <= other for one, other in pairwise(known)):
        return iter(order)
    if known[0] > known[-1]:
        order.reverse()
    keyed, last = [], min(known)
    for position, value in order:
        found = times[position]
        last = last if found is None else found
        keyed.append((last, position, value))
    keyed.sort(key=lambda one: one[0])
    return ((position, value) for _, position, value in keyed)
