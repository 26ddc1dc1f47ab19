"""What the tests of the Ray engine share: one small cluster of two machines, and a folder with chats."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from smartsearch.ask.library import Scope
from smartsearch.ask.runs.types import Item, Setup, Task
from smartsearch.cli.options import FilterOptions
from smartsearch.config import Config

if TYPE_CHECKING:
    from ray.cluster_utils import Cluster

STORE = 80 * 2**20
ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """Two machines of one CPU each, beside the head that has none; Ray is told of this package."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ |= {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_BACKEND_LOG_LEVEL": "fatal",
        "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
        "RAY_AUTH_MODE": "disabled",
        "PYTHONPATH": str(ROOT),
    }
    # a machine that dies is missed after three seconds instead of half a minute
    quick = {
        "health_check_initial_delay_ms": 0,
        "health_check_period_ms": 500,
        "health_check_failure_threshold": 5,
    }
    head = {"num_cpus": 0, "object_store_memory": STORE, "include_dashboard": False, "_system_config": quick}
    cluster = Cluster(initialize_head=True, head_node_args=head)
    for _ in range(2):
        cluster.add_node(num_cpus=1, object_store_memory=STORE)
    ray.init(address=cluster.address, log_to_driver=False, logging_level="CRITICAL")
    yield cluster
    ray.shutdown()
    cluster.shutdown()


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the run is, with a chat to search."""
    for name in [name for name in os.environ if name.startswith("SMARTSEARCH_")]:
        monkeypatch.delenv(name)
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "chat.txt").write_text(
        "[2024-05-08 13:56] Mara: I went to the support group yesterday.\n"
        "[2024-05-08 13:57] Ilya: Wow, how was it?\n"
        "[2024-05-09 10:00] Ilya: My flatmate adopted a dog named Oscar.\n",
        encoding="utf-8",
    )
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def setup(folder: Path) -> Setup:
    return Setup(
        Config(cache=False), Scope(("chats",)), FilterOptions(), str(folder), loader="tests.ray.fakes:tools"
    )


def tasks(questions: Sequence[str], size: int = 4) -> list[Task]:
    """Tasks of `size` questions; question N has the id qN and stands on line N."""
    items = [
        Item(line, json.dumps({"id": f"q{line}", "question": question}).encode())
        for line, question in enumerate(questions, start=1)
    ]
    return [Task(n, tuple(items[start : start + size])) for n, start in enumerate(range(0, len(items), size))]
