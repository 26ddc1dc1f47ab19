"""Values out of JSON objects that may hold anything: what is of the wrong type is as good as absent."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import Any

from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.formats.jsontext import Item

MOST = 1 << 24
"""Characters of names put into the texts of one file: some million mentions."""
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
    found = value.get(key) if isinstance(value, dict) else None
    return [one for one in found if isinstance(one, dict)] if found and isinstance(found, list) else []


def unwrapped(value: object) -> object:
    """A value without what MongoDB's JSON puts around it: `{"$date": {"$numberLong": "1683554160000"}}`."""
    while isinstance(value, dict) and len(value) == 1 and next(iter(value)).startswith("$"):
        value = next(iter(value.values()))
    return value


def kind(value: object) -> str:
    """What a JSON value is, for an error message: `a list`."""
    return _KINDS.get(type(value).__name__, "a number")


def last_part(path: str) -> str:
    """The name at the end of a path of any system: `harbour` of `/home/ines/harbour` and `C:\\harbour`."""
    return path.rstrip("\\/").replace("\\", "/").rpartition("/")[2]


def misfit(value: object, key: str, *kinds: type) -> FormatError | None:
    """The fault of what is no message with its text under `key`. `kinds` of text: strings if not given."""
    if not isinstance(value, dict):
        return FormatError(f"{kind(value)} in the place of a message")
    found = value.get(key)
    if found is None or isinstance(found, kinds or (str,)):
        return None
    return FormatError(f"`{key}` is {kind(found)}, not text")


def in_time(items: Iterable[Item], when: Callable[[Any], float | None]) -> Sequence[Item]:
    """The items, earliest first; `when` tells a value's time, one without it stays behind the one before it.

    Items that come latest first are turned round, so that those of one second are in order too.
    """
    items = list(items)
    timed = [(when(item.value), item) for item in items]
    known = [time for time, _ in timed if time is not None]
    if all(one <= other for one, other in pairwise(known)):
        return items
    if known[0] > known[-1]:
        timed.reverse()
    keyed, last = [], min(known)
    for time, item in timed:
        last = last if time is None else time
        keyed.append((last, item))
    keyed.sort(key=lambda one: one[0])
    return [item for _, item in keyed]


class Mentions(ChainMap[str, str]):
    """Names by id, for as much as may be asked of them: four characters may stand for a long name.

    The names of many files may be in one mapping, which none of them copies.
    """

    left = MOST

    def name(self, known: str) -> str:
        """The name of an id, or "". Raises FormatError `too_large` once all names given are too much."""
        found = self.get(known) or ""
        self.left -= len(found)
        if self.left < 0:
            said = f"the names that its mentions stand for come to more than {MOST:,} characters"
            raise FormatError(said, kind="too_large")
        return found
