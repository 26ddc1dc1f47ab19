"""Models that do what the question says: wait, or kill the worker or the actor that owns it."""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

from smartsearch.cli import app as cli
from smartsearch.cli import runs as runs_cli
from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.models.tools import Tools
from smartsearch.types import Query
from tests.cli.fakes import FakeParser, fake_tools

SLOW = 0.2
"""Seconds a question with `Slow` takes."""


class Parser(FakeParser):
    def parse(self, question: str, config: Config) -> Query:
        note_actor()
        if "Slow" in question:
            time.sleep(SLOW)
        if "Crash" in question:
            os.kill(os.getpid(), signal.SIGKILL)
        if "Deadly" in question or ("Mortal" in question and first("Mortal")):
            os.kill(os.getppid(), signal.SIGKILL)
            time.sleep(60)
        return super().parse(question, config)


def note_actor() -> None:
    """Leave a file named after the raylet and the actor above this worker, in the folder of the run."""
    actor = os.getppid()
    stat = Path(f"/proc/{actor}/stat").read_text(encoding="ascii", errors="replace")
    raylet = stat.rpartition(")")[2].split()[1]
    Path("seen").mkdir(exist_ok=True)
    Path(f"seen/{raylet}-{actor}-{os.getpid()}").touch()


def first(name: str) -> bool:
    """Whether this is the first time that anybody asks in this folder."""
    try:
        Path(name).touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


def tools(config: Config) -> Tools:
    return replace(fake_tools(config), parser=Parser())


def missing(config: Config) -> Tools:
    raise ModelError("the model Nowhere is not here", hint="smartsearch models pull Nowhere")


if __name__ == "__main__":
    runs_cli.LOADER = "tests.ray.fakes:tools"
    sys.argv[0] = "smartsearch"
    cli.main()
