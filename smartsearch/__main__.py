"""`python -m smartsearch`: the same as the command `smartsearch`."""

import os
import sys
from contextlib import suppress

if __name__ == "__main__":
    # Python looks for modules in the current folder first. It may be somebody else's, with a `typer.py` in it.
    # Our own modules are found without it, for this package is imported already.
    with suppress(OSError):
        if sys.path[0] in ("", os.getcwd()) and not getattr(sys.flags, "safe_path", False):  # noqa: PTH109
            del sys.path[0]
    from smartsearch.cli import main

    main()
