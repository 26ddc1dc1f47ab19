"""What is longer than the screen goes through a pager, on a terminal only, as git does it.

The command is the user's own: $SMARTSEARCH_PAGER, $PAGER, else `less`. No configuration file sets it, so that
none that comes with somebody else's folder can have a command run.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from smartsearch.output import masking, stream
from smartsearch.output.plain import cells

VARIABLES = ("SMARTSEARCH_PAGER", "PAGER")
DEFAULT = "less"
GIVEN = {"LESS": "FRX", "LV": "-c"}
"""For less: leave if all fits, keep colours, keep the text on the screen. For lv: colours."""
NONE = ("", "cat")
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")


def command(env: Mapping[str, str]) -> str:
    """The pager's command line, empty for none: not wanted, not installed, or a terminal that cannot."""
    if env.get("TERM", "dumb") == "dumb":
        return ""
    chosen = next((env[name].strip() for name in VARIABLES if name in env), DEFAULT)
    program = next((word for word in chosen.split() if not _ASSIGNED.match(word)), "")
    return chosen if chosen not in NONE and shutil.which(program.strip("'\""), path=env.get("PATH")) else ""


@contextmanager
def paged(wanted: bool = True, env: Mapping[str, str] | None = None) -> Iterator[None]:
    """Let what the block writes to standard output go through the pager once it is more than a screen.

    In a pipe, and where there is no pager, nothing is different. A pager that is left early ends the block
    early and is no error.
    """
    env = os.environ if env is None else env
    chosen = command(env) if wanted and sys.stdout.isatty() else ""
    if not chosen:
        yield
        return
    screen = _Screen(chosen, env)
    try:
        with contextlib.redirect_stdout(masking.through(screen)):
            yield
    except stream.PipeClosed:
        if not screen.left:
            raise
    except KeyboardInterrupt:
        screen.forget()
        raise
    finally:
        screen.finish()


class _Screen(io.TextIOBase):
    """Standard output that waits until it is more than a screen, and then is a pager's input."""

    encoding = "utf-8"

    def __init__(self, chosen: str, env: Mapping[str, str]) -> None:
        self._terminal = masking.bare(sys.stdout)
        self._chosen, self._env = chosen, {**GIVEN, **env}
        size = shutil.get_terminal_size()
        self._columns, self._rows = size.columns, size.lines
        self._held: list[str] = []
        self._used = 0
        self._pager: subprocess.Popen[bytes] | None = None
        self._before: Any = None
        self.left = False

    def isatty(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._terminal.fileno()

    def write(self, text: str) -> int:
        """Hold `text`, or give it to the pager. Raises PipeClosed when the pager has been left."""
        if self._pager is not None:
            self._give(text)
            return len(text)
        self._held.append(text)
        self._used += rows(text, self._columns)
        if self._used >= self._rows:
            self._start()
        return len(text)

    def forget(self) -> None:
        """What is held is not wanted any more."""
        self._held.clear()

    def finish(self) -> None:
        """Show what is held, and wait for the reader of the pager."""
        if self._pager is None:
            with contextlib.suppress(BrokenPipeError):
                self._terminal.write("".join(self._held))
                self._terminal.flush()
            return
        assert self._pager.stdin is not None
        with contextlib.suppress(OSError):
            self._pager.stdin.close()
        self._pager.wait()
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _start(self) -> None:
        """Start the pager with what is held. Ctrl-C is the pager's own from now on, until it ends."""
        self._terminal.flush()
        try:
            self._pager = subprocess.Popen(self._chosen, shell=True, stdin=subprocess.PIPE, env=self._env)
        except OSError:
            self._used = -sys.maxsize
            return
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, lambda *_: None)
        held, self._held = "".join(self._held), []
        self._give(held)

    def _give(self, text: str) -> None:
        assert self._pager is not None
        assert self._pager.stdin is not None
        try:
            self._pager.stdin.write(text.encode("utf-8", "replace"))
            self._pager.stdin.flush()
        except OSError:
            self.left = True
            raise stream.PipeClosed from None


def rows(text: str, columns: int) -> int:
    """Rows that `text` takes on a screen so many columns wide: line ends and what wraps."""
    lines = _SEQUENCE.sub("", text).split("\n")
    wrapped = sum(max(cells(line) - 1, 0) // columns for line in lines)
    return len(lines) - 1 + wrapped
