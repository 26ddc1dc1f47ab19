"""Whole sets by every engine, and their records compared: `python benchmarks/engines.py --data EVAL`.

LoCoMo's and BEAM's (100K) questions go through `smartsearch batch` in order, with two workers of this machine
and with two of Ray, with the shipped models. Hours on two cores; the same command goes on after a stop. The
exit code is 1 where ids in are not ids out, each once, or a record differs in more than its times.
`scale_page.py --engines RECORD` puts the table into reports/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "speed"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from injection.bench import Asked, accounts, locomo, read_answers, write
from records import portable

from smartsearch.bench.receipt import receipt
from smartsearch.config import Config

ROOT = Path(__file__).resolve().parents[1]
KIND = "smartsearch engines"
ENGINES: Mapping[str, tuple[str, Sequence[str]]] = {
    "in-order": ("in order, one process", ("--overwrite",)),
    "local": ("2 workers", ("--engine", "local", "--workers", "2")),
    "ray": ("Ray, 2 actors", ("--engine", "ray", "--workers", "2")),
}
APART = ("threads", "line")
"""What a run folder's records say otherwise by contract, beside the times (docs/batch.md)."""
Json = dict[str, Any]


def beam(data: Path, every: int, folder: Path) -> Asked:
    """Every Nth question of BEAM's chats of 100,000 tokens, each about its own chat."""
    from smartsearch.bench.datasets import open_dataset

    top = (data / "beam" / "100K").resolve()
    lines = []
    for group in open_dataset(str(top)).groups():
        chats = (top / group.conversation / name for name in ("chat_trunecated.json", "chat.json"))
        path = str(next(chat for chat in chats if chat.is_file()))
        lines += [{"id": one.id, "question": one.text, "paths": [path]} for one in group.questions]
    return write(lines[::every], folder, "beam")


SETS: Mapping[str, Callable[[Path, int, Path], Asked]] = {"locomo": locomo, "beam": beam}


def main(arguments: Sequence[str] | None = None) -> int:
    given = _arguments(arguments)
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    rows: list[Json] = []
    made = receipt(["python", "benchmarks/engines.py", *sys.argv[1:]], Config(), {})
    record = {"kind": KIND, "version": 1, "receipt": made, "rows": rows}
    for name in given.sets.split(","):
        asked = SETS[name](given.data, given.every, work / name)
        reference: dict[str, Json] = {}
        for engine in given.engines.split(","):
            out = work / f"{name}-{engine}{'.jsonl' if engine == 'in-order' else ''}"
            code = _run(_command(asked, out, engine), work)
            records = _records(out)
            reference = reference or {record["id"]: record for record in records}
            rows.append(_row(name, engine, asked, records, reference) | {"code": code} | _speed(out, records))
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
            given.out.parent.mkdir(parents=True, exist_ok=True)
            given.out.write_text(json.dumps(portable(record, {str(work): "WORK"}), indent=1) + "\n")
    return 0 if all(same(row) for row in rows) else 1


def _arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data", type=Path, required=True, help="folder with locomo10.json and beam/100K")
    add("--out", type=Path, default=ROOT / ".out" / "engines" / "record.json", help="the record, a JSON file")
    add("--work", type=Path, default=ROOT / ".out" / "engines" / "work", help="questions, answers, cache")
    add("--sets", default=",".join(SETS), help="these, comma-separated")
    add("--engines", default=",".join(ENGINES), help="these, comma-separated; the first is compared with")
    add("--every", type=int, default=1, help="every Nth question")
    return parser.parse_args(arguments)


def _command(asked: Asked, out: Path, engine: str) -> list[str]:
    return ["batch", asked.path.name, "--now", "2026-11-22", "--out", out.name, *ENGINES[engine][1]]


def _run(words: Sequence[str], work: Path) -> int:
    """The command's exit code; questions that fail make it other than 0."""
    print("smartsearch", *words, file=sys.stderr, flush=True)
    more = {"PYTHONPATH": str(ROOT), "XDG_CACHE_HOME": str(work / "cache"), "SMARTSEARCH_DAEMON": "never"}
    command = [sys.executable, "-m", "smartsearch", *words]
    return subprocess.run(command, cwd=work, env=os.environ | more, check=False).returncode


def _records(out: Path) -> list[Json]:
    if out.is_dir():
        return read_answers(out)
    return [json.loads(line) for line in out.read_bytes().splitlines()]


def _row(
    name: str, engine: str, asked: Asked, records: Sequence[Json], reference: Mapping[str, Json]
) -> Json:
    found = accounts(asked, records, reference, APART, ())
    about = {"set": name, "engine": engine, "who": ENGINES[engine][0], "balanced": found.balanced}
    return {**about, **asdict(found)}


def same(row: Json) -> bool:
    """Whether every id came out once, with the record of the first engine."""
    return bool(row["balanced"] and row["same"] == row["compared"])


def _speed(out: Path, records: Sequence[Json]) -> Json:
    """Seconds of all sessions, starts included, by the manifest; in order, what the records say they took."""
    if not out.is_dir():
        total = sum(record.get("timing_ms", {}).get("total", 0.0) for record in records)
        return {"seconds": round(total / 1000.0, 1), "sessions": None, "worker_deaths": 0}
    manifest = json.loads(next(out.glob("manifest-*.json")).read_bytes())
    sessions = manifest["sessions"]
    return {
        "seconds": round(sum(one["seconds"] for one in sessions), 1),
        "sessions": len(sessions),
        "worker_deaths": sum(one["worker_deaths"] for one in sessions),
        "digest": manifest["answers"]["sha256_without_timing"],
        "worker_peak_bytes": max(one["worker_peak_bytes"] for one in sessions),
    }


if __name__ == "__main__":
    sys.exit(main())
