"""A worker process from outside (worker.py): started, asked, interrupted, ended."""

from __future__ import annotations

import contextlib
import pickle
import subprocess
import sys
from pathlib import Path

import smartsearch
from smartsearch.errors import SmartsearchError
from smartsearch.serve.mcp.orders import INTERRUPT, Order, Setup, Told

GOODBYE = 1.0
"""Seconds that a worker with nothing to do may take to end."""
_ROOT = Path(smartsearch.__file__).parent.parent


class Died(SmartsearchError):
    """The worker ended in the middle of an order."""

    kind = "worker_died"


class Process:
    """One worker. Not for several threads, but for `interrupt`, `kill` and `dismiss`.

    Raises SmartsearchError where no process can be started.
    """

    def __init__(self, setup: Setup) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "smartsearch.serve.mcp.worker"],
                cwd=_ROOT,  # where `-m` finds this very package, and nothing of a folder of chats
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,  # a Ctrl-C is for who starts it, from the first moment on
            )
        except OSError as error:
            raise SmartsearchError(
                f"no worker process can be started: {error.strerror}",
                hint="ask again later",
                kind=Died.kind,
                retryable=True,
            ) from error
        self._send(setup)

    @property
    def ended(self) -> bool:
        """Whether it is gone."""
        return self._process.poll() is not None

    def ask(self, order: Order) -> Told:
        """What comes of an order; waits for it. Raises Died."""
        self._send(order)
        assert self._process.stdout
        try:
            told: Told = pickle.load(self._process.stdout)
        except (EOFError, OSError, pickle.UnpicklingError):
            raise Died(
                f"the process that was at it ended ({self._ending()})",
                hint="ask again; `paths` can leave out a file that breaks it",
                retryable=True,
            ) from None
        return told

    def interrupt(self) -> None:
        """Have it leave what it is doing, as soon as Python can."""
        if sys.platform == "win32":  # pragma: no cover
            self.kill()
        else:
            self._process.send_signal(INTERRUPT)

    def kill(self) -> None:
        """End it at once."""
        self._process.kill()
        self._process.wait()

    def dismiss(self) -> None:
        """End it when it is done with what is left to be written, but soon."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            self._process.stdin.close()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(GOODBYE)
        self.kill()

    def _send(self, message: Setup | Order) -> None:
        """Say something; that nobody hears it shows when the answer is waited for."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            pickle.dump(message, self._process.stdin)
            self._process.stdin.flush()

    def _ending(self) -> str:
        code = self._process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"
