"""A file that becomes a link out of the roots just as it is opened: what it leads to is not read."""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from smartsearch.ask import library as ask
from smartsearch.ask.scope import Written
from smartsearch.config import Config
from smartsearch.errors import SmartsearchError
from smartsearch.serve.mcp.arguments import SearchArguments
from smartsearch.serve.mcp.roots import Roots
from smartsearch.serve.mcp.tools import Answers
from smartsearch.serve.models import Models
from smartsearch.transcripts.large import indexing
from smartsearch.transcripts.opening import confined, names, opened
from tests.cli.fakes import fake_tools
from tests.transcripts.build import zipped

SECRET = "pelican"
_traps: list[Callable[[str], None]] = []


def _heard(event: str, arguments: tuple) -> None:
    if event in ("open", "os.scandir") and isinstance(arguments[0], str):
        for trap in tuple(_traps):
            trap(arguments[0])


sys.addaudithook(_heard)


@contextmanager
def sprung(name: str, target: Path, outside: Path) -> Iterator[None]:
    """`target` is swapped for a link to `outside` when something of that name is opened, before it is."""

    def trap(path: str) -> None:
        if Path(path).name == name:
            _traps.clear()
            target.rename(target.with_name("was"))
            target.symlink_to(outside)

    _traps.append(trap)
    try:
        yield
    finally:
        _traps.clear()


def filled(folder: Path, word: str) -> None:
    """The same files in both places, but for a word."""
    (folder / "sub").mkdir(parents=True)
    for name in ("b.txt", "sub/c.txt"):
        (folder / name).write_text(f"Ann: {word} heron\n")
    zipped(folder / "z.zip", {"m.txt": f"Ann: {word} heron\n"})
    (folder / "day").mkdir()
    said = {"type": "message", "user": "U123456", "text": "heron", "ts": "1700000000.000100"}
    (folder / "day" / "2023-11-14.json").write_text(json.dumps([said]))
    (folder / "users.json").write_text(json.dumps([{"id": "U123456", "profile": {"real_name": word}}]))


@pytest.fixture
def home(tmp_path: Path) -> Path:
    filled(tmp_path / "chats", "stork")
    filled(tmp_path / "out", SECRET)
    return tmp_path


def searched(root: Path) -> str:
    config = Config(cache=False, semantic="off", pool=0)
    answers = Answers(Roots([str(root)]), Written(), config, Models(config, fake_tools))
    try:
        reply = answers.search(SearchArguments(question="Which stork, pelican or heron?", limit=50))
    except SmartsearchError as error:
        return error.message
    return json.dumps(reply.record["hits"])


@pytest.mark.parametrize(
    ("name", "swapped"),
    [
        ("b.txt", "b.txt"),
        ("c.txt", "sub"),
        ("sub", "sub"),
        ("z.zip", "z.zip"),
        ("users.json", "users.json"),
        ("chats", "."),
        ("b.txt", "."),
    ],
)
def test_a_link_that_comes_between_the_look_and_the_opening_is_not_followed(home: Path, name, swapped):
    assert "stork" in searched(home / "chats")
    assert "stork" not in searched(home / "chats" / "day"), "a list of names beside the root"
    (home / "chats" / "a.txt").write_text("Ann: heron\n")
    with sprung(name, (home / "chats" / swapped).resolve(), (home / "out" / swapped).resolve()):
        said = searched(home / "chats")
        assert not _traps, "the trap was sprung"
    assert SECRET not in said


def test_an_index_takes_nothing_from_outside_either(home: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(home / "cache"))
    monkeypatch.setattr(indexing, "SETTLED", -1.0)
    target, read_one = home / "chats" / "sub", indexing.read_one

    def swapped(path: str):
        """A link only while the file is read: its own times stay what they were."""
        with sprung("c.txt", target, home / "out" / "sub"):
            read = read_one(path)
        if target.is_symlink():
            target.unlink()
            target.with_name("was").rename(target)
        return read

    monkeypatch.setattr(indexing, "read_one", swapped)
    indexing.build(str(home / "chats"))
    config = Config(semantic="off", pool=0)
    answers = Answers(Roots([str(home / "chats")]), Written(), config, Models(config, fake_tools))
    monkeypatch.setattr(ask.Library.__init__, "__defaults__", (None, 0, None))
    found = answers.search(SearchArguments(question="Which stork, pelican or heron?", limit=50))
    hits = json.dumps(found.record["hits"])
    assert ("sub/c.txt" in hits, SECRET in hits) == (True, False)


def test_only_files_below_the_roots_are_opened(home: Path):
    chats = home / "chats"
    (chats / "in.txt").symlink_to(chats / "b.txt")
    (chats / "out.txt").symlink_to(home / "out" / "b.txt")
    (chats / "up").symlink_to(home / "out")
    os.mkfifo(chats / "pipe.txt")
    with confined([str(chats)]):
        for name in ("b.txt", "in.txt", "sub/c.txt", "up/../chats/b.txt"):
            with opened(f"{chats}/{name}") as file:
                assert b"stork" in file.read()
        for name in ("out.txt", "up/b.txt", "../out/b.txt", "pipe.txt", "nowhere.txt", "sub"):
            with pytest.raises(OSError, match=r"."):
                opened(f"{chats}/{name}")
        assert names(f"{chats}/sub") == ["c.txt"]
        for name in ("up", "..", "b.txt"):
            with pytest.raises(OSError, match=r"."):
                names(f"{chats}/{name}")
    with opened(str(home / "out" / "b.txt")) as file:
        assert SECRET.encode() in file.read()


def test_without_steps_what_was_opened_is_compared_with_what_was_meant(home: Path, monkeypatch):
    """Windows opens nothing relative to an open folder."""
    monkeypatch.setattr("smartsearch.transcripts.opening._BY_STEPS", False)
    test_only_files_below_the_roots_are_opened(home)
    with sprung("b.txt", home / "chats", home / "out"), confined([str(home / "chats")]):
        with pytest.raises(OSError, match=r"."):
            opened(str(home / "chats" / "b.txt"))
        assert not _traps
