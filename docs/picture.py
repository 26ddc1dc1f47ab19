"""Draws docs/answer.svg, the picture in the README, from a real run in a pseudo-terminal."""

from __future__ import annotations

import io
import os
import pty
import sys
from pathlib import Path

from rich.console import Console
from rich.text import Text

COMMAND = ["query", "Where is the workshop of the man who quoted 340 euros?", "docs/samples", "-n", "3"]
WIDTH = 100


def captured(command: list[str]) -> str:
    """What the command shows on a terminal of WIDTH columns."""
    shown = bytearray()

    def keep(descriptor: int) -> bytes:
        data = os.read(descriptor, 4096)
        shown.extend(data)
        return data

    os.environ |= {"COLUMNS": str(WIDTH), "LINES": "40", "TERM": "xterm-256color"}
    sys.stdout.flush()
    pty.spawn(
        [sys.executable, "-m", "smartsearch", *command, "--color", "always", "--progress", "none"], keep
    )
    return shown.decode("utf-8").replace("\r\n", "\n")


def main() -> None:
    """Run the command, draw the picture."""
    os.chdir(Path(__file__).parent.parent)
    console = Console(record=True, width=WIDTH, file=io.StringIO(), force_terminal=True, color_system="256")
    command = " ".join(f'"{word}"' if " " in word else word for word in COMMAND)
    console.print(Text(f"$ smartsearch {command}", style="bold"))
    console.print(Text.from_ansi(captured(COMMAND)))
    console.save_svg("docs/answer.svg", title="smartsearch")


if __name__ == "__main__":
    main()
