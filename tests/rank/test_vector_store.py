"""Vectors on disk: what is read is what was put, bit for bit, or nothing, whatever happens to the file."""

import contextlib
import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from smartsearch.errors import CacheError
from smartsearch.rank.cache import vector_store
from smartsearch.rank.cache.vector_store import VectorStore, clear, home, path_in, usage
from smartsearch.rank.cache.vectors import TokenVectors
from smartsearch.rank.colbert import OnnxColbert, VectorCache
from smartsearch.runtime import ending
from tests.rank import tiny
from tests.rank.tiny import vectors
from tests.waiting import HANG

LIMIT = 2**30
WRITER = """
import os, random, signal, sys, time
import numpy as np
from smartsearch.rank.cache import vector_store
from smartsearch.rank.cache.vectors import TokenVectors
from tests.rank.tiny import vectors
vector_store.WAIT = 60
def long(text):
    some = vectors(text)
    return TokenVectors(np.tile(some.values, (3000, 1)), np.tile(some.scales, 3000))
def write(name, rounds, done=lambda: None, of=vectors):
    store = vector_store.VectorStore(vector_store.home(), "m", 2**30)
    for n in range(rounds):
        store.put({text: of(text) for text in (f"{name} {n}", f"both {n}")})
        store.flush()
        assert store.get([f"{name} {n}"])
        done()
"""


def of(*texts: str) -> dict[str, TokenVectors]:
    return {text: vectors(text) for text in texts}


def same(found: dict[str, TokenVectors], texts) -> bool:
    """Whether exactly these texts were found, each bit for bit as it was put."""
    return found.keys() == set(texts) and all(
        found[text].values.tobytes() == vectors(text).values.tobytes()
        and found[text].scales.tobytes() == vectors(text).scales.tobytes()
        and found[text].values.shape == vectors(text).values.shape
        for text in texts
    )


@pytest.fixture
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return home()


def with_pragma(setting: str):
    """What opens the store from now on, with this set."""
    connect = vector_store._connect

    def connected(path: Path) -> sqlite3.Connection:
        database = connect(path)
        database.execute(f"PRAGMA {setting}")
        return database

    return connected


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """No waiting for a real disk: what a killed process has written stays, with or without it."""
    monkeypatch.setattr(vector_store, "_connect", with_pragma("synchronous = OFF"))
    yield
    ending.finish()


@pytest.fixture
def store(root):
    return VectorStore(root, "m", LIMIT)


def keep(store: VectorStore, *texts: str) -> None:
    """Put the vectors of these texts, and have them written."""
    store.put(of(*texts))
    store.flush()


def kept(root: Path, texts, model: str = "m") -> dict[str, TokenVectors]:
    """What a new process of that model finds."""
    return VectorStore(root, model, LIMIT).get(texts)


def opened(root: Path) -> contextlib.closing[sqlite3.Connection]:
    return contextlib.closing(sqlite3.connect(path_in(root), isolation_level=None))


def run(root: Path, program: str, *arguments: str) -> subprocess.Popen:
    here = str(Path(__file__).parents[2])
    env = os.environ | {"PYTHONPATH": here, "XDG_CACHE_HOME": str(root.parents[1])}
    return subprocess.Popen([sys.executable, "-c", WRITER + program, *arguments], env=env)


