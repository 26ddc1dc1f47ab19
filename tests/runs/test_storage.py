"""Where a run's files lie: whole or not at all, by whatever name the place has."""

import errno
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytest.importorskip("fsspec")
from smartsearch.ask.runs import remote
from smartsearch.ask.runs.faults import StorageError, fault
from smartsearch.ask.runs.remote import storage
from smartsearch.ask.runs.storage import shown
from smartsearch.errors import InputError
from smartsearch.runtime import outputs
from smartsearch.runtime.outputs import DAY, is_temporary, temporary


@pytest.fixture(params=["", "file://", "memory://"])
def place(request, tmp_path) -> str:
    """A folder of this machine, and an object store."""
    return f"{request.param}{tmp_path}/run"


def test_what_is_written_is_read_and_what_is_removed_is_gone(place):
    folder = storage(place)
    assert folder.names() == []
    assert not folder.exists("plan.json")
    with pytest.raises(InputError, match=r"/plan\.json: no such file") as caught:
        folder.read("plan.json")
    assert caught.value.kind == "path_not_found"
    folder.write("plan.json", b"{}")
    folder.write("parts/00000002.jsonl", b"two\n")
    folder.write("parts/00000001.jsonl", b"one\n")
    folder.write("parts/00000001.jsonl", b"again\n")
    assert folder.exists("plan.json")
    assert folder.names() == ["plan.json"]
    assert folder.names("parts") == ["parts/00000001.jsonl", "parts/00000002.jsonl"]
    assert folder.read("parts/00000001.jsonl") == b"again\n"
    assert storage(f"{place}/parts/00000001.jsonl").read("") == b"again\n"  # a place may be a file
    with folder.open_read("parts/00000002.jsonl") as file:
        assert list(file) == [b"two\n"]
    for _ in range(2):  # what is removed may be gone already
        folder.remove_folder("parts")
    assert (folder.names(), folder.names("parts")) == (["plan.json"], [])


def test_a_file_shows_when_it_is_whole_and_a_block_that_fails_leaves_the_old_one(place):
    folder = storage(place)
    with folder.writing("answers.jsonl") as out:
        for n in range(3):
            out.write(b"%d\n" % n)
        assert not folder.exists("answers.jsonl")
        assert folder.names() == []  # which sweeps, but not a living writer's
    assert folder.read("answers.jsonl") == b"0\n1\n2\n"

    def half() -> None:
        with folder.writing("answers.jsonl") as out:
            out.write(b"half")
            raise ValueError("the block's own")

    with pytest.raises(ValueError, match="the block's own"):
        half()
    assert folder.read("answers.jsonl") == b"0\n1\n2\n"
    assert folder.names() == ["answers.jsonl"]


def test_what_is_no_object_store_is_read_and_not_written(monkeypatch):
    storage("memory://there").write("a", b"1")
    monkeypatch.setattr(remote, "_OBJECTS", frozenset())
    folder = storage("memory://there")
    assert (folder.read("a"), folder.names()) == (b"1", ["a"])
    with pytest.raises(StorageError, match="no file can be put whole") as caught:
        folder.write("a", b"2")
    assert "object storage" in caught.value.hint
    assert folder.read("a") == b"1"


def test_where_locks_cannot_tell_a_temporary_file_goes_after_a_day(tmp_path, monkeypatch):
    monkeypatch.setattr(outputs, "locked", lambda descriptor: None)
    young, old = (Path(temporary(str(tmp_path / name))) for name in ("young", "old"))
    for path in (young, old):
        path.write_bytes(b"")
    os.utime(old, (0, time.time() - DAY - 60))
    assert storage(str(tmp_path)).names() == []
    assert list(tmp_path.iterdir()) == [young]


@pytest.mark.parametrize("name", ["../plan.json", "/etc/passwd", "a//b", "a/./b", "a\0b"])
def test_a_name_that_leaves_the_folder_is_refused(place, name):
    folder = storage(place)
    for method in (folder.read, folder.exists, folder.names, folder.remove_folder):
        with pytest.raises(StorageError, match="is no name of a file"):
            method(name)
    with pytest.raises(StorageError, match="is no name of a file"):
        folder.write(name, b"")


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("runs/one", "runs/one"),
        ("s3://bucket/run/?region=eu-west-1&scheme=http", "s3://bucket/run"),
        ("s3://KEY:S3cret@bucket/run", "s3://KEY@bucket/run"),
        ("hdfs://host:9000/run@night", "hdfs://host:9000/run@night"),
        ("abfs://chats@account.dfs.core.windows.net/a", "abfs://chats@account.dfs.core.windows.net/a"),
    ],
)
def test_no_password_and_no_query_is_shown_and_a_space_may_be_typed_or_escaped(place, said, tmp_path):
    assert shown(place) == said
    for name in ("my run", "my%20run"):
        storage(f"file://{tmp_path}/{name}").write(name[-3:], b"")
    assert [path.name for path in tmp_path.iterdir()] == ["my run"]


