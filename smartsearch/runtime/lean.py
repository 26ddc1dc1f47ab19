"""Imports without what they drag along: a command line should not wait for packages that it never calls."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

_UNSAID = threading.Lock()


@contextmanager
def unsaid(mark: bytes) -> Iterator[None]:
    """Leave out lines with `mark` that the block writes to standard error, by libraries in C too.

    Other lines are written after the block. One block runs at a time. Outside Linux nothing is left out.
    """
    if not hasattr(os, "memfd_create"):  # pragma: no cover - not Linux
        yield
        return
    with _UNSAID, open(os.memfd_create("unsaid"), "w+b") as held:  # noqa: PTH123 - a descriptor
        try:
            errors = os.dup(2)
        except OSError:  # it is closed
            yield
            return
        os.dup2(held.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(errors, 2)
            os.close(errors)
            held.seek(0)
            if others := b"".join(line for line in held if mark not in line):
                os.write(2, others)


@contextmanager
def standing_in(stubs: dict[str, ModuleType | None]) -> Iterator[None]:
    """In the block `import` finds these for the modules of that name; None makes a module seem not installed.

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
