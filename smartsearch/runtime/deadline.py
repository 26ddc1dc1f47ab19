"""The time limit of one question: an alarm that raises SearchTimeout in the main thread (Unix)."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

from smartsearch.errors import SearchTimeout, UsageError

GRACE = 1.0
"""Seconds a search that was told to stop may take to unwind: a model may be deep in native code."""


@contextmanager
def deadline(seconds: float, overrun: Callable[[SearchTimeout], None] | None = None) -> Iterator[None]:
    """Raise SearchTimeout in the block after `seconds` (0: never).

    A scorer that runs in a pool of threads holds the exception back until its work is done; if that
    takes longer than GRACE, `overrun` is called with the error and is expected to end the process.
    """
    if not seconds:
        yield
        return
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        raise UsageError("a time limit needs the main thread of a Unix system", hint="no --timeout")
    error = SearchTimeout(f"no answer within {seconds:g} s", hint="a longer --timeout, or fewer --candidates")
    rung = False

    def ring(_signal: int, _frame: FrameType | None) -> None:
        nonlocal rung
        if rung and overrun is not None:
            overrun(error)
            return
        rung = True
        if overrun is not None:
            signal.setitimer(signal.ITIMER_REAL, GRACE)
        raise error

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
