"""The faults that only Ray has: what is killed is an actor, a machine of a cluster, its head, the driver.

The machines of a cluster are raylets beside each other on this one (ray.cluster_utils), one CPU each.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .bench import MARK, ROOT, Trial, command_line, expect, parent, spaced
from .faults import fault

RAY = ("ray",)
NODES = 3
STORE = 80 << 20
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_AUTH_MODE": "disabled",
    "PYTHONPATH": str(ROOT),
}
NOTICED = {
    "health_check_initial_delay_ms": 0,
    "health_check_period_ms": 500,
    "health_check_failure_threshold": 5,
}
"""A machine that dies is missed after three seconds instead of half a minute."""


@contextmanager
def cluster(trial: Trial) -> Iterator[Any]:
    """A cluster of NODES machines, the head is one, that the trial's command goes to."""
    os.environ |= {**QUIET, MARK: trial.name}
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": STORE, "include_dashboard": False}
    made = Cluster(initialize_head=True, head_node_args={**node, "_system_config": NOTICED})
    engine = trial.engine
    try:
        for _ in range(NODES - 1):
            made.add_node(num_cpus=1, object_store_memory=STORE)
        trial.engine = (
            "--engine",
            "ray",
            "--workers",
            str(NODES),
            "--threads",
            "1",
            "--address",
            made.address,
        )
        yield made
    finally:
        trial.engine = engine
        with contextlib.suppress(Exception):  # what was killed cannot be shut down
            made.shutdown()
        trial.clear()


def pid_of(node: Any, kind: str) -> int:
    """The process of a machine."""
    return int(node.all_processes[kind][0].process.pid)


@fault("an actor is killed", engines=RAY)
def actor_killed(trial: Trial) -> str:
    process = trial.start()
    trial.until(lambda: trial.parts, process)
    began, moments = time.monotonic(), []
    killed: set[int] = set()
    while len(killed) < 3 and process.poll() is None:
        trial.pause(0.1, 1.5)
        actors = {parent(pid) for pid in trial.workers} - killed
        actors = {pid for pid in actors if command_line(pid).startswith(b"ray::")}  # no orphan's new parent
        if actors:
            killed.add(min(actors))
            os.kill(min(actors), signal.SIGKILL)
            moments.append(time.monotonic() - began)
    ended = trial.end(process)
    expect(ended.code == 0, f"{ended}")
    expect(killed, "the run was over before an actor was killed")
    return f"SIGKILL to {len(killed)} actors, {spaced(moments)} s after the first answers"


@fault("a machine is lost", engines=RAY)
def node_killed(trial: Trial) -> str:
    with cluster(trial) as made:
        process = trial.start()
        trial.until(lambda: trial.parts and len(trial.workers) == NODES, process)
        raylet = pid_of(made.list_all_nodes()[-1], "raylet")
        busy = [pid for pid in trial.workers if parent(parent(pid)) == raylet]
        expect(busy, "the machine had no worker")
        after = trial.pause(0.1, 2.0)
        done = trial.done
        os.kill(raylet, signal.SIGKILL)
        ended = trial.end(process)
        expect(ended.code == 0, f"{ended}")
    return (
        f"SIGKILL to 1 of {NODES} raylets {after:.1f} s after all had begun; {done} records were on the disk"
    )


@fault("the driver is killed", engines=RAY)
def driver_killed(trial: Trial) -> str:
    moments, done = [], []
    with cluster(trial):
        for _ in range(2):
            process = trial.start()
            trial.until(lambda: trial.parts and trial.workers, process)
            moments.append(trial.pause(0.1, 3.0))
            process.kill()
            trial.end(process)
            trial.gone(b"smartsearch.ask.runs.worker")
            done.append(trial.done)
        trial.complete()
    return (
        f"cluster of {NODES}: SIGKILL {spaced(moments)} s after the first answers; "
        f"{', '.join(map(str, done))} records were on the disk; no worker was left"
    )


@fault("the head is lost", engines=RAY)
def head_killed(trial: Trial) -> str:
    with cluster(trial) as made:
        process = trial.start()
        trial.until(lambda: trial.parts and len(trial.workers) == NODES, process)
        for kind in ("gcs_server", "raylet"):
            os.kill(pid_of(made.head_node, kind), signal.SIGKILL)
        ended = trial.end(process, seconds=120)
        done = trial.done
        expect(ended.code == 2 and "Traceback" not in ended.said, f"{ended}")
    with cluster(trial):
        trial.complete()
    said = ended.said.strip().splitlines()[0].removeprefix("smartsearch: ")
    return f"SIGKILL to the head's processes: exit code 2, `{said[:120]}`; {done} records; then a new cluster"
