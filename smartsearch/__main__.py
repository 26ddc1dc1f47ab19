"""The command `smartsearch`, and `python -m smartsearch`: what has to be in place before all imports."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import suppress
from typing import NoReturn

INTERRUPTED = 130
BLAS = "OPENBLAS_NUM_THREADS"
"""How many threads numpy takes for a product: one, where nobody has set it. The products here are small, and
several threads wait for each other where others have a core: the set encoder took .1 to .7 s for .004."""
LITTER = 100_000
"""Objects made and kept between two searches for unreachable ones: a question makes fewer, and was searched
130 times, 30 ms in which no other thread of Python runs."""


def main() -> NoReturn:
    """Run the command line. A Ctrl-C ends the process without a word, in the midst of an import too."""
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:
        signal.signal(signal.SIGINT, lambda *_: os._exit(INTERRUPTED))
    os.environ.setdefault(BLAS, "1")
    gc.set_threshold(LITTER, 10, 10)
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
