"""Vectors on disk: what is read is what was put, bit for bit, or nothing, whatever happens to the files."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.errors import CacheError
from smartsearch.rank.cache import vector_files, vector_folder, vector_segment
from smartsearch.rank.cache.vector_files import VectorFiles, key_of
from smartsearch.rank.cache.vector_folder import alone, clear, home, tidy, usage
from smartsearch.rank.cache.vector_segment import Damaged, Segment
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
from smartsearch.rank.cache import vector_files, vector_folder, vector_segment
from smartsearch.rank.cache.vectors import TokenVectors
from tests.rank.tiny import vectors
root, name, rounds = vector_folder.home(), sys.argv[1], int(sys.argv[2])
vector_folder.SMALL = 4
os.fsync = lambda descriptor: None
def long(text):
    some = vectors(text)
    return TokenVectors(np.tile(some.values, (3000, 1)), np.tile(some.scales, 3000))
def write(name, rounds, done=lambda: None, of=vectors):
    files = vector_files.VectorFiles(root, "m", 2**30)
    for n in range(rounds):
        files.put({text: of(text) for text in (f"{name} {n}", f"both {n}")})
        files.flush()
        assert files.get([f"{name} {n}"])
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


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """No waiting for a real disk: what a killed process has written stays, with or without it."""
    monkeypatch.setattr(os, "fsync", lambda descriptor: None)
    yield
    ending.finish()


@pytest.fixture
def files(root):
    return VectorFiles(root, "m", LIMIT)


def written(root: Path) -> list[Path]:
    return sorted(root.glob("*/*.vectors"))


def run(root: Path, program: str, *arguments: str) -> subprocess.Popen:
    here = str(Path(__file__).parents[2])
    env = os.environ | {"PYTHONPATH": here, "XDG_CACHE_HOME": str(root.parents[1])}
    return subprocess.Popen([sys.executable, "-c", WRITER + program, *arguments], env=env)


class TestWhatIsRead:
    TEXTS = ("Mara: hello", "", "café 五月 🐕", "half a pair \ud83d", "x" * 5000)

    def test_it_is_what_was_put_bit_for_bit(self, root, files):
        files.put(of(*self.TEXTS))
        assert same(files.get([*self.TEXTS, "unknown"]), self.TEXTS)
        files.flush()
        other = VectorFiles(root, "m", LIMIT)
        assert same(files.get(self.TEXTS), self.TEXTS)
        assert same(other.get([*self.TEXTS, "unknown"]), self.TEXTS)
        assert VectorFiles(root, "another model", LIMIT).get(self.TEXTS) == {}

    def test_a_key_may_be_any_bytes(self, tmp_path):
        keys = [bytes(16), b"a" * 15 + b"\0", b"a" * 16, b"\xff" * 16, b"\0" * 15 + b"b", b"a" + bytes(15)]
        path = tmp_path / "x.vectors"
        vector_segment.write(path, [(key, vectors(repr(key))) for key in keys])
        segment = Segment(path)
        places = segment.find([*keys, b"z" * 16])
        assert sorted(places[:-1]) == list(range(6))
        assert places[-1] == -1
        found = {repr(key): segment.vectors(place) for key, place in zip(keys, places, strict=False)}
        assert same(found, found)
        assert [key for key, _ in segment.texts()] == keys

    def test_a_text_stands_in_no_file(self, root, files):
        files.put(of("the door code is 4711"))
        files.flush()
        assert all(b"4711" not in path.read_bytes() for path in written(root))

    @given(
        steps=st.lists(
            st.one_of(
                st.tuples(st.just("put"), st.sets(st.integers(0, 30), max_size=8)),
                st.tuples(st.sampled_from(["flush", "tidy", "other", "trim", "clear"]), st.none()),
            ),
            max_size=30,
        )
    )
    def test_any_sequence_of_steps_gives_what_was_put_or_nothing(self, tmp_path_factory, monkeypatch, steps):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("steps")))
        monkeypatch.setattr(vector_folder, "SMALL", 2)
        monkeypatch.setattr(vector_folder, "LARGEST", 4000)
        root = home()
        files, other = VectorFiles(root, "m", LIMIT), VectorFiles(root, "m", LIMIT)
        put: set[str] = set()
        for step, numbers in steps:
            if step == "put":
                files.put(of(*(f"turn {n}" for n in numbers)))
                put |= {f"turn {n}" for n in numbers}
            elif step == "flush":
                files.flush()
            elif step == "other":
                files, other = other, files
            elif root.exists() and step in ("tidy", "trim"):
                tidy(root, root / "m", LIMIT if step == "tidy" else 2000)
            elif step == "clear":
                clear()
            found = files.get([f"turn {n}" for n in range(31)])
            assert same(found, found)
            assert found.keys() <= put
        files.flush()
        other.flush()
        if not {step for step, _ in steps} & {"trim", "clear"}:
            assert same(VectorFiles(root, "m", LIMIT).get(sorted(put)), put)


class TestHowItIsWritten:
    def test_what_is_much_or_old_is_written_at_once(self, root, files, monkeypatch):
        monkeypatch.setattr(vector_files, "FLUSH_BYTES", 1000)
        files.put(of(*(f"turn {n}" for n in range(50))))
        assert len(written(root)) == 1
        monkeypatch.setattr(vector_files, "FLUSH_SECONDS", 0.0)
        files.put(of("new"))
        assert len(written(root)) == 2

    def test_small_files_are_merged_and_nothing_is_lost(self, root, files, monkeypatch):
        monkeypatch.setattr(vector_folder, "LARGEST", 20_000)
        texts = [f"turn {n}" for n in range(300)]
        for n in range(0, 300, 2):
            files.put(of(*texts[n : n + 2]))
            files.flush()
        assert len(written(root)) < 40
        assert max(path.stat().st_size for path in written(root)) <= 20_000
        assert usage().turns == 300
        assert same(files.get(texts), texts)
        assert same(VectorFiles(root, "m", LIMIT).get(texts), texts)

    def test_a_merged_file_is_as_old_as_the_last_use_of_its_parts(self, root, files, monkeypatch):
        monkeypatch.setattr(vector_folder, "SMALL", 1)
        for n in range(2):
            files.put(of(f"turn {n}"))
            vector_segment.write(root / "m" / f"{n}.vectors", [(key_of(f"turn {n}"), vectors(f"turn {n}"))])
            os.utime(root / "m" / f"{n}.vectors", (1000 + n, 1000 + n))
        tidy(root, root / "m", LIMIT)
        (path,) = written(root)
        assert path.stat().st_mtime == 1001

    def test_the_least_used_goes_first_of_whatever_model(self, root):
        texts = [f"turn {n}" for n in range(5)]
        for n, model in enumerate(("old", "m", "m", "m")):
            files = VectorFiles(root, model, LIMIT)
            files.put(of(texts[n]))
            files.flush()
            os.utime(max(written(root), key=lambda path: path.stat().st_mtime), (1000 + n, 1000 + n))
        reader = VectorFiles(root, "m", LIMIT)
        assert same(reader.get([texts[1]]), [texts[1]])  # used: now the youngest
        room = sum(40 + 32 + len(vectors(text).values) * (12 + 4) for text in (texts[1], texts[4]))
        files = VectorFiles(root, "m", room)
        files.put(of(texts[4]))
        files.flush()
        assert same(VectorFiles(root, "m", LIMIT).get(texts), [texts[1], texts[4]])
        assert not (root / "old").exists()

    def test_nobody_else_may_read_it(self, root, files):
        root.parent.mkdir(parents=True, mode=0o755)
        files.put(of("a"))
        files.flush()
        for path in [root.parent, *root.parent.rglob("*")]:
            assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path


class TestSeveralProcesses:
    def test_two_that_write_at_once_lose_nothing(self, root):
        program = "write(name, rounds)"
        processes = [run(root, program, name, "40") for name in ("one", "two")]
        assert [process.wait(timeout=HANG) for process in processes] == [0, 0]
        texts = [f"{name} {n}" for name in ("one", "two", "both") for n in range(40)]
        assert same(VectorFiles(root, "m", LIMIT).get(texts), texts)
        assert len(written(root)) < 20
        assert not list(root.glob("*/*.part"))

    def test_a_killed_one_leaves_what_it_had_written(self, root):
        program = """
