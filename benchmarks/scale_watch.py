"""Runs one command and watches it from outside: processor seconds, memory, and when its records appear.

What counts as its processes: those that carry MARK in their environment, and their children; so those that
a Ray cluster starts for it count too. Linux only: it reads /proc.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

EVERY = 0.1
"""Seconds between two looks: what a process uses after the last one before it ends is not seen."""
LIMIT = 1800.0
"""Seconds after which a command is ended: it hangs."""
MARK = "SCALE_RUN"
"""The variable by which a process is known as ours."""
KINDS = ("worker", "command", "ray")
_TICKS = os.sysconf("SC_CLK_TCK")


class Failed(Exception):
    """A command that did not do what it should, with what it said."""


@dataclass(frozen=True)
class Process:
    """One process as last seen: what it is, processor seconds, most resident memory in bytes."""

    kind: str
    cpu: float
    peak: int


@dataclass
class Watched:
    """What a command came to. `records` are (seconds since its start, records there then)."""

    seconds: float = 0.0
    processes: dict[tuple[int, str], Process] = field(default_factory=dict)
    records: list[tuple[float, int]] = field(default_factory=list)
    before: dict[tuple[int, str], float] = field(default_factory=dict)  # processor seconds before the command
    together: int = 0  # bytes of resident memory of all processes at once, shared pages counted for each

    def cpu(self, kind: str) -> float:
        """Processor seconds of all processes of a kind, without those of before the command."""
        mine = [(process.cpu, key) for key, process in self.processes.items() if process.kind == kind]
        return sum(cpu - self.before.get(key, 0.0) for cpu, key in mine)

    def peak(self, kind: str) -> int:
        """Most bytes of one process of a kind."""
        return max((process.peak for process in self.processes.values() if process.kind == kind), default=0)

    def count(self, kind: str) -> int:
        """Processes of a kind that there were."""
        return sum(process.kind == kind for process in self.processes.values())


def watch(command: Sequence[str], env: Mapping[str, str], mark: str, out: Path, folder: Path) -> Watched:
    """Run a command in `folder` that writes records to `out`, a run folder or a JSONL file.

    `env` has MARK with the value `mark`. Raises Failed for any exit code but 0.
    """
    watched, seen = Watched(), _Records(out)
    strangers: set[tuple[int, str]] = set()
    _look(watched, mark, 0, strangers)  # a cluster that is there already
    watched.before = {key: process.cpu for key, process in watched.processes.items()}
    with (folder / "said.txt").open("w+", encoding="utf-8", errors="replace") as said:
        begun, start = time.time(), time.perf_counter()
        process = subprocess.Popen(command, env=dict(env), cwd=folder, stdout=said, stderr=said)
        try:
            while process.poll() is None:
                if time.perf_counter() - start > LIMIT:
                    raise Failed(f"it did not end within {LIMIT:g} s")
                _look(watched, mark, process.pid, strangers)
                seen.look(watched.records, begun)
                time.sleep(EVERY)
        finally:
            if process.poll() is None:
                process.kill()
                process.wait()
        watched.seconds = time.perf_counter() - start
        seen.look(watched.records, begun)
        if process.returncode:
            said.seek(0)
            raise Failed(f"exit code {process.returncode}: {said.read().strip()[-300:]}")
    return watched


def steady(records: Sequence[tuple[float, int]]) -> float | None:
    """Records a second from the first one to the last: without start. None for fewer than two moments."""
    if len(records) < 2 or records[-1][0] <= records[0][0]:
        return None
    (first, before), (last, after) = records[0], records[-1]
    return (after - before) / (last - first)


class _Records:
    """How many records there are, and since when, by the times of the files."""

    def __init__(self, out: Path) -> None:
        self._out = out
        self._known: dict[str, tuple[int, int]] = {}  # of each part: when it was written, its records
        self._count = 0

    def look(self, records: list[tuple[float, int]], begun: float) -> None:
        """Add what is new, as seconds since `begun`."""
        changed = [self._changed(path) for path in self._out.glob("parts-*/*.jsonl")]
        for when, more in sorted(one for one in changed if one):
            self._count += more
            records.append((when / 1e9 - begun, self._count))
        answers = self._out if self._out.suffix == ".jsonl" else next(self._out.glob("answers-*.jsonl"), None)
        if answers is not None:  # of a run folder when all is done: has what no look at the parts has seen
            whole, when = _lines(answers)
            if whole > self._count:
                self._count = whole
                records.append((when - begun, whole))

    def _changed(self, path: Path) -> tuple[int, int] | None:
        """When a part was written, and how many records more it has than at the last look."""
        try:
            when = path.stat().st_mtime_ns
            before, had = self._known.get(path.name, (0, 0))
            if when == before:
                return None
            has, _ = _lines(path)
        except OSError:
            return None  # gone between two lines
        self._known[path.name] = (when, has)
        return when, has - had


def _lines(path: Path) -> tuple[int, float]:
    try:
        return path.read_bytes().count(b"\n"), path.stat().st_mtime
    except FileNotFoundError:
        return 0, 0.0


def _look(watched: Watched, mark: str, command: int, strangers: set[tuple[int, str]]) -> None:
    """Note every process of ours as it is now."""
    wanted = f"{MARK}={mark}".encode()
    ours = {pid for pid, _ in watched.processes}
    together = 0
    for pid in sorted(int(path.name) for path in Path("/proc").iterdir() if path.name.isdecimal()):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
            fields = stat.rpartition(")")[2].split()
            parent, cpu, key = int(fields[1]), (int(fields[11]) + int(fields[12])) / _TICKS, (pid, fields[19])
            if key in strangers:
                continue
            if key not in watched.processes:
                marked = wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
                if not marked and parent not in ours and pid != command:
                    strangers.add(key)
                    continue
                ours.add(pid)
            said = Path(f"/proc/{pid}/cmdline").read_bytes()
            status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8", errors="replace")
        except (OSError, IndexError):
            continue  # it ended, or is another user's
        together += _bytes(status, "VmRSS:")
        before = watched.processes.get(key)
        if before is not None and not said:  # it has ended, and only its time is still there
            watched.processes[key] = replace(before, cpu=cpu)
        else:
            watched.processes[key] = Process(_kind(pid, command, said), cpu, _bytes(status, "VmHWM:"))
    watched.together = max(watched.together, together)


def _kind(pid: int, command: int, said: bytes) -> str:
    if pid == command:
        return "command"
    return "worker" if b"smartsearch.ask.runs.worker" in said else "ray"


def _bytes(status: str, name: str) -> int:
    found = next((line for line in status.splitlines() if line.startswith(name)), "")
    return int(found.split()[1]) * 1024 if found else 0
