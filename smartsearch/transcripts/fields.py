"""Values out of JSON objects that may hold anything: what is of the wrong type is as good as absent."""

from __future__ import annotations

import re
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


def mapping(value: object, key: str) -> dict[str, Any]:
    """The object under `key`, or an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def sequence(value: object, key: str) -> list[Any]:
    """The list under `key`, or an empty one."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def kind(value: object) -> str:
    """What a JSON value is, for an error message: `a list`."""
    return _KINDS.get(type(value).__name__, "a number")


def escaped(key: str) -> str:
    """A key as a step of a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


def last_part(path: str) -> str:
    """The name at the end of a path of any system: `harbour` of `/home/ines/harbour` and `C:\\harbour`."""
    return re.split(r"[\\/]", path.rstrip("\\/"))[-1]
