"""The faults on any engine: each function injects one and has the same command complete the run.

It gives back how the fault was injected, in words, with what is random told as it came.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .bench import Ended, NotHere, Trial, expect, read_answers, spaced
from .poison import GROUP

BOTH = ("local", "ray")
LOCAL = ("local",)
ONLY = {"nothing_read": 1}
KILLS = 5


@dataclass(frozen=True)
class Fault:
    """A row of the table: what is done, on which engines, with which questions, and what is to fail of it."""

    name: str
    inject: Callable[[Trial], str]
    engines: Sequence[str] = BOTH
    poison: str = ""  # the text of a file beside small chats; without, LoCoMo's questions are asked
    question: str = ""  # the text of a poisoned question about small chats
    loader: str = ""
    fails: dict[str, int] = field(default_factory=dict)


FAULTS: list[Fault] = []


def fault(name: str, **facts: object) -> Callable[[Callable[[Trial], str]], Callable[[Trial], str]]:
    """Lists the function under `FAULTS`."""

    def listed(inject: Callable[[Trial], str]) -> Callable[[Trial], str]:
        FAULTS.append(Fault(name, inject, **facts))  # type: ignore[arg-type]
        return inject

    return listed


@fault("none")
def undisturbed(trial: Trial) -> str:
    trial.complete()
    return "nothing: the reference of the rows below"


@fault("a worker process is killed")
def worker_killed(trial: Trial) -> str:
    process = trial.start()
    trial.until(lambda: trial.parts, process)
    killed: list[int] = []
    began, moments = time.monotonic(), []
    while len(killed) < KILLS:
        trial.pause(0.1, 1.5)
        fresh = [pid for pid in trial.workers if pid not in killed]
        if process.poll() is not None:
            break
        if fresh:
            os.kill(fresh[0], signal.SIGKILL)
            killed.append(fresh[0])
            moments.append(time.monotonic() - began)
    ended = trial.end(process)
    expect(ended.code == 0, f"{ended}")
    expect(len(killed) >= 2, "the run was over before two workers were killed")
    return f"SIGKILL to {len(killed)} workers, {spaced(moments)} s after the first answers"


@fault("a worker process freezes", engines=LOCAL)
def worker_frozen(trial: Trial) -> str:
    trial.more += ["--stall", "3"]
    process = trial.start()
    trial.until(lambda: trial.parts, process)
    os.kill(trial.workers[0], signal.SIGSTOP)
    ended = trial.end(process)
    expect(ended.code == 0, f"{ended}")
    expect(trial.deaths == 1, f"{trial.deaths} workers were replaced, not 1")
    return "SIGSTOP to a worker, `--stall 3`"


@fault("the coordinator is killed")
def coordinator_killed(trial: Trial) -> str:
    moments, done = [], []
    for _ in range(KILLS if "local" in trial.engine else 3):
        process = trial.start()
        moments.append(trial.pause(0.3, max(3.0, trial.seconds / 2)))
        over = process.poll() is not None
        process.kill()
        trial.end(process)
        if over:
            break
        trial.gone()
        done.append(trial.done)
    trial.complete()
    return f"SIGKILL {spaced(moments)} s after the start; {_list(done)} records were on the disk"


@fault("the coordinator is killed as it writes the answers", engines=LOCAL)
def coordinator_killed_at_the_end(trial: Trial) -> str:
    process = trial.start()
    trial.until(lambda: list(trial.out.glob(".answers-*.tmp")), process)
    process.kill()
    trial.end(process)
    expect(not list(trial.out.glob("answers-*")), "the answers were written already")
    left = len(list(trial.out.glob(".answers-*.tmp")))
    trial.gone()
    trial.complete()
    expect(not list(trial.out.glob(".*.tmp")), "the torn file is still there")
    return f"SIGKILL when the temporary file of the answers appeared ({left} was left)"


@fault("Ctrl-C and SIGTERM")
def stopped(trial: Trial) -> str:
    moments, codes, told = [], [], 0
    for sent in (signal.SIGINT, signal.SIGTERM) * (2 if "local" in trial.engine else 1):
        process = trial.start()
        trial.until(lambda: list(trial.out.glob(".lock-*")), process)
        moments.append(trial.pause(0.1, max(4.0, trial.seconds / 2)))
        ended = trial.end(process, sent, 60)
        codes.append(ended.code)
        if ended.code == 0:
            break
        expect(ended.code == 130 and "Traceback" not in ended.said, f"{ended}")
        told += "the same command goes on" in ended.said  # not before the work has begun
        trial.gone()
    expect(told, "no signal came while it worked")
    trial.complete()
    return f"SIGINT and SIGTERM in turn, {spaced(moments)} s after the start; exit codes {_list(codes)}"


@fault("the disk is full")
def disk_full(trial: Trial) -> str:
    size = sum(path.stat().st_size for path in (trial.out.parent / "reference").iterdir())
    if os.geteuid():
        return _file_size(trial, size // 100)
    said = []
    with _small_disk(trial.out, size // 3) as grow:
        _full(trial.run())
        said.append(trial.done)
        trial.gone()
        grow(size * 3 // 2)  # room for the parts, and not for the answers beside them
        _full(trial.run())
        said.append(trial.done)
        grow(size * 4)
        trial.complete()
    return (
        f"a tmpfs of {size / 3e6:.1f} MB ({said[0]} records fitted), then of {size * 1.5e-6:.1f} MB "
        f"({said[1]}, but not the answers file beside the parts), then of {size * 4e-6:.0f} MB"
    )


def _full(ended: Ended) -> None:
    expect(ended.code == 2 and "no space left" in ended.said.lower(), f"{ended}")
    expect("Traceback" not in ended.said, ended.said)


@contextmanager
def _small_disk(folder: Path, size: int) -> Iterator[Callable[[int], object]]:
    """A file system of `size` bytes at `folder`; what is in it at the end stays in a plain folder."""
    folder.mkdir()
    if _mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)):
        raise NotHere("no tmpfs can be mounted")
    try:
        yield lambda more: expect(not _mount("-o", f"remount,size={more}", str(folder)), "no remount")
        shutil.copytree(folder, folder.with_name(f"{folder.name}-kept"))
    finally:
        subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()
    folder.with_name(f"{folder.name}-kept").rename(folder)


def _mount(*words: str) -> int:
    return subprocess.run(["mount", *words], check=False).returncode


def _file_size(trial: Trial, size: int) -> str:
    """Without root's rights: a limit on the size of a file, which the answers meet."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    ended = trial.run(preexec_fn=limit)
    expect(ended.code == 2 and "File too large" in ended.said, f"{ended}")
    trial.complete()
    return f"RLIMIT_FSIZE of {size} bytes (a small disk needs root), then none"


