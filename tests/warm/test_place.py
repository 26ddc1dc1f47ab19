import os
import subprocess
import sys
from pathlib import Path

import pytest

from smartsearch.config import Config
from smartsearch.errors import UsageError
from smartsearch.serve.warm import place


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def test_the_folder_is_private(runtime: Path):
    assert not place.folder().exists()
    folder = place.folder(make=True)
    assert folder == runtime / "smartsearch"
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("runtime_dir", ["", "relative", "/nowhere/at/all"])
def test_without_a_runtime_folder_it_is_among_temporary_files(runtime_dir, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", runtime_dir)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert place.folder(make=True) == tmp_path / f"smartsearch-{os.geteuid()}"


def test_a_folder_that_others_can_use_is_refused(runtime: Path):
    (runtime / "smartsearch").mkdir()
    (runtime / "smartsearch").chmod(0o755)
    with pytest.raises(UsageError, match="only you") as caught:
        place.folder(make=True)
    assert caught.value.kind == place.UNSAFE


def test_a_link_and_a_file_in_its_place_are_refused(runtime: Path):
    (runtime / "elsewhere").mkdir(mode=0o700)
    (runtime / "smartsearch").symlink_to(runtime / "elsewhere")
    with pytest.raises(UsageError, match="only you"):
        place.folder()
    (runtime / "smartsearch").unlink()
    (runtime / "smartsearch").touch(mode=0o600)
    with pytest.raises(UsageError, match=r"only you|exists"):
        place.folder(make=True)


def test_another_users_folder_is_refused(runtime: Path, monkeypatch: pytest.MonkeyPatch):
    place.folder(make=True)
    found = os.stat_result((0o40700, 1, 1, 2, os.geteuid() + 1, 0, 0, 0, 0, 0))
    monkeypatch.setattr(Path, "lstat", lambda self: found)
    with pytest.raises(UsageError, match="only you"):
        place.folder()


def test_a_path_too_long_for_a_socket_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(deep))
    with pytest.raises(UsageError, match="limit is 103") as caught:
        place.place(Config())
    assert "XDG_RUNTIME_DIR" in caught.value.hint


def test_the_name_changes_with_what_changes_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    base = Config(threads=2)
    others = [Config(threads=1), Config(threads=2, profile="paper"), Config(threads=2, colbert="model")]
    names = [place.key(config) for config in (base, *others)]
    (tmp_path / "model").mkdir()  # the same name is a folder of the current folder now
    names.append(place.key(others[-1]))
    monkeypatch.setattr("smartsearch.__version__", "9")
    names.append(place.key(base))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names.append(place.key(base))
    assert len(set(names)) == 7
    monkeypatch.undo()
    assert place.key(Config(threads=2, limit=3, daemon="never")) == names[0]


HOLDER = """
import sys; from pathlib import Path; from smartsearch.serve.warm import place
place.hold(Path(sys.argv[1]), {'pid': 7}); print('held', flush=True); sys.stdin.read()
"""


def holding(lock: Path, **how: object) -> subprocess.Popen[bytes]:
    """A process that holds the lock once it has said so."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    return subprocess.Popen([sys.executable, "-c", HOLDER, str(lock)], **pipes, **how)


def test_a_lock_tells_of_its_holder_as_long_as_that_lives(tmp_path: Path):
    lock = tmp_path / "a.lock"
    assert place.holder(lock) is None
    with holding(lock) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert place.holder(lock) == {"pid": 7}
        assert place.hold(lock, {"pid": 8}) is None
        assert place.holder(lock) == {"pid": 7}
        process.kill()
    assert place.holder(lock) is None


def test_who_starts_another_hands_it_the_lock(tmp_path: Path):
    """So that nobody holds it for no moment, in which a third would start one more."""
    lock = tmp_path / "a.lock"
    held = place.hold(lock, {"pid": None, "version": "long"})
    assert held is not None
    with holding(lock, env=os.environ | {place.LOCK: str(held)}, pass_fds=(held,)) as process:
        os.close(held)
        assert place.holder(lock) is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        assert place.holder(lock) == {"pid": 7}
        assert place.hold(lock, {"pid": 8}) is None
        process.kill()
    assert place.holder(lock) is None
