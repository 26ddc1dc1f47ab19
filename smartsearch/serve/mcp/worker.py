"""The process that reads transcripts and holds the models; the one that speaks the protocol started it.

Two processes, because what hangs in native code holds Python's lock and can only be killed: whoever waits
is answered all the same, and another worker begins. A worker is sent a Setup, then one Order after the
other, and sends a Told for each (serve/work.py).
"""

from __future__ import annotations

import contextlib
import os
import pickle
import pkgutil
import signal
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, BinaryIO

from smartsearch.runtime import ending
from smartsearch.serve.mcp import streams
from smartsearch.serve.mcp.orders import Setup, State, Told
from smartsearch.serve.work import Job, JobResult, Models, Work, resident_bytes

ORPHANED = 5.0
"""Seconds beyond its time after which a worker that nobody has ended ends itself."""


def serve(stdin: BinaryIO, stdout: BinaryIO) -> None:
    """Work until `stdin` ends. What comes is trusted: it is from the process that started this one."""
    from smartsearch.serve.mcp.tools import Answers

    setup: Setup = pickle.load(stdin)
    with contextlib.suppress(OSError):
        os.chdir(setup.cwd)
    models = Models(setup.config, pkgutil.resolve_name(setup.loader))
    answers = Answers(setup.roots, setup.written, setup.config, models)
    answers.places.keep(setup.places)
    work: dict[str, Callable[[Any], Any]] = {
        "load": lambda _: answers.prepare(),
        "search": answers.search,
        "expand": answers.expand,
        "look": lambda _: answers.look(),
    }

    def tell(result: JobResult) -> None:
        found = result.answer.record.get("hits", ()) if hasattr(result.answer, "record") else ()
        places = {hit["id"]: answers.places[hit["id"]] for hit in found}
        state = State(models.state, tuple(models.ran), resident_bytes())
        pickle.dump(Told(result.answer, result.error, places, state), stdout)
        stdout.flush()

    def jobs() -> Iterator[Job]:
        while True:
            order = pickle.load(stdin)
            hung = order.seconds + ORPHANED if order.seconds else 0.0
            yield Job(partial(work[order.what], order.given), tell, hung)
            ending.finish()  # what this order left to be written

    Work(one_client=True).run(jobs())


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
