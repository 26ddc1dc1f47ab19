"""Writes reports/scale.md from a record of scale.py: `python benchmarks/scale_page.py --record RECORD`.

A part that was not measured is said so.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "speed"))

from records import read
from report import HERE, NONE, REPORTS, ROOT, digits, percent, render
from scale import KIND, PARTS

Json = dict[str, Any]
BOTH = "ce,colbert"
RANKS = {"none": "`--rank none`", BOTH: "both rankers"}
BUSY = 0.1
"""Share of the cores in use before a measurement above which it is to be doubted."""
SETS = {"locomo": "LoCoMo", "beam": "BEAM 100K"}
DRIVERS = {
    "local-driver": ("coordinator", "start", "start-none", "with local workers: hand out, receive, write"),
    "ray-driver": ("ray", "ray", "ray-start", "with Ray: the driver alone"),
}


@dataclass(frozen=True)
class Cost:
    """Processor seconds of one question, by what they are spent on."""

    read: float
    retrieve: float
    rank: float
    truncate: float

    @property
    def all(self) -> float:
        """Their sum."""
        return self.read + self.retrieve + self.rank + self.truncate


def rows_of(record: Json, part: str, rank: str = "") -> list[Json]:
    """The rows of a part that were measured, with those rankers alone where `rank` names them."""
    rows = record["parts"].get(part, {}).get("rows", ())
    return [one for one in rows if "left_out" not in one and rank in ("", one["rank"])]


def row(record: Json, part: str, name: str) -> Json | None:
    """A row that was measured."""
    return next((one for one in rows_of(record, part) if one["id"] == name), None)


def begun(record: Json, rank: str) -> float:
    """Processor seconds that a worker spends before it answers; 0 where that was not measured."""
    found = row(record, "start", f"start-{rank}")
    return float(found["cpu"]["worker"]) if found else 0.0


def cost(record: Json, one: Json) -> Cost:
    """What a question of a row cost: the workers' processor time, starts left out, in the stages' shares."""
    spent = one["cpu"]["worker"] - one["processes"]["worker"] * begun(record, one["rank"])
    known = ("read", "parse", "retrieve", "rank", "truncate")
    read, parse, retrieve, rank, truncate = (float(one["stages"].get(name, 0.0)) for name in known)
    total = read + parse + retrieve + rank + truncate
    each = spent / one["questions"] if spent > 0 else total / 1000.0
    return Cost(*(each * part / total for part in (read, parse + retrieve, rank, truncate)))


def handed(record: Json, name: str) -> float | None:
    """Processor seconds of the coordinator for each record; None where that was not measured."""
    part, before, start, _ = DRIVERS[name]
    run, alone = row(record, part, name), row(record, before, start)
    if run is None or alone is None:
        return None
    spent = run["cpu"]["command"] - alone["cpu"]["command"]
    return max(float(spent), 0.0) / (run["questions"] - 1) or None


def page(record: Json, command: str, engines: Json | None = None) -> str:
    """The whole page as Markdown."""
    return render(
        "scale",
        parts=record["parts"],
        machines=list(dict.fromkeys(_machine(part) for part in record["parts"].values())),
        doubts=list(doubts(record)),
        throughput=list(throughput(record)),
        engines=list(alike(engines)) if engines else [],
        starting=list(starting(record)),
        sizes=list(by_size(record)),
        asked=list(by_questions(record)),
        driving=list(driving(record)),
        receipts=list(receipts(record)),
        commands=list(
            dict.fromkeys(
                one["command"] for part in PARTS for one in record["parts"].get(part, {}).get("rows", ())
            )
        ),
        command=command,
    )


def _machine(part: Json) -> str:
    machine = part["receipt"]["machine"]
    return (
        f"{machine['cpu']}, {machine['cores']} cores, {', '.join(part['instructions'])}, "
        f"{machine['memory_gib']} GiB, Python {machine['python']}"
    )


def doubts(record: Json) -> Iterator[str]:
    """What speaks against these figures."""
    for name, part in record["parts"].items():
        if part.get("quick"):
            yield f"**{name}: a quick run, to see that it works, no figures to quote.**"
        busy = max((one.get("busy") or 0.0 for one in part.get("rows", ())), default=0.0)
        if busy > BUSY:
            yield f"**{name}: others used up to {busy:.0%} of the cores before a run.**"
        if part["receipt"].get("dirty"):
            yield f"{name}: the checkout had changes beyond its commit."


def throughput(record: Json) -> Iterator[Sequence[str]]:
    """Questions a second, by who does them."""
    base = row(record, "throughput", "local-1")
    for one in record["parts"].get("throughput", {}).get("rows", ()):
        if "left_out" in one:
            yield one["what"], f"not measured: {one['left_out']}", *[NONE] * 7
            continue
        rates = [rate for rate in _rounds(one) if rate]
        yield (
            one["what"],
            digits(one["steady"]),
            f"{digits(min(rates))} to {digits(max(rates))}" if rates else NONE,
            digits(_ratio(one, base)),
            digits(one["first"]),
            digits(one["seconds"]),
            digits(sum(one["cpu"].values()) / one["questions"]),
            digits(_peak(one) / 1e6),
            digits(one["together"] / 1e6),
        )


def _rounds(one: Json) -> list[float | None]:
    """Questions a second of each round; a row without them was run once."""
    return one.get("all") or [one["steady"]]


def _ratio(one: Json, base: Json | None) -> float | None:
    """The middle of the ratios to another within a round."""
    pairs = zip(_rounds(one), _rounds(base), strict=True) if base else ()
    ratios = [rate / other for rate, other in pairs if rate and other]
    return statistics.median(ratios) if ratios else None


def _peak(one: Json) -> int:
    told = one.get("session", {}).get("worker_peak_bytes", 0)
    return max(told, one["peak"]["worker"], 0 if one["engine"] != "in-order" else one["peak"]["command"])


def alike(engines: Json) -> Iterator[Sequence[str]]:
    """All questions of whole sets by each engine, and whether their records are the same."""
    for one in engines["rows"]:
        counts = (one["in_"], one["out"], sum(one["failed"].values()), one["duplicates"], one["same"])
        rate = digits(one["out"] / one["seconds"] if one["seconds"] else None)
        digest = (one.get("digest") or NONE)[:12]
        yield SETS.get(one["set"], one["set"]), one["who"], *(f"{count:,}" for count in counts), rate, digest


def starting(record: Json) -> Iterator[Sequence[str]]:
    """What a worker needs until its first record."""
    for one in (*rows_of(record, "start"), row(record, "ray", "ray-start")):
        if one:
            figures = (one["first"], one["cpu"]["worker"], one["cpu"]["command"], _peak(one) / 1e6)
            yield one["what"], *map(digits, figures), str(one.get("runs", 1))


def by_size(record: Json) -> Iterator[Sequence[str]]:
    """What one question costs by what there is to search."""
    for rank, said in RANKS.items():
        for one in sorted(rows_of(record, "size", rank), key=lambda one: one["turns"]):
            spent = cost(record, one)
            parts = (spent.all, spent.read, spent.retrieve, spent.rank, spent.truncate)
            sizes = (one["chat_bytes"] / one["users"] / 1e6, one["candidates"])
            figures = (*sizes, *parts, _peak(one) / 1e6, one["record_bytes"])
            yield f"{one['turns']:,}", said, *map(digits, figures)


def by_questions(record: Json) -> Iterator[Sequence[str]]:
    """What a question costs by how many there are of a user."""
    for rank, said in RANKS.items():
        for one in sorted(
            rows_of(record, "questions", rank), key=lambda one: one["questions"] / one["users"]
        ):
            spent = cost(record, one)
            figures = (spent.all, spent.read, spent.retrieve, spent.rank)
            yield f"{one['questions'] // one['users']}", said, str(one["users"]), *map(digits, figures)


def driving(record: Json) -> Iterator[Sequence[str]]:
    """What the coordinator spends: milliseconds for each record."""
    part = record["parts"].get("coordinator", {})
    if "write" not in part:
        return
    for of, step, what in (
        ("plan", "plan", "reading and planning"),
        ("write", "write", "writing parts as they come"),
        ("write", "finish", "counting, putting in order, answers"),
    ):
        spent, lines = part[of]["steps"][step], part[of]["lines"]
        yield (
            f"{what}, {lines:,} records",
            *(digits(spent[kind] / lines * 1000.0) for kind in ("seconds", "cpu")),
        )
    for name, (*_, what) in DRIVERS.items():
        each = handed(record, name)
        if each is not None:
            yield what, NONE, digits(each * 1000.0)


def receipts(record: Json) -> Iterator[Sequence[str]]:
    """When and from what each part comes."""
    for name in PARTS:
        part = record["parts"].get(name)
        if part:
            receipt, rows = part["receipt"], part.get("rows", ())
            commit = receipt["commit"][:10] + ("+" if receipt.get("dirty") else "")
            busy = max((one.get("busy") or 0.0 for one in rows), default=None)
            yield name, receipt["date"], commit, percent(busy), f"{part['seconds']:.0f}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--record", type=Path, default=ROOT / ".out" / "scale" / "record.json")
    whole = sorted((HERE / "results").glob("*-engines.json"))
    add("--engines", type=Path, default=whole[-1] if whole else None, help="a record of engines.py")
    add("--out", type=Path, default=REPORTS / "scale.md")
    given = parser.parse_args(arguments)
    engines = read(given.engines, "smartsearch engines") if given.engines else None
    shown = os.path.relpath(given.record, ROOT)
    shown = given.record.name if shown.startswith("..") else shown
    command = f"python benchmarks/scale_page.py --record {shown}"
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(page(read(given.record, KIND), command, engines), encoding="utf-8")
    print(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
