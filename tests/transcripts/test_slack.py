"""Slack exports: from a folder and from a .zip, with the names of people and without."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read, read_large
from smartsearch.transcripts.large.indexing import build
from smartsearch.types import Corpus
from tests.transcripts.build import put, said, zipped

SAMPLE = Path(__file__).parent / "samples" / "slack"
USERS = [
    {"id": "U0000MAYA", "name": "maya.l", "profile": {"real_name": "Maya Lindqvist", "display_name": "Maya"}},
    {"id": "U000TARIK", "name": "tarik", "profile": {"real_name": "Tarik Benali", "display_name": ""}},
]
TS = "1709539260.000100"


def message(**more: Any) -> dict[str, Any]:
    return {"type": "message", "user": "U0000MAYA", "text": "hi", "ts": TS, **more}


def day(folder: Path, *messages: Any, **lists: Any) -> Corpus:
    """A channel of one day, read from its folder, with the lists given beside it."""
    for name, value in {"users": USERS, **lists}.items():
        if value is not None:
            put(folder, f"{name}.json", value)
    return read([str(put(folder, "boatyard/2024-03-04.json", list(messages)))])


@pytest.mark.parametrize("inside", ["", "harbour/"])
def test_from_a_zip_the_same_comes_as_from_the_folder(tmp_path: Path, inside: str) -> None:
    files = {f"{inside}{file.relative_to(SAMPLE)}": file.read_bytes() for file in SAMPLE.rglob("*.json")}
    path = zipped(tmp_path / "export.zip", files)
    unpacked, packed = read([str(SAMPLE)]), read([str(path)])
    assert said(packed) == said(unpacked)
    assert [(t.conversation, t.session, t.title) for t in packed.turns] == [
        (t.conversation, t.session, t.title) for t in unpacked.turns
    ]
    assert (packed.skipped, packed.warnings) == ((), ())


def test_an_index_leaves_days_to_each_question_for_names_may_change(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("smartsearch.transcripts.large.indexing.SETTLED", 0.0)
    day(tmp_path / "export", message())
    (tmp_path / "export" / "chat.txt").write_text("Maya: hi\nJonas: hello\n")
    for new in (2, 0):  # the chat and the list of members
        built = build(str(tmp_path / "export"))
        assert [entry.kind for entry in built.skipped] == ["not_alone"]
        assert (built.files, built.new, built.unchanged) == (2, new, 2 - new)
    monkeypatch.setattr("smartsearch.transcripts.corpus._SLOW", 0)
    assert read_large([str(tmp_path / "export")]).warnings == ()  # no advice to index what cannot be
    (tmp_path / "export" / "later.txt").write_text("Maya: bye\nJonas: bye\n")
    assert len(read_large([str(tmp_path / "export")]).warnings) == 2


def test_the_lists_of_two_exports_are_not_mixed_up(tmp_path: Path) -> None:
    for name in ("one", "two"):
        put(tmp_path, f"{name}/users.json", [{"id": "U0000MAYA", "name": name}])
        put(tmp_path, f"{name}/boatyard/2024-03-04.json", [message()])
    assert [turn.speaker for turn in read([str(tmp_path)]).turns] == ["one", "two"]
