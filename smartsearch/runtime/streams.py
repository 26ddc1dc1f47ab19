"""Standard input and output for a protocol alone, and the end of a process whose other end has gone."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO


def taken() -> tuple[BinaryIO, BinaryIO]:
    """What were standard input and output, never closed: a thread may be reading at the end.

    Whatever else writes to descriptor 1 from now on, a library in C or a process that is started, writes to
    standard error, and what reads descriptor 0 reads nothing.
    """
    sys.stdout.flush()
    own_in, own_out = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(nothing, 1)
    os.close(nothing)
    return os.fdopen(own_in, "rb", closefd=False), os.fdopen(own_out, "wb", closefd=False)


def end_with(stream: BinaryIO, seconds: float = 0.0, last: Callable[[], None] = lambda: None) -> None:
    """From now on end this process so long after the other end of `stream` was closed, whatever it does.

    `last` is called before. Where the system cannot tell, the end of what is read must.
    """

    def wait() -> None:
        poller = select.poll()
        poller.register(stream.fileno(), 0)  # only what is always told: hang-up and errors
        poller.poll()
        end_after(seconds, last)

    if hasattr(select, "poll"):
        threading.Thread(target=wait, daemon=True).start()


def end_after(seconds: float, last: Callable[[], None] = lambda: None, code: int = 0) -> None:
    """End this process with `code` in so many seconds, unless it has ended by itself by then.

    `last` is called before.
    """

    def end() -> None:
        last()
        os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
