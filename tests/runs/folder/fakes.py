"""Loaders for workers under test: fake models, files and questions that really end or hang the process."""

import ctypes
import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from smartsearch.ask import door
from smartsearch.config import Config
from smartsearch.errors import ModelError
from smartsearch.models import loading
from smartsearch.models.tools import Tools
from smartsearch.runtime import ending
from smartsearch.transcripts import corpus
from tests.cli.fakes import LETTERS, FakeParser, fake_tools


def tools(config: Config) -> Tools:
    """The fake models, and what they count tokens with."""
    loading.tokenizer = lambda: LETTERS
    return fake_tools(config)


class SlowParser(FakeParser):
    def parse(self, question: str, config: Config) -> Any:
        time.sleep(0.05)
        return super().parse(question, config)


def slow(config: Config) -> Tools:
    return replace(tools(config), parser=SlowParser())  # type: ignore[arg-type]


def ends(text: str) -> None:
    """End or hang this process where `text` says so."""
    if "segfault" in text:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "out of memory" in text:
        os.kill(os.getpid(), signal.SIGKILL)
    if "native hang" in text:
        ctypes.PyDLL(None).system(b"sleep 30")  # holds the interpreter's lock, and no signal ends it
    if "slow python" in text:
        while True:
            time.sleep(0.01)
    if "once" in text:
        note = Path(text.rpartition("once ")[2].strip())
        if not note.exists():
            note.touch()
            os.kill(os.getpid(), signal.SIGKILL)


class PoisonParser(FakeParser):
    def parse(self, question: str, config: Config) -> Any:
        ends(question)
        return super().parse(question, config)


def poisoned(config: Config) -> Tools:
    """Reading a file whose text says so, or being asked a question that does, ends or hangs the process."""
    read = corpus.read_file

    def poison(path: str, *rest: Any) -> None:
        with Path(path).open(encoding="utf-8") as file:
            ends(file.read())
        read(path, *rest)

    corpus.read_file = poison
    return replace(tools(config), parser=PoisonParser())  # type: ignore[arg-type]


def clocked(config: Config) -> Tools:
    """Reading a file takes an hour, all else no time."""
    hours, read = [0.0], corpus.read_file

    def slowly(*given: Any) -> None:
        hours[0] += 1
        read(*given)

    corpus.read_file = slowly
    door.time = SimpleNamespace(perf_counter=lambda: 3600 * hours[0])  # type: ignore[assignment]
    return tools(config)


class HoldingParser(FakeParser):
    def parse(self, question: str, config: Config) -> Any:
        ending.add(Path(question.rpartition(" ")[2]).touch)
        return super().parse(question, config)


def holding_back(config: Config) -> Tools:
    """What is asked ends with a path, that is made when the process ends by itself."""
    return replace(tools(config), parser=HoldingParser())  # type: ignore[arg-type]


def missing(config: Config) -> Tools:
    raise ModelError("the crossencoder 'x' is not on this machine", hint="smartsearch models pull")


def broken(config: Config) -> Tools:
    sys.stderr.write("no such instruction\n")
    sys.stderr.flush()
    os._exit(3)
