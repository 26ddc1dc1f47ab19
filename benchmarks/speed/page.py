"""Writes reports/performance.md from a record: `python benchmarks/speed/page.py --record RECORD`.

A record needs no particular sections or rows: what was not measured is said where it would stand.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from measure import HERE, INT8, Json
from run import KIND
from sections import SECTIONS

sys.path.insert(0, str(HERE.parent))

from records import read
from report import NONE, REPORTS, ROOT, digits, percent, render

BUSY = 0.1
"""Share of the cores that others used before a section, above which its figures are to be doubted."""
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


def page(record: Json, command: str) -> str:
    """The whole page as Markdown."""
    sections = {name: record["sections"].get(name) for name in SECTIONS}
    there = {name: section for name, section in sections.items() if section}
    return render(
        "performance",
        command=command,
        sections=[
            (
                SECTIONS[name][0],
                about(name, section or {}),
                list(measured(section or {})),
                stages(section or {}),
            )
            for name, section in sections.items()
        ],
        machines=sorted({_machine(section) for section in there.values()}),
        doubts=list(doubts(there)),
        receipts=list(receipts(there)),
        stage_names=list(STAGES),
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


def doubts(sections: Mapping[str, Json]) -> Iterator[str]:
    """What speaks against these figures."""
    for name, section in sections.items():
        if section.get("quick"):
            yield f"**{name}: a quick run, to see that it works, no figures to quote.**"
        if (section.get("busy") or 0) > BUSY:
            yield f"**{name}: others used {section['busy']:.0%} of the cores before it.**"
        if section["receipt"]["dirty"]:
            yield f"{name}: the checkout had changes beyond its commit."


def about(name: str, section: Json) -> str:
    """What a section was measured over."""
    more = section.get("more", {})
    if not more:
        return f"Not measured: {section.get('left_out', 'this section was not run')}."
    said = {
        "new": "LoCoMo's {conversation}, {turns:,} turns.",
        "warm": "LoCoMo's {conversation}, {turns:,} turns.",
        "assistant": "{turns:,} turns made by rule, about {tokens:,} tokens.",
        "million": "{turns:,} turns made by rule, JSONL messages in {files:,} files, {mb:,.0f} MB.",
        "batch": "Start and the encoding of all turns are in it.",
    }
    return said[name].format(**more, mb=more.get("bytes", 0) / 1e6)


def measured(section: Json) -> Iterator[Sequence[str]]:
    """The rows of a section: figures, the ratio to the floor, and the command."""
    rows = section.get("rows", ())
    floor = next((row["median"] for row in rows if "the floor" in row["what"] and "median" in row), None)
    for row in rows:
        if "left_out" in row:
            yield row["what"], f"not measured: {row['left_out']}", *[NONE] * 6
            continue
        yield (
            row["what"],
            f"{digits(row['median'])} s",
            digits(row["p95"]),
            f"{digits(row['least'])} to {digits(row['most'])}",
            digits(row["median"] / floor) if floor else NONE,
            digits(row["peak_mb"]),
            str(row["runs"]),
            f"`{row['command']}`",
        )


def stages(section: Json) -> list[Sequence[str]]:
    """Where the time of the rows that answer goes: milliseconds, medians each."""
    found = section.get("stages", {})
    return [
        (what, *(f"{spent[stage] * 1000:,.0f}" if stage in spent else NONE for stage in STAGES))
        for what, spent in found.items()
    ]


def receipts(sections: Mapping[str, Json]) -> Iterator[Sequence[str]]:
    """When and from what each section comes."""
    for name, section in sections.items():
        receipt = section["receipt"]
        commit = receipt["commit"][:10] + ("+" if receipt["dirty"] else "")
        others = percent(section.get("busy"))
        spent = f"{section['seconds']:.0f}"
        yield name, receipt["date"], commit, str(receipt["threads"]), others, spent, f"`{receipt['command']}`"


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
