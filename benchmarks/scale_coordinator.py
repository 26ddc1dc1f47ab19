"""What the process that hands out tasks and writes answers spends itself, with workers that need no time.

`python scale_coordinator.py LINES FOLDER [RECORD]` makes a questions file of LINES lines, each of another
user, and plans it; with the file RECORD, a record of a run, that record is every answer, and is written,
counted and put in order as in a run. One line of JSON: seconds, processor seconds, bytes of memory.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from smartsearch.ask.runs.folder import RunFolder
from smartsearch.ask.runs.manifest import Session
from smartsearch.ask.runs.plan import Plan, Shard, read
from smartsearch.ask.runs.run import Shift
from smartsearch.ask.runs.types import Answer, Report, Task

Spent = dict[str, float]


def main(lines: int, folder: Path, record: Path | None) -> dict[str, Any]:
    """What each step took."""
    folder.mkdir(parents=True)
    questions = folder / "questions.jsonl"
    with questions.open("w", encoding="utf-8") as file:
        for n in range(lines):
            user = f"users/{n // 1000:04}/user-{n:07}"
            file.write(
                json.dumps(
                    {"id": f"user-{n:07}", "question": "Where did Ilya hide the key?", "paths": [user]}
                )
                + "\n"
            )
    before = _peak()
    plan, steps = None, {}
    plan, steps["plan"] = _timed(lambda: Plan(read(questions)))
    found = {"lines": lines, "tasks": len(plan), "task_lines": plan.size, "steps": steps, "before": before}
    if record is not None:
        template = orjson.loads(record.read_bytes())
        for name in ("id", "line"):
            del template[name]
        rest = b"," + orjson.dumps(template)[1:]
        shift = Shift(
            RunFolder(str(folder / "run"), Shard()), plan, {"plan": "measured"}, Session("local", 1, 1)
        )
        shift.begin()
        _, steps["write"] = _timed(lambda: shift.work(_engine(rest), lambda _: None))
        whole, steps["finish"] = _timed(shift.finish)
        assert whole["counts"]["out"] == lines
        found["record_bytes"] = len(rest)
    return {**found, "peak": _peak()}


def _engine(rest: bytes) -> Callable[[Sequence[int], Callable[[int], Task]], Iterator[Report]]:
    """Workers that answer at once, a report for a task as Ray's are."""

    def run(numbers: Sequence[int], load: Callable[[int], Task]) -> Iterator[Report]:
        for number in numbers:
            answers = (
                Answer(item.line, b'{"id":"user","line":%d' % item.line + rest) for item in load(number).items
            )
            yield Report(number, tuple(answers))

    return run


def _timed(work: Callable[[], Any]) -> tuple[Any, Spent]:
    start, cpu = time.perf_counter(), time.process_time()
    done = work()
    return done, {"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu}


def _peak() -> int:
    """Most bytes of memory so far. Not by getrusage: that counts whoever started us."""
    status = Path("/proc/self/status").read_text(encoding="ascii", errors="replace")
    return next(int(line.split()[1]) * 1024 for line in status.splitlines() if line.startswith("VmHWM"))


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]) if sys.argv[3:] else None)))
