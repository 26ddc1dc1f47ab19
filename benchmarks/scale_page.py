"""Writes reports/scale.md from a record of scale.py: `python benchmarks/scale_page.py --record RECORD`.

First what was measured, then what many users would cost by it. A part that was not measured is said so; the
model needs `start`, `size` and `coordinator`, and leaves out what rests on others.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "speed"))

from records import read
from report import HERE, NONE, REPORTS, ROOT, digits, percent, power, render, size
from scale import KIND, PARTS

Json = dict[str, Any]
HOUR = 3600.0
BOTH = "ce,colbert"
RANKS = {"none": "`--rank none`", BOTH: "both rankers"}
NEEDED = ("start", "size", "coordinator")
READ_TURNS = 1024
"""Turns that ColBERT reads for a question (`colbert_turns` of the config)."""
BLOCK = 1 << 20
"""Bytes that are asked of an object store at a time."""
BUSY = 0.1
"""Share of the cores in use before a measurement above which it is to be doubted."""
SETS = {"locomo": "LoCoMo", "beam": "BEAM 100K"}
DRIVERS = {
    "local-driver": ("coordinator", "start", "start-none", "with local workers: hand out, receive, write"),
    "ray-driver": ("ray", "ray", "ray-start", "with Ray: the driver alone"),
}
WAYS = {
    "none": "`--rank none`",
    "query-warm": "both rankers, vectors cached",
    "index-query": "with `smartsearch index`",
    "index-build": "making that index",
}


def assumption(default: float, what: str) -> Any:
    """A number that is taken for granted; `what` says of what."""
    return field(default=default, metadata={"what": what})


@dataclass(frozen=True)
class Assumed:
    """What the model takes for granted; every one is an option of this script."""

    users: float = assumption(1e6, "users")
    turns: float = assumption(1e4, "turns of each")
    price: float = assumption(0.04, "$ for a vCPU-hour, on demand")
    storage: float = assumption(0.023, "$ for a GB of object storage and month")
    puts: float = assumption(0.005, "$ for 1,000 writes to an object store")
    gets: float = assumption(0.0004, "$ for 1,000 reads")
    trip: float = assumption(0.05, "seconds for one write to an object store")
    night: float = assumption(8.0, "hours in which all has to be done")
    memory: float = assumption(4.0, "GB of memory for each vCPU")


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


def nearest(record: Json, rank: str, turns: float) -> Json:
    """The row of the size that is nearest, as a ratio."""
    return min(rows_of(record, "size", rank), key=lambda one: abs(math.log(one["turns"] / turns)))


def handed(record: Json, name: str) -> float | None:
    """Processor seconds of the coordinator for each record; None where that was not measured."""
    part, before, start, _ = DRIVERS[name]
    run, alone = row(record, part, name), row(record, before, start)
    if run is None or alone is None:
        return None
    spent = run["cpu"]["command"] - alone["cpu"]["command"]
    return max(float(spent), 0.0) / (run["questions"] - 1) or None


def page(
    record: Json, speed: Json | None, assumed: Assumed, command: str, engines: Json | None = None
) -> str:
    """The whole page as Markdown."""
    missing = [name for name in NEEDED if not _has(record, name)]
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
        indexes=list(beside(record)),
        missing=missing,
        model=[] if missing else list(model(record, assumed)),
        limits=[] if missing else list(limits(record, assumed)),
        one_corpus=list(one_corpus(speed)) if speed else [],
        after=[] if missing else list(after(record, speed, assumed)),
        users=power(assumed.users),
        turns=power(assumed.turns),
        assumed=[
            (f"`--{one.name}`", one.metadata["what"], f"{getattr(assumed, one.name):,.10g}")
            for one in fields(assumed)
        ],
        receipts=list(receipts(record)),
        commands=list(
            dict.fromkeys(
                one["command"] for part in PARTS for one in record["parts"].get(part, {}).get("rows", ())
            )
        ),
        command=command,
    )


def _has(record: Json, name: str) -> bool:
    part = record["parts"].get(name, {})
    if "left_out" in part:
        return False
    if name == "size":
        return all(rows_of(record, name, rank) for rank in RANKS)
    return "write" in part if name == "coordinator" else bool(part.get("rows"))


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


def beside(record: Json) -> Iterator[Sequence[str]]:
    """What an index costs that stands beside us."""
    part = record["parts"].get("engines", {})
    for name in ("trigram", "words"):
        if name in part:
            one, turns = part[name], part["turns"]
            made = (one["bytes"] / turns, one["bytes"] / part["text_bytes"], one["build_cpu"] / turns * 1e6)
            yield name, *map(digits, (*made, one["query_ms"], one["hits"]))


def model(record: Json, assumed: Assumed) -> Iterator[Sequence[str]]:
    """What all users together take: what, by which formula, how much."""
    users, night = power(assumed.users), digits(assumed.night)
    one = nearest(record, BOTH, assumed.turns)
    turn, turns = bytes_a_turn(record, assumed), assumed.users * assumed.turns
    yield "turns", f"{users} × {power(assumed.turns)}", power(turns)
    stored = turns * turn
    yield "transcripts", f"{power(turns)} × {digits(turn)} bytes a turn", size(stored)
    yield (
        "... stored, a month",
        f"{size(stored)} × ${assumed.storage}",
        _money(stored / 1e9 * assumed.storage),
    )
    for rank, said in RANKS.items():
        each = cost(record, nearest(record, rank, assumed.turns)).all
        hours = assumed.users * each / HOUR
        yield f"a question each, {said}: vCPU-hours", f"{users} × {digits(each)} s / 3,600", digits(hours)
        yield "... money", f"{digits(hours)} × ${assumed.price}", _money(hours * assumed.price)
        machines = math.ceil(hours / 64 / assumed.night)
        yield "... machines of 64 for a night", f"{digits(hours)} / 64 / {night} h", f"{machines:,}"
    peak = _peak(one) / 1e9
    yield (
        "memory of 64 workers",
        f"64 × {digits(peak)} GB of {digits(64 * assumed.memory)}",
        f"{digits(64 * peak)} GB",
    )
    measured = {
        other["questions"] // other["users"]: cost(record, other).all
        for other in rows_of(record, "questions", BOTH)
    }
    for count, each in sorted(measured.items()):
        if 1 in measured and count > 1:
            yield (
                f"{count} questions of a user, against one",
                f"{count} × {digits(each)} / {digits(measured[1])}",
                f"{digits(count * each / measured[1])} times",
            )
    answers = assumed.users * one["record_bytes"]
    yield "answers", f"{users} × {digits(one['record_bytes'])} bytes", size(answers)
    files = one.get("inputs", one["users"]) / one["users"]
    blocks = files * math.ceil(one["chat_bytes"] / one["users"] / files / BLOCK)
    task = record["parts"]["coordinator"]["plan"]["task_lines"]
    for what, how, number, price in (
        (
            "reads of an object store",
            f"(2 + {digits(files)} looks + {digits(blocks)} blocks)",
            2 + files + blocks,
            assumed.gets,
        ),
        ("writes", f"2 / {task} a task", 2 / task, assumed.puts),
    ):
        count = assumed.users * number
        yield what, f"{users} × {how}", f"{digits(count)}, {_money(count / 1000 * price)}"
    yield from _vectors(record, assumed, one)


def bytes_a_turn(record: Json, assumed: Assumed) -> float:
    """Of the chats of the size nearest to the users'."""
    one = nearest(record, BOTH, assumed.turns)
    return float(one["chat_bytes"] / one["users"] / one["turns"])


