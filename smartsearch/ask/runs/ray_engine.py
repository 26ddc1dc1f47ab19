"""Tasks done by a Ray cluster: Ray Data hands them to actors that each hold a worker; reports come back here.

Actors write nothing. A task whose actor dies again and again is done once more question by question, so that
only the question that kills fails.
"""

from __future__ import annotations

import logging
import os
import pickle
import secrets
import signal
import socket
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import smartsearch
from smartsearch.ask.batch import identity_in
from smartsearch.ask.runs.records import failed
from smartsearch.ask.runs.supervise import Keeper
from smartsearch.ask.runs.types import Answer, Item, Report, Setup, Task
from smartsearch.errors import SmartsearchError, UsageError, unexpected
from smartsearch.runtime import extras

WINDOW = 8192
"""Tasks that Ray holds at a time: some 100 MB of questions. For the next ones the actors begin anew."""
RETRIES = 3
"""How often Ray gives a task to a new actor when the actor that had it died."""
STORE = 256 * 2**20
"""Bytes of object store of a Ray that is started here: tasks and reports are small."""
PORT = "6379"
"""Where `ray start --head` listens unless told otherwise."""
LISTENS = 5.0
"""Seconds in which a cluster's port must answer."""
HEAD_LOST = 30.0
"""Seconds without an answer after which the cluster's head is lost; Ray gives up after 60."""

_START = (
    "--address auto needs `ray start --head` on this machine; without --address, a Ray of its own is started"
)
_SAME = "the same smartsearch, Ray and Python on every machine of the cluster (docs/batch.md)"


def run(
    numbers: Sequence[int],
    load: Callable[[int], Task],
    setup: Setup,
    *,
    address: str,
    workers: int,
    threads: int,
) -> Iterator[Report]:
    """One report for each task, made by `load`, in any order; every line of it has exactly one answer.

    `address`: nothing for a Ray of its own on this machine, `auto` for the cluster this machine is in (or
    RAY_ADDRESS), or HOST or HOST:PORT of that. `workers`: actors, 0 for as many as find room, with machines
    that come and go. `threads`: of each actor's models, and the CPUs it asks Ray for. Raises
    SmartsearchErrors: what every task would meet, and what is wrong with Ray.
    """
    if not numbers:
        return
    with _connected(address, workers * threads):
        _check_room(threads)
        for start in range(0, len(numbers), WINDOW):
            tasks = [load(number) for number in numbers[start : start + WINDOW]]
            yield from _all(tasks, setup, workers, threads)


def _all(tasks: Sequence[Task], setup: Setup, workers: int, threads: int) -> Iterator[Report]:
    """A report for every task; those that come back from no actor are done again question by question."""
    left = {task.number: task for task in tasks}
    for report in _pass(tasks, setup, workers, threads):
        if left.pop(report.task, None):
            yield report
    alone = [replace(task, items=(item,)) for task in left.values() for item in task.items]
    parts: dict[int, dict[int, Report]] = {number: {} for number in left}
    for part in _pass(alone, setup, workers, threads):
        parts[part.task][part.answers[0].line] = part
    for task in left.values():
        yield _joined(task, parts[task.number])


def _joined(task: Task, parts: dict[int, Report]) -> Report:
    """The report of a task done question by question; a question that no actor survived has failed."""
    done = parts.values()
    return Report(
        task.number,
        tuple(parts[item.line].answers[0] if item.line in parts else _lost(item) for item in task.items),
        tuple(dict.fromkeys(read for part in done for read in part.inputs)),
        sum(part.deaths for part in done) + (1 + RETRIES) * (len(task.items) - len(parts)),
        max((part.peak for part in done), default=0),
    )


def _lost(item: Item) -> Answer:
    error = SmartsearchError(
        f"the Ray actor that had the question died {1 + RETRIES} times",
        hint="--retry-failed tries it again; more memory for each actor, if that ran out",
        kind="worker_died",
        retryable=True,
    )
    return failed(identity_in(item.raw), item.line, error)


