"""What a run survives: `python benchmarks/faults.py --data ../shared/data/eval [--engine local|ray|both]`.

Each fault is really injected into the command with the shipped models, then the same command completes the
run. A table on standard output says what came of it; the exit code is 1 where ids in are not ids out, or a
fault was not survived as promised. Linux; some faults need root. reports/faults.md holds a run of it.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from injection import bench
from injection.bench import Asked, NotHere, Trial, Unexpected, accounts, read_answers
from injection.faults import FAULTS, Fault

from smartsearch.bench.receipt import machine, receipt
from smartsearch.config import Config

ROOT = bench.ROOT
ENGINES = {"local": ("--engine", "local", "--workers", "2"), "ray": ("--engine", "ray", "--workers", "2")}
THREADS = ("--threads", "1")
Json = dict[str, Any]


def main() -> int:
    given = _arguments()
    rows = json.loads(given.out.read_bytes())["rows"] if given.out and given.out.is_file() else []
    made: list[Json] = []
    with tempfile.TemporaryDirectory(prefix="smartsearch-faults-", dir=given.work) as folder:
        for row in Rows(given, Path(folder)).all():
            made.append(row)
            rows = [one for one in rows if _key(one) != _key(row)] + [row]
            print(json.dumps(row), file=sys.stderr, flush=True)
            if given.out:
                record = {"kind": "smartsearch faults", "version": 1, "machine": machine(), "rows": rows}
                given.out.write_text(json.dumps(record, indent=2) + "\n")
    print("\n".join(table(rows)))
    wrong = [row for row in made if row["wrong"]]
    for row in wrong:
        print(f"\n{row['fault']} ({row['engine']}): {row['wrong']}", file=sys.stderr)
    return 1 if wrong else 0


def _key(row: Json) -> tuple[str, str]:
    return row["fault"], row["engine"]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--data", type=Path, default=ROOT.parent / "shared" / "data" / "eval", help="holds locomo10.json")
    add("--engine", choices=("local", "ray", "both"), default="local")
    add("--every", type=int, default=8, help="every Nth of LoCoMo's 1,540 questions")
    add("--only", default="", help="faults whose name has this, a regular expression")
    add("--seed", type=int, default=7, help="of the random moments")
    add("--out", type=Path, help="the record as JSON; rows it has of other faults stay")
    add("--work", type=Path, help="the folder for run folders, removed afterwards (a temporary one)")
    return parser.parse_args()


class Rows:
    """The faults one after the other, each in a run folder of its own, against undisturbed runs."""

    def __init__(self, given: argparse.Namespace, folder: Path) -> None:
        self._given = given
        self._folder = folder
        self._rng = random.Random(given.seed)
        self._locomo = bench.locomo(given.data, given.every, folder / "questions")
        self._references: dict[str, dict[str, Json]] = {}
        self._seconds = 0.0

    def all(self) -> Iterator[Json]:
        """A row for each fault that is wanted, as they come."""
        engines = tuple(ENGINES) if self._given.engine == "both" else (self._given.engine,)
        if "ray" in engines:
            from injection import clusters  # noqa: F401 - adds its faults
        self._refer()
        for engine in engines:
            for fault in FAULTS:
                if engine in fault.engines and re.search(self._given.only, fault.name):
                    yield self._row(fault, engine) | {"receipt": _receipt(self._given)}

    def _refer(self) -> None:
        """Undisturbed runs of both sets of questions."""
        began = time.monotonic()
        for name, asked in (("locomo", self._locomo), ("chats", bench.chats(self._folder / "r", "chats"))):
            out = self._folder / ("reference" if name == "locomo" else "reference-chats")
            self._trial(name, asked, out, "local").run()
            self._references[name] = {record["id"]: record for record in read_answers(out)}
            self._seconds = self._seconds or time.monotonic() - began

    def _trial(self, name: str, asked: Asked, out: Path, engine: str, loader: str = "") -> Trial:
        options = (*ENGINES[engine], *THREADS)
        return Trial(name, asked, out, sys.executable, options, loader, self._rng, self._seconds)

    def _row(self, fault: Fault, engine: str) -> Json:
        name = re.sub(r"\W+", "-", f"{engine} {fault.name}")
        small = bool(fault.poison or fault.question)
        asked = self._locomo
        if small:
            asked = bench.chats(self._folder / name, "chats", fault.poison, fault.question)
        trial = self._trial(name, asked, self._folder / f"{name}-out", engine, fault.loader)
        row: Json = {"fault": fault.name, "engine": engine, "how": "", "wrong": ""}
        began = time.monotonic()
        try:
            row["how"] = fault.inject(trial)
            trial.gone()
            row |= {"accounts": asdict(self._accounts(trial, small)), "commands": trial.commands}
            row["deaths"] = trial.deaths if (trial.out / "manifest-00001-of-00001.json").exists() else None
            row["wrong"] = _wrong(fault, row["accounts"])
        except NotHere as error:
            row["how"] = f"not injected: {error}"
        except Unexpected as error:
            row["wrong"] = str(error)
        finally:
            trial.clear()
        row["seconds"] = round(time.monotonic() - began, 1)
        return row

    def _accounts(self, trial: Trial, small: bool) -> bench.Accounts:
        reference = self._references["chats" if small else "locomo"]
        concerned = ("only", "deadly") if small else ()
        besides = ("skipped",) if small else ()
        return accounts(trial.asked, read_answers(trial.out), reference, besides, concerned)


def _wrong(fault: Fault, found: Mapping[str, Any]) -> str:
    """What is not as promised, empty if all is."""
    if found["in_"] != found["out"] or found["duplicates"] or found["missing"] or found["unknown"]:
        return f"the ids in are not the ids out: {found}"
    if found["failed"] != fault.fails:
        return f"failed are {found['failed']}, expected {fault.fails}"
    if found["same"] != found["compared"]:
        return f"only {found['same']} of {found['compared']} records are those of the undisturbed run"
    return ""


def table(rows: Sequence[Json]) -> list[str]:
    """The rows in Markdown."""
    lines = [
        "| fault | engine | how it was injected "
        "| in | out | answered | failed | twice | missing | same records | s |",
        "|---|---|---|---:|---:|---:|---|---:|---:|---:|---:|",
    ]
    for row in rows:
        cells = [row["fault"], row["engine"], row["how"]]
        found = row.get("accounts")
        if found is None:
            cells += [row["wrong"].splitlines()[0][:80] if row["wrong"] else "-", *["-"] * 6]
        else:
            failed = ", ".join(f"{number} {kind}" for kind, number in sorted(found["failed"].items())) or "0"
            cells += [found["in_"], found["out"], found["answered"], failed, found["duplicates"]]
            cells += [found["missing"], f"{found['same']} of {found['compared']}"]
        lines.append("| " + " | ".join(map(str, [*cells, row["seconds"]])) + " |")
    return lines


def _receipt(given: argparse.Namespace) -> Json:
    """When, with what code and how a row was made."""
    whole = receipt(["python", "benchmarks/faults.py", *sys.argv[1:]], Config(), {})
    kept = ("version", "commit", "dirty", "date", "command")
    return {**{key: whole[key] for key in kept}, "every": given.every, "seed": given.seed}


if __name__ == "__main__":
    sys.exit(main())
