"""A Ray cluster of N nodes of one CPU each on this machine: `python scale_cluster.py N`.

Says `{"address": ...}` when it is up, and ends with its standard input. Only its own processes are ended,
which `ray stop` could not promise.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from scale_watch import Failed

STORE = 80 * 2**20
"""Bytes of each node's object store: what is handed around is small."""
ENDING = 20.0
"""Seconds that a cluster gets to end."""
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_BACKEND_LOG_LEVEL": "fatal",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_AUTH_MODE": "disabled",  # it listens on this machine's own addresses only
}


@contextmanager
def cluster(nodes: int, env: Mapping[str, str]) -> Iterator[str]:
    """The address of a cluster that is there while the block lasts. Raises Failed where none comes up."""
    command = [sys.executable, str(Path(__file__).resolve()), str(nodes)]
    process = subprocess.Popen(
        command,
        env={**env, **QUIET},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin
    assert process.stdout
    try:
        for line in process.stdout:  # Ray says this and that before
            if line.startswith('{"address"'):
                yield str(json.loads(line)["address"])
                return
        raise Failed(f"no Ray cluster of {nodes} nodes came up")
    finally:
        process.stdin.close()
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def main(nodes: int) -> None:
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": STORE}
    made = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    for _ in range(nodes - 1):
        made.add_node(**node)
    print(json.dumps({"address": made.address}), flush=True)
    sys.stdin.read()
    threading.Timer(ENDING, os._exit, (0,)).start()  # Ray sometimes waits for what has ended long ago
    made.shutdown()
    os._exit(0)


if __name__ == "__main__":
    main(int(sys.argv[1]))