def _vectors(record: Json, assumed: Assumed, one: Json) -> Iterator[Sequence[str]]:
    """Whether ColBERT's vectors should be kept for all."""
    every = [other.get("vectors", {}) for name in record["parts"] for other in rows_of(record, name)]
    held = [kept for kept in every if kept.get("turns")]
    if not held:
        return
    most = max(held, key=lambda kept: kept["turns"])
    each = most["bytes"] / most["turns"]
    turns = assumed.users * assumed.turns
    yield "ColBERT's vectors of all turns", f"{power(turns)} × {digits(each)} bytes", size(turns * each)
    share = one["stages"].get("colbert", 0.0) / max(one["stages"]["total"], 1e-9)
    encoding, read = cost(record, one).all * share, min(one["candidates"], READ_TURNS)
    if not encoding or not read:
        return
    monthly = assumed.turns * each / 1e9 * assumed.storage
    saved = encoding / HOUR * assumed.price
    kept = f"{size(assumed.turns * each)} × ${assumed.storage}"
    how = f"{kept} / ({digits(encoding)} s × ${assumed.price} / 3,600)"
    yield "... storing them pays from", how, f"{digits(monthly / saved)} questions a user and month"
    hours = turns * encoding / read / HOUR
    how = f"{power(turns)} × {digits(encoding / read * 1000.0)} ms / 3,600"
    yield "... encoding them once: vCPU-hours", how, f"{digits(hours)}, {_money(hours * assumed.price)}"


