"""Paths to files: order, selection, links, what does not exist."""

from __future__ import annotations

import os
import socket
import threading
import tracemalloc
from pathlib import Path

import pytest

from smartsearch.errors import InputError
from smartsearch.transcripts import files, opening, read
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.files import Limits, Selection, find, load, neighbour
from smartsearch.types import Skipped
from tests.transcripts.build import put


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("chats/b.txt", "chats/a/z.md", "chats/a/old/y.json", "chats/c.jsonl", "chats/c.png"):
        put(tmp_path, name, "x")
    for name in ("chats/.hidden.txt", "chats/.git/x.txt"):
        put(tmp_path, name, "x")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*paths: str, globs: tuple[str, ...] = (), excludes: tuple[str, ...] = ()) -> list[str | Skipped]:
    return list(find(paths, Selection(globs, excludes)))


@pytest.mark.parametrize(
    ("path", "prefix"), [("chats", "chats/"), ("chats/", "chats/"), ("./chats", "./chats/"), (".", "chats/")]
)
def test_a_folder_is_walked_in_order_of_names_and_paths_stay_as_typed(
    tree: Path, path: str, prefix: str
) -> None:
    assert found(path) == [prefix + name for name in ("a/old/y.json", "a/z.md", "b.txt", "c.jsonl")]


def test_a_named_file_is_taken_whatever_its_name(tree: Path) -> None:
    assert found("chats/c.png", "chats/.hidden.txt", "-", "-") == ["chats/c.png", "chats/.hidden.txt", "-"]


def test_a_file_reached_twice_is_found_once(tree: Path) -> None:
    (tree / "chats" / "same.txt").symlink_to(tree / "chats" / "b.txt")
    assert found("chats/b.txt", "chats", "./chats/c.jsonl") == [
        "chats/b.txt",
        *("chats/a/old/y.json", "chats/a/z.md", "chats/c.jsonl"),
    ]


@pytest.mark.parametrize(
    ("globs", "excludes", "names"),
    [
        (("*.md",), (), ["a/z.md"]),
        (("*.png",), (), ["c.png"]),
        (("a/*",), (), ["a/old/y.json", "a/z.md"]),
        (("**/*.txt",), (), ["b.txt"]),
        ((), ("a",), ["b.txt", "c.jsonl"]),
        ((), ("a/old/", "*.jsonl"), ["a/z.md", "b.txt"]),
        (("*.md", "*.txt"), ("b.*",), ["a/z.md"]),
    ],
)
def test_globs_and_excludes_select(
    tree: Path, globs: tuple[str, ...], excludes: tuple[str, ...], names: list[str]
) -> None:
    assert found("chats", globs=globs, excludes=excludes) == [f"chats/{name}" for name in names]


def test_links_that_loop_or_dangle_are_reported_not_followed(tree: Path) -> None:
    (tree / "chats" / "a" / "loop").symlink_to(tree / "chats")
    (tree / "chats" / "gone.txt").symlink_to(tree / "nowhere")
    (tree / "chats" / "self.txt").symlink_to(tree / "chats" / "self.txt")
    skipped = {entry.path: entry.kind for entry in found("chats") if isinstance(entry, Skipped)}
    assert skipped == {
        "chats/a/loop": "folder_link",
        "chats/gone.txt": "unreadable",
        "chats/self.txt": "unreadable",
    }


@pytest.mark.parametrize(
    ("path", "hint"),
    [
        ("chat", "did you mean chats?"),
        ("chats/b.text", "did you mean chats/b.txt?"),
        ("chats/b.txt/x", "check the spelling"),
        ("nowhere/at/all", "check the spelling"),
        ("chats/qqq", "there is no qqq in chats"),
        ("a\x00b", "there is no"),
    ],
)
def test_a_path_that_does_not_exist_is_named_with_a_hint(tree: Path, path: str, hint: str) -> None:
    with pytest.raises(InputError) as raised:
        found(path)
    assert raised.value.kind == "path_not_found"
    assert path in raised.value.message
    assert raised.value.hint.startswith(hint)


