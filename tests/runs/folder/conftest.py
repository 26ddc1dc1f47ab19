"""What the tests of runs share: a folder of chats, questions about them, and a command in process."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from smartsearch.cli import runs as runs_cli
from tests.cli.conftest import Ran, chats, run  # noqa: F401 - fixtures

CHAT = (
    "[2024-05-0{day} 10:00] Mara: I met {name} at the harbour.\n[2024-05-0{day} 10:01] Ilya: How is {name}?\n"
)
NAMES = ("Oscar", "Selma", "Bruno", "Tilda")

Lines = list[dict[str, Any]]


@pytest.fixture(autouse=True)
def fake_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs_cli, "LOADER", "tests.runs.folder.fakes:tools")


@pytest.fixture
def asked(chats: Path) -> Lines:  # noqa: F811
    """Three questions of each of four chats, one after the other chat."""
    for day, name in enumerate(NAMES, start=1):
        (chats / f"{name}.txt").write_text(CHAT.format(day=day, name=name))
    return [
        {"id": f"{name}/{n}", "question": f"Where did Mara meet {name}, in {n}?", "paths": [f"{name}.txt"]}
        for n in range(3)
        for name in NAMES
    ]


@pytest.fixture
def write(chats: Path) -> Callable[[Lines], str]:  # noqa: F811
    """Questions as a file; its name."""

    def written(lines: Lines) -> str:
        path = chats.parent / "questions.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return str(path)

    return written


def records(out: Path, shard: str = "00001-of-00001") -> Lines:
    lines = (out / f"answers-{shard}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def manifest(out: Path, shard: str = "00001-of-00001") -> dict[str, Any]:
    return json.loads((out / f"manifest-{shard}.json").read_text())
