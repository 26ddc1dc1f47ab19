"""Imports without what they drag along: a command line should not wait for packages that it never calls."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType


@contextmanager
def standing_in(stubs: dict[str, ModuleType | None]) -> Iterator[None]:
    """Inside, `import` finds these instead of the modules of that name; None stands for one not installed.

    Modules that are loaded already stay. Afterwards the real ones can be imported.
    """
    missing = {name: stub for name, stub in stubs.items() if name not in sys.modules}
    sys.modules.update(missing)  # type: ignore[arg-type]
    try:
        yield
    finally:
        for name in missing:
            del sys.modules[name]


def module(name: str, **contents: object) -> ModuleType:
    """A module of that name with nothing but `contents`."""
    made = ModuleType(name)
    vars(made).update(contents)
    return made
