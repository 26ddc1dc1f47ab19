"""What is left to do when the process ends: by itself (atexit), or by `os._exit`, which passes atexit by."""

from __future__ import annotations

import atexit
import contextlib
from collections.abc import Callable

_left: set[Callable[[], None]] = set()


def add(work: Callable[[], None]) -> None:
    """Have `work` done at the end, once however often it is added."""
    if not _left:
        atexit.unregister(finish)
        atexit.register(finish)
    _left.add(work)


def discard(work: Callable[[], None]) -> None:
    """`work` is done already, or no longer wanted."""
    _left.discard(work)


def finish() -> None:
    """Do what is left. Nothing of it stops the end: an error or a second Ctrl-C passes to the next."""
    while _left:
        with contextlib.suppress(Exception, KeyboardInterrupt):
            _left.pop()()
