"""`smartsearch serve` and `mcp` with fake models whose ranker does what the question says, such as sleep."""

import ctypes
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from smartsearch.cli import app as cli
from smartsearch.cli import mcp as mcp_cli
from smartsearch.config import Config
from smartsearch.models import loading
from smartsearch.models.tools import Tools
from smartsearch.rank.scorer import Scorer
from smartsearch.serve.warm import server, wire
from tests.cli.fakes import LETTERS, fake_tools

SLEEP = float(os.environ.get("TEST_SLEEP", "600"))


def make_noise() -> None:
    """All the ways of writing to standard output that a library has."""
    sys.stdout.write("noise\n")
    sys.stdout.flush()
    os.write(1, b"noise\n")
    subprocess.run(["echo", "noise"], check=True)
    ctypes.CDLL(None).puts(b"noise")
    ctypes.CDLL(None).fflush(None)


def noisy_tools(config: Config) -> Tools:
    make_noise()
    return odd_tools(config)


def odd_tools(config: Config) -> Tools:
    tools = fake_tools(config)

    def rank(question: str, texts: Sequence[str]):
        if "sleep" in question:
            time.sleep(SLEEP)
        if "boom" in question:
            raise ZeroDivisionError("oh")
        if "noise" in question:
            make_noise()
        if "regex" in question:
            re.match(r"(a+)+$", "a" * 40 + "b")
        if "stuck" in question:
            ctypes.PyDLL(None).sleep(600)  # native code that holds Python's lock
        if "die" in question:
            os.kill(os.getpid(), signal.SIGKILL)
        return tools.scorers["colbert"](question, texts)

    return replace(tools, scorers={**tools.scorers, "colbert": Scorer(rank)})


if __name__ == "__main__":
    loading.load_tools = odd_tools
    loading.tokenizer = lambda: LETTERS
    mcp_cli.LOADER = "tests.odd_server:noisy_tools"
    server.HUNG = float(os.environ.get("TEST_HUNG", server.HUNG))
    wire.ALIVE_EVERY = float(os.environ.get("TEST_ALIVE", wire.ALIVE_EVERY))
    sys.argv[0] = "smartsearch"
    cli.main()
