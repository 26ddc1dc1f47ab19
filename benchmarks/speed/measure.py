"""How things are timed: one command at a time, in turns with what it is compared with, and summed up."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

HERE = Path(__file__).resolve().parent
INSTRUCTIONS = (
    "neon", "asimd", "asimddp", "i8mm", "sse4_2", "avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8"
)  # fmt: skip
INT8 = ("asimddp", "i8mm", "avx_vnni", "avx512_vnni", "amx_int8")
"""Those that multiply int8 and add in one step."""
Json = dict[str, Any]
T = TypeVar("T")


class Failed(Exception):
    """A measurement that could not be taken, with why."""


@dataclass(frozen=True)
class Cost:
    """What one command took: seconds on the clock, peak memory in MB, and what it wrote."""

    seconds: float
    peak_mb: float
    code: int
    out: bytes = b""
    err: str = ""

    @cached_property
    def answer(self) -> Json:
        """The JSON it wrote. Raises Failed for anything else."""
        try:
            return dict(json.loads(self.out))
        except ValueError as error:
            raise Failed(f"no JSON: {error}") from error


def cost(command: Sequence[str], env: Mapping[str, str], *, codes: Sequence[int] = (0,)) -> Cost:
    """Runs a command by `spawn.py`. Raises Failed for an exit code that is none of `codes`."""
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out"
        launch = [sys.executable, "-I", "-S", str(HERE / "spawn.py"), str(output), *command]
        done = subprocess.run(launch, capture_output=True, text=True, env=dict(env), check=False)
        if done.returncode:
            raise Failed(_last_line(done.stderr))
        spent = json.loads(done.stdout)
        found = Cost(spent["seconds"], spent["peak_mb"], spent["code"], output.read_bytes(), done.stderr)
    if found.code not in codes:
        raise Failed(
            f"exit code {found.code}: {_last_line(found.err or found.out.decode('utf-8', 'replace'))}"
        )
    return found


def _last_line(said: str) -> str:
    lines = said.strip().splitlines()
    return lines[-1][:300] if lines else "nothing was said"


def interleaved(
    tasks: Mapping[str, Callable[[int], T]], rounds: int, warm: int = 0
) -> tuple[dict[str, list[T]], dict[str, str]]:
    """What each task gave in each round, and why those that failed did.

    All tasks run in every round, each time another one first, so that what else the machine does meets
    them alike. A task is given the number of its round; `warm` rounds before the first are not kept. One
    that raises Failed is left out from there on.
    """
    found: dict[str, list[T]] = {name: [] for name in tasks}
    failed: dict[str, str] = {}
    for number in range(-warm, rounds):
        names = [name for name in tasks if name not in failed]
        first = number % len(names) if names else 0
        for name in names[first:] + names[:first]:
            try:
                value = tasks[name](max(number, 0))
            except Failed as error:
                failed[name] = str(error)
                continue
            if number >= 0:
                found[name].append(value)
    return {name: some for name, some in found.items() if name not in failed}, failed


def summary(values: Sequence[float]) -> Json:
    """How many, their median, 95th percentile, least and most."""
    middle, high = np.percentile(values, (50, 95))
    figures = {"median": middle, "p95": high, "least": min(values), "most": max(values)}
    return {"runs": len(values), **{name: round(float(value), 6) for name, value in figures.items()}}


def row(what: str, command: str, seconds: Sequence[float], peaks: Sequence[float]) -> Json:
    """A measured row of the record."""
    return {"what": what, "command": command, **summary(seconds), "peak_mb": round(max(peaks), 1)}


def left_out(what: str, why: str) -> Json:
    """A row of the record that was not measured, and why."""
    return {"what": what, "left_out": why}


def busy(seconds: float = 1.0) -> float | None:
    """The share of all cores that others use while we wait; None where /proc does not tell."""
    before = _ticks()
    time.sleep(seconds)
    after = _ticks()
    if before is None or after is None or after[1] == before[1]:
        return None
    return round(1 - (after[0] - before[0]) / (after[1] - before[1]), 3)


def _ticks() -> tuple[int, int] | None:
    """Idle and all clock ticks of all cores since the machine began."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").splitlines()[0]
    except OSError:
        return None
    counts = [int(word) for word in first.split()[1:9]]
    return counts[3] + counts[4], sum(counts)


def instructions(listed: Path = Path("/proc/cpuinfo")) -> list[str]:
    """Which of the vector instructions that models profit from this processor has, the slowest first."""
    try:
        lines = listed.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []
    flags = {word for line in lines if line.startswith(("flags", "Features")) for word in line.split()}
    return [name for name in INSTRUCTIONS if name in flags]


def environment(folder: Path, runtime: Path, threads: int = 0) -> dict[str, str]:
    """The environment of a command that shall find no settings, caches or servers but those in `folder`.

    `runtime` is for sockets, whose paths must be short.
    """
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("SMARTSEARCH_", "XDG_"))
    }
    for name in ("CACHE", "CONFIG", "DATA", "STATE"):
        kept[f"XDG_{name}_HOME"] = str(folder / name.lower())
    kept["XDG_RUNTIME_DIR"] = str(runtime)
    kept["HF_HUB_OFFLINE"] = "1"
    if "PYTHONPATH" in kept:  # children run the checkout that we run, wherever they are started
        kept["PYTHONPATH"] = os.pathsep.join(map(os.path.abspath, kept["PYTHONPATH"].split(os.pathsep)))
    if threads:
        kept["SMARTSEARCH_THREADS"] = str(threads)
    return kept
