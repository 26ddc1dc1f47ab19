"""Tasks on this machine: as many workers as it has room for, each with its models, given a task at a time."""

from __future__ import annotations

import os
import queue
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from pathlib import Path

from smartsearch.ask.runs.supervise import Closed, Keeper
from smartsearch.ask.runs.types import Answer, Report, Setup, Task

WORKER_BYTES = 1200 * 2**20
"""Memory that a worker is taken to need, where we choose their number (benchmarks/reports/scale.md)."""
AHEAD = 4
"""Answers that may wait to be written, per worker: a slow disk then slows the workers and fills no memory."""

_CGROUP = Path("/sys/fs/cgroup")

Event = tuple[int, Answer] | Report
"""An answer with its task's number, as soon as it is there; and when all of a task are, the report."""


def sized(cores: int, tasks: int, workers: int = 0) -> tuple[int, int]:
    """Workers, as given or as there is room for, and threads for the models of each: `cores` in all."""
    chosen = workers or max(1, min(cores, tasks, free_memory() // WORKER_BYTES))
    return chosen, max(1, cores // chosen)


def free_memory() -> int:
    """Bytes this process and its children may still take; a large number where that is unknown."""
    found = [1 << 62]
    with suppress(OSError, ValueError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable")]
    with suppress(OSError, ValueError):  # a container's own limit (cgroup v2)
        limit = int((_CGROUP / "memory.max").read_text(encoding="ascii"))
        used = int((_CGROUP / "memory.current").read_text(encoding="ascii"))
        stat = (_CGROUP / "memory.stat").read_text(encoding="ascii").splitlines()
        found.append(limit - used + sum(int(x.split()[1]) for x in stat if x.startswith("inactive_file ")))
    return max(0, min(found))


def run(
    numbers: Sequence[int], load: Callable[[int], Task], setup: Setup, workers: int, threads: int
) -> Iterator[Event]:
    """Do the tasks, made by `load` when their turn comes; all of them, unless the caller stops early.

    Raises SmartsearchError for what every task would meet. No process is left when the iterator is closed.
    """
    shares = _Shares(numbers, workers)
    events: queue.Queue[Event | Exception | None] = queue.Queue(AHEAD * workers)
    staff = [Keeper(setup, threads) for _ in range(workers)]
    stopped = threading.Event()

    def serve(place: int) -> None:
        try:
            while not stopped.is_set() and (number := shares.next(place)) is not None:
                put(staff[place].work(load(number), partial(answered, number)))
            staff[place].dismiss()
            put(None)
        except Closed:
            pass
        except Exception as error:  # the one place where a thread's error can be handed on
            put(error)

    def answered(number: int, answer: Answer) -> None:
        put((number, answer))

    def put(event: Event | Exception | None) -> None:
        while not stopped.is_set():
            with suppress(queue.Full):
                events.put(event, timeout=0.2)
                return

    crew = [threading.Thread(target=serve, args=(place,), daemon=True) for place in range(workers)]
    for thread in crew:
        thread.start()
    try:
        working = workers
        while working:
            event = events.get()
            if event is None:
                working -= 1
            elif isinstance(event, Exception):
                raise event
            else:
                yield event
    finally:
        stopped.set()
        for worker in staff:
            worker.close()
        for thread in crew:
            thread.join()


class _Shares:
    """A contiguous share of the tasks for each worker; an idle worker takes from the end of the longest."""

    def __init__(self, numbers: Sequence[int], workers: int) -> None:
        total = len(numbers)
        cuts = [n * total // workers for n in range(workers + 1)]
        self._left = [deque(numbers[start:end]) for start, end in pairwise(cuts)]
        self._lock = threading.Lock()

    def next(self, place: int) -> int | None:
        """The next task of the worker at `place`, None when all are taken."""
        with self._lock:
            if self._left[place]:
                return self._left[place].popleft()
            longest = max(self._left, key=len)
            return longest.pop() if longest else None


def usable_cores(cores: int) -> int:
    """`cores`, or fewer if a container's quota allows fewer (cgroup v2)."""
    with suppress(OSError, ValueError):
        quota, period = (_CGROUP / "cpu.max").read_text(encoding="ascii").split()
        cores = min(cores, max(1, int(quota) // int(period)))
    return min(cores, os.cpu_count() or cores)