def _pass(tasks: Sequence[Task], setup: Setup, workers: int, threads: int) -> Iterator[Report]:
    """The reports that Ray Data brings back: of all tasks but those whose actor died each time."""
    if not tasks:
        return
    import ray
    from ray.data import ActorPoolStrategy, DataContext
    from ray.exceptions import RayError

    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.max_errored_blocks = -1
    context.execution_no_progress_timeout_s = -1  # a task may take long, and a new machine may come late
    rows = [{"task": pickle.dumps(task)} for task in tasks]
    size = min(workers, len(rows))
    try:
        data = ray.data.from_items(rows, override_num_blocks=len(rows))
        _hush_data()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # max_task_retries has no other place up to Ray 2.63
            done = data.map_batches(
                Actor,
                batch_size=1,
                compute=ActorPoolStrategy(min_size=size or 1, max_size=size or None),
                fn_constructor_args=(setup, threads, smartsearch.__version__),
                num_cpus=threads,
                max_restarts=-1,
                max_task_retries=RETRIES,
            )
        for batch in done.iter_batches(batch_size=None, prefetch_batches=0):
            for row in batch["report"]:
                report = pickle.loads(row)
                if isinstance(report, SmartsearchError):
                    raise report
                yield report
    except RayError as error:
        raise _named(error) from error


class Actor:
    """What Ray starts on the machines of the cluster: it holds a worker, that loads the models once."""

    def __init__(self, setup: Setup, threads: int, version: str) -> None:
        self._version = version
        self._worker = Keeper(setup, threads)

    def __call__(self, rows: dict[str, Any]) -> dict[str, list[bytes]]:
        """A batch of one row, the task; gives back its report, or the error that ends the run."""
        report: Report | SmartsearchError
        try:
            self._check_version()
            report = self._worker.work(pickle.loads(rows["task"][0]))
        except SmartsearchError as error:
            report = error
        except Exception as error:  # Ray would count it as a death
            report = unexpected(error)
        return {"report": [pickle.dumps(report)]}

    def __del__(self) -> None:
        """Ray Data deletes an actor it no longer needs, and tells it in no other way."""
        self._worker.dismiss()

    def _check_version(self) -> None:
        if smartsearch.__version__ != self._version:
            raise UsageError(
                f"{socket.gethostname()} of the Ray cluster has smartsearch {smartsearch.__version__}, "
                f"this machine has {self._version}",
                hint=_SAME,
            )


@contextmanager
def _connected(address: str, cpus: int) -> Iterator[None]:
    """A connection to the cluster while the run lasts; one that this process has already is used and kept.

    A Ray started here has `cpus` (0: those of the machine) and ends with the run.
    """
    extras.require("ray", "--engine ray")
    where = _where(address, cpus)
    _prepare_environment(local=where["address"] == "local")
    import ray
    from ray.exceptions import RayError

    if ray.is_initialized():
        yield
        return
    main = threading.current_thread() is threading.main_thread()  # no other thread gets signals
    try:
        with _own_sigterm() if main else nullcontext(), _mute():
            ray.init(**where, log_to_driver=False, logging_level=logging.CRITICAL)
    except (OSError, RuntimeError, ValueError, RayError) as error:
        raise _unreached(address, error) from error
    try:
        with _head_watched(ray.get_runtime_context().gcs_address) if main else nullcontext():
            yield
    finally:
        ray.shutdown()


@contextmanager
def _head_watched(head: str) -> Iterator[None]:
    """In the block the loss of the cluster's head is a SmartsearchError; Ray would end the process silently.

    For the main thread, which a signal of ours interrupts.
    """
    over = threading.Event()

    def lost(_signal: int, _frame: object) -> None:
        if not over.is_set():
            raise SmartsearchError(
                f"the head of the Ray cluster at {head} has not answered for {HEAD_LOST:g} s",
                hint="the same command goes on, on this cluster when it is back or on another",
                kind="unreachable",
                retryable=True,
            )

    def watch() -> None:
        host, _, port = head.rpartition(":")
        answered, failing = False, 0.0
        while not over.wait(LISTENS):
            try:
                socket.create_connection((host.strip("[]"), int(port)), LISTENS).close()
                answered, failing = True, 0.0
            except (OSError, ValueError):
                failing = failing or time.monotonic()
            if answered and failing and time.monotonic() - failing >= HEAD_LOST:
                signal.pthread_kill(main, signal.SIGUSR1)

    main = threading.get_ident()
    before = signal.signal(signal.SIGUSR1, lost)
    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()  # a later signal would end the process
        signal.signal(signal.SIGUSR1, before)


