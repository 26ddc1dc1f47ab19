"""A process of ours that may hang or die, from both sides: `Worker` starts one, `main` is its life.

Native code that hangs holds Python's lock, and only a kill ends it; so a process that must answer in time
lets another one do the work. The two talk in frames over standard input and output (frames.py). What the
worker prints goes to standard error. It ends when the process that started it ends.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import pickle
import selectors
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

import smartsearch
from smartsearch.errors import SmartsearchError
from smartsearch.runtime import ending, frames, streams
from smartsearch.runtime.work import INTERRUPT, Job, Work

DIED = "worker_died"
"""The kind of error where a worker cannot be started or has ended."""
GRACE = 5.0
"""Seconds that a worker whose end of the line is closed may take to end."""
_ROOT = Path(smartsearch.__path__[0]).parent

Tell = Callable[[Any], None]
"""Sends a message to the process that started this one."""


class Worker:
    """A process that does jobs as `begin` of `module` makes them (`main`); `setup` is its first message.

    One thread uses it; any may `interrupt` and `kill` it. What it prints goes to `errors`, by default the
    standard error of this process. Raises SmartsearchError, with `hint`, where none can be started.
    """

    def __init__(
        self,
        module: str,
        setup: object,
        *,
        errors: IO[bytes] | None = None,
        env: Mapping[str, str] | None = None,
        hint: str = "ask again later",
    ) -> None:
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", __name__, module],
                bufsize=0,
                cwd=_ROOT,  # where `-m` finds this very package, and nothing of a folder of chats
                env=env,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                start_new_session=True,  # Ctrl-C is for the parent alone, from the first moment on
            )
        except OSError as error:
            said = f"no worker process can be started: {error.strerror}"
            raise SmartsearchError(said, hint=hint, kind=DIED, retryable=True) from error
        self.tell(setup)

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def tell(self, message: object) -> None:
        """Send a message; if the process has ended, `hear` finds out."""
        assert self._process.stdin
        with contextlib.suppress(OSError):
            frames.send(self._process.stdin.write, pickle.dumps(message))

    def hear(self, patience: float | None = None) -> Any:
        """The next message. Raises one that is a SmartsearchError.

        Raises TimeoutError after `patience` seconds, and OSError where the process has ended.
        """
        out = self._process.stdout
        assert out
        if patience is not None:
            with selectors.DefaultSelector() as selector:
                selector.register(out, selectors.EVENT_READ)
                if not selector.select(patience):
                    raise TimeoutError
        message = pickle.loads(frames.receive(out.read))
        if isinstance(message, SmartsearchError):
            raise message
        return message

    def ask(self, message: object) -> Any:
        """What the process tells of a message. Raises as `hear`, and SmartsearchError where it ends."""
        self.tell(message)
        try:
            return self.hear()
        except OSError:
            said = f"the process that was at it ended ({self.fate()})"
            hint = "ask again, without the file that breaks it"
            raise SmartsearchError(said, hint=hint, kind=DIED, retryable=True) from None

    def fate(self) -> str:
        """How the process ended: the name of a signal, or its exit code. One that goes on is killed."""
        try:
            code = self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self.kill()
            code = self._process.wait()
        with contextlib.suppress(ValueError):
            return signal.Signals(-code).name
        return f"exit code {code}" if code >= 0 else f"signal {-code}"

    def interrupt(self) -> None:
        """Have the process leave its job, as soon as Python can."""
        if sys.platform == "win32":  # pragma: no cover
            self.kill()
        else:
            self._process.send_signal(INTERRUPT)

    def kill(self) -> None:
        """End the process at once."""
        self._process.kill()
        self._process.wait()

    def dismiss(self, seconds: float) -> None:
        """End an idle process, which gets `seconds` to write what it still holds."""
        self.tell(None)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(seconds)
        self.kill()


def main(module: str) -> None:
    """Do jobs for the process that started this one, until that ends or says None.

    `begin` of the module takes the first message and a Tell, and gives what makes a Job of any other. A
    SmartsearchError that it raises is told.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    stdin, stdout = streams.taken()
    streams.end_with(stdin)

    def hear() -> Any:
        return pickle.loads(frames.receive(stdin.read))

    def tell(message: object) -> None:
        frames.send(stdout.write, pickle.dumps(message))
        stdout.flush()

    with contextlib.suppress(ConnectionError):
        try:
            job: Callable[[Any], Job] = importlib.import_module(module).begin(hear(), tell)
            Work(one_client=True).run(map(job, iter(hear, None)))
        except SmartsearchError as error:
            tell(error)
    ending.finish()
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
