"""What is left to do when the process ends: by itself (atexit), or by `os._exit`, which passes atexit by."""

from __future__ import annotations

import _thread
import atexit
import contextlib
import sys
import threading
from collections.abc import Callable

_left: set[Callable[[], None]] = set()
AGAIN = 0.01
"""Seconds until a Ctrl-C that Python ignored is tried again."""


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


def heed_interrupts() -> None:
    """Have no Ctrl-C get lost in a callback whose errors Python only reports (an import's lock)."""
    report = sys.unraisablehook

    def heeded(ignored: sys.UnraisableHookArgs) -> None:
        if not issubclass(ignored.exc_type, KeyboardInterrupt):
            report(ignored)
            return
        again = threading.Timer(AGAIN, _thread.interrupt_main)
        again.daemon = True
        again.start()

    sys.unraisablehook = heeded