@fault("the disk is full of files", engines=LOCAL)
def no_inodes(trial: Trial) -> str:
    if os.geteuid():
        raise NotHere("a small disk needs root")
    with _small_disk(trial.out, 64 << 20) as _:
        expect(not _mount("-o", "remount,nr_inodes=3", str(trial.out)), "no remount")
        for name in ("a", "b"):
            (trial.out / name).touch()
        _full(trial.run())
        trial.gone()
        (trial.out / "a").unlink()
        (trial.out / "b").unlink()
        _full(trial.run())
        expect(not _mount("-o", "remount,nr_inodes=1000", str(trial.out)), "no remount")
        trial.complete()
    return "a tmpfs without a free inode, then with two, then with enough"


@fault("a transcript crashes its reader", poison="POISON that crashes", loader="poisoned", fails=ONLY)
def file_crashes(trial: Trial) -> str:
    trial.complete(2)
    expect(trial.deaths >= 3, f"only {trial.deaths} workers were replaced")
    return f"reading 1 of 7 files reads address 0 (SIGSEGV); {trial.deaths} workers were replaced"


@fault("a transcript hangs its reader", poison="POISON that hangs", loader="poisoned", fails=ONLY)
def file_hangs(trial: Trial) -> str:
    trial.more += ["--stall", "3"]
    trial.complete(2)
    expect(trial.deaths >= 3, f"only {trial.deaths} workers were replaced")
    return (
        "reading 1 of 7 files waits for ever in native code that holds the interpreter's lock, `--stall 3`; "
        f"{trial.deaths} workers were replaced"
    )


@fault("a transcript eats memory", poison="POISON that eats memory", loader="poisoned", fails=ONLY)
def file_grows(trial: Trial) -> str:
    limit = 600_000_000
    with _memory_group(trial, limit) as killed:
        trial.complete(2)
        ends = killed()
    expect(trial.deaths >= 3, f"only {trial.deaths} workers were replaced")
    return (
        f"reading 1 of 7 files takes memory until the kernel kills: a cgroup of {limit // 10**6} MB, "
        f"{ends or 'some'} kills, {trial.deaths} workers were replaced"
    )


@contextmanager
def _memory_group(trial: Trial, limit: int) -> Iterator[Callable[[], int]]:
    """A memory cgroup the workers of the trial go to; tells how often the kernel killed in it."""
    root = Path("/sys/fs/cgroup")
    old = root / "memory"
    group = (old if old.is_dir() else root) / f"smartsearch-{trial.out.name}-{os.getpid()}"
    limits = "memory.limit_in_bytes" if old.is_dir() else "memory.max"
    try:
        group.mkdir()
        (group / limits).write_text(str(limit))
    except OSError as error:
        raise NotHere(f"no memory cgroup can be made: {error.strerror}") from error
    trial.environment[GROUP] = str(group)
    counted = group / ("memory.oom_control" if old.is_dir() else "memory.events")
    try:
        yield lambda: int((re.findall(r"oom_kill (\d+)", counted.read_text()) or ["0"])[0])
    finally:
        trial.gone()
        group.rmdir()


