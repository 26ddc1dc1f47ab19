"""Shows output that is longer than the screen in a pager, on a terminal only, as git does.

$SMARTSEARCH_PAGER, else $PAGER, else `less` is run. No configuration file sets it: a file in somebody else's
folder must not run commands.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, redirect_stdout, suppress

from smartsearch.output import masking
from smartsearch.output.plain import cells

VARIABLES = ("SMARTSEARCH_PAGER", "PAGER")
DEFAULT = "less"
GIVEN = {"LESS": "FRX", "LV": "-c"}
"""Options where the user sets none. less: leave if all fits, keep colours and the text. lv: keep colours."""
NONE = ("", "cat")
_SEQUENCE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")


def command(env: Mapping[str, str]) -> str:
    """The pager's command line; empty if none is wanted or installed, or the terminal is dumb."""
    if env.get("TERM", "dumb") == "dumb":
        return ""
    chosen = next((env[name].strip() for name in VARIABLES if name in env), DEFAULT)
    program = next((word for word in chosen.split() if not _ASSIGNED.match(word)), "")
    return chosen if chosen not in NONE and shutil.which(program.strip("'\""), path=env.get("PATH")) else ""


@contextmanager
def paged(wanted: bool = True, env: Mapping[str, str] | None = None) -> Iterator[None]:
    """Hold what the block prints, and show it in the pager if it is more than a screen, else as it is.

    Outside a terminal, and without a pager, the block prints directly.
    """
    env = os.environ if env is None else env
    chosen = command(env) if wanted and sys.stdout.isatty() else ""
    if not chosen:
        yield
        return
    terminal = masking.bare(sys.stdout)
    held = _Held(terminal.fileno())
    try:
        with redirect_stdout(masking.through(held)):
            yield
    except KeyboardInterrupt:
        held.truncate(0)
        raise
    finally:
        text, size = held.getvalue(), shutil.get_terminal_size()
        if rows(text, size.columns) < size.lines or not _shown(text, chosen, {**GIVEN, **env}):
            with suppress(BrokenPipeError):
                terminal.write(text)
                terminal.flush()


class _Held(io.StringIO):
    """Text that waits for the end of the block; the block sees a terminal."""

    encoding = "utf-8"

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self._descriptor = descriptor

    def isatty(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._descriptor


def _shown(text: str, chosen: str, env: Mapping[str, str]) -> bool:
    """Show `text` in the pager until its user leaves it; False if it does not start."""
    sys.stdout.flush()
    before = signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C is the pager's own until it ends
    try:
        subprocess.run(chosen, shell=True, input=text.encode("utf-8", "replace"), env=env, check=False)
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
    return True


def rows(text: str, columns: int) -> int:
    """Rows that `text` takes on a screen of `columns`, wrapped lines included."""
    lines = _SEQUENCE.sub("", text).split("\n")
    wrapped = sum(max(cells(line) - 1, 0) // columns for line in lines)
    return len(lines) - 1 + wrapped
