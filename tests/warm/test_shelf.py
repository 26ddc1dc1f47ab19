import os
import time
import zipfile
from pathlib import Path

import pytest

from smartsearch.ask.scope import Scope
from smartsearch.config import Config
from smartsearch.errors import InputError
from smartsearch.serve.warm import shelf
from smartsearch.serve.warm.server import Files
from smartsearch.serve.warm.shelf import Shelf
from smartsearch.transcripts.filters import Filters

HERE = Scope((".",))


@pytest.fixture(autouse=True)
def chats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(shelf, "SETTLED", -1.0)
    (tmp_path / "a.txt").write_text("Ann: hello\nBen: hi there\n", encoding="utf-8")
    return tmp_path


def texts(kept: Shelf, source: Scope = HERE) -> list[str]:
    return [turn.text for turn in kept.haystack(source).corpus.turns]


def test_what_did_not_change_is_not_read_again_and_another_folder_is(chats: Path, monkeypatch):
    kept = Shelf()
    first = kept.haystack(HERE)
    assert kept.haystack(HERE) is first
    (chats / "another").mkdir()
    monkeypatch.chdir(chats / "another")
    (chats / "another" / "b.txt").write_text("Zoe: there\n", encoding="utf-8")
    assert texts(kept) == ["Zoe: there"]


def test_an_archive_is_kept_until_it_changes(chats: Path):
    def packed(said: str) -> None:
        with zipfile.ZipFile(chats / "b.zip", "w") as made:
            made.writestr("b.txt", f"Zoe: {said}\nBen: yes\n")

    packed("in the archive")
    kept, source = Shelf(), Scope(("b.zip",))
    first = kept.haystack(source)
    assert kept.haystack(source) is first
    time.sleep(0.02)
    packed("in another one")
    assert texts(kept, source) == ["in another one", "yes"]


def test_what_is_rewritten_through_a_memory_map_is_read_again(chats: Path, mapped):
    store = mapped(chats / "a.txt")
    store(5, b"H")  # in a page that changed before it is read: without a flush no time would tell
    time.sleep(0.01)
    kept = Shelf()
    assert texts(kept) == ["Hello", "hi there"]
    time.sleep(0.01)
    store(5, b"c")
    assert texts(kept) == ["cello", "hi there"]


def same_size_and_time(path: Path) -> None:
    before = path.stat()
    path.write_text("Ann: HELLO\nBen: hi there\n", encoding="utf-8")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.parametrize(
    ("change", "then"),
    [
        (lambda p: p.write_text("Ann: hello\nBen: hi there\nAnn: more\n"), ["hello", "hi there", "more"]),
        (same_size_and_time, ["HELLO", "hi there"]),
        (lambda p: p.with_name("b.txt").write_text("Zoe: new\n"), ["hello", "hi there", "Zoe: new"]),
        (lambda p: (p.with_name("c.txt").write_text("Zoe: new\n"), p.unlink()), ["Zoe: new"]),
        (lambda p: (p.with_name("d").write_text("Zoe: new\n"), p.with_name("d").replace(p)), ["Zoe: new"]),
    ],
)
def test_a_change_is_noticed(chats: Path, change, then: list[str]):
    kept = Shelf()
    assert texts(kept) == ["hello", "hi there"]
    time.sleep(0.02)  # more than a tick of the file system's clock
    change(chats / "a.txt")
    assert texts(kept) == then


def test_what_changed_just_now_is_not_kept(chats: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(shelf, "SETTLED", 2.0)
    kept = Shelf()
    assert kept.haystack(HERE) is not kept.haystack(HERE)


def test_what_changes_while_it_is_read_is_not_kept(chats: Path, monkeypatch: pytest.MonkeyPatch):
    class Slow(shelf.Library):
        def haystack(self, source: Scope):
            found = super().haystack(source)
            time.sleep(0.02)
            (chats / "a.txt").write_text("Ann: later\n", encoding="utf-8")
            return found

    kept = Shelf()
    with monkeypatch.context() as patched:
        patched.setattr(shelf, "Library", Slow)
        assert texts(kept) == ["hello", "hi there"]
    assert texts(kept) == ["Ann: later"]


def test_the_shelf_holds_so_many_bytes_and_the_last_used_stay(chats: Path):
    for name in "bc":
        (chats / f"{name}.txt").write_text("Zoe: 16 bytes in.\n", encoding="utf-8")
    kept = Shelf(limit=45)
    a, b, c = (Scope((f"{name}.txt",)) for name in "abc")
    first, second = kept.haystack(a), kept.haystack(b)
    assert (kept.haystack(a) is first, kept.haystack(b) is second) == (True, True)
    third = kept.haystack(c)
    assert kept.haystack(b) is second
    assert kept.haystack(c) is third
    assert kept.haystack(a) is not first
    assert Shelf(limit=1).haystack(a).corpus.turns


def test_a_wrong_path_is_the_error_of_reading_and_nothing_is_kept(chats: Path):
    kept = Shelf()
    with pytest.raises(InputError) as caught:
        kept.haystack(Scope(("a.tx",)))
    assert (caught.value.kind, caught.value.hint) == ("path_not_found", "did you mean a.txt?")
    with pytest.raises(InputError) as caught:
        kept.haystack(Scope((".",), Filters(conversation=("none",))))
    assert caught.value.kind == "unknown_conversation"
    assert texts(kept) == ["hello", "hi there"]


def test_models_that_were_replaced_are_noticed(chats: Path):
    (chats / "model").mkdir()
    (chats / "model" / "model.onnx").write_bytes(b"weights")
    files = Files(Config(colbert=str(chats / "model")))
    assert not files.changed()
    (chats / "model" / "model.onnx").write_bytes(b"other weights")
    assert files.changed()
