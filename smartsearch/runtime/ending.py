"""Work that is done when the process ends, by itself (atexit) or by `os._exit`, which skips atexit."""

from __future__ import annotations

import _thread
import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from types import FrameType

from smartsearch.errors import ExitCode

_left: set[Callable[[], None]] = set()
AGAIN = 0.01
"""Seconds until a Ctrl-C that Python ignored is tried again."""


def add(work: Callable[[], None]) -> None:
    """Do `work` at the end, once, however often it is added."""
    if not _left:
        atexit.unregister(finish)
        atexit.register(finish)
    _left.add(work)


def discard(work: Callable[[], None]) -> None:
    """Forget `work`: it is done already, or no longer wanted."""
    _left.discard(work)


def finish() -> None:
    """Do what is left. An error or a second Ctrl-C ends one piece of work, and the next begins."""
    while _left:
        with contextlib.suppress(Exception, KeyboardInterrupt):
            _left.pop()()


class _Interrupts:
    """Handles Ctrl-C in the main thread.

    Python's own handler raises wherever the thread is. Inside an import this leaves half a module, or a lock
    that the next import waits for forever. So a Ctrl-C waits until the import is over; a second one ends the
    process at once.
    """

    def __init__(self) -> None:
        self._waits = self._again = False

    def __call__(self, _number: int, frame: FrameType | None) -> None:
        again, self._again = self._again, False
        if not _imports(frame):
            self._waits = False
            raise KeyboardInterrupt
        if self._waits and not again:
            os._exit(ExitCode.INTERRUPTED)
        self._waits = True
        self.later()

    def later(self) -> None:
        """Try again soon. No lock of `threading` is taken, for the main thread may have it."""
        _thread.start_new_thread(self._later, ())

    def _later(self) -> None:
        time.sleep(AGAIN)
        self._again = True
        if hasattr(signal, "pthread_kill"):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)  # wakes it, if it sleeps
        else:  # pragma: no cover - Windows
            _thread.interrupt_main()


def _imports(frame: FrameType | None) -> bool:
    """Whether `frame`, or a caller of it, is importing a module."""
    while frame is not None:
        if frame.f_code.co_filename.startswith("<frozen importlib"):
            return True
        frame = frame.f_back
    return False


def heed_interrupts() -> None:
    """Let Ctrl-C stop the work after any import, and lose no Ctrl-C. Call it in the main thread.

    Python only reports the errors of some callbacks (of an import's lock); then the Ctrl-C is tried again.
    """
    report, interrupts = sys.unraisablehook, _Interrupts()

    def heeded(ignored: sys.UnraisableHookArgs) -> None:
        if issubclass(ignored.exc_type, KeyboardInterrupt):
            interrupts.later()
        else:
            report(ignored)

    sys.unraisablehook = heeded
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # else it is ignored, or another's
        signal.signal(signal.SIGINT, interrupts)
