"""`smartsearch cache`: where it lies, what it holds, and away with it."""

import json
import os
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from smartsearch.rank.cache.vector_store import VectorStore, home, path_in
from smartsearch.rank.cache.vectors import TokenVectors, quantised
from smartsearch.rank.scorer import Scorer
from smartsearch.runtime import ending
from tests.cli.conftest import Run
from tests.rank.tiny import vectors


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return home()


def kept(root: Path, *models: str) -> int:
    """Three turns of each model on disk; the bytes they take."""
    for model in models:
        VectorStore(root, model, 2**30).put({text: vectors(text) for text in ("a", "b", "c")})
        ending.finish()
    return path_in(root).stat().st_size


def test_status_tells_place_and_size(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("SMARTSEARCH_CACHE_SIZE", "5")
    size = kept(root, "one", "two")
    row = {"path": str(root), "models": 2, "turns": 6, "bytes": size, "limit": 5 * 2**20}
    assert run("cache", "status", "--json").record == {"schema_version": 1, "cache": [row]}
    lines = run("cache", "status").out.splitlines()
    assert [line.split() for line in lines] == [list(row), [str(value) for value in row.values()]]
    monkeypatch.setenv("SMARTSEARCH_CACHE", "off")
    assert run("cache", "status", "--json").record["cache"][0]["limit"] == 0


def test_clear_removes_all_that_is_ours_and_says_what(run: Run, root: Path):
    for command in ("status", "clear"):
        ran = run("cache", command, "--json")
        assert (ran.code, ran.record["cache"][0]["turns"]) == (0, 0)
    assert "clear" in run("cache").out
    assert not root.parent.exists(), "where there is none nothing is made"
    size = kept(root, "one", "two")
    (root / "one").mkdir()
    (root / "one" / "notes.txt").write_text("mine")
    row = {"path": str(root), "models": 2, "turns": 6, "bytes": size}
    assert run("cache", "clear", "--json").record["cache"] == [row]
    assert sorted(path.name for path in root.rglob("*")) == ["lock", "notes.txt", "one", "store"]
    assert run("cache", "clear", "--json").record["cache"][0]["bytes"] == 0


def test_another_users_cache_is_an_error(run: Run, root: Path, monkeypatch: pytest.MonkeyPatch):
    kept(root, "one")
    monkeypatch.setattr(os, "geteuid", lambda: root.stat().st_uid + 1)
    for command in ("status", "clear"):
        ran = run("cache", command, "--json")
        assert (ran.code, json.loads(ran.out)["error"]["kind"]) == (2, "cache")
        assert "XDG_CACHE_HOME" in run("cache", command).err
    assert path_in(root).exists()


def test_fill_reads_every_turn_ahead_a_few_at_a_time(run: Run, tmp_path: Path, monkeypatch):
    read: list[int] = []

    def vectors(texts: list[str]) -> list[TokenVectors]:
        read.append(len(texts))
        return [quantised(np.eye(2)) for _ in texts]

    tools = SimpleNamespace(scorers={"colbert": Scorer(len, vectors=vectors)})
    monkeypatch.setattr("smartsearch.models.loading.load_tools", lambda config: tools)
    monkeypatch.setattr("smartsearch.cli.cache.AT_ONCE", 3)
    chat = tmp_path / "long.txt"
    chat.write_text("\n".join(f"Ana: the {n}th heron" for n in range(10)), encoding="utf-8")
    assert run("cache", "fill", str(chat)).code == 0
    assert read == [3, 3, 3, 1]
    monkeypatch.setenv("SMARTSEARCH_CACHE", "off")
    assert "the cache is off" in run("cache", "fill", str(tmp_path)).err
