"""A format whose reader fails, for files that begin with `ODD`."""

from __future__ import annotations

import pytest

from smartsearch.transcripts import registry
from smartsearch.transcripts.format import Format
from smartsearch.types import Turn


def fail_with(error: BaseException | type[BaseException], patch: pytest.MonkeyPatch) -> None:
    """From now on the reader gives one turn and raises `error`."""

    def read(source):
        yield Turn("before it", "Ann", path=source.path)
        raise error

    format_ = Format("odd", "fails", (".txt",), lambda source: source.text.startswith("ODD"), read)
    others = registry.text_formats()
    patch.setattr(registry, "text_formats", lambda: (format_, *others))