random.seed(7)
reader, writer = os.pipe()
for n in range(rounds):
    child = os.fork()
    if not child:
        write(f"{name} {n}", 10**9, lambda: os.write(writer, b"."), long)
    os.read(reader, 1)
    time.sleep(random.uniform(0, 0.02))
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    for path in root.glob("*/*.vectors"):
        vector_segment.Segment(path)
write("last", 3)
"""
        assert run(root, program, "killed", "25").wait(timeout=HANG) == 0
        segments = [Segment(path) for path in written(root)]  # each is whole
        assert len({key for segment in segments for key, _ in segment.texts()}) >= 25 + 3
        files = VectorFiles(root, "m", LIMIT)
        texts = [f"last {n}" for n in range(3)]
        assert same(files.get(texts), texts)
        for part in (stray := list(root.glob("*/*.part"))):
            os.utime(part, (1000, 1000))
        tidy(root, root / "m", LIMIT)
        assert not [part for part in stray if part.exists()]

    def test_a_clock_that_was_set_back_keeps_nothing_for_ever(self, root, files):
        files.put(of("a"))
        files.flush()
        (part := root / "m" / "x.part").touch()
        (segment,) = written(root)
        tidy(root, root / "m", LIMIT)
        assert part.exists(), "an unfinished file of now is left to its writer"
        future = 4e9  # the year 2096
        for path in (part, segment):
            os.utime(path, (future, future))
        tidy(root, root / "m", LIMIT)
        assert not part.exists()
        assert same(VectorFiles(root, "m", LIMIT).get(["a"]), ["a"])
        assert segment.stat().st_mtime < future  # used now, so that it is no longer the last to go

    def test_a_cache_that_is_closed_to_this_user_is_told(self, root, monkeypatch):
        def closed(path):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(Path, "iterdir", closed)
        with pytest.raises(CacheError, match=r"cannot be read: Permission denied"):
            usage()

    def test_whoever_tidies_is_alone_and_a_query_does_not_wait(self, root, files, monkeypatch):
        monkeypatch.setattr(vector_folder, "SMALL", 1)
        files.put(of("a"))
        files.flush()
        with alone(root, wait=False) as first:
            assert first
            asked, flock = [], fcntl.flock

            def at_once(lock: int, how: int) -> None:
                assert how & fcntl.LOCK_NB, "it would wait"
                asked.append(lock)
                flock(lock, how)

            monkeypatch.setattr(fcntl, "flock", at_once)
            for text in "bcd":
                files.put(of(text))
                files.flush()
            assert len(asked) == 3
            assert len(written(root)) == 4
        tidy(root, root / "m", LIMIT)
        assert len(written(root)) == 3

    def test_a_file_that_is_merged_under_a_reader_is_found_again(self, root, files, monkeypatch):
        files.put(of("a"))
        files.flush()
        reader, listed = VectorFiles(root, "m", LIMIT), []
        names = reader._names

        def merged_meanwhile():
            listed.append(found := names())
            if len(listed) == 1:
                (path,) = written(root)
                path.rename(path.with_name("merged.vectors"))
            return found

        monkeypatch.setattr(reader, "_names", merged_meanwhile)
        assert same(reader.get(["a"]), ["a"])


class TestFaults:
    TEXTS = tuple(f"turn {n}" for n in range(6))

    @pytest.fixture
    def path(self, root, files):
        files.put(of(*self.TEXTS))
        files.flush()
        return written(root)[0]

    def test_a_flipped_bit_anywhere_is_found(self, root, path):
        whole = path.read_bytes()
        lost = 0
        for place in [*range(0, 44), *range(44, len(whole), 7)]:
            torn = bytearray(whole)
            torn[place] ^= 1 << place % 8
            path.write_bytes(torn)
            found = VectorFiles(root, "m", LIMIT).get(self.TEXTS)
            assert same(found, found)
            assert len(found) < len(self.TEXTS)
            assert not path.exists()
            lost += 1
        assert lost > 100

    def test_a_torn_file_is_dropped_and_made_anew(self, root, path):
        whole = path.read_bytes()
        for length in [0, 1, 39, 40, 41, 100, len(whole) // 2, len(whole) - 1, len(whole) + 1]:
            path.write_bytes((whole + b"!")[:length])
            files = VectorFiles(root, "m", LIMIT)
            assert files.get(self.TEXTS) == {}
            assert files.note == ""
            assert not path.exists()
            files.put(of(*self.TEXTS))
            files.flush()
            assert same(VectorFiles(root, "m", LIMIT).get(self.TEXTS), self.TEXTS)
            clear()
            files._ready()

    def test_a_damaged_file_does_not_hold_up_merging(self, root, files, path, monkeypatch):
        monkeypatch.setattr(vector_folder, "SMALL", 1)
        with path.open("r+b") as file:
            file.seek(-1, 2)
            file.write(b"\x55")
        for text in "abc":
            files.put(of(text))
            files.flush()
        assert not path.exists()
        assert same(VectorFiles(root, "m", LIMIT).get(list("abc")), list("abc"))

    def test_another_format_version_is_not_read(self, root, path, monkeypatch):
        monkeypatch.setattr(vector_segment, "VERSION", vector_segment.VERSION + 1)
        with pytest.raises(Damaged):
            Segment(path)
        assert VectorFiles(root, "m", LIMIT).get(self.TEXTS) == {}
        assert not path.exists()

    def test_what_is_no_file_is_passed_over(self, root, path):
        os.mkfifo(path.with_name("fifo.vectors"))
        path.with_name("link.vectors").symlink_to(path)
        path.with_name("folder.vectors").mkdir()
        assert same(VectorFiles(root, "m", LIMIT).get(self.TEXTS), self.TEXTS)

    @pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
    def test_a_disk_that_fills_up_is_told_and_leaves_nothing(self, root, files, monkeypatch, number):
        def full(_):
            raise OSError(number, os.strerror(number))

        files.put(of("a"))
        with monkeypatch.context() as patch:
            patch.setattr(vector_segment.os, "fsync", full)
            files.flush()
        assert "no room" in files.note
        assert [path for path in root.rglob("*") if path.is_file()] == []
        files.put(of("b"))
        files.flush()
        assert files.note == ""
        assert same(files.get(["a", "b"]), ["b"])

    def test_a_full_disk_is_told_before_anything_is_written(self, root, files, monkeypatch):
        monkeypatch.setattr(vector_files, "FREE", 2**62)
        files.put(of("a"))
        assert "no room" in files.note
        assert files.get(["a"]) == {}

    @pytest.mark.parametrize("level", [0, 1, 2])
    def test_a_home_that_cannot_be_written_is_passed_over_in_silence(self, root, level):
        blocked = (root.parents[1], root.parent, root)[level]
        blocked.parent.mkdir(parents=True, exist_ok=True)
        blocked.write_text("a file where a folder should be")
        files = VectorFiles(root, "m", LIMIT)
        files.put(of("a"))
        files.flush()
        assert files.get(["a"]) == {}
        assert files.note == ""

    def test_a_cache_that_cannot_be_written_is_still_read(self, root, path, monkeypatch):
        def read_only(*_, **__):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))

        os.utime(path, (1000, 1000))
        for name in ("utime", "chmod", "mkdir", "fsync"):
            monkeypatch.setattr(os, name, read_only)
        files = VectorFiles(root, "m", LIMIT)
        assert same(files.get(self.TEXTS), self.TEXTS)
        files.put(of("new"))
        files.flush()
        assert files.note == ""

    def test_the_folder_of_another_user_is_refused(self, root, path, monkeypatch):
        monkeypatch.setattr(os, "geteuid", lambda: path.stat().st_uid + 1)
        files = VectorFiles(root, "m", LIMIT)
        assert files.get(self.TEXTS) == {}
        files.put(of("a"))
        assert "belongs to another user" in files.note
        for call in (usage, clear):
            with pytest.raises(CacheError, match="another user"):
                call()
        assert path.exists()

    @pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
    def test_a_link_to_or_of_another_user_is_refused(self, root, tmp_path):
        theirs = tmp_path / "theirs"
        theirs.mkdir()
        os.chown(theirs, 12345, 12345)
        root.parent.mkdir(parents=True)
        for link, owner in ((theirs, 0), (tmp_path, 12345)):
            root.symlink_to(link)
            os.chown(root, owner, owner, follow_symlinks=False)
            files = VectorFiles(root, "m", LIMIT)
            files.put(of("a"))
            files.flush()
            assert "belongs to another user" in files.note
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
            files = VectorFiles(root, "m", LIMIT)
            cache = VectorCache(files=files)
            found = cache.fetch(turns, encode)
            assert same(dict(zip(turns, found, strict=True)), turns)
            files.flush()
        assert [text for part in encoded for text in part] == [*chat, "appended"]

    def test_a_search_that_is_stopped_keeps_what_it_had_encoded(self, root):
        files = VectorFiles(root, "m", LIMIT)

        def encode(texts):
            if "turn 200" in texts:
                raise KeyboardInterrupt
            return [vectors(text) for text in texts]

        with pytest.raises(KeyboardInterrupt):
            VectorCache(files=files).fetch([f"turn {n}" for n in range(300)], encode)
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
            assert len({path.parent for path in written(root)}) == models

    def test_the_same_files_that_compute_otherwise_are_another_model(self, tmp_path, root, monkeypatch):
        folder = tiny.onnx_folder(tmp_path / "colbert", "colbert")
        one = OnnxColbert(folder, 1)
        before = one._identity(folder, "model.onnx")
        assert OnnxColbert(folder, 2)._identity(folder, "model.onnx") == before
        run = one._model.run
        monkeypatch.setattr(one._model, "run", lambda rows: [v + np.float32(1e-6) for v in run(rows)])
        assert one._identity(folder, "model.onnx") != before


def test_a_link_to_itself_in_the_cache_is_counted_as_nothing_and_cleared(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = home() / "model"
    folder.mkdir(parents=True)
    link = folder / "loop.vectors"
    link.symlink_to(link)
    assert usage().turns == 0
    clear()
    assert not link.is_symlink()
