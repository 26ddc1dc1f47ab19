"""A format whose reader fails, for files that begin with `ODD`."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest

from smartsearch.transcripts import registry
from smartsearch.transcripts.format import READERS, Format
from smartsearch.types import Turn


def fail_with(error: BaseException | type[BaseException], patch: pytest.MonkeyPatch) -> None:
    """From now on the reader gives one turn and raises `error`."""

    def read(source):
        yield Turn("before it", "Ann", path=source.path)
        raise error

    reader = SimpleNamespace(detect=lambda source: source.text.startswith("ODD"), read=read)
    patch.setitem(sys.modules, f"{READERS}.odd", reader)
    patch.setattr(registry, "TEXT_FORMATS", (Format("odd", "fails", (".txt",)), *registry.TEXT_FORMATS))
