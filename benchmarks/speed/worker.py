"""Warm processes: one system each, asked over pipes, a line of JSON in and a line out.

`python worker.py SYSTEM THREADS` is the process, `Worker` its other end. A request names a method of
the system and its arguments; the answer says how long that took by the worker's own clock.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any

from measure import HERE, Failed

Json = dict[str, Any]


class Worker:
    """A process with one system in it. Leaving the block ends it."""

    def __init__(self, system: str, env: Mapping[str, str], threads: int) -> None:
        self.system = system
        self._process = subprocess.Popen(
            [sys.executable, str(HERE / "worker.py"), system, str(threads)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=dict(env),
        )

    def __call__(self, method: str, **arguments: Any) -> Json:
        """What the method returns, with `ms`. Raises Failed with what went wrong there."""
        assert self._process.stdin
        assert self._process.stdout
        try:
            self._process.stdin.write(json.dumps({"method": method, **arguments}) + "\n")
            self._process.stdin.flush()
            answer: Json = json.loads(self._process.stdout.readline())
        except (OSError, ValueError) as error:
            raise Failed(f"{self.system} ended: {error}") from error
        if "failed" in answer:
            raise Failed(str(answer["failed"]))
        return answer

    def close(self) -> None:
        """End the process."""
        assert self._process.stdin
        self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def __enter__(self) -> Worker:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None
    ) -> None:
        self.close()


class Ours:
    """smartsearch in one process, as `batch` keeps it: models loaded, transcripts read."""

    def __init__(self, threads: int) -> None:
        from smartsearch.ask.door import Door
        from smartsearch.ask.library import Library
        from smartsearch.config import build
        from smartsearch.models.loading import load_tools
        from smartsearch.systems.smartsearch import SmartSearch

        self._config = build({"threads": threads or None})
        system = SmartSearch(load_tools(self._config))
        self._door = Door(lambda: system, Library())

    def open(self, path: str) -> Json:
        """Read a file or folder."""
        from smartsearch.ask.scope import Scope

        self._scope = Scope((path,))
        return {"turns": len(self._door.library.haystack(self._scope))}

    def ask(self, question: str, limit: int = 0) -> Json:
        """Answer a question as `query` does; at most `limit` turns unless it is 0."""
        from dataclasses import replace

        from smartsearch.ask.scope import Request

        asked = Request(question, self._scope, replace(self._config, limit=limit))
        return {"timing_ms": self._door.find(asked).result.trace.timing_ms}


class Rival:
    """A plain search of the registry, over the turns of a file."""

    def __init__(self, name: str, threads: int) -> None:
        from smartsearch import systems
        from smartsearch.config import Config

        if threads and name == "minilm":
            import torch

            torch.set_num_threads(threads)
        self._system = systems.load(Config(system=name), _no_tools)

    def open(self, path: str) -> Json:
        """Read a file and index its turns."""
        from smartsearch import transcripts
        from smartsearch.retrieve.grep import Haystack
        from smartsearch.systems.base import quietly

        haystack = Haystack(transcripts.read([path]))
        self._memory = self._system.prepare(haystack, None, quietly)
        return {"turns": len(haystack)}

    def ask(self, question: str) -> Json:
        """How many turns have a score."""
        return {"scored": len(self._memory.score(question))}


def _no_tools(_: Any) -> Any:
    raise Failed("this system needs SmartSearch's models")


def peak_mb() -> float:
    """The most memory this process ever held, in MB; without /proc that of its parent counts too."""
    try:
        status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
        return next(
            int(line.split()[1]) * 1024 / 1e6 for line in status.splitlines() if line.startswith("VmHWM")
        )
    except (OSError, StopIteration):
        import resource

        from spawn import figures

        return figures(resource.getrusage(resource.RUSAGE_SELF))["peak_mb"]


SYSTEMS = {
    "ours": Ours,
    "bm25": partial(Rival, "bm25"),
    "minilm": partial(Rival, "minilm"),
}


def serve(system: str, threads: int) -> None:
    """Answer requests until there are no more."""
    made: Any = None
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a library prints must not stand between the replies
    for line in sys.stdin:
        request = json.loads(line)
        start = time.perf_counter()
        try:
            made = made or SYSTEMS[system](threads)
            answer = getattr(made, request.pop("method"))(**request)
            answer["ms"] = (time.perf_counter() - start) * 1000.0
            answer["peak_mb"] = peak_mb()
        except Exception as error:
            answer = {"failed": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=replies, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1], int(sys.argv[2]))
