"""What was made of pieces of the transcripts, kept by what each piece says: only new ones are worked on."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from smartsearch.systems.kept import written_whole

VERSION = 1


class Records:
    """JSON values by key. Those that are not asked for until `save` are forgotten by it."""

    def __init__(self, path: Path | None) -> None:
        """Those of a file; a damaged one, or of another version, has none: the transcripts have it all."""
        self._path = path
        self._held: dict[str, Any] = {}
        self._used: dict[str, Any] = {}
        self.new = 0
        with suppress(OSError, ValueError, LookupError, TypeError, RecursionError):
            found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path else {}
            if found.get("version") == VERSION:
                self._held = dict(found["records"])

    def get(self, key: str) -> Any:
        """The value kept under `key`, or None."""
        if key in self._held:
            self._used[key] = self._held[key]
        return self._used.get(key)

    def put(self, key: str, value: Any) -> None:
        """Keep a new value."""
        self._used[key] = value
        self.new += 1

    @property
    def gone(self) -> int:
        """How many `save` forgets."""
        return len(self._held.keys() - self._used.keys())

    def save(self, *, whole: bool = True) -> None:
        """Write the file anew, whole or not at all; not `whole`: what was not asked for yet is kept.

        Raises CacheError.
        """
        if self._path is None or not (self.new or self.gone):
            return
        held = self._used if whole else self._held | self._used
        written_whole(self._path, json.dumps({"version": VERSION, "records": held}).encode())
