"""The commands of a document, a shell to run them in, and what they print put back below them.

    python -m tests.docs.shell README.md docs/terminal.md

runs every command of these documents and writes what it printed into them.
"""

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SAMPLES = ROOT / "tests" / "transcripts" / "samples"
_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A command line of a document, and the lines that stand below it."""

    line: str
    shown: tuple[str, ...] = ()


def sections(text: str) -> dict[str, str]:
    """The parts of a document by their headings of the second level; what precedes the first has none."""
    found = {"": ""}
    heading, inside = "", False
    for line in text.splitlines(keepends=True):
        inside ^= line.startswith("```")
        if line.startswith("## ") and not inside:
            heading = line[3:].strip()
        found[heading] = found.get(heading, "") + line
    return found


def commands(text: str) -> list[Command]:
    """The commands of the console blocks."""
    return [command for block in _BLOCK.findall(text) for command in _commands(block)]


def _commands(block: str) -> list[Command]:
    parts = re.split(r"^\$ ", block, flags=re.MULTILINE)
    return [Command(line, tuple(shown)) for line, *shown in (part.splitlines() for part in parts[1:])]


class Shell:
    """Bash in a folder, with this checkout's `smartsearch` before any other."""

    def __init__(self, folder: Path, tools: Path, **environment: str):
        tool = tools / "smartsearch"
        tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m smartsearch "$@"\n')
        tool.chmod(0o755)
        packages = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
        path = f"{tools}{os.pathsep}{os.environ['PATH']}"
        self.folder = folder
        self.environment = os.environ | {"PATH": path, "PYTHONPATH": packages} | environment

    def run(self, line: str, *, together: bool = False) -> subprocess.CompletedProcess[str]:
        """Run a command line; `together` puts its errors into its output, as a terminal does."""
        return subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if together else subprocess.PIPE,
            text=True,
        )


def filled(text: str, run: Callable[[str], str]) -> str:
    """`text` with what `run` prints below each of its commands."""

    def block(match: re.Match[str]) -> str:
        return "".join(
            f"$ {command.line}\n" + "".join(f"{line}\n" for line in run(command.line).splitlines())
            for command in _commands(match[0])
        )

    return _BLOCK.sub(block, text)


def furnish(folder: Path) -> None:
    """What the documents' commands find in their folder: the samples of `docs/` and those of the formats."""
    (folder / "docs").symlink_to(ROOT / "docs")
    for sample in SAMPLES.iterdir():
        (folder / sample.name).symlink_to(sample)


def _main(documents: list[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="ss") as runtime:
        place = Path(runtime)
        tools = place / "bin"
        tools.mkdir()
        own = dict.fromkeys(("XDG_RUNTIME_DIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"), runtime)
        shell = Shell(place, tools, SMARTSEARCH_DAEMON="always", TZ="UTC", **own)
        for document in map(Path, documents):
            with tempfile.TemporaryDirectory() as folder:
                shell.folder = Path(folder)
                furnish(shell.folder)
                text = document.read_text(encoding="utf-8")
                run = lambda line: shell.run(line, together=True).stdout  # noqa: E731
                document.write_text(filled(text, run), encoding="utf-8")
        shell.folder = place
        shell.run("smartsearch serve --stop")


if __name__ == "__main__":
    _main(sys.argv[1:])
