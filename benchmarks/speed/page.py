"""Writes reports/performance.md from a record: `python benchmarks/speed/page.py --record RECORD`.

A record needs no particular sections or rows: what was not measured is said where it would stand.
"""

from __future__ import annotations

import argparse
import math
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from measure import HERE, INT8, Json
from run import KIND

sys.path.insert(0, str(HERE.parent))

from records import read
from report import NONE, REPORTS, ROOT, digits, percent, render

BUSY = 0.1
"""Share of the cores that others used before a section, above which its figures are to be doubted."""
CURVES = {
    "query": "query, cold process, cold cache",
    "query-warm": "query, cold process, warm cache",
    "none": "query --rank none",
    "index-query": "query with the index",
    "index-build": "making the index",
}
STAGES = (
    "load",
    "read",
    "parse",
    "retrieve",
    "colbert",
    "crossencoder",
    "rank",
    "truncate",
    "outside",
    "total",
)
WAYS = {
    "none": "`--rank none`, cold process",
    "cold": "`query`, cold process, cold cache",
    "warm-cache": "`query`, cold process, warm cache",
    "warm": "`query`, warm process",
    "long": "long turns, warm process",
}
TITLES = {
    "rivals": "Side by side",
    "conversation": "One conversation, cold",
    "warm": "One conversation, warm",
    "long": "Long turns",
    "batch": "Batch",
    "start": "Start-up",
    "scan": "Raw scan",
    "size": "Cost curve",
    "memory": "Memory of a server",
}
BASES = {"start": "python", "conversation": "cold", "warm": "warm", "long": "long", "scan": "scan-rg"}
"""The row of a section that the others are set beside."""


def page(record: Json, command: str) -> str:
    """The whole page as Markdown."""
    sections = record["sections"]
    return render(
        "performance",
        command=command,
        sections=sections,
        titles={name: title for name, title in TITLES.items() if name not in ("size", "memory")},
        machines=sorted({_machine(section) for section in sections.values()}),
        doubts=list(doubts(record)),
        rows={name: list(measured(record, name)) for name in TITLES},
        curve=list(curve(record)),
        curves=list(CURVES.values()),
        growths=list(growths(record)),
        stages=list(stages(record)),
        ways=[WAYS[name] for name in WAYS if name in _columns(record)],
        points=list(points(sections.get("memory", {}))),
        receipts=list(receipts(record)),
    )


def _machine(section: Json) -> str:
    receipt = section["receipt"]
    machine = receipt["machine"]
    has = section.get("instructions")
    return (
        f"{machine['cpu']}{f' ({instructed(has)})' if has else ''}, {receipt['threads']} threads on "
        f"{machine['cores']} cores, {machine['memory_gib']} GiB, Python {machine['python']}, "
        f"{machine['system']}"
    )


def instructed(has: Sequence[str]) -> str:
    """The widest vector instructions, and whether there are some for int8, which our models are."""
    int8 = [name for name in has if name in INT8]
    widest = next(name for name in reversed(has) if name not in INT8)
    return f"{widest}, for int8 {', '.join(int8)}" if int8 else f"{widest}, none for int8"


def _runs(record: Json) -> Iterator[tuple[str, Json]]:
    """Each section by its title, and the runs that measured some sizes of the cost curve again."""
    for name, section in record["sections"].items():
        yield TITLES.get(name, name), section
        for one in section.get("later", ()):
            yield (
                f"{TITLES.get(name, name)}, {', '.join(f'{int(size):,}' for size in one['sizes'])} turns",
                one,
            )


def doubts(record: Json) -> Iterator[str]:
    """What speaks against these figures."""
    for name, run in _runs(record):
        if run.get("quick"):
            yield f"**{name}: a quick run, to see that it works, no figures to quote.**"
        if (run.get("busy") or 0) > BUSY:
            yield f"**{name}: others used {run['busy']:.0%} of the cores before it.**"
        if run["receipt"]["dirty"]:
            yield f"{name}: the checkout had changes beyond its commit."


def row_of(record: Json, section: str, identity: str) -> Json:
    """A row of the record; one that is not there says so as rows that were left out do."""
    rows = record["sections"].get(section, {}).get("rows", ())
    return next((row for row in rows if row["id"] == identity), {"id": identity, "left_out": "not measured"})


