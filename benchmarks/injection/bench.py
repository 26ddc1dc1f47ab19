"""What the faults share: questions, one run of the command and its processes, and the accounts of its ids."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shutil
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
MARK = "SMARTSEARCH_FAULTS"
"""The environment's name by which a trial knows its processes, to the last grandchild."""
COMMAND = (
    "import sys; from smartsearch.cli import app as cli, runs; runs.LOADER = sys.argv[1]; "
    "sys.exit(cli.run(sys.argv[2:]))"
)
"""The command with another loader, which it has no option for."""
POISON = "benchmarks.injection.poison"
PATIENCE = 300.0
"""Seconds that a command may take."""
LEFT = 20.0
"""Seconds after which no process of a trial may be left."""
TIMES = ("timing_ms",)
"""What differs from run to run in a record."""

Json = dict[str, Any]


class Unexpected(Exception):
    """Something happened, or did not, that says the fault was not survived as promised."""


class NotHere(Exception):
    """The fault cannot be injected on this machine, with why."""


def expect(truth: object, said: str) -> None:
    """Raises Unexpected."""
    if not truth:
        raise Unexpected(said)


@dataclass(frozen=True)
class Asked:
    """Questions by id, the file that holds them, and the folder the command runs in."""

    path: Path
    folder: Path
    ids: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """How a command ended: exit code (negative: the signal) and what it said."""

    code: int
    said: str