def test_a_path_as_the_tool_shows_it_selects_too(tree: Path) -> None:
    everything = found("chats")
    first = everything[0]
    assert isinstance(first, str)
    assert found("chats", excludes=(first,)) == everything[1:]
    assert found("chats", globs=(first,)) == [first]
    assert found("./chats", excludes=(f"./{first}",)) == [f"./{name}" for name in everything[1:]]
    assert found(first, excludes=(Path(first).name,)) == []


def test_reading_takes_the_memory_of_the_file_and_not_of_the_limit(tmp_path: Path) -> None:
    """Where a process may take little memory (`ulimit -v`), a small file has to fit."""
    (tmp_path / "a.txt").write_bytes(b"Mara: hello\n" * 100)
    tracemalloc.start()
    data = load(str(tmp_path / "a.txt"), None, Limits())
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(data) == 1200
    assert peak < 1_000_000
    assert load(os.devnull, None, Limits()) == b""


def test_a_pipe_is_not_read_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 120.0)  # a hang
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(b"x" * 101))
    writer.start()
    with pytest.raises(FormatError, match="larger than the limit of 100 bytes"):
        load(str(pipe), None, Limits(file=100))
    writer.join()


def test_a_folder_whose_path_is_too_long_to_be_opened_is_told(tmp_path):
    put(tmp_path, "a.txt", "Maya: hi\nJonas: hello\n")
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(25):
        os.mkdir("d" * 200, dir_fd=at)
        below = os.open("d" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(os.open("b.txt", os.O_WRONLY | os.O_CREAT, dir_fd=at))
    os.close(at)
    read_back = read([str(tmp_path)])
    assert len(read_back.turns) == 2
    (entry,) = read_back.skipped
    assert (entry.kind, entry.reason) == ("unreadable", "File name too long")
    assert entry.path.endswith("/" + "d" * 200)


def refused(path: str) -> str:
    with pytest.raises(InputError) as raised:
        read([path])
    return raised.value.message


@pytest.mark.usefixtures("tree")
def test_a_pipe_into_which_nobody_writes_and_a_socket_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.01)
    os.mkfifo("pipe.txt")
    os.mkfifo("pipe.zip")
    assert "pipe.txt: a named pipe into which nobody writes" in refused("pipe.txt")
    assert "pipe.zip: a pipe, a socket or a device, not a file" in refused("pipe.zip")
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind("chat.txt")
        assert "chat.txt: a socket, not a file" in refused("chat.txt")


@pytest.mark.parametrize("path", ["/dev/zero", "/dev/random", "/dev/tty"])
def test_a_device_is_refused_unopened(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if not Path(path).exists():
        pytest.skip("no such device")
    monkeypatch.setattr(Path, "open", None)
    assert f"{path}: a device, not a file" in refused(path)


def test_what_is_no_file_in_a_folder_is_told_and_neither_that_nor_a_pipe_beside_it_opened(tree: Path) -> None:
    os.mkfifo("chats/a/pipe.txt")
    os.mkfifo("chats/a/pipe")
    os.mkfifo("chats/a/pipe.zip")
    told = [entry for entry in found("chats") if isinstance(entry, Skipped)]
    assert [(entry.path, entry.kind) for entry in told] == [
        ("chats/a/pipe.txt", "not_a_file"),
        ("chats/a/pipe.zip", "not_a_file"),
    ]
    os.mkfifo("users.json")
    assert neighbour("chats/a.json", "../users.json", Limits()) is None


@pytest.mark.skipif(not Path("/dev/fd").exists(), reason="pipes have no paths here")
def test_a_pipe_of_the_shell_is_read_however_long_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_PATIENCE", 0.0)
    reader, writer = os.pipe()
    opened, real = threading.Event(), opening.opened
    monkeypatch.setattr(opening, "opened", lambda path: (real(path), opened.set())[0])

    def write() -> None:
        opened.wait()
        os.write(writer, b"Mara: hello\n")
        os.close(writer)

    late = threading.Thread(target=write)
    late.start()
    assert load(f"/dev/fd/{reader}", None, Limits()) == b"Mara: hello\n"
    os.close(reader)
    late.join()
