"""A warm process with the fake models whose ranker does what the question says: sleep, boom, die, stuck."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace

from smartsearch.cli import app as cli
from smartsearch.cli import serve as serve_cli
from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.serve.warm import server
from tests.cli.fakes import fake_tools


def odd_tools(config: Config) -> Tools:
    tools = fake_tools(config)

    def rank(question: str, texts: Sequence[str]):
        if "sleep" in question:
            time.sleep(1.5)
        if "boom" in question:
            raise ZeroDivisionError("oh")
        if "die" in question:
            os._exit(9)
        if "stuck" in question:
            ctypes.PyDLL(None).sleep(60)  # native code that holds Python's lock
        return tools.scorers["colbert"](question, texts)

    return replace(tools, scorers={**tools.scorers, "colbert": rank})


serve_cli.load_tools = odd_tools
server.HUNG = float(os.environ.get("TEST_HUNG", server.HUNG))
sys.argv[0] = "smartsearch"
cli.main()