def measured(record: Json, name: str) -> Iterator[Sequence[str]]:
    """The rows of a section: figures, the ratio to the row they are set beside, and the command."""
    rows = record["sections"].get(name, {}).get("rows", ())
    for row in rows:
        if "left_out" in row:
            yield row["what"], f"not measured: {row['left_out']}", *[NONE] * 7
            continue
        base = row_of(record, name, BASES.get(name, ""))
        if name == "rivals":
            base = row_of(record, name, "rival-cold-ours" if "-cold-" in row["id"] else "rival-ours")
            base = {"median": row["ours"]} if "ours" in row else base
        beside = row["unit"] == base.get("unit", "s") and base.get("median")
        yield (
            row["what"],
            f"{digits(row['median'])} {row['unit']}",
            digits(row["p95"]),
            f"{digits(row['least'])} to {digits(row['most'])}",
            ratio(row["median"] / base["median"]) if beside else NONE,
            digits(row.get("peak_mb")),
            _more(row),
            str(row["runs"]),
            f"`{row['command']}`",
        )


def _more(row: Json) -> str:
    """What only rows of some kinds have."""
    if row.get("gold"):
        said = f"gold: {row['found']} of {row['gold']} ({row['found'] / row['gold']:.0%})"
        return f"{said}, ours {row['ours_found']}" if "ours_found" in row else said
    if "megabytes" in row:
        return f"{digits(row['megabytes'] / row['median'])} MB/s"
    return ", ".join(row.get("names", ())) or NONE


def _sizes(record: Json) -> Mapping[int, Json]:
    sizes = record["sections"].get("size", {}).get("more", {}).get("sizes", {})
    return {int(size): about for size, about in sorted(sizes.items(), key=lambda one: int(one[0]))}


def _of_size(record: Json, size: int, key: str) -> Json | None:
    row = row_of(record, "size", f"turns-{size}-{key}")
    return None if "left_out" in row else row


def curve(record: Json) -> Iterator[Sequence[str]]:
    """Seconds and peak memory by size of the corpus."""
    for size, about in _sizes(record).items():
        rows = [_of_size(record, size, key) for key in CURVES]
        cells = [f"{digits(row['median'])} s, {digits(row['peak_mb'])} MB" if row else NONE for row in rows]
        first = rows[0] or rows[2]
        candidates = f"{first['candidates']:,.0f}" if first else NONE
        found = f"{first['answered']} of {first['runs']}" if first else NONE
        yield f"{size:,}", digits(about["bytes"] / 1e6), *cells, candidates, found


def growths(record: Json) -> Iterator[str]:
    """How each curve grows between its two largest sizes."""
    for key, title in CURVES.items():
        found = [(size, row["median"]) for size in _sizes(record) if (row := _of_size(record, size, key))]
        told = growth(found)
        if told is not None:
            yield f"{title}: the last tenfold took {10**told:.1f} times as long; exponent {told:.2f}"


def growth(points: Sequence[tuple[float, float]]) -> float | None:
    """The exponent between the two largest sizes: 1 is linear; None for fewer than two."""
    if len(points) < 2:
        return None
    (small, before), (large, after) = points[-2:]
    return math.log(after / before) / math.log(large / small)


def _columns(record: Json) -> Json:
    """The stages' times by the way that was asked."""
    columns: Json = {}
    for section in ("conversation", "warm", "long"):
        columns |= record["sections"].get(section, {}).get("more", {}).get("stages", {})
    return columns


def stages(record: Json) -> Iterator[Sequence[str]]:
    """Where a query's time goes: milliseconds, medians each."""
    columns = [column for name, column in _columns(record).items() if name in WAYS]
    for stage in STAGES:
        found = [column.get(stage, {}).get("median") for column in columns]
        yield stage, *(NONE if one is None else f"{one * 1000:,.0f}" for one in found)


def points(section: Json) -> Iterator[Sequence[str]]:
    """A server's memory over many questions."""
    for point in section.get("more", {}).get("points", ()):
        spent = (digits(point[key]) if point[key] else NONE for key in ("ms_full", "ms_none"))
        yield f"{point['questions']:,}", digits(point["rss_mb"]), *spent


def receipts(record: Json) -> Iterator[Sequence[str]]:
    """When and from what each section comes."""
    for name, section in _runs(record):
        receipt = section["receipt"]
        commit = receipt["commit"][:10] + ("+" if receipt["dirty"] else "")
        others = percent(section.get("busy"))
        spent = f"{section['seconds']:.0f}"
        yield name, receipt["date"], commit, str(receipt["threads"]), others, spent, f"`{receipt['command']}`"


def ratio(value: float) -> str:
    """Two places, small ones as `digits`."""
    return f"{value:,.2f}" if value >= 0.1 else digits(value)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, default=ROOT / ".out" / "speed" / "record.json")
    parser.add_argument("--out", type=Path, default=REPORTS / "performance.md")
    given = parser.parse_args(arguments)
    shown = os.path.relpath(given.record, ROOT)
    shown = given.record.name if shown.startswith("..") else shown
    command = f"python benchmarks/speed/page.py --record {shown}"
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(page(read(given.record, KIND), command), encoding="utf-8")
    print(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
