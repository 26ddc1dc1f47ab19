"""Values of JSON that anyone may have written, by key and with their type checked. Knows no format."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

_KINDS = {"dict": "an object", "list": "a list", "str": "a string", "NoneType": "null", "bool": "a boolean"}


def text(value: object, *keys: str) -> str:
    """The first of `keys` that holds a string which is not blank, or ""."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and found.strip():
                return found
    return ""


def ident(value: object, *keys: str) -> str:
    """The first of `keys` that holds a string which is not blank or a whole number, as a string, or ""."""
    if isinstance(value, dict):
        for key in keys:
            found = value.get(key)
            if isinstance(found, str) and found.strip():
                return found
            if isinstance(found, int) and not isinstance(found, bool):
                return str(found)
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


def listed(value: object, key: str) -> list[Any]:
    """The list under `key`, empty where there is none."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def objects(value: object, key: str) -> list[dict[str, Any]]:
    """The objects in the list under `key`."""
    return [found for found in listed(value, key) if isinstance(found, dict)]


def inner(value: object, *path: str) -> dict[str, Any]:
    """The object that one key after the other leads to, empty where one of them leads to none."""
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def kind(value: object) -> str:
    """What a value is, for a message about it: `a list`, `null`, `a number`."""
    return _KINDS.get(type(value).__name__, "a number")


def misfit(value: object, key: str, *kinds: type) -> str:
    """Why a value is no message with its text under `key`, or "". `kinds` of text: strings if not given."""
    if not isinstance(value, dict):
        return f"{kind(value)} in the place of a message"
    found = value.get(key)
    if found is None or isinstance(found, kinds or (str,)):
        return ""
    return f"`{key}` is {kind(found)}, not text"


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
