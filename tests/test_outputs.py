"""Where a user says that something is written, nothing is lost that was there, and no work that was done."""

import contextlib
import errno
import os
import sqlite3
from pathlib import Path

import pytest

from smartsearch.errors import UsageError
from smartsearch.runtime import outputs
from smartsearch.runtime.outputs import Place


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def write(out: Path, *lines: bytes, overwrite: bool = False) -> None:
    with Place(out, overwrite=overwrite).lines() as put:
        for line in lines:
            put(line)


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out.txt"


@pytest.mark.parametrize("there", [b"", None])
def test_a_new_file_gets_its_lines_one_by_one_and_keeps_them_when_it_is_stopped(out, there: bytes | None):
    if there is not None:
        out.write_bytes(there)
    with contextlib.suppress(KeyboardInterrupt), Place(out).lines() as put:
        put(b"=1")
        assert out.read_bytes() == b"=1\n"
        put(b"=2")
        raise KeyboardInterrupt
    assert out.read_bytes() == b"=1\n=2\n"


def test_a_file_that_another_process_writes_to_is_not_written(out: Path):
    first, second = Place(out), Place(out)
    with first.lines() as put:
        with pytest.raises(UsageError, match="another process writes to") as caught, second.lines():
            pass
        put(b"=1")
    assert (caught.value.kind, out.read_bytes()) == ("busy", b"=1\n")


def test_what_another_process_finished_meanwhile_gets_no_line(out: Path):
    first, second = Place(out), Place(out)
    with first.lines() as put:
        put(b"=1")
    with pytest.raises(UsageError, match="is there already"), second.lines() as put:
        put(b"=2")
    assert out.read_bytes() == b"=1\n"


@pytest.mark.parametrize("happened", ["removed", "replaced", "folder"])
@pytest.mark.parametrize("when", ["put", "end"])
def test_a_file_that_is_not_there_any_more_is_told_with_where_its_lines_are(
    tmp_path: Path, happened: str, when: str, monkeypatch
):
    monkeypatch.setattr(outputs.tempfile, "gettempdir", lambda: str(tmp_path))
    (tmp_path / "in").mkdir()
    out = tmp_path / "in" / "out.txt"

    def run() -> None:
        with Place(out).lines() as put:
            put(b"=1")
            out.unlink()
            if happened == "replaced":
                out.write_bytes(b"another's")
            elif happened == "folder":
                out.parent.rmdir()
            if when == "put":
                put(b"=2")

    with pytest.raises(UsageError, match="was removed or replaced while it was written") as caught:
        run()
    (kept,) = tmp_path.rglob("out-*.txt")
    assert (kept.read_bytes(), str(kept) in caught.value.message) == (b"=1\n", True)
    assert not out.exists() or out.read_bytes() == b"another's"


@pytest.mark.parametrize("before", [b"=old\n", b"notes"])
def test_overwriting_puts_the_lines_in_place_at_the_end_alone(out: Path, before: bytes):
    out.write_bytes(before)
    out.chmod(0o640)
    with pytest.raises(UsageError, match="is there already") as caught:
        Place(out)
    assert caught.value.kind == "exists"
    for stop in (True, False):
        with contextlib.suppress(KeyboardInterrupt), Place(out, overwrite=True).lines() as put:
            put(b"=1")
            assert out.read_bytes() == before
            if stop:
                raise KeyboardInterrupt
        assert out.read_bytes() == (before if stop else b"=1\n")
        assert names(out.parent) == ["out.txt"]
    assert out.stat().st_mode & 0o777 == 0o640


def test_a_link_is_followed_and_stays_a_link(out: Path):
    (link := out.with_name("link")).symlink_to(out)
    out.write_bytes(b"notes")
    write(link, b"=1", overwrite=True)
    assert (link.is_symlink(), out.read_bytes()) == (True, b"=1\n")


def test_what_came_to_the_place_meanwhile_is_not_overwritten(out: Path):
    out.write_bytes(b"=old\n")

    def run() -> None:
        with Place(out, overwrite=True).lines() as put:
            put(b"=1")
            out.unlink()
            out.write_bytes(b"another's")

    with pytest.raises(UsageError, match="meanwhile; what was made now is in") as caught:
        run()
    (kept,) = out.parent.glob("out-*.txt")
    assert (out.read_bytes(), kept.read_bytes()) == (b"another's", b"=1\n")
    assert str(kept) in caught.value.message


def test_what_is_no_file_holds_no_work(tmp_path: Path):
    assert outputs.is_stream(Path("/dev/stdout"))
    assert outputs.is_stream(Path("/dev/null"))
    os.mkfifo(pipe := tmp_path / "pipe")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    for overwrite in (False, True):
        write(pipe, b"=1", overwrite=overwrite)
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
    with pytest.raises(UsageError, match=r"out\.txt cannot be written: ") as caught:
        write(out, b"=1")
    assert (caught.value.kind, caught.value.hint.startswith(hint)) == ("output", True)


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
