"""A client's line as the SDK can read it, or why it cannot: whoever asked with an id is not left waiting."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

LONGEST = 1 << 20
"""Characters of one message; a longer one is refused."""
_ENDS = 4096
"""Characters at both ends of a broken or long message in which its id is looked for."""

_ID = r'"id"\s*:\s*(-?[0-9]{1,18}(?=\s*[,}])|"[^"\\]{0,200}")'
_OTHER = r'"(?:jsonrpc|method)"\s*:\s*"[^"\\]*"'
_FIRST = re.compile(rf"\s*\{{\s*(?:{_OTHER}\s*,\s*)*{_ID}")
_LAST = re.compile(rf"{_ID}\s*(?:,\s*{_OTHER}\s*)*\}}\s*$")

Id = int | str | None


@dataclass(frozen=True)
class Refused:
    """A request that cannot be read: its id, None if it has no valid one, why, and JSON-RPC's code."""

    id: Id
    why: str
    code: int = -32600


def understood(line: str, valid: Callable[[str], object]) -> str | Refused | None:
    """A line that passes `valid`, which raises ValueError; Refused for other requests; None for no request.

    Halves of surrogate pairs, which may stand in JSON and in no text, become U+FFFD.
    """
    if _passes(line, valid):
        return line
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        why = "it is not JSON that can be read"
        told = refused(line, line, why) or Refused(None, why)
        return replace(told, code=-32700) if line.strip() else None
    text = json.dumps(value, ensure_ascii=False)
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if _passes(whole, valid) and (not isinstance(value, dict) or _id(value) == value.get("id")):
        return whole
    if isinstance(value, list) and any(isinstance(one, dict) and "id" in one for one in value):
        return Refused(None, "several requests in one message are not served; send one a line")
    if not isinstance(value, dict) or not value.keys() >= {"id", "method"}:
        return None
    return Refused(_id(value), "no request: its id is a text or a whole number, its params are an object")


def refused(head: str, tail: str, why: str) -> Refused | None:
    """The refusal of a message that begins and ends so; None where no id can be seen."""
    found = _FIRST.match(head[:_ENDS]) or _LAST.search(tail[-_ENDS:])
    return Refused(json.loads(found[1]), why) if found else None


def _passes(line: str, valid: Callable[[str], object]) -> bool:
    try:
        valid(line)
    except ValueError:
        return False
    return True


def _id(value: dict[str, Any]) -> Id:
    """The id of a request, or None if JSON cannot repeat it."""
    given = value.get("id")
    if type(given) is int:
        return given
    return given if isinstance(given, str) and not re.search("[\ud800-\udfff]", given) else None
