"""Runs one command and says what it took: `python -I -S spawn.py OUTPUT COMMAND...`, one line of JSON.

Standard library only and small on purpose: a process is charged the memory of the one that started it
until it becomes its own program, so whoever measures memory must be smaller than what it measures.
The command's output goes to the file OUTPUT, its standard error to ours.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from pathlib import Path

EVERY = 0.05
"""Seconds between looks at the memory of a command that has children of its own."""


def figures(usage: object, platform: str = sys.platform) -> dict[str, float]:
    """Processor seconds and peak memory in MB (10^6 bytes) of what `os.wait4` or `getrusage` gives.

    `ru_maxrss` counts KiB, on macOS bytes; of several processes it is that of the largest.
    """
    unit = 1 if platform == "darwin" else 1024
    return {
        "user": usage.ru_utime,  # type: ignore[attr-defined]
        "system": usage.ru_stime,  # type: ignore[attr-defined]
        "peak_mb": usage.ru_maxrss * unit / 1e6,  # type: ignore[attr-defined]
    }


def family(pid: int) -> list[int]:
    """The process and all that it and they have started; the process alone where /proc tells nothing."""
    found = [pid]
    for one in found:
        found += _children(one)
    return found


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            found += map(int, (task / "children").read_text().split())
    except OSError:
        pass  # gone
    return found


def resident(pid: int) -> int:
    """Bytes of memory a process holds now; 0 where it is gone."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError, ValueError):
        return 0


def _watch(pid: int, over: threading.Event, peak: list[int]) -> None:
    """The most that the command and its children held together; what they share counts for each."""
    while not over.wait(EVERY):
        processes = family(pid)
        if len(processes) > 1:
            peak[0] = max(peak[0], sum(map(resident, processes)))


def run(output: str, command: list[str]) -> dict[str, float]:
    """Seconds on the clock, processor seconds, peak memory and exit code of one command."""
    write = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    actions = [(os.POSIX_SPAWN_OPEN, 1, output, write, 0o600)]
    over, peak = threading.Event(), [0]
    start = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=actions)
    watching = threading.Thread(target=_watch, args=(pid, over, peak), daemon=True)
    watching.start()
    _, status, usage = os.wait4(pid, 0)
    seconds = time.perf_counter() - start
    over.set()
    watching.join()
    spent = figures(usage)
    spent["peak_mb"] = max(spent["peak_mb"], peak[0] / 1e6)
    return {"seconds": seconds, "code": os.waitstatus_to_exitcode(status), **spent}


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2:])))
