"""Runs what benchmarks/expected.toml lists and compares: `python benchmarks/check.py [--data DIR]`.

Exit code 0 if every figure is within its tolerance, 1 if one is not, 2 if a run failed. Runs whose data
is not there are left out, and said. Scores are kept between checks in --out: a second check is quick.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Figure:
    """One expected figure: where it stands in the record, its value, how far off it may be."""

    measure: str
    score: float
    tolerance: float

    def found(self, record: dict[str, Any]) -> float | None:
        """The figure in a record: `row name | key | key`, or keys from the top; None where it is not."""
        value: Any = record
        rows = {row["name"]: row for row in record["rows"]}
        for key in (part.strip() for part in self.measure.split("|")):
            value = rows.get(key) if value is record and key in rows else _get(value, key)
        return float(value) if isinstance(value, int | float) else None


def _get(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, dict) else None


def compared(
    figures: Sequence[Figure], record: dict[str, Any]
) -> Iterator[tuple[Figure, float | None, bool]]:
    """Each figure, what was found, and whether it is within its tolerance."""
    for figure in figures:
        found = figure.found(record)
        yield figure, found, found is not None and abs(found - figure.score) <= figure.tolerance


def run(command: Sequence[str], data: Path, out: Path) -> dict[str, Any]:
    """The record of a benchmark. Raises RuntimeError with what the command said where it failed."""
    words = [sys.executable, "-m", "smartsearch", "bench", str(data), *command, "--json", "--out", str(out)]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    if done.returncode:
        raise RuntimeError(done.stderr or done.stdout)
    try:
        record: dict[str, Any] = json.loads(done.stdout)
    except ValueError as error:
        raise RuntimeError(f"no record: {error}") from error
    return record


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--expected", type=Path, default=HERE / "expected.toml")
    parser.add_argument("--data", type=Path, default=HERE.parent.parent / "shared" / "data" / "eval")
    parser.add_argument("--out", type=Path, default=HERE.parent / ".out" / "bench-check")
    given = parser.parse_args(arguments)
    table = tomllib.loads(given.expected.read_text(encoding="utf-8"))
    bad = failed = 0
    for entry in table["run"]:
        figures = [Figure(**figure) for figure in entry["expect"]]
        places = [HERE.parent / entry["data"], given.data / entry["data"]]
        data = next((place for place in places if place.exists()), None)
        if data is None:
            print(f"left out  {entry['name']}: no {entry['data']} in {given.data}")
            continue
        start = time.perf_counter()
        try:
            record = run(entry["command"], data, given.out / entry["name"].replace(" ", "-"))
        except RuntimeError as error:
            print(f"failed    {entry['name']}: {error}")
            failed += 1
            continue
        print(f"{entry['name']}: {len(figures)} figures, {time.perf_counter() - start:.0f} s")
        for figure, found, good in compared(figures, record):
            bad += not good
            word = "ok" if good else "DIFFERS"
            seen = "not there" if found is None else f"{found:.4f}"
            wanted = f"expected {figure.score:.4f} +- {figure.tolerance:g}"
            print(f"  {word:<8}{figure.measure:<60}{seen:>10}  {wanted}")
    return 2 if failed else 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
