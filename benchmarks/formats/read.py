"""What becomes of a folder of real exports: a line a file with its format, share explained, turns, span.

    python benchmarks/formats/read.py FOLDER > table.tsv

Tab-separated lines, then totals by format. The files stay where they are, and nothing of them is kept.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from typing import Any

COLUMNS = ("file", "format", "explained", "turns", "speakers", "span", "warnings")


def detected(paths: list[str]) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "smartsearch", "formats", "detect", "--json", *paths]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return json.loads(done.stdout)["files"] if done.stdout.strip() else []


def row(file: dict[str, Any]) -> tuple[str, ...]:
    share = "" if file["explained"] is None else f"{file['explained']:.0%}"
    span = f"{file['first'][:10]} to {file['last'][:10]}" if file["first"] else ""
    said = [one["reason"] for one in file["skipped"]] + file["warnings"]
    shown = " | ".join(" ".join(one.split()) for one in said)
    return (file["path"], file["format"], share, f"{file['turns']}", f"{len(file['speakers'])}", span, shown)


def totals(files: list[dict[str, Any]]) -> list[str]:
    by_format = defaultdict(list)
    for file in files:
        by_format[file["format"] or "not read"].append(file)
    lines = []
    for name, some in sorted(by_format.items()):
        shares = sorted(file["explained"] for file in some if file["explained"] is not None)
        told = f", explained {shares[0]:.0%} to {shares[-1]:.0%}" if shares else ""
        turns = sum(file["turns"] for file in some)
        warned = sum(bool(file["warnings"] or file["skipped"]) for file in some)
        lines.append(f"{name}: {len(some):,} files, {turns:,} turns{told}, {warned:,} with warnings")
    return lines


def main() -> None:
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} FOLDER...")
    files = detected(sys.argv[1:])
    print(*("\t".join(columns) for columns in (COLUMNS, *map(row, files))), *totals(files), sep="\n")


if __name__ == "__main__":
    main()
