"""Where a user says that something is written, nothing is lost that was there, and no work that was done."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from smartsearch.errors import InputError, UsageError
from smartsearch.runtime import outputs, private
from smartsearch.runtime.outputs import Lines, Place


def read(lines: Iterable[bytes]) -> list[bytes]:
    """Lines of ours begin with `=`."""
    held = []
    for number, raw in enumerate(lines, start=1):
        if not raw.startswith(b"="):
            raise InputError(f"line {number} is not one")
        held.append(raw)
    return held


def opened(out: Path, **how: bool) -> Lines[list[bytes]]:
    return Lines(out, read, lambda begin: begin.startswith(b"="), **how)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def kind(out: Path, **how: bool) -> str:
    """The kind of the error with which `out` is refused."""
    with pytest.raises(UsageError) as caught, opened(out, **how):
        pass
    return caught.value.kind


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.txt"


def test_a_new_file_gets_its_lines_one_by_one(out: Path):
    with opened(out) as lines:
        lines.put(b"=1")
        assert out.read_bytes() == b"=1\n"
        lines.put(b"=2")
    assert (out.read_bytes(), lines.held) == (b"=1\n=2\n", [])


@pytest.mark.parametrize("there", [b"", None])
def test_what_fails_before_its_first_line_leaves_nothing_that_was_not_there(out: Path, there: bytes | None):
    if there is not None:
        out.write_bytes(there)
    with pytest.raises(ZeroDivisionError), opened(out):
        raise ZeroDivisionError
    assert out.exists() is (there is not None)


@pytest.mark.parametrize(
    "content", [b"=1\n", b"=1\n=2", b"=", b"notes\n", b"notes", b"=1\nnotes", b"=1\nx\n=2\n", b"\0"]
)
@pytest.mark.parametrize("how", [{}, {"resume": True}])
def test_only_what_is_ours_to_the_last_byte_is_gone_on_with(out: Path, content: bytes, how: dict[str, bool]):
    ours = content in (b"=1\n", b"=1\n=2", b"=")
    out.write_bytes(content)
    before = out.stat().st_mtime_ns
    if not (ours and how):
        assert kind(out, **how) == "exists"
        assert (out.read_bytes(), out.stat().st_mtime_ns) == (content, before)
        return
    whole = content[: content.rindex(b"\n") + 1] if b"\n" in content else b""
    with opened(out, resume=True) as lines:
        assert lines.held == whole.splitlines(keepends=True)
        lines.put(b"=3")
    assert out.read_bytes() == whole + b"=3\n"


def test_an_own_file_with_nothing_left_to_do_is_not_touched(out: Path):
    out.write_bytes(b"=1\n")
    before = out.stat()
    with opened(out, resume=True):
        pass
    assert (out.stat().st_mtime_ns, out.stat().st_ino) == (before.st_mtime_ns, before.st_ino)


@pytest.mark.parametrize("how", [{}, {"resume": True}, {"overwrite": True}])
def test_a_file_that_another_process_writes_to_is_not_even_read(out: Path, how: dict[str, bool], monkeypatch):
    with opened(out) as lines:
        lines.put(b"=1")
        with out.open("ab") as torn:
            torn.write(b"=to")
        monkeypatch.setattr(Lines, "_fault", None)
        assert kind(out, **how) == "busy"
        assert out.read_bytes() == b"=1\n=to"
    assert [path.name for path in out.parent.iterdir()] == ["out.txt"]


def test_the_file_is_read_and_cut_under_the_lock_it_keeps(out: Path):
    """What another process wrote before the lock was ours is seen, and after it none can."""
    out.write_bytes(b"=1\n")
    take = Lines._take

    def late(self: Lines[list[bytes]], path: Path) -> None:
        with out.open("ab") as other:
            other.write(b"=2\n=3")
        take(self, path)
        with out.open("ab") as other:
            assert outputs.locked(other.fileno()) is False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Lines, "_take", late)
        with opened(out, resume=True) as lines:
            assert lines.held == [b"=1\n", b"=2\n"]
    assert out.read_bytes() == b"=1\n=2\n"


def test_a_file_put_in_its_place_while_the_lock_was_taken_is_taken_instead(out: Path, monkeypatch):
    out.write_bytes(b"=old\n")
    (fresh := out.with_name("fresh")).write_bytes(b"=new\n")
    lock = private.locked

    def late(descriptor: int) -> bool | None:
        if fresh.exists():
            fresh.replace(out)
        return lock(descriptor)

    monkeypatch.setattr(private, "locked", late)
    with opened(out, resume=True) as lines:
        assert lines.held == [b"=new\n"]


@pytest.mark.parametrize("before", [b"=old\n", b"notes", None])
def test_overwriting_puts_the_lines_in_place_at_the_end_alone(out: Path, before: bytes | None):
    if before is not None:
        out.write_bytes(before)
        out.chmod(0o640)
    with opened(out, overwrite=True) as lines:
        lines.put(b"=1")
        assert (out.read_bytes() if out.exists() else None) == before
    assert out.read_bytes() == b"=1\n"
    assert before is None or out.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in out.parent.iterdir()] == ["out.txt"]


def test_overwriting_that_was_stopped_goes_on_or_begins_anew(out: Path):
    out.write_bytes(b"=old\n")
    for resume, content in ((False, b"=0\n"), (True, b"=0\n=1\n"), (False, b"=2\n")):
        with contextlib.suppress(KeyboardInterrupt), opened(out, overwrite=True, resume=resume) as lines:
            lines.put(b"=%d" % (2 if content == b"=2\n" else resume))
            raise KeyboardInterrupt
        assert lines.held == ([b"=0\n"] if resume else [])
        assert (out.read_bytes(), lines.path.read_bytes()) == (b"=old\n", content)
    lines.path.write_bytes(b"somebody's")
    assert kind(out, overwrite=True) == "exists"
    assert lines.path.read_bytes() == b"somebody's"


def test_a_link_is_followed_and_stays_a_link(out: Path):
    (link := out.with_name("link")).symlink_to(out)
    out.write_bytes(b"notes")
    assert (kind(link), kind(link, resume=True)) == ("exists", "exists")
    with opened(link, overwrite=True) as lines:
        lines.put(b"=1")
    assert (link.is_symlink(), out.read_bytes()) == (True, b"=1\n")


@pytest.mark.parametrize("happened", ["removed", "replaced", "folder"])
@pytest.mark.parametrize("when", ["put", "end"])
def test_a_file_that_is_not_there_any_more_is_told_with_where_its_lines_are(
    tmp_path: Path, happened: str, when: str, monkeypatch
):
    monkeypatch.setattr(outputs.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "in").mkdir()
    out = tmp_path / "in" / "out.txt"

    def run() -> None:
        with opened(out) as lines:
            lines.put(b"=1")
            out.unlink()
            if happened == "replaced":
                out.write_bytes(b"another's")
            elif happened == "folder":
                out.parent.rmdir()
            if when == "put":
                lines.put(b"=2")

    with pytest.raises(UsageError, match="was removed or replaced while it was written") as caught:
        run()
    (kept,) = tmp_path.rglob("out-*.txt")
    assert (kept.read_bytes(), str(kept) in caught.value.message) == (b"=1\n", True)
    assert caught.value.hint == f"--out {kept} --resume"
    assert not out.exists() or out.read_bytes() == b"another's"
    with opened(kept, resume=True) as lines:
        assert lines.held == [b"=1\n"]


@pytest.mark.parametrize("before", [b"=old\n", None])
def test_what_came_to_the_place_meanwhile_is_not_overwritten(out: Path, before: bytes | None):
    if before is not None:
        out.write_bytes(before)

    def run() -> None:
        with opened(out, overwrite=True) as lines:
            lines.put(b"=1")
            out.unlink(missing_ok=True)
            out.write_bytes(b"another's")

    with pytest.raises(UsageError, match="meanwhile; what was made now is in") as caught:
        run()
    (kept,) = out.parent.glob("out-*.txt")
    assert (out.read_bytes(), kept.read_bytes(), str(kept) in caught.value.message) == (
        b"another's",
        b"=1\n",
        True,
    )


def test_what_is_no_file_holds_no_work(tmp_path: Path):
    assert outputs.is_stream(Path("/dev/stdout"))
    assert outputs.is_stream(Path("/dev/null"))
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for how in ({}, {"resume": True}, {"overwrite": True}):
        with opened(pipe, **how) as lines:
            lines.put(b"=1")
        Place(pipe).put(b"=2\n")
        assert os.read(reader, 100) == b"=1\n=2\n"
    os.close(reader)
    assert pipe.is_fifo()
    assert not outputs.is_stream(tmp_path / "new")


@pytest.mark.parametrize(
    ("number", "hint"),
    [
        (errno.EACCES, "a place that you may write to"),
        (errno.EROFS, "a place"),
        (errno.ENOSPC, "room on that"),
    ],
)
def test_what_may_not_be_written_is_an_ordinary_error(out: Path, monkeypatch, number: int, hint: str):
    def refused(*arguments: object) -> int:
        raise OSError(number, os.strerror(number), str(out))

    monkeypatch.setattr(os, "open", refused)
    with pytest.raises(UsageError, match=r"out\.txt cannot be written: ") as caught, opened(out, resume=True):
        pass
    assert (caught.value.kind, caught.value.hint.startswith(hint)) == ("output", True)


def test_inputs_are_known_by_what_they_are(tmp_path: Path):
    (tmp_path / "chats" / "deep").mkdir(parents=True)
    (chat := tmp_path / "chats" / "deep" / "a.txt").write_text("hello")
    (other := tmp_path / "b.txt").write_text("other")
    (hard := tmp_path / "hard.txt").hardlink_to(chat)
    (link := tmp_path / "link").symlink_to(tmp_path / "chats")
    for name in (chat, chat.parent, tmp_path / "chats", link, f"{chat}/inside.json"):
        for same in (chat, hard):
            assert outputs.is_input(same.stat(), ["", "nowhere", str(name)]), name
        assert not outputs.is_input(other.stat(), [str(name)])
    assert outputs.is_input((tmp_path / "chats").stat(), [str(chat)]), "a folder that holds one"
    assert outputs.is_input(chat.parent.stat(), [str(link)])


def test_a_file_is_put_whole_where_nothing_is_or_what_may_go(out: Path):
    Place(out).put(b"one")
    with pytest.raises(UsageError, match="is there already") as caught:
        Place(out)
    assert caught.value.hint == "another --out, or --overwrite"
    with pytest.raises(UsageError, match="is one of the inputs"):
        Place(out, overwrite=True, inputs=[str(out.parent)])
    Place(out, overwrite=True, inputs=["elsewhere"]).put(b"two")
    with pytest.raises(UsageError, match="Is a directory"):
        Place(out.parent, overwrite=True)
    with pytest.raises(UsageError, match="cannot be written: No such file or directory"):
        Place(out.parent / "nowhere" / "out.txt")
    with pytest.raises(UsageError, match="cannot be written: Not a directory"):
        Place(out / "out.txt")
    assert (out.read_bytes(), names(out.parent)) == (b"two", ["out.txt"])
    first, second = (Place(out.with_name("new.txt")) for _ in range(2))
    first.put(b"first")
    with pytest.raises(UsageError, match="what was made now is in"):
        second.put(b"second")
    assert sorted(path.read_bytes() for path in out.parent.glob("new*")) == [b"first", b"second"]


def _marked(folder: Path) -> bool:
    return (folder / "mark").is_file()


def test_a_folder_is_overwritten_only_by_its_kind_and_whole(tmp_path: Path):
    out = tmp_path / "out"
    for content in ("one", "two"):
        with Place(out, overwrite=content == "two", ours=_marked).making() as part:
            (part / "mark").write_text(content)
            assert not out.exists() or (out / "mark").read_text() == "one"
    assert ((out / "mark").read_text(), names(tmp_path)) == ("two", ["out"])
    with pytest.raises(UsageError, match="is there already"):
        Place(out, ours=_marked)
    with pytest.raises(ZeroDivisionError), Place(out, overwrite=True, ours=_marked).making():
        raise ZeroDivisionError
    (out / "mark").rename(out / "notes")
    with pytest.raises(UsageError, match="holds something else, which is not overwritten"):
        Place(out, overwrite=True, ours=_marked)
    with pytest.raises(UsageError, match="Not a directory"):
        Place(out / "notes", overwrite=True, ours=_marked)
    assert (names(out), names(tmp_path)) == (["notes"], ["out"])


def test_a_folder_that_came_meanwhile_stays_and_so_does_the_new_one(tmp_path: Path):
    place = Place(tmp_path / "out", ours=_marked)

    def run() -> None:
        with place.making() as part:
            (part / "mark").write_text("new")
            place.path.mkdir()
            (place.path / "mark").write_text("another's")

    with pytest.raises(UsageError, match="what was made now is in"):
        run()
    marks = {path.parent.name == "out": path.read_text() for path in tmp_path.glob("*/mark")}
    assert marks == {True: "another's", False: "new"}


@pytest.mark.parametrize("folder", [True, False])
def test_what_cannot_be_put_in_its_place_is_kept_beside_it(out: Path, monkeypatch, folder: bool):
    def refused(_place: Place, _made: Path, _found: object) -> bool:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(Place, "_folder" if folder else "_file", refused)

    def made() -> None:
        if not folder:
            Place(out).put(b"new")
        with Place(out, ours=_marked).making() as part:
            (part / "mark").write_text("new")

    with pytest.raises(UsageError, match="cannot be written: Input/output error; what was made now is in"):
        made()
    (kept,) = out.parent.glob("out-*.txt")
    assert (kept / "mark" if folder else kept).read_bytes() == b"new"


@pytest.mark.parametrize(
    "table",
    ["create table entries (name text)", "create table people (name text)", "create view v as select 1"],
)
def test_nothing_is_added_to_a_database_of_something_else(tmp_path: Path, table: str):
    with sqlite3.connect(tmp_path / "it.db") as other:
        other.execute(table)
    before = (tmp_path / "it.db").read_bytes()
    with pytest.raises(sqlite3.DatabaseError, match="a database of something else"):
        outputs.database(tmp_path / "it.db", "entries", "create table if not exists entries (key)", ("key",))
    assert (tmp_path / "it.db").read_bytes() == before


def test_what_only_its_owner_may_read_is_read_by_nobody_while_it_is_replaced(out: Path, monkeypatch):
    out.write_bytes(b"secret")
    out.chmod(0o600)
    place, modes = outputs.Place(out, overwrite=True), []
    settle = outputs.Place.settle

    def seen(place: outputs.Place, made: Path) -> None:
        modes.append(oct(made.stat().st_mode)[-3:])
        settle(place, made)

    monkeypatch.setattr(outputs.Place, "settle", seen)
    place.put(b"new secret")
    assert modes == ["600"]
    assert out.read_bytes() == b"new secret"