def test_object_storage_is_not_imported_for_a_local_run(tmp_path):
    program = f"""
        import sys
        from smartsearch.ask.runs.remote import storage
        folder = storage({str(tmp_path)!r})
        folder.write("a", b"1")
        folder.names(), folder.read("a")
        assert not {{"pyarrow", "fsspec"}} & sys.modules.keys()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True)


@pytest.mark.parametrize(
    ("place", "kind", "message", "hint"),
    [
        ("nope://there/run", "package", "nothing here can open nope://", "a local path"),
        ("oss://bucket/run", "package", "needs a package", "pip install ossfs"),
        ("abfs://chats@account.dfs.core.windows.net/run", "package", "needs a package", "pip install adlfs"),
        ("smb://host/run", "package", "needs a package", "smbprotocol"),
        ("s3://bucket/run?region=eu-west-1", "output", "holds no options", "AWS_ENDPOINT_URL"),
        ("s3://K:S3cret@bucket/run", "output", "s3://K@bucket/run: a URI holds no", "AWS_ACCESS_KEY_ID"),
    ],
)
def test_a_place_that_cannot_be_opened_says_what_it_takes(place, kind, message, hint):
    with pytest.raises(StorageError, match=message) as caught:
        storage(place)
    assert caught.value.kind == kind
    assert hint in caught.value.hint
    assert "S3cret" not in caught.value.message


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ("The specified bucket does not exist", "no_bucket", False),
        (errno.EBUSY, "unreachable", True),  # as S3 is told to be asked more slowly
        ("The provided token has expired.", "credentials", False),
        ("Unable to locate credentials", "credentials", False),
        ("google::cloud::Status(PERMISSION_DENIED: caller lacks storage.objects.get)", "denied", False),
        ("HDFS create failed: org.apache.hadoop DSQuotaExceededException", "disk_full", True),
        ("AWS Error UNKNOWN (HTTP status 507): XMinioStorageFull", "disk_full", True),
        ("Unable to load libjvm", "package", False),
        ("something else", "output", False),
        (errno.EACCES, "denied", False),
        (errno.ENOSPC, "disk_full", True),
        (errno.ENOTDIR, "output", False),
    ],
)
def test_what_a_service_or_the_system_says_becomes_a_kind(error, kind, retryable):
    raised = OSError(error, os.strerror(error)) if isinstance(error, int) else OSError(error)
    told = fault(raised, "gs://bucket/run/a")
    assert (told.kind, told.retryable) == (kind, retryable)
    assert told.message.startswith("gs://bucket/run/a: ")


WRITER = """
    import os, pathlib, signal, sys
    from smartsearch.ask.runs.storage import Local
    folder = Local(sys.argv[1])
    folder.write("part", b"old" * 200_000)
    killed = lambda *arguments: os.kill(os.getpid(), signal.SIGKILL)
    setattr(os if sys.argv[2] == "fsync" else pathlib.Path, sys.argv[2], killed)
    folder.write("part", b"new" * 200_000)
"""


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_writer_killed_before_a_step_leaves_a_whole_file(tmp_path, step):
    program = [sys.executable, "-c", textwrap.dedent(WRITER), str(tmp_path), step]
    assert subprocess.run(program).returncode == -signal.SIGKILL
    assert (tmp_path / "part").read_bytes() == b"old" * 200_000
    assert sum(is_temporary(path.name) for path in tmp_path.iterdir()) == 1
    assert storage(str(tmp_path)).names() == ["part"]
    assert [path.name for path in tmp_path.iterdir()] == ["part"]


def test_a_full_disk_leaves_the_old_file_and_nothing_else(tiny_disk):
    folder = storage(str(tiny_disk))
    folder.write("part", b"old" * 1000)
    with pytest.raises(StorageError, match="part: no space left") as caught:
        folder.write("part", b"x" * 400_000)
    assert caught.value.kind == "disk_full"
    assert caught.value.retryable
    assert [path.name for path in tiny_disk.iterdir()] == ["part"]
    assert folder.read("part") == b"old" * 1000
    folder.write("part", b"new")  # there is room again
    assert folder.read("part") == b"new"