def _where(address: str, cpus: int) -> dict[str, Any]:
    """The arguments of ray.init for an address. Raises UsageError where no cluster answers."""
    if address in ("", "local"):
        return {
            "address": "local",
            "num_cpus": cpus or None,
            "object_store_memory": STORE,
            "include_dashboard": False,
        }
    if address == "auto":
        return {"address": address}
    if "://" in address:
        raise UsageError(
            f"--address {address}: Ray Data does not work through Ray Client",
            hint="ray job submit, with --address auto (docs/batch.md)",
        )
    host, colon, port = address.partition(":")
    port = port if colon else PORT
    try:
        socket.create_connection((host, int(port)), timeout=LISTENS).close()
    except (OSError, ValueError) as error:
        raise UsageError(f"no Ray cluster at {address}: {error}", hint=_START) from error
    return {"address": f"{host}:{port}"}


def _prepare_environment(*, local: bool) -> None:
    """Set what Ray reads from the environment at import; the user's own values stay."""
    given = {
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",  # Ray's future default; without it Ray warns
        "RAY_BACKEND_LOG_LEVEL": "info" if _debugging() else "fatal",
    }
    if local:  # its ports are open to the network: the token keeps others out
        given |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}
    for name, value in given.items():
        os.environ.setdefault(name, value)


@contextmanager
def _own_sigterm() -> Iterator[None]:
    """Keep the SIGTERM handler that ray.init replaces; it also gets a signal that Ray's handler caught."""
    before = signal.getsignal(signal.SIGTERM)
    try:
        yield
    except SystemExit as ended:
        if ended.code == signal.SIGTERM and callable(before):
            before(signal.SIGTERM, None)
        raise
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _mute() -> Iterator[None]:
    """Drop standard error, where Ray's native code reports that it was told to be quiet."""
    if _debugging():
        yield
        return
    kept, nowhere = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _hush_data() -> None:
    """Ray's messages go to its log files alone: what fails is told by the reports."""
    import ray

    if _debugging():
        return
    ray._private.worker._worker_logs_enabled = False  # those on standard output: "(raylet) A worker died"
    for handler in logging.getLogger("ray.data").handlers:
        if isinstance(handler, logging.StreamHandler):
            handler.setLevel(logging.CRITICAL + 1)


def _debugging() -> bool:
    return bool(os.environ.get("SMARTSEARCH_DEBUG"))


def _check_room(threads: int) -> None:
    """Raises UsageError where no machine can ever hold an actor. A head without CPUs may grow."""
    import ray

    most = max((node["Resources"].get("CPU", 0) for node in ray.nodes() if node["Alive"]), default=0)
    if 0 < most < threads:
        raise UsageError(
            f"no machine of the Ray cluster has the {threads} CPUs of one worker: the largest has {most:g}",
            hint=f"--threads {max(1, int(most))}, or a head that waits for others: ray start --num-cpus=0",
        )


def _unreached(address: str, error: Exception) -> SmartsearchError:
    said = " ".join(str(error).split())
    if "ersion mismatch" in said:
        return UsageError(f"the Ray cluster runs other versions: {said}", hint=_SAME)
    if isinstance(error, ConnectionError):
        return UsageError("no Ray cluster is running on this machine", hint=_START)
    return UsageError(f"no connection to Ray ({address or 'started here'}): {said}", hint=_START)


def _named(error: Exception) -> SmartsearchError:
    said = str(error)
    if "smartsearch" in said and ("No module named" in said or "Can't get attribute" in said):
        return UsageError("a machine of the Ray cluster has no smartsearch, or an older one", hint=_SAME)
    return unexpected(error)