@fault(
    "a transcript meets a limit on memory", poison="POISON that eats memory", loader="limited", fails=ONLY,
    engines=LOCAL,
)  # fmt: skip
def file_limited(trial: Trial) -> str:
    trial.complete(2)
    expect(trial.deaths == 0, f"{trial.deaths} workers were replaced")
    return "reading 1 of 7 files takes memory up to RLIMIT_AS; no worker had to be replaced"


@fault(
    "a question crashes", question="POISON that crashes", loader="poisoned",
    fails={"worker_died": 1, "path_not_found": 1},
)  # fmt: skip
def question_crashes(trial: Trial) -> str:
    trial.complete(2)
    expect(trial.deaths == 3, f"{trial.deaths} workers were replaced, not 3")
    return "parsing 1 of 26 questions reads address 0 (SIGSEGV); 3 workers were replaced"


@fault("part files are torn and garbled", engines=LOCAL)
def parts_damaged(trial: Trial) -> str:
    _stopped_midway(trial)
    torn, garbled = trial.parts[1], trial.parts[-1]
    whole = torn.read_bytes()
    torn.write_bytes(whole[: len(whole) * 3 // 5])
    other = bytearray(garbled.read_bytes())
    other[500:564] = bytes(trial.rng.randrange(128, 256) for _ in range(64))
    garbled.write_bytes(other)
    for damaged in (torn, garbled):
        ended = trial.run()
        expect(ended.code == 2 and damaged.name in ended.said, f"{damaged.name} is not named: {ended}")
        expect("remove that file" in ended.said, ended.said)
        damaged.unlink()
    trial.complete()
    return (
        "one part is cut within a record, 64 bytes of another overwritten, while stopped; named, then removed"
    )


def _stopped_midway(trial: Trial, sent: int = signal.SIGTERM) -> None:
    process = trial.start()
    trial.until(lambda: len(trial.parts) >= 8, process)
    expect(trial.end(process, sent).code != 0, "the run was over already")
    trial.gone()


@fault("the power fails", engines=LOCAL)
def leftovers(trial: Trial) -> str:
    _stopped_midway(trial, signal.SIGKILL)
    part = trial.parts[2]
    whole = part.read_bytes()
    for name, data in ((f".{part.name}.{'a' * 16}.tmp", whole[:1000]), (f".{part.name}.{'b' * 16}.tmp", b"")):
        (part.parent / name).write_bytes(data)
    (trial.out / f".plan-00001-of-00001.json.{'c' * 16}.tmp").write_bytes(b"")
    part.write_bytes(b"")
    trial.complete()
    left = [path.name for path in trial.out.rglob("*.tmp")]
    expect(not left, f"there are still {left}")
    return (
        "as a failure may leave it: a torn and two empty temporary files, an empty part; all swept or redone"
    )


@fault("a complete run loses its answers", engines=LOCAL)
def answers_lost(trial: Trial) -> str:
    trial.complete()
    for path in trial.out.glob("answers-*"):
        path.unlink()
    trial.complete()
    return "the answers file is deleted from a complete run, and the command given again"


@fault("several processes on one shard", engines=LOCAL)
def at_once(trial: Trial) -> str:
    processes = [trial.start() for _ in range(4)]
    codes = []
    for process in processes:
        ended = trial.end(process)
        codes.append(ended.code)
        expect(ended.code in (0, 2), f"{ended}")
        expect(ended.code == 0 or "another process is at shard 1/1" in ended.said, f"{ended}")
    expect(sorted(codes) == [0, 2, 2, 2], f"exit codes {codes}")
    return "four at the same time: three are refused with exit code 2"


@fault("two shards in one folder, one killed", engines=LOCAL)
def shards(trial: Trial) -> str:
    trial.more += ["--workers", "1"]
    first, second = trial.start("--shard", "1/2"), trial.start("--shard", "2/2")
    trial.until(lambda: len(trial.parts) >= 8, first)
    first.kill()
    trial.end(first)
    expect(trial.end(second).code == 0, "shard 2/2 did not complete")
    expect(trial.run("--shard", "1/2").code == 0, "shard 1/2 did not complete")
    expect(len(read_answers(trial.out)) > 0, "no answers")
    return "`--shard 1/2` and `2/2` at the same time; SIGKILL to the first, which is run again"


def _list(numbers: Sequence[int]) -> str:
    return ", ".join(map(str, numbers))