def limits(record: Json, assumed: Assumed) -> Iterator[Sequence[str]]:
    """How many workers one coordinator feeds, by what limits it."""
    part = record["parts"]["coordinator"]
    plan, write = part["plan"], part["write"]
    each = cost(record, nearest(record, BOTH, assumed.turns)).all
    seconds = write["steps"]["write"]["seconds"]
    found = [
        (
            "a local disk, every part synced",
            f"{write['lines']:,} records / {digits(seconds)} s",
            write["lines"] / seconds,
        )
    ]
    for name, (*_, what) in DRIVERS.items():
        spent = handed(record, name)
        if spent:
            found.append((what, f"1 / {digits(spent * 1000.0)} ms of processor", 1 / spent))
    task = plan["task_lines"]
    told = f"{task} lines a task / (2 writes × {assumed.trip} s, assumed, one after the other)"
    found.append(("an object store", told, task / (2 * assumed.trip)))
    for what, how, rate in found:
        yield what, how, digits(rate), f"{math.floor(rate * each):,}"


def one_corpus(speed: Json) -> Iterator[Sequence[str]]:
    """One corpus of each size in a cold process."""
    for turns in sorted(map(int, speed["sections"].get("size", {}).get("more", {}).get("sizes", {}))):
        found = [_speed(speed, "size", f"turns-{turns}-{name}") for name in WAYS]
        if any(found):
            cells = [
                f"{digits(one['median'])} s, {digits(one.get('peak_mb'))} MB" if one else NONE
                for one in found
            ]
            yield f"{turns:,}", *cells


def after(record: Json, speed: Json | None, assumed: Assumed) -> Iterator[Sequence[str]]:
    """A question over all users: what would answer it, by which formula, how long or how much."""
    turns = assumed.users * assumed.turns
    stored = turns * bytes_a_turn(record, assumed)
    for name, what in (
        ("scan-scan", "our bare scan, one core"),
        ("scan-none", "`query --rank none`, one process"),
    ):
        one = _speed(speed, "scan", name) if speed else None
        if one and one["median"]:
            rate = one["megabytes"] / one["median"]
            yield what, f"{size(stored)} / {digits(rate)} MB/s", f"{digits(stored / 1e6 / rate / HOUR)} hours"
    part = record["parts"].get("engines", {})
    for name, what in (
        ("trigram", "SQLite FTS5 by trigrams"),
        ("words", "an inverted index, as FTS5 by words"),
    ):
        if name in part:
            each = part[name]["bytes"] / part["turns"]
            hours = part[name]["build_cpu"] / part["turns"] * turns / HOUR
            yield f"{what}: its size", f"{power(turns)} × {digits(each)} bytes", size(turns * each)
            yield (
                "... made in",
                f"{digits(part[name]['build_cpu'] / part['turns'] * 1e6)} µs a turn",
                f"{digits(hours)} vCPU-hours",
            )
    near = nearest(record, BOTH, 1_000)
    each = cost(record, near).all
    how = f"{digits(near['candidates'])} candidates of {near['turns']:,} turns"
    yield "... smartsearch as the reranker of its candidates", how, f"{digits(each)} s of processor"


def receipts(record: Json) -> Iterator[Sequence[str]]:
    """When and from what each part comes."""
    for name in PARTS:
        part = record["parts"].get(name)
        if part:
            receipt, rows = part["receipt"], part.get("rows", ())
            commit = receipt["commit"][:10] + ("+" if receipt.get("dirty") else "")
            busy = max((one.get("busy") or 0.0 for one in rows), default=None)
            yield name, receipt["date"], commit, percent(busy), f"{part['seconds']:.0f}"


def _speed(speed: Json, section: str, name: str) -> Json | None:
    rows = speed["sections"].get(section, {}).get("rows", ())
    return next((one for one in rows if one["id"] == name and "left_out" not in one), None)


def _money(value: float) -> str:
    return f"${digits(value)}"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--record", type=Path, default=ROOT / ".out" / "scale" / "record.json")
    speeds = sorted((HERE / "results").glob("*-speed.json"))
    add("--speed", type=Path, default=speeds[-1] if speeds else None, help="a record of benchmarks/speed")
    whole = sorted((HERE / "results").glob("*-engines.json"))
    add("--engines", type=Path, default=whole[-1] if whole else None, help="a record of engines.py")
    add("--out", type=Path, default=REPORTS / "scale.md")
    for one in fields(Assumed):
        add(f"--{one.name}", type=float, default=one.default, help=one.metadata["what"].replace("%", "%%"))
    given = parser.parse_args(arguments)
    speed = read(given.speed, "smartsearch speed") if given.speed else None
    engines = read(given.engines, "smartsearch engines") if given.engines else None
    assumed = Assumed(**{one.name: getattr(given, one.name) for one in fields(Assumed)})
    shown = os.path.relpath(given.record, ROOT)
    shown = given.record.name if shown.startswith("..") else shown
    changed = [
        f" --{one.name} {getattr(assumed, one.name):g}"
        for one in fields(Assumed)
        if getattr(assumed, one.name) != one.default
    ]
    command = f"python benchmarks/scale_page.py --record {shown}{''.join(changed)}"
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(page(read(given.record, KIND), speed, assumed, command, engines), encoding="utf-8")
    print(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
