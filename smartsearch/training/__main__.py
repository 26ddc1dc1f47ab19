"""`python -m smartsearch.training COMMAND`: dispatch to one file a command, imported only when asked for."""

from __future__ import annotations

import importlib
import sys

COMMANDS = (
    *("all", "data", "crossencoder", "colbert", "export"),
    *("evaluate", "overlap", "parser", "manifest", "written", "validate", "calibrate", "fusion"),
)


def main(argv: list[str]) -> int:
    """The exit code of the command named first; usage when there is none."""
    if not argv or argv[0] not in COMMANDS:
        print(f"usage: python -m smartsearch.training {{{','.join(COMMANDS)}}} ...", file=sys.stderr)
        return 0 if argv in (["-h"], ["--help"]) else 2
    if argv[0] == "manifest":
        from smartsearch.models import manifest

        manifest.write()
        return 0
    name = {"overlap": "ngrams", "all": "recipe", "written": "sources_written"}.get(argv[0], argv[0])
    return int(importlib.import_module(f"smartsearch.training.{name}").main(argv[1:]) or 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
