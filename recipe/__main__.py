"""`python -m recipe COMMAND`: dispatch to one file a command, imported only when asked for."""

from __future__ import annotations

import importlib
import sys

from smartsearch.errors import SmartsearchError

COMMANDS = {
    "all": "rounds",
    "crossencoder": "rankers",
    "colbert": "rankers",
    **{name: name for name in ("data", "export", "evaluate", "overlap", "parser", "written")},
    "parser_export": "parser_export",
    **{name: name for name in ("validate", "calibrate", "fusion", "set_encoder", "confidence", "static")},
    **{name: name for name in ("asked_before", "assistants", "static_weight")},
    "qrranker": "qrranker",
}
"""The file of each command."""


def run(command: str, arguments: list[str]) -> int:
    """The exit code of a command; `manifest` writes the hashes of what is shipped."""
    if command == "manifest":
        from smartsearch.models import manifest

        manifest.write()
        return 0
    module = importlib.import_module(f"recipe.{COMMANDS[command]}")
    return int(module.main([command, *arguments] if module.__name__ == "recipe.rankers" else arguments) or 0)


def main(argv: list[str]) -> int:
    """The exit code of the command named first; usage when there is none."""
    if not argv or argv[0] not in (*COMMANDS, "manifest"):
        print(f"usage: python -m recipe {{{','.join((*COMMANDS, 'manifest'))}}} ...", file=sys.stderr)
        return 0 if argv in (["-h"], ["--help"]) else 2
    try:
        return run(argv[0], argv[1:])
    except SmartsearchError as error:
        print(f"recipe {argv[0]}: {error.message}\n  try: {error.hint}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
