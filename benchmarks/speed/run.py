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
        given.runs, given.questions, given.every = 2, 2, 800
        given.up_to, given.tokens = min(given.up_to, 1000), 5_000
        given.asked, given.seconds = 100, 60.0
    from sections import SECTIONS, Bench

    wanted = given.only.split(",") if given.only else list(SECTIONS)
    unknown = [name for name in wanted if name not in SECTIONS]
    if unknown:
        sys.exit(f"no section {unknown[0]!r}: one of {', '.join(SECTIONS)}")
    path = given.out / "record.json"
    given.out.mkdir(parents=True, exist_ok=True)
    record = (
        read(path, KIND) if given.only and path.is_file() else {"kind": KIND, "version": 1, "sections": {}}
    )
    with tempfile.TemporaryDirectory(prefix="ss-") as runtime:
        bench = Bench(
            data=given.data.resolve(),
            work=given.out.resolve(),
            runtime=Path(runtime),
            runs=given.runs,
            questions=given.questions,
            every=given.every,
            largest=10_000_000 if given.largest else given.up_to,
            tokens=given.tokens,
            threads=given.threads,
            asked=given.asked,
            seconds=given.seconds,
            sizes=given.sizes,
        )
        hidden = {str(bench.data): "DATA", str(bench.work): "OUT", runtime: "RUNTIME"}
        for name in wanted:
            measured = portable(_measured(name, bench, quick=given.quick), hidden)
            if name == "size" and given.sizes:
                measured = joined(record["sections"].get(name, {}), measured)
            record["sections"][name] = measured
            write(path, record)
    print(f"{os.path.relpath(path)}\nnow: python benchmarks/speed/page.py --record {os.path.relpath(path)}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data", type=Path, default=ROOT.parent / "shared" / "data" / "eval", help="holds locomo10.json")
    add("--out", type=Path, default=ROOT / ".out" / "speed", help="the record, made chats, caches")
    add("--only", default="", help="measure these sections again, comma-separated, and keep the others")
    add("--runs", type=int, default=5, help="runs of a cold process")
    add("--questions", type=int, default=20, help="questions in a warm process, twice as many for its tail")
    add("--asked", type=int, default=10_000, help="questions to one server whose memory is watched")
    add("--every", type=int, default=8, help="batch: every Nth of LoCoMo's questions; 1 is all 1,540")
    add("--up-to", type=int, default=1_000_000, help="turns of the largest corpus")
    add("--largest", action="store_true", help="up to 10,000,000 turns: 1.5 GB of disk")
    add(
        "--sizes",
        type=_numbers,
        default=(),
        help="the cost curve only at these, comma-separated, others kept",
    )
    add("--tokens", type=int, default=500_000, help="size of the chat with long turns")
    add("--seconds", type=float, default=300.0, help="for each size of the cost curve: fewer runs, but one")
    add("--threads", type=int, default=0, help="threads of models; 0 is all cores")
    add("--quick", action="store_true", help="see that all works: minutes, figures of no worth")
    return parser


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def joined(before: Json, now: Json) -> Json:
    """A section with the rows of an earlier run that this one did not measure, and its receipt."""
    if not before.get("rows"):
        return now
    again = {row["id"] for row in now["rows"]}
    rows = [row for row in before["rows"] if row["id"] not in again] + now["rows"]
    sizes = before["more"]["sizes"] | now["more"]["sizes"]
    alone = {key: now[key] for key in ("receipt", "busy", "seconds")} | {"sizes": list(now["more"]["sizes"])}
    later = [*before.get("later", []), alone]
    return {**before, "rows": rows, "more": {**before["more"], "sizes": sizes}, "later": later}


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
        found |= asdict(SECTIONS[name](bench))
    except Failed as error:
        found["left_out"] = str(error)
    found["seconds"] = round(time.perf_counter() - start, 1)
    print(found.get("left_out") or f"{found['seconds']:.0f} s")
    return found


if __name__ == "__main__":
    sys.exit(main())
