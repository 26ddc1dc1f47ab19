"""How many workers a machine or a container has room for."""

from pathlib import Path

import pytest

from smartsearch.ask.runs import pool


@pytest.mark.parametrize(
    ("cores", "tasks", "workers", "free", "made"),
    [
        (8, 64, 0, 1 << 40, (8, 1)),
        (8, 3, 0, 1 << 40, (3, 2)),
        (8, 64, 2, 1 << 40, (2, 4)),
        (8, 64, 0, 3 * pool.WORKER_BYTES, (3, 2)),
        (8, 64, 0, 0, (1, 8)),
    ],
)
def test_workers_and_threads(monkeypatch, cores, tasks, workers, free, made):
    monkeypatch.setattr(pool, "free_memory", lambda: free)
    assert pool.sized(cores, tasks, workers) == made


def test_what_a_container_keeps_of_files_it_read_is_free(tmp_path: Path, monkeypatch):
    (tmp_path / "memory.max").write_text("1000000\n")
    (tmp_path / "memory.current").write_text("900000\n")
    (tmp_path / "memory.stat").write_text("anon 200000\ninactive_file 600000\nactive_file 100000\n")
    monkeypatch.setattr(pool, "_CGROUP", tmp_path)
    assert pool.free_memory() == 700_000
    (tmp_path / "memory.max").write_text("max\n")
    assert pool.free_memory() > 1_000_000
