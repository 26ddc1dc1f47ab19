"""Standard input and output for a protocol alone, and the end of a process whose other end has gone."""

from __future__ import annotations

import os
import select
import sys
import threading
from collections.abc import Callable
from typing import BinaryIO


def taken() -> tuple[BinaryIO, BinaryIO]:
    """Take standard input and output away from all other code; they are never closed, for a thread may read.

    From now on all else that writes to descriptor 1, a library in C or a child process, writes to standard
    error, and reads of descriptor 0 find nothing.
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
    """End this process `seconds` after the other end of `stream` is closed, whatever it does then.

    `last` is called before. Some systems do not tell; there the reader must notice the end of its input.
    """

    def wait() -> None:
        poller = select.poll()
        poller.register(stream.fileno(), 0)  # only what is always told: hang-up and errors
        poller.poll()
        end_after(seconds, last)

    if hasattr(select, "poll"):
        threading.Thread(target=wait, daemon=True).start()


def end_after(seconds: float, last: Callable[[], None] = lambda: None, code: int = 0) -> None:
    """End this process with `code` after `seconds`, unless it has ended by then.

    `last` is called before.
    """

    def end() -> None:
        last()
        os._exit(code)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
