"""The command `smartsearch`, and `python -m smartsearch`: what has to be in place before all imports."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130


def main() -> NoReturn:
    """Run the command line. A Ctrl-C ends the process without a word, in the midst of an import too."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    from smartsearch.cli import app as cli

    with suppress(KeyboardInterrupt):
        signal.signal(signal.SIGINT, before)
        cli.main()
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    # Python looks for modules in the current folder first. It may be somebody else's, with a `typer.py` in
    # it. Our own modules are found without it, for this package is imported already.
    with suppress(OSError):
        if sys.path[0] in ("", os.getcwd()) and not getattr(sys.flags, "safe_path", False):  # noqa: PTH109
            del sys.path[0]
    main()