class TestWhatIsRead:
    TEXTS = ("Mara: hello", "", "café 五月 🐕", "half a pair \ud83d", "x" * 5000)

    def test_it_is_what_was_put_bit_for_bit(self, root, store):
        store.put(of(*self.TEXTS))
        assert same(store.get([*self.TEXTS, "unknown"]), self.TEXTS)
        store.flush()
        other = VectorStore(root, "m", LIMIT)
        assert same(store.get(self.TEXTS), self.TEXTS)
        assert same(other.get([*self.TEXTS, "unknown"]), self.TEXTS)
        assert kept(root, self.TEXTS, "another model") == {}

    def test_a_text_stands_in_no_file(self, root, store):
        keep(store, "the door code is 4711")
        assert all(b"4711" not in path.read_bytes() for path in root.rglob("*") if path.is_file())

    @given(
        steps=st.lists(
            st.one_of(
                st.tuples(st.just("put"), st.sets(st.integers(0, 30), max_size=8)),
                st.tuples(st.sampled_from(["flush", "other", "trim", "clear"]), st.none()),
            ),
            max_size=12,
        )
    )
    @settings(max_examples=15)
    def test_any_sequence_of_steps_gives_what_was_put_or_nothing(self, tmp_path_factory, monkeypatch, steps):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("steps")))
        root = home()
        store, other = VectorStore(root, "m", LIMIT), VectorStore(root, "m", LIMIT)
        put: set[str] = set()
        for step, numbers in steps:
            if step == "put":
                store.put(of(*(f"turn {n}" for n in numbers)))
                put |= {f"turn {n}" for n in numbers}
            elif step == "flush":
                store.flush()
            elif step == "other":
                store, other = other, store
            elif step == "trim":
                VectorStore(root, "m", 2000).put(of("turn 0"))
                ending.finish()
                put.add("turn 0")
            else:
                clear()
            found = store.get([f"turn {n}" for n in range(31)])
            assert same(found, found)
            assert found.keys() <= put
        store.flush()
        other.flush()
        if not {step for step, _ in steps} & {"trim", "clear"}:
            assert same(kept(root, sorted(put)), put)


