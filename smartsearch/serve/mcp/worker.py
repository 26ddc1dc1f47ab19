"""The process that reads transcripts and holds the models; the one that speaks the protocol started it.

Two processes, because what hangs in native code holds Python's lock and can only be killed: whoever waits
is answered all the same, and another worker begins. A worker is sent a Setup, then one Order after the
other, and sends a Told for each. A signal interrupts it between two steps of the interpreter.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import pkgutil
import signal
from collections.abc import Callable
from types import FrameType
from typing import TYPE_CHECKING, Any, BinaryIO

from smartsearch.errors import SmartsearchError, unexpected
from smartsearch.runtime import ending
from smartsearch.serve.mcp import streams
from smartsearch.serve.mcp.orders import INTERRUPT, Order, Setup, State, Told

if TYPE_CHECKING:
    from smartsearch.serve.mcp.tools import Answers, Models

ORPHANED = 5.0
"""Seconds beyond its time after which a worker that nobody has ended ends itself."""


class _Abandoned(BaseException):
    """Nobody waits any more for what is being done."""


class Worker:
    """Does what it is told, one order after the other."""

    def __init__(self, setup: Setup) -> None:
        from smartsearch.serve.mcp.tools import Answers, Models

        self._models: Models = Models(setup.config, pkgutil.resolve_name(setup.loader))
        self._answers: Answers = Answers(setup.roots, setup.scope, setup.config, self._models)
        self._answers.places.keep(setup.places)
        self._working = False
        signal.signal(INTERRUPT, self._interrupted)

    def told(self, order: Order) -> Told:
        """What comes of an order, whatever happens."""
        try:
            answer = self._done(order)
        except _Abandoned:
            return Told(state=self._state())
        except SmartsearchError as error:
            return Told(error=error, state=self._state())
        except Exception as error:
            if os.environ.get("SMARTSEARCH_DEBUG"):
                import traceback

                traceback.print_exc()
            return Told(error=unexpected(error), state=self._state())
        hits = answer.record["hits"] if order.what == "search" else ()
        return Told(answer, None, {hit["id"]: self._answers.places[hit["id"]] for hit in hits}, self._state())

    def _done(self, order: Order) -> Any:
        work: dict[str, Callable[[Any], Any]] = {
            "load": lambda _: self._models.prepare(),
            "search": self._answers.search,
            "expand": self._answers.expand,
            "look": lambda _: self._answers.look(),
        }
        try:
            self._working = True
            return work[order.what](order.given)
        finally:
            self._working = False

    def _state(self) -> State:
        from smartsearch.serve.warm.server import resident_bytes

        return State(self._models.state, tuple(self._models.ran), resident_bytes())

    def _interrupted(self, _number: int, _frame: FrameType | None) -> None:
        if self._working:
            raise _Abandoned


def serve(stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Work until `stdin` ends. What comes is trusted: it is from the process that started this one."""
    setup = pickle.load(stdin)
    with contextlib.suppress(OSError):
        os.chdir(setup.cwd)
    worker = Worker(setup)
    while True:
        order = pickle.load(stdin)
        if order.seconds:
            faulthandler.dump_traceback_later(order.seconds + ORPHANED, exit=True)
        told = worker.told(order)
        faulthandler.cancel_dump_traceback_later()
        pickle.dump(told, stdout)
        stdout.flush()
        ending.finish()  # what this order left to be written


def main() -> None:
    """Serve whoever started this process, and end with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C is for who started us
    stdin, stdout = streams.taken()
    streams.end_with(stdin)
    with contextlib.suppress(EOFError, BrokenPipeError):
        serve(stdin, stdout)
    os._exit(0)


if __name__ == "__main__":
    main()