@dataclass
class Trial:
    """One fault: a run folder of its own, the command that fills it, and its processes."""

    name: str
    asked: Asked
    out: Path
    python: str
    engine: Sequence[str]
    loader: str
    rng: random.Random
    seconds: float  # that the undisturbed run took
    more: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    commands: int = 0

    def command(self) -> list[str]:
        """The command line, the same each time."""
        front = ["-m", "smartsearch"]
        if self.loader:
            front = ["-c", COMMAND, f"{POISON}:{self.loader}"]
        options = ["--rank", "none", "--now", "2026-11-22", "--progress", "none"]
        questions = ["batch", str(self.asked.path), ".", "--out", str(self.out)]
        return [self.python, *front, *questions, *options, *self.engine, *self.more]

    def start(self, *more: str, **how: Any) -> subprocess.Popen[str]:
        """The command in a process; `more` options and `how` of Popen."""
        self.commands += 1
        environment = os.environ | {"PYTHONPATH": str(ROOT), MARK: self.name} | self.environment
        return subprocess.Popen(
            [*self.command(), *more],
            cwd=self.asked.folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            **how,
        )

    def end(self, process: subprocess.Popen[str], sent: int = 0, seconds: float = PATIENCE) -> Ended:
        """Wait for it, after a signal if one is `sent`. Raises Unexpected when it takes too long."""
        if sent:
            process.send_signal(sent)
        try:
            said = process.communicate(timeout=seconds)[1]
        except subprocess.TimeoutExpired:
            process.kill()
            said = process.communicate()[1]
            raise Unexpected(f"the command did not end within {seconds:g} s: {said[-500:]}") from None
        return Ended(process.returncode, said)

    def run(self, *more: str, **how: Any) -> Ended:
        """The command from begin to end."""
        return self.end(self.start(*more, **how))

    def complete(self, code: int = 0) -> Ended:
        """The command, which is to complete the run with this exit code. Raises Unexpected."""
        ended = self.run()
        expect(ended.code == code, f"exit code {ended.code}, not {code}: {ended.said[-1000:]}")
        return ended

    def until(self, true: Callable[[], object], process: subprocess.Popen[str], seconds: float = 120) -> None:
        """Wait for something while the command runs. Raises Unexpected when it ends before."""
        end = time.monotonic() + seconds
        while not true():
            expect(process.poll() is None, "the command ended before it could be disturbed")
            expect(time.monotonic() < end, f"nothing happened for {seconds:g} s")
            time.sleep(0.005)

    def pause(self, least: float, most: float) -> float:
        """Sleep for a random time, in seconds; how long."""
        seconds = round(self.rng.uniform(least, most), 2)
        time.sleep(seconds)
        return seconds

    @property
    def parts(self) -> list[Path]:
        """Part files, in the order of their tasks."""
        return sorted(self.out.glob("parts-*/*.jsonl"))

    @property
    def done(self) -> int:
        """Records on the disk, in parts."""
        return sum(part.read_bytes().count(b"\n") for part in self.parts)

    @property
    def manifest(self) -> Json:
        """The manifest of the only shard."""
        return dict(json.loads((self.out / "manifest-00001-of-00001.json").read_bytes()))

    @property
    def deaths(self) -> int:
        """Workers that were replaced, as the manifest has it."""
        return sum(session["worker_deaths"] for session in self.manifest["sessions"])

    @property
    def processes(self) -> dict[int, bytes]:
        """The trial's processes with their command lines: all that inherited its mark."""
        found = {}
        mark = f"{MARK}={self.name}".encode()
        for folder in Path("/proc").iterdir():
            if folder.name.isdecimal():
                try:
                    marked = mark in (folder / "environ").read_bytes().split(b"\0")
                    line = (folder / "cmdline").read_bytes()
                except OSError:
                    continue  # it ended meanwhile
                if marked and line:  # a zombie has none
                    found[int(folder.name)] = line
        return found

    @property
    def workers(self) -> list[int]:
        """Worker processes, the oldest first."""
        return sorted(
            (pid for pid, line in self.processes.items() if b"smartsearch.ask.runs.worker" in line),
            key=_started,
        )

    def gone(self, which: bytes = b"") -> None:
        """Wait until no process of the trial is left, none of `which` in its command line.

        Raises Unexpected when some stay.
        """
        end = time.monotonic() + LEFT
        while left := {pid: line for pid, line in self.processes.items() if which in line}:
            if time.monotonic() > end:
                lines = [line.replace(b"\0", b" ").decode()[:80] for line in left.values()]
                raise Unexpected(f"{len(left)} processes were left {LEFT:g} s later: {lines}")
            time.sleep(0.1)

    def clear(self) -> None:
        """End what is left of the trial's processes."""
        for pid in self.processes:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _started(pid: int) -> int:
    """When a process began, in ticks."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except OSError:
        return 0


def command_line(pid: int) -> bytes:
    """What a process calls itself, empty for one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def parent(pid: int) -> int:
    """The process that started this one, 0 if that has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def read_answers(out: Path) -> list[Json]:
    """The records of all shards of a run folder. Raises Unexpected where there are none."""
    files = sorted(out.glob("answers-*.jsonl"))
    expect(files, f"there are no answers in {out}")
    return [json.loads(line) for file in files for line in file.read_bytes().splitlines()]


@dataclass(frozen=True)
class Accounts:
    """What came out of a run against what went in, and against a run that nobody disturbed."""

    in_: int
    out: int
    answered: int
    failed: Mapping[str, int]
    duplicates: int
    missing: int
    unknown: int
    same: int
    compared: int

    @property
    def balanced(self) -> bool:
        """Whether the set of ids in is the set of ids out, each once."""
        return self.in_ == self.out and not (self.duplicates or self.missing or self.unknown)


def accounts(
    asked: Asked,
    records: Sequence[Json],
    reference: Mapping[str, Json],
    besides: Sequence[str],
    but: Sequence[str],
) -> Accounts:
    """Count the ids, and compare all records with the reference `besides` these keys, `but` not these ids."""
    seen = Counter(record["id"] for record in records)
    wanted = set(asked.ids)
    compared = [record for record in records if record["id"] in wanted and record["id"] not in but]
    same = sum(_without(record, besides) == _without(reference[record["id"]], besides) for record in compared)
    failures = Counter(record["error"]["kind"] for record in records if "error" in record)
    return Accounts(
        len(wanted), len(records), sum("error" not in record for record in records), dict(failures),
        sum(number - 1 for number in seen.values()), len(wanted - seen.keys()), len(seen.keys() - wanted),
        same, len(compared),
    )  # fmt: skip


def _without(record: Json, keys: Sequence[str]) -> str:
    return json.dumps({key: value for key, value in record.items() if key not in (*TIMES, *keys)})


def locomo(data: Path, every: int, folder: Path) -> Asked:
    """Every Nth question of LoCoMo, about the file as it was published."""
    from smartsearch.bench.datasets import open_dataset

    path = (data / "locomo10.json").resolve()
    lines = [
        {
            "id": question.id,
            "question": question.text,
            "paths": [str(path)],
            "conversation": group.conversation,
        }
        for group in open_dataset(str(path)).groups()
        for question in group.questions
    ]
    return write(lines[::every], folder, "locomo")


NAMES = ("Oscar", "Selma", "Bruno", "Tilda", "Ramon", "Ylva")
PLACES = ("harbour", "observatory", "bakery", "tram depot")


def chats(folder: Path, name: str, poison: str = "", question: str = "") -> Asked:
    """Small chats and questions about all of them; a file of poison beside them, or a poisoned question.

    `only` asks the poisoned file alone; `deadly` is the poisoned question.
    """
    home = folder / name
    home.mkdir(parents=True)
    for day, who in enumerate(NAMES, start=1):
        said = [
            f"[2024-05-0{day} 10:0{n}] Mara: I met {who} at the {place}, and we spoke of ticket {day}{n}."
            for n, place in enumerate(PLACES)
        ]
        (home / f"{who}.txt").write_text("\n".join(said) + "\n")
    lines: list[Json] = [
        {"id": f"{who}/{place}", "question": f"Which ticket did {who} speak of at the {place}?"}
        for who in NAMES
        for place in PLACES
    ]
    if poison:
        (home / "Poison.txt").write_text(f"[2024-05-09 10:00] Eve: {poison}\n")
    lines.insert(7, {"id": "only", "question": "What did Eve say?", "paths": ["Poison.txt"]})
    lines.insert(15, {"id": "deadly", "question": f"Who is {question or 'Eve'}?", "paths": ["Oscar.txt"]})
    return write(lines, home, name)


def write(lines: Sequence[Json], folder: Path, name: str) -> Asked:
    """The questions as a file beside the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder.parent / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Asked(path, folder, tuple(line["id"] for line in lines))


def fresh(folder: Path) -> Path:
    """An empty folder of that name."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def spaced(numbers: Sequence[float]) -> str:
    """Seconds in a row, in words."""
    return ", ".join(f"{number:.1f}" for number in numbers)
