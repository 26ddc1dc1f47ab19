"""Records of measurements as JSON files: read, written in one piece, and without this machine's paths."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]
_ABSOLUTE = re.compile(r"(?<![\w.:/~-])/(?:[^\s/'\"`:;,]+/)+")
"""The folders before the last part of an absolute path."""


def read(path: Path, kind: str) -> Json:
    """A record of that kind. Exits with a word where the file is none."""
    try:
        record: Json = json.loads(path.read_text(encoding="utf-8"))
        known = record["kind"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"{path} cannot be read as a record: {type(error).__name__} {error}")
    if known != kind:
        sys.exit(f"{path} is no record of {kind}")
    return record


def write(path: Path, record: Json) -> None:
    """The record in one piece: a run that is stopped leaves the last whole one."""
    new = path.with_suffix(".new")
    new.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    new.replace(path)


def portable(value: Any, hidden: Mapping[str, str]) -> Any:
    """The same without this machine's paths: those in `hidden` by their names, of others the last part."""
    if isinstance(value, str):
        for path in sorted(hidden, key=len, reverse=True):
            value = value.replace(path, hidden[path])
        return _ABSOLUTE.sub("", value)
    if isinstance(value, Mapping):
        return {key: portable(one, hidden) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [portable(one, hidden) for one in value]
    return value