class TestHowItIsWritten:
    def test_what_is_much_or_old_is_written_at_once(self, store, monkeypatch):
        monkeypatch.setattr(vector_store, "FLUSH_BYTES", 1000)
        store.put(of(*(f"turn {n}" for n in range(50))))
        assert usage().turns == 50
        store.put(of("held back"))
        assert usage().turns == 50
        monkeypatch.setattr(vector_store, "FLUSH_SECONDS", 0.0)
        store.put(of("new"))
        assert usage().turns == 52

    def test_the_least_used_goes_first_of_whatever_model(self, root):
        big = TokenVectors(np.ones((3000, 12), np.int8), np.ones(3000, np.float32))
        for text, model in (("a", "old"), ("b", "m"), ("c", "m"), ("d", "m")):
            store = VectorStore(root, model, LIMIT)
            store.put({text: big})
            store.flush()
        with opened(root) as database:
            database.execute("UPDATE batches SET used = 1000 + id")
        assert kept(root, ["b"])  # used: now the youngest
        before = usage().bytes
        store = VectorStore(root, "m", 7 * big.nbytes // 2)
        store.put({"e": big})
        store.flush()
        assert kept(root, "abcde").keys() == {"b", "e"}
        assert kept(root, "a", "old") == {}
        assert usage().bytes < before

    def test_a_clock_that_was_set_back_keeps_nothing_for_ever(self, root, store):
        keep(store, "a")
        with opened(root) as database:
            database.execute("UPDATE batches SET used = 4e9")  # the year 2096
        assert same(kept(root, ["a"]), ["a"])
        with opened(root) as database:
            assert database.execute("SELECT used FROM batches").fetchone()[0] < 4e9

    def test_nobody_else_may_read_it(self, root, store):
        root.parent.mkdir(parents=True, mode=0o755)
        keep(store, "a")
        with opened(root) as database:
            database.execute("BEGIN IMMEDIATE")  # with what SQLite keeps beside it
            for path in [root.parent, *root.parent.rglob("*")]:
                assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


class TestSeveralProcesses:
    @pytest.mark.process
    def test_two_that_write_at_once_lose_nothing(self, root):
        program = "write(sys.argv[1], 40)"
        processes = [run(root, program, name) for name in ("one", "two")]
        assert [process.wait(timeout=HANG) for process in processes] == [0, 0]
        texts = [f"{name} {n}" for name in ("one", "two", "both") for n in range(40)]
        assert same(kept(root, texts), texts)

    @pytest.mark.process
    def test_a_killed_one_leaves_what_it_had_written(self, root):
        program = """
random.seed(7)
reader, writer = os.pipe()
for n in range(25):
    child = os.fork()
    if not child:
        write(f"killed {n}", 10**9, lambda: os.write(writer, b"."), long)
    os.read(reader, 1)
    time.sleep(random.uniform(0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
write("last", 3)
"""
        assert run(root, program).wait(timeout=HANG) == 0
        texts = [f"last {n}" for n in range(3)]
        assert same(kept(root, texts), texts)
        with opened(root) as database:
            assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            assert database.execute("SELECT count(*) FROM batches").fetchone()[0] >= 25 + 3

    def test_a_reader_does_not_wait_for_a_writer(self, root, store):
        keep(store, "a")
        with opened(root) as database:
            database.execute("UPDATE batches SET used = 0")
            database.execute("BEGIN IMMEDIATE")
            database.execute("DELETE FROM vectors")
            assert same(kept(root, ["a"]), ["a"])

    def test_one_made_meanwhile_is_kept(self, root, store):
        keep(store, "a")
        path_in(root).with_suffix(".part").write_text("of a process that was killed")
        vector_store._make(path_in(root))
        assert same(store.get(["a"]), ["a"])
        clear()
        keep(store, "b")
        assert same(store.get(["a", "b"]), ["b"])


class TestFaults:
    TEXTS = tuple(f"turn {n}" for n in range(6))

    @pytest.fixture
    def path(self, root, store):
        keep(store, *self.TEXTS)
        return path_in(root)

    def test_no_flipped_bit_gives_other_vectors(self, root, path):
        whole, lost = path.read_bytes(), 0
        for place in [*range(100), *np.flatnonzero(np.frombuffer(whole, np.uint8))[100::29].tolist()]:
            torn = bytearray(whole)
            torn[place] ^= 1 << place % 8
            path.write_bytes(torn)
            found = kept(root, self.TEXTS)
            assert same(found, found)
            lost += len(found) < len(self.TEXTS)
        assert lost > 30

    def test_a_torn_file_is_dropped_and_made_anew(self, root, path):
        whole = path.read_bytes()
        for length in [0, 1, 99, 100, 1000, 8192, len(whole) // 2, len(whole) - 8192]:
            path.write_bytes(whole[:length])
            store = VectorStore(root, "m", LIMIT)
            found = store.get(self.TEXTS)
            assert same(found, found)
            assert store.note == ""
            keep(store, *self.TEXTS)
            store.put(of(*self.TEXTS))  # what the first write found out
            store.flush()
            assert same(kept(root, self.TEXTS), self.TEXTS)

    @pytest.mark.parametrize("change", ["DROP TABLE vectors", "UPDATE vectors SET dim = 'x', block = NULL"])
    def test_what_was_not_written_here_is_not_read(self, root, path, change):
        with opened(root) as database:
            database.execute(change)
        assert kept(root, self.TEXTS) == {}
        assert not path.exists()

    def test_what_is_no_file_is_passed_over(self, root, path, tmp_path):
        path.rename(tmp_path / "elsewhere")
        for make in (os.mkfifo, os.mkdir, lambda at: at.symlink_to(tmp_path / "elsewhere")):
            make(path)
            store = VectorStore(root, "m", LIMIT)
            keep(store, "a")
            assert store.get(self.TEXTS) == {}
            assert usage().turns == 0
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()

    def test_a_disk_that_fills_up_is_told_and_leaves_nothing(self, store, path, monkeypatch):
        big = TokenVectors(np.ones((9000, 12), np.int8), np.ones(9000, np.float32))
        with monkeypatch.context() as patch:
            patch.setattr(vector_store, "_connect", with_pragma("max_page_count = 1"))
            store.put({"a": big})
            store.flush()
        assert "no room" in store.note
        assert same(store.get(["a", *self.TEXTS]), self.TEXTS)
        keep(store, "b")
        assert store.note == ""
        assert same(store.get(["a", "b"]), ["b"])
        monkeypatch.setattr(vector_store, "FREE", 2**62)  # told before anything is written
        store.put(of("c"))
        assert "no room" in store.note
        assert store.get(["c"]) == {}

    @pytest.mark.parametrize("level", [0, 1, 2, 3])
    def test_a_home_that_cannot_be_written_is_passed_over_in_silence(self, root, level):
        blocked = (root.parents[1], root.parent, root, root / "store")[level]
        blocked.parent.mkdir(parents=True, exist_ok=True)
        blocked.write_text("a file where a folder should be")
        store = VectorStore(root, "m", LIMIT)
        keep(store, "a")
        assert store.get(["a"]) == {}
        assert store.note == ""

    def test_a_cache_that_cannot_be_written_is_still_read(self, root, path, monkeypatch):
        with opened(root) as database:
            database.execute("UPDATE batches SET used = 0")
        monkeypatch.setattr(os, "access", lambda *_: False)
        store = VectorStore(root, "m", LIMIT)
        assert same(store.get(self.TEXTS), self.TEXTS)
        keep(store, "new")
        assert store.note == ""
        assert path.exists()

    def test_the_folder_of_another_user_is_refused_and_one_closed_to_this_user_told(
        self, root, path, monkeypatch
    ):
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        store = VectorStore(root, "m", LIMIT)
        assert store.get(self.TEXTS) == {}
        store.put(of("a"))
        assert "belongs to another user" in store.note
        assert path.exists()
        monkeypatch.undo()

        def closed(path):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setenv("XDG_CACHE_HOME", str(root.parents[1]))
        monkeypatch.setattr(vector_store, "_connect", closed)
        with pytest.raises(CacheError, match=r"cannot be read: Permission denied"):
            usage()

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
    def test_a_link_to_or_of_another_user_is_refused(self, root, tmp_path):
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        os.chown(theirs, 12345, 12345)
        root.parent.mkdir(parents=True)
        for link, owner in ((theirs, 0), (tmp_path, 12345)):
            root.symlink_to(link)
            os.chown(root, owner, owner, follow_symlinks=False)
            store = VectorStore(root, "m", LIMIT)
            keep(store, "a")
            assert "belongs to another user" in store.note
            root.unlink()
        assert list(theirs.iterdir()) == []


class TestBehindTheMemory:
    def test_appended_turns_cost_only_themselves(self, root):
        encoded: list[list[str]] = []

        def encode(texts):
            encoded.append(list(texts))
            return [vectors(text) for text in texts]

        chat = [f"turn {n}" for n in range(300)]
        for turns in (chat, [*chat, "appended", "turn 3"], chat):
            store = VectorStore(root, "m", LIMIT)
            cache = VectorCache(files=store)
            found = cache.fetch(turns, encode)
            assert same(dict(zip(turns, found, strict=True)), turns)
            store.flush()
        assert [text for part in encoded for text in part] == [*chat, "appended"]

    def test_a_search_that_is_stopped_keeps_what_it_had_encoded(self, root):
        store = VectorStore(root, "m", LIMIT)

        def encode(texts):
            if "turn 200" in texts:
                raise KeyboardInterrupt
            return [vectors(text) for text in texts]

        with pytest.raises(KeyboardInterrupt):
            VectorCache(files=store).fetch([f"turn {n}" for n in range(300)], encode)
        ending.finish()
        assert usage().turns == 128

    def test_cold_warm_and_without_are_the_same_to_the_last_bit(self, tmp_path, root, monkeypatch):
        folder = tiny.onnx_folder(tmp_path / "colbert", "colbert")
        texts = ["mara : the dog", "rain", "dog dog garden", ""]
        plain = OnnxColbert(folder, 1)("mara dog ?", texts).tolist()
        cold = OnnxColbert(folder, 1, cache=root, limit=LIMIT)
        assert cold("mara dog ?", texts).tolist() == plain
        ending.finish()
        warm = OnnxColbert(folder, 1, cache=root, limit=LIMIT)
        monkeypatch.setattr(warm, "_encoded", lambda texts: pytest.fail("encoded again"))
        assert warm("mara dog ?", texts).tolist() == plain

    def test_another_model_has_other_vectors(self, tmp_path, root):
        folder = tiny.onnx_folder(tmp_path / "colbert", "colbert")
        config, tokenizer = folder / "config.json", folder / "tokenizer.json"
        changes = (
            lambda: config.write_text(config.read_text().replace("16", "15")),
            lambda: tokenizer.write_text(tokenizer.read_text() + "\n"),
        )
        for models, change in enumerate((lambda: None, *changes), 1):
            change()
            for _ in range(2):
                OnnxColbert(folder, 1, cache=root, limit=LIMIT)("dog", ["rain"])
                ending.finish()
            assert usage().models == models

    def test_the_same_files_that_compute_otherwise_are_another_model(self, tmp_path, root, monkeypatch):
        folder = tiny.onnx_folder(tmp_path / "colbert", "colbert")
        one = OnnxColbert(folder, 1)
        before = one._identity(folder, "model.onnx")
        assert OnnxColbert(folder, 2)._identity(folder, "model.onnx") == before
        run = one._model.run
        monkeypatch.setattr(one._model, "run", lambda rows: [v + np.float32(1e-6) for v in run(rows)])
        assert one._identity(folder, "model.onnx") != before
