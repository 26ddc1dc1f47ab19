"""Measures how fast smartsearch is: `python benchmarks/speed/run.py --data ../shared/data/eval`.

Writes `record.json` in --out after every section; `page.py` makes reports/performance.md of it. Nothing else
should run on the machine meanwhile: the record says what did.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from measure import HERE, Failed, Json, busy, instructions

sys.path.insert(0, str(HERE.parent))

from records import portable, read, write

ROOT = HERE.parents[1]
KIND = "smartsearch speed"


def main(arguments: Sequence[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    if given.quick:
        given.runs, given.questions, given.every, given.turns, given.tokens = 1, 1, 800, 1000, 5_000
    from sections import SECTIONS, Bench

    wanted = given.only.split(",") if given.only else list(SECTIONS)
    if unknown := [name for name in wanted if name not in SECTIONS]:
        sys.exit(f"no section {unknown[0]!r}: one of {', '.join(SECTIONS)}")
    path = given.out / "record.json"
    given.out.mkdir(parents=True, exist_ok=True)
    there = given.only and path.is_file()
    record = read(path, KIND) if there else {"kind": KIND, "version": 2, "sections": {}}
    with tempfile.TemporaryDirectory(prefix="ss-") as runtime:
        bench = Bench(
            data=given.data.resolve(),
            work=given.out.resolve(),
            runtime=Path(runtime),
            runs=given.runs,
            questions=given.questions,
            every=given.every,
            turns=given.turns,
            tokens=given.tokens,
            threads=given.threads,
        )
        hidden = {str(bench.data): "DATA", str(bench.work): "OUT", runtime: "RUNTIME"}
        for name in wanted:
            record["sections"][name] = portable(_measured(name, bench, quick=given.quick), hidden)
            write(path, record)
    print(f"{os.path.relpath(path)}\nnow: python benchmarks/speed/page.py --record {os.path.relpath(path)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data", type=Path, default=ROOT.parent / "shared" / "data" / "eval", help="holds locomo10.json")
    add("--out", type=Path, default=ROOT / ".out" / "speed", help="the record, made chats, caches")
    add("--only", default="", help="measure these sections again, comma-separated, and keep the others")
    add("--runs", type=int, default=5, help="runs of a new process")
    add("--questions", type=int, default=20, help="questions to a warm process")
    add("--every", type=int, default=8, help="batch: every Nth of LoCoMo's questions; 1 is all 1,540")
    add("--turns", type=int, default=1_000_000, help="turns of the large corpus")
    add("--tokens", type=int, default=500_000, help="size of the chat with long turns")
    add("--threads", type=int, default=0, help="threads of models; 0 is all cores")
    add("--quick", action="store_true", help="see that all works: a minute, figures of no worth")
    return parser


def _measured(name: str, bench: Any, *, quick: bool) -> Json:
    """A section with where it comes from; one that fails as a whole says so."""
    from sections import SECTIONS

    from smartsearch.bench.receipt import receipt
    from smartsearch.config import build

    before = None if quick else busy()
    print(f"{name} ...", end=" ", flush=True)
    start = time.perf_counter()
    config = build({"threads": bench.threads or None}, env={}, home=bench.work)
    found: Json = {"quick": quick, "busy": before, "instructions": instructions()}
    words = ["python", "benchmarks/speed/run.py", *sys.argv[1:]]
    found["receipt"] = receipt(words, config, {})
    try:
        found |= asdict(SECTIONS[name][1](bench))
    except Failed as error:
        found["left_out"] = str(error)
    found["seconds"] = round(time.perf_counter() - start, 1)
    print(found.get("left_out") or f"{found['seconds']:.0f} s")
    return found


if __name__ == "__main__":
    sys.exit(main())
