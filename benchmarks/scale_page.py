"""Writes docs/scale.md from a record of scale.py: `python benchmarks/scale_page.py --record RECORD`.

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
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent / "speed"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from scale import PARTS, read

from smartsearch.ask.runs.plan import TASK_LINES, TASKS

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
Json = dict[str, Any]
HOUR = 3600.0
BOTH = "ce,colbert"
NEEDED = ("start", "size", "coordinator")
READ_TURNS = 1024
"""Turns that ColBERT reads for a question (`colbert_turns` of the config)."""
BLOCK = 1 << 20
"""Bytes that are asked of an object store at a time (smartsearch/runs/remote.py)."""
BUSY = 0.1
"""Share of the cores in use before a measurement above which it is to be doubted."""
SETS = {"locomo": "LoCoMo", "beam": "BEAM 100K"}
INT8 = {"asimddp", "i8mm", "avx_vnni", "avx512_vnni", "amx_int8"}
"""Instructions that multiply int8 and add in one step (benchmarks/speed/measure.py)."""


@dataclass(frozen=True)
class Assumed:
    """What the model takes for granted; every one is an option of this script."""

    users: float = 1e6  # users
    turns: float = 1e4  # turns of each user
    price: float = 0.04  # $ for a vCPU-hour
    storage: float = 0.023  # $ for a GB of object storage a month
    puts: float = 0.005  # $ for a thousand writes to an object store
    gets: float = 0.0004  # $ for a thousand reads
    trip: float = 0.05  # seconds for one write to an object store
    night: float = 8.0  # hours in which all has to be done
    memory: float = 4.0  # GB of memory of a machine for each vCPU


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


def row(record: Json, part: str, name: str) -> Json | None:
    """A row that was measured."""
    for one in record["parts"].get(part, {}).get("rows", ()):
        if one["id"] == name and "left_out" not in one:
            found: Json = one
            return found
    return None


def begun(record: Json, rank: str) -> float:
    """Processor seconds that a worker spends before it answers; 0 where that was not measured."""
    found = row(record, "start", f"start-{rank}")
    return float(found["cpu"]["worker"]) if found else 0.0


def cost(record: Json, one: Json) -> Cost:
    """What a question of a row cost: the workers' processor time, starts left out, in the stages' shares."""
    spent = one["cpu"]["worker"] - one["processes"]["worker"] * begun(record, one["rank"])
    stages = one["stages"]
    known = ("read", "parse", "retrieve", "rank", "truncate")
    read, parse, retrieve, rank, truncate = (float(stages.get(name, 0.0)) for name in known)
    total = read + parse + retrieve + rank + truncate
    each = spent / one["questions"] if spent > 0 else total / 1000.0
    return Cost(*(each * part / total for part in (read, parse + retrieve, rank, truncate)))


def sized(record: Json, rank: str) -> list[Json]:
    """The rows of the cost by size, the smallest first."""
    rows = record["parts"].get("size", {}).get("rows", ())
    return sorted(
        (one for one in rows if one["rank"] == rank and "left_out" not in one), key=lambda one: one["turns"]
    )


def nearest(record: Json, rank: str, turns: float) -> Json:
    """The row of the size that is nearest, as a ratio."""
    return min(sized(record, rank), key=lambda one: abs(math.log(one["turns"] / turns)))


def page(
    record: Json, speed: Json | None, assumed: Assumed, command: str, engines: Json | None = None
) -> str:
    """The whole page as Markdown."""
    lines = [
        "# Scale",
        "",
        "<!-- Written by benchmarks/scale_page.py from a record of scale.py: `make scale`. -->",
        "",
    ]
    for part in (head, doubts, throughput):
        lines += [*part(record), ""]
    lines += [*alike(engines), ""] if engines else []
    for part in (starting, by_size, by_questions, driving, beside):
        lines += [*part(record), ""]
    missing = [name for name in NEEDED if not _has(record, name)]
    if missing:
        lines += ["## Many users", "", f"Not computed: not measured yet: {', '.join(missing)}.", ""]
    else:
        for model in (chats, one_each, answers, driver, requests, vectors):
            lines += [*model(record, assumed), ""]
        lines += [*breaking(record, speed, assumed), "", *after(record, speed, assumed), ""]
        lines += [*assumptions(assumed), ""]
    lines += [*receipts(record), "", "## How this page was made", ""]
    lines += ["    python benchmarks/scale.py --out RECORD"]
    lines += ["    python benchmarks/engines.py --data EVAL --out RECORD"] if engines else []
    lines += [f"    {command}", ""]
    return "\n".join(lines).rstrip() + "\n"


def _has(record: Json, name: str) -> bool:
    part = record["parts"].get(name, {})
    rows = part.get("rows", ())
    whole = "write" in part if name == "coordinator" else bool(rows)
    return (
        whole and "left_out" not in part and (name != "size" or all(sized(record, r) for r in ("none", BOTH)))
    )


def head(record: Json) -> Iterator[str]:
    """What this page is, and on what machine it was measured."""
    yield (
        "What a batch costs, measured on one small machine, and what follows from it for many users. Every "
        "number is **measured** (the tables of this part), **computed** (with its formula, to be done "
        "again with other numbers) or **assumed** (so marked; a table lists them, each an option of the "
        "script). MB, GB and TB are 10^6, 10^9 and 10^12 bytes. What one question costs in detail: "
        "[performance.md](performance.md). How runs work: [batch.md](batch.md)."
    )
    machines: dict[str, None] = {}
    for part in record["parts"].values():
        machine, has = part["receipt"]["machine"], part["instructions"]
        int8 = [name for name in has if name in INT8]
        vector = f"int8 by {', '.join(int8)}" if int8 else "no VNNI, which makes models of int8 faster"
        known = f"{machine['cpu']}, {machine['cores']} cores, {', '.join(has)} ({vector}), "
        machines[f"Measured on {known}{machine['memory_gib']} GiB, Python {machine['python']}."] = None
    if machines:
        yield ""
    yield from machines
    yield ""
    yield (
        "All runs: `smartsearch batch QUESTIONS --out FOLDER` with the shipped models, caches empty, chats "
        "made by rule (benchmarks/speed/corpus.py) in a folder for each user, each line naming its user's "
        "folder."
    )


def doubts(record: Json) -> Iterator[str]:
    """What speaks against these figures."""
    parts = record["parts"]
    if quick := [name for name in parts if parts[name].get("quick")]:
        yield f"- **Quick runs, to see that they work, no figures to quote: {', '.join(quick)}.**"
    for name, part in parts.items():
        busy = max((one.get("busy") or 0.0 for one in part.get("rows", ())), default=0.0)
        if busy > BUSY:
            loads = [one["load"] for one in part["rows"]]
            yield (
                f"- **{name}: others used up to {busy:.0%} of the cores before a run; load average "
                f"{min(loads):.1f} to {max(loads):.1f}.**"
            )
        if part["receipt"].get("dirty"):
            yield f"- {name}: the checkout had changes beyond its commit."


def throughput(record: Json) -> Iterator[str]:
    """Questions a second, by who does them."""
    yield "## Questions a second"
    part = record["parts"].get("throughput", {})
    if not (rows := part.get("rows", ())):
        yield from _absent(record, "throughput")
        return
    base = row(record, "throughput", "local-1")
    lines = []
    for one in rows:
        if "left_out" in one:
            lines.append((one["what"], f"not measured: {one['left_out']}", *["-"] * 7))
            continue
        rates = [rate for rate in _rounds(one) if rate]
        busy = sum(one["cpu"].values()) / one["questions"]
        lines.append(
            (
                one["what"],
                _n(one["steady"]),
                f"{_n(min(rates))} to {_n(max(rates))}" if rates else "-",
                _n(_ratio(one, base)),
                _n(one["first"]),
                _n(one["seconds"]),
                _n(busy),
                _n(_peak(one) / 1e6),
                _n(one["together"] / 1e6),
            )
        )
    yield ""
    users, turns = rows[0]["users"], rows[0]["turns"]
    yield (
        f"{users} users with {turns} turns each, one question each, both rankers. *Questions a second* are "
        "steady: from the first record to the last, by the times of the parts that are written. Everybody "
        f"once in each of {max(len(one.get('all', ())) for one in rows)} rounds, for this machine's speed "
        "changes by the hour: the run of middle speed, the slowest and the fastest, and the middle of the "
        "ratios within a round. Processor seconds count every process, start included."
    )
    yield from _table(
        (
            "who",
            "questions a second",
            "of all rounds",
            "of 1 worker",
            "first record after, s",
            "whole run, s",
            "processor seconds a question",
            "peak of the largest process, MB",
            "all processes at once, MB",
        ),
        lines,
    )
    if any(one["engine"] == "ray" for one in rows):
        cores = next(iter(record["parts"].values()))["receipt"]["machine"]["cores"]
        yield ""
        yield (
            f"The Ray nodes are processes on this one machine and share its {cores} cores with the driver: "
            f"beyond {cores} nodes nothing can become faster, and Ray's own processes take their part. What "
            "the table shows of Ray is its overhead, not how it grows over machines."
        )
    if why := part.get("no_ray"):
        yield ""
        yield f"Not measured: Ray: {why}."


def _rounds(one: Json) -> list[float | None]:
    """Questions a second of each round; a row without them was run once."""
    return one.get("all") or [one["steady"]]


def _ratio(one: Json, base: Json | None) -> float | None:
    """The middle of the ratios to another within a round."""
    pairs = zip(_rounds(one), _rounds(base), strict=True) if base else ()
    ratios = [rate / other for rate, other in pairs if rate and other]
    return statistics.median(ratios) if ratios else None


def alike(engines: Json) -> Iterator[str]:
    """All questions of whole sets by each engine, and whether their records are the same."""
    yield "## Whole sets by every engine"
    yield ""
    yield (
        "All questions of LoCoMo and BEAM with the default settings (benchmarks/engines.py). *The same* "
        "are records that equal those of the first row but for `timing_ms`, and for `line` and `threads`, "
        "which only one kind has ([batch.md](batch.md)). Vectors are cached: who comes later in a set finds "
        "those that others have made, so compare speeds above. In order: by what the records say they took; "
        "the others: the sessions of the manifest, starts included."
    )
    lines = []
    for one in engines["rows"]:
        failed = sum(one["failed"].values())
        lines.append(
            (
                SETS.get(one["set"], one["set"]),
                one["who"],
                *(f"{one[key]:,}" for key in ("in_", "out")),
                f"{failed:,}",
                f"{one['duplicates']:,}",
                f"{one['same']:,}",
                _n(one["out"] / one["seconds"] if one["seconds"] else None),
                (one.get("digest") or "-")[:12],
            )
        )
    yield from _table(
        (
            "set",
            "who",
            "in",
            "out",
            "failed",
            "twice",
            "the same",
            "questions a second",
            "digest of the records",
        ),
        lines,
    )
    yield ""
    made = engines["receipt"]
    yield f"{made['date'][:10]}, commit {made['commit'][:10]}."


def _peak(one: Json) -> int:
    told = one.get("session", {}).get("worker_peak_bytes", 0)
    return max(told, one["peak"]["worker"], 0 if one["engine"] != "in-order" else one["peak"]["command"])


def starting(record: Json) -> Iterator[str]:
    """What a worker needs until its first record."""
    yield "## Start"
    rows = [*record["parts"].get("start", {}).get("rows", ())]
    if ray := row(record, "ray", "ray-start"):
        rows.append(ray)
    lines = [
        (
            one["what"],
            _n(one["first"]),
            _n(one["cpu"]["worker"]),
            _n(one["cpu"]["command"]),
            _n(_peak(one) / 1e6),
            str(one.get("runs", 1)),
        )
        for one in rows
        if "left_out" not in one
    ]
    if not lines:
        yield from _absent(record, "start")
        return
    names = (
        "what",
        "first record after, s",
        "worker, processor s",
        "coordinator, processor s",
        "worker's peak, MB",
    )
    yield from _table((*names, "runs"), lines)
    if ray:
        yield ""
        yield f"The Ray cluster itself was up after {_n(ray['cluster_seconds'])} s, which is not counted."


def by_size(record: Json) -> Iterator[str]:
    """What one question costs by what there is to search."""
    yield "## A question by the size of a user's chats"
    if not sized(record, "none") and not sized(record, BOTH):
        yield from _absent(record, "size")
        return
    lines = []
    for rank in ("none", BOTH):
        for one in sized(record, rank):
            spent = cost(record, one)
            lines.append(
                (
                    f"{one['turns']:,}",
                    "none" if rank == "none" else "both",
                    _n(one["chat_bytes"] / one["users"] / 1e6),
                    _n(one["candidates"]),
                    *(
                        _n(value)
                        for value in (spent.all, spent.read, spent.retrieve, spent.rank, spent.truncate)
                    ),
                    _n(_peak(one) / 1e6),
                    _n(one["record_bytes"]),
                )
            )
    yield ""
    yield (
        "One question for each user, nothing read or encoded before, a worker of one thread on every core. "
        "Processor seconds are those of the workers without their start (the table above), divided in the "
        "proportion of the stages' own times (`timing_ms`, means); where nothing is left without it, "
        "these times. *Retrieve* has the parsing of the question, and the encoding of turns where fewer "
        "than 200 match in chats of up to 1,000 (`--pool`), for which 1,000 turns can cost more than 10,000; "
        f"*rank* both rankers, ColBERT over at most {READ_TURNS:,} turns."
    )
    seconds = ("processor s", "read", "retrieve", "rank", "truncate")
    names = ("turns", "rankers", "MB a user", "candidates", *seconds, "worker's peak, MB", "bytes a record")
    yield from _table(names, lines)


def by_questions(record: Json) -> Iterator[str]:
    """What a question costs by how many there are of a user."""
    yield "## A question by how many there are of a user"
    rows = [one for one in record["parts"].get("questions", {}).get("rows", ()) if "left_out" not in one]
    if not rows:
        yield from _absent(record, "questions")
        return
    lines = []
    for one in sorted(rows, key=lambda one: (one["rank"] == BOTH, one["questions"] / one["users"])):
        spent = cost(record, one)
        rank = "none" if one["rank"] == "none" else "both"
        values = (spent.all, spent.read, spent.retrieve, spent.rank)
        lines.append((f"{one['questions'] // one['users']}", rank, str(one["users"]), *map(_n, values)))
    yield ""
    yield (
        f"Chats of {rows[0]['turns']:,} turns, one worker of one thread. Reading and vectors are paid for "
        "once a user, the words of the question and the cross-encoder every time."
    )
    names = ("questions a user", "rankers", "users", "processor s a question", "read", "retrieve", "rank")
    yield from _table(names, lines)


def driving(record: Json) -> Iterator[str]:
    """What the coordinator spends."""
    yield "## The process that hands out and writes"
    part = record["parts"].get("coordinator", {})
    if "write" not in part:
        yield from _absent(record, "coordinator")
        return
    plan, write = part["plan"], part["write"]
    lines = [
        (
            f"reading and planning {plan['lines']:,} questions",
            _n(plan["steps"]["plan"]["seconds"] / plan["lines"] * 1000.0),
            _n(plan["steps"]["plan"]["cpu"] / plan["lines"] * 1000.0),
        ),
    ]
    for step, what in (
        ("write", "writing parts as they come"),
        ("finish", "counting, putting in order, answers"),
    ):
        spent = write["steps"][step]
        what += f", {write['lines']:,} records of {write['record_bytes']:,} bytes"
        lines.append((what, *(_n(spent[kind] / write["lines"] * 1000.0) for kind in ("seconds", "cpu"))))
    for name, start, what in _DRIVERS:
        if (each := handed(record, name, start)) is not None:
            run = row(record, part_of(name), name) or {}
            size = max(1, min(TASK_LINES, run["questions"] // TASKS))
            lines.append((f"{what} (tasks of {size})", "-", _n(each * 1000.0)))
    yield ""
    yield (
        "The first three with workers that need no time (benchmarks/scale_coordinator.py), on this disk, "
        "each file synced; the others with real workers over short chats without ranking: the "
        "coordinator's own processor time for each record, its start taken off."
    )
    yield from _table(("what", "ms a record", "processor ms a record"), lines)
    yield ""
    yield (
        f"Memory of the plan: {_n((plan['peak'] - plan['before']) / plan['lines'])} bytes a question "
        f"({_n(plan['peak'] / 1e6)} MB at {plan['lines']:,}, {_n(plan['before'] / 1e6)} MB at none)."
    )


_DRIVERS = (
    ("local-driver", "start-none", "with local workers: handing out, receiving, writing"),
    ("ray-driver", "ray-start", "with Ray: the driver alone, without Ray's other processes"),
)


def part_of(name: str) -> str:
    """The part that a driver was measured in."""
    return "ray" if name == "ray-driver" else "coordinator"


def handed(record: Json, name: str, start: str) -> float | None:
    """Processor seconds of the coordinator for each record; None where that was not measured."""
    run = row(record, part_of(name), name)
    alone = row(record, "ray" if start == "ray-start" else "start", start)
    if run is None or alone is None:
        return None
    spent = run["cpu"]["command"] - alone["cpu"]["command"]
    return max(float(spent), 0.0) / (run["questions"] - 1) or None


def beside(record: Json) -> Iterator[str]:
    """What an index costs that stands beside us."""
    yield "## An index beside it: SQLite FTS5"
    part = record["parts"].get("engines", {})
    if "words" not in part:
        yield from _absent(record, "engines")
        return
    yield ""
    yield (
        f"One user's {part['turns']:,} turns, {_n(part['text_bytes'] / part['turns'])} bytes of text each; "
        "the text itself is not in the index. By trigrams it finds what our substring match finds, each "
        "hit verified against the text; by words, with positions and BM25, it stands for what Lucene and "
        "Tantivy hold."
    )
    lines = []
    for name in ("trigram", "words"):
        one = part[name]
        size = one["bytes"] / part["turns"]
        share = one["bytes"] / part["text_bytes"]
        build = one["build_cpu"] / part["turns"] * 1e6
        lines.append((name, _n(size), _n(share), _n(build), _n(one["query_ms"]), _n(one["hits"])))
    names = (
        "index",
        "bytes a turn",
        "of the text",
        "µs of processor a turn to make",
        "ms a question",
        "turns found",
    )
    yield from _table(names, lines)


def chats(record: Json, assumed: Assumed) -> Iterator[str]:
    """The transcripts of all users."""
    turn = bytes_a_turn(record, assumed)
    turns = assumed.users * assumed.turns
    size = turns * turn
    yield f"## {_power(assumed.users)} users with {_power(assumed.turns)} turns each"
    yield ""
    yield (
        "Each user's chats lie in a folder of their own, and a question searches one user: that is what "
        "most questions are, and it makes everything below a matter of multiplying."
    )
    yield ""
    yield f"- Turns: {_power(assumed.users)} × {_power(assumed.turns)} = **{_power(turns)}**."
    yield (
        f"- Transcripts: {_power(turns)} × {_n(turn)} bytes (measured: files of the made chats, JSON and "
        f"text) = **{_size(size)}**, {_size(assumed.turns * turn)} a user. Stored: {_n(size / 1e9)} GB × "
        f"${assumed.storage} (assumed) = **${_n(size / 1e9 * assumed.storage)} a month**. Turns ten times "
        "as long: ten times that, and reading with it."
    )


def bytes_a_turn(record: Json, assumed: Assumed) -> float:
    """Of the chats of the size nearest to the users'."""
    one = nearest(record, BOTH, assumed.turns)
    return float(one["chat_bytes"] / one["users"] / one["turns"])


def one_each(record: Json, assumed: Assumed) -> Iterator[str]:
    """One question for each user."""
    yield "### One question for each user"
    lines = []
    for rank, title in ((BOTH, "both rankers"), ("none", "`--rank none`")):
        one = nearest(record, rank, assumed.turns)
        spent = cost(record, one)
        hours = assumed.users * spent.all / HOUR
        machines = (math.ceil(hours / cores / assumed.night) for cores in (16, 64))
        lines.append(
            (
                title,
                f"{_n(spent.read)} + {_n(spent.retrieve)} + {_n(spent.rank)} + {_n(spent.truncate)} = "
                f"{_n(spent.all)}",
                _n(hours),
                f"${_n(hours * assumed.price)}",
                *(_n(hours / cores) for cores in (16, 64)),
                *(f"{number:,}" for number in machines),
            )
        )
    measured = nearest(record, BOTH, assumed.turns)["turns"]
    yield ""
    yield (
        f"Processor seconds of a question over {measured:,} turns: read + retrieve + rank + truncate, all "
        f"measured. vCPU-hours = {_power(assumed.users)} × seconds / 3,600; money = vCPU-hours × "
        f"${assumed.price} (assumed); hours of one machine = vCPU-hours / vCPUs; machines for a night = "
        f"that / {_n(assumed.night)} h (assumed)."
    )
    yield from _table(
        (
            "",
            "processor seconds a question",
            "vCPU-hours",
            "money",
            "hours of one machine of 16",
            "of 64",
            "machines of 16 for a night",
            "of 64",
        ),
        lines,
    )
    one = nearest(record, BOTH, assumed.turns)
    peak = _peak(one) / 1e9
    yield ""
    yield (
        f"Memory: a worker of one thread for each vCPU, {_n(peak)} GB each (measured), so 64 × {_n(peak)} = "
        f"{_n(64 * peak)} GB of the {_n(64 * assumed.memory)} GB that a machine of 64 has (assumed: "
        f"{_n(assumed.memory)} GB a vCPU). A processor with VNNI runs the rankers faster; a vCPU of another "
        "make is another number. Start is nothing here: some seconds a worker, once."
    )
    shared = _shared(record)
    if shared:
        yield ""
        yield shared


def _shared(record: Json) -> str:
    """How much cheaper more questions of one user are."""
    measured = [
        one
        for one in record["parts"].get("questions", {}).get("rows", ())
        if one["rank"] == BOTH and "left_out" not in one
    ]
    rows = {one["questions"] // one["users"]: cost(record, one).all for one in measured}
    if len(rows) < 2 or 1 not in rows:
        return ""
    turns = measured[0]["turns"]
    said = [
        f"{count} questions cost {_n(count * each / rows[1])} times one ({count} × {_n(each)} / "
        f"{_n(rows[1])})"
        for count, each in sorted(rows.items())
        if count > 1
    ]
    return (
        f"Several questions for each user share reading and vectors: over chats of {turns:,} turns "
        f"{', '.join(said)}."
    )


def answers(record: Json, assumed: Assumed) -> Iterator[str]:
    """What comes out."""
    one = nearest(record, BOTH, assumed.turns)
    size = assumed.users * one["record_bytes"]
    yield "### Answers"
    yield ""
    yield (
        f"{_power(assumed.users)} × {_n(one['record_bytes'])} bytes (measured: both rankers, default "
        f"budget) = **{_size(size)}**. `--top-k` or `--budget` make records smaller; Parquet compresses them."
    )


def driver(record: Json, assumed: Assumed) -> Iterator[str]:
    """How many workers one coordinator feeds."""
    part = record["parts"]["coordinator"]
    plan, write = part["plan"], part["write"]
    each = cost(record, nearest(record, BOTH, assumed.turns)).all
    size, tasks = plan["task_lines"], assumed.users / plan["task_lines"]
    disk = write["lines"] / write["steps"]["write"]["seconds"]
    finish = write["steps"]["finish"]["seconds"] / write["lines"]
    planning = plan["steps"]["plan"]["seconds"] / plan["lines"] * assumed.users
    memory = (plan["peak"] - plan["before"]) / plan["lines"] * assumed.users
    yield "### The coordinator's own limit"
    yield ""
    yield (
        "Only the coordinator (the command, or Ray's driver) writes, so what it can write in a second is "
        f"what all workers together may answer. A worker of one thread answers 1 / {_n(each)} s = "
        f"{_n(1 / each)} a second."
    )
    limits = [
        (
            "a local disk, every part synced",
            f"measured: {write['lines']:,} records / {_n(write['steps']['write']['seconds'])} s",
            disk,
        )
    ]
    for name, start, what in _DRIVERS:
        spent = handed(record, name, start)
        if spent:
            limits.append((what, f"measured: 1 / {_n(spent * 1000.0)} ms of processor", 1 / spent))
    stored = size / (2 * assumed.trip)
    told = f"{size} lines a task / (2 writes × {assumed.trip} s, assumed, one after the other)"
    limits.append(("an object store", told, stored))
    lines = [(what, how, _n(rate), f"{math.floor(rate * each):,}") for what, how, rate in limits]
    yield from _table(("the limit of", "from", "records a second", "workers fed"), lines, left=(1,))
    least = min(rate for _, _, rate in limits)
    feeds = math.floor(least * each)
    night = assumed.users * each / HOUR / assumed.night
    shards = math.ceil(night / feeds) if feeds else 1
    yield ""
    yield (
        f"The night's {_n(night)} vCPUs ({_n(assumed.users * each / HOUR)} vCPU-hours / {_n(assumed.night)} "
        f"h) need, by the lowest of these, {_n(night)} / {feeds:,} workers fed, so {_some(shards, 'shard')} "
        "(`--shard i/N`) with a coordinator each. It all depends on what a question costs: without ranking "
        "a worker answers more, and one coordinator feeds fewer."
    )
    yield ""
    yield (
        f"Before the first task: planning {_power(assumed.users)} questions takes {_power(assumed.users)} × "
        f"{_n(plan['steps']['plan']['seconds'])} s / {plan['lines']:,} = {_n(planning)} s and "
        f"{_size(memory)} of memory, in each shard, for each plans the whole file. After the last: "
        f"{_power(assumed.users)} × {_n(finish * 1000.0)} ms = {_n(assumed.users * finish / 60)} minutes to "
        "count all and put them in order, divided by the shards. On an object store the parts are read "
        f"again for that one by one, {_n(tasks)} × {assumed.trip} s (assumed) = "
        f"{_n(tasks * assumed.trip / 60)} minutes, also divided by the shards, and a shard's answers pass "
        "through its temporary folder. These speak for shards of 100,000 questions or fewer, whatever the "
        "workers need."
    )


def requests(record: Json, assumed: Assumed) -> Iterator[str]:
    """What an object store is asked."""
    one = nearest(record, BOTH, assumed.turns)
    files = one.get("inputs", one["users"]) / one["users"]
    blocks = files * math.ceil(one["chat_bytes"] / one["users"] / files / BLOCK)
    size = record["parts"]["coordinator"]["plan"]["task_lines"]
    reads = assumed.users * (2 + files + blocks)
    tasks = assumed.users / size
    writes = 2 * tasks
    yield "### Requests to an object store"
    yield ""
    yield (
        f"Computed from what the code asks (smartsearch/runs/remote.py, staging.py), {_n(files)} files a "
        f"user. Reads: {_power(assumed.users)} × (1 look + 1 list + {_n(files)} looks + {_n(blocks)} blocks "
        f"of 1 MiB) = {_n(reads)}, ${_n(reads / 1000 * assumed.gets)}. Writes: 2 a task (records, list of "
        f"what was read) = 2 × {_power(assumed.users)} / {size} = {_n(writes)}, "
        f"${_n(writes / 1000 * assumed.puts)}; local workers also write the task under way again every 5 s. "
        "At the end each part is read (once) and removed. So requests cost next to nothing beside the "
        "processors, if a line names its user's folder and not the whole bucket."
    )


def vectors(record: Json, assumed: Assumed) -> Iterator[str]:
    """Whether ColBERT's vectors should be kept."""
    yield "### ColBERT's vectors: not stored for all"
    held = [
        one["vectors"]
        for part in record["parts"].values()
        for one in part.get("rows", ())
        if one.get("vectors", {}).get("turns")
    ]
    one = nearest(record, BOTH, assumed.turns)
    if not held:
        yield ""
        yield "Not measured: no run kept any."
        return
    most = max(held, key=lambda kept: kept["turns"])
    each = most["bytes"] / most["turns"]
    turns = assumed.users * assumed.turns
    share = one["stages"].get("colbert", 0.0) / max(one["stages"]["total"], 1e-9)
    encoding = cost(record, one).all * share
    read = min(one["candidates"], READ_TURNS)
    size, user = turns * each, assumed.turns * each
    monthly, saved = user / 1e9 * assumed.storage, encoding / HOUR * assumed.price
    yield ""
    yield (
        f"A turn's vectors take {_n(each)} bytes (measured: {most['bytes']:,} bytes / {most['turns']:,} "
        f"turns in the cache), {_n(each / bytes_a_turn(record, assumed))} times the turn itself. All of "
        f"them: {_power(turns)} × {_n(each)} = **{_size(size)}**, ${_n(size / 1e9 * assumed.storage)} a "
        "month."
    )
    if not encoding or not read:
        return
    yield ""
    yield (
        f"Without them a question encodes its {_n(read)} candidates: {_n(encoding)} s of processor "
        f"(measured, ColBERT's share of a question), ${_n(saved)}. To keep a user's vectors costs "
        f"{_size(user)} × ${assumed.storage} = ${_n(monthly)} a month. So storing pays from {_n(monthly)} / "
        f"{_n(saved)} = **{_n(monthly / saved)} questions a user and month**, all over new candidates; and "
        f"encoding everything once costs {_power(turns)} × {_n(encoding / read * 1000.0)} ms / 3,600 = "
        f"{_n(turns * encoding / read / HOUR)} vCPU-hours, "
        f"${_n(turns * encoding / read / HOUR * assumed.price)}, before the first question is asked. The "
        "cache on each machine (1 GiB unless `--cache-size` says more) keeps those of the users that are "
        "asked often."
    )


def breaking(record: Json, speed: Json | None, assumed: Assumed) -> Iterator[str]:
    """Where partition by user no longer helps."""
    yield "## Where it breaks"
    if speed is None:
        yield ""
        yield "Not computed: no record of benchmarks/speed was given (`--speed`)."
        return
    yield ""
    yield (
        "**One corpus too large.** A user, a team or an archive that is searched as a whole is one "
        "question's work on one machine. Measured, a cold process each ([performance.md](performance.md)):"
    )
    turns = sorted(int(size) for size in speed["sections"]["size"]["more"]["sizes"])
    lines = []
    for size in turns:
        found = {name: _speed(speed, "size", f"turns-{size}-{name}") for name in _WAYS}
        if any(found.values()):
            cells = [
                "-" if one is None else f"{_n(one['median'])} s, {_n(one.get('peak_mb'))} MB"
                for one in found.values()
            ]
            lines.append((f"{size:,}", *cells))
    yield from _table(("turns", *_WAYS.values()), lines)
    yield ""
    yield (
        "Without an index 10^6 turns are about the end, for time and memory grow with the corpus; with one "
        "10^7. Beyond, the corpus has to be divided, or another engine has to find the candidates."
    )
    yield ""
    yield "**Questions over all users.** Nothing tells beforehand which users to read, so each reads all:"
    yield ""
    size = assumed.users * assumed.turns * bytes_a_turn(record, assumed)
    for name, what in (
        (
            "scan-scan",
            "at the speed of our bare scan, one core (a lower bound: no turn is parsed, none is ranked)",
        ),
        ("scan-none", "at the speed of `query --rank none` as it is, one process"),
    ):
        one = _speed(speed, "scan", name)
        if one and one["median"]:
            rate = one["megabytes"] / one["median"]
            hours = size / 1e6 / rate / HOUR
            yield (
                f"- {what}: {_size(size)} / {_n(rate)} MB/s (measured) = {_n(hours)} hours of processor, "
                f"${_n(hours * assumed.price)} a question;"
            )
    build, ask = (_speed(speed, "size", f"turns-{turns[-1]}-index-{name}") for name in ("build", "query"))
    if build and ask:
        parts = math.ceil(assumed.users * assumed.turns / turns[-1])
        yield (
            f"- with this tool's index in parts of {turns[-1]:,} turns: {parts:,} parts × "
            f"{_n(ask['median'])} s (measured) = {_n(parts * ask['median'] / HOUR)} hours a question, after "
            f"{parts:,} × {_n(build['median'])} s = {_n(parts * build['median'] / HOUR)} hours to make it."
        )
    yield ""
    yield "None of these is an answer while one waits. That takes an engine that keeps an inverted index."


_WAYS = {
    "none": "`--rank none`",
    "query-warm": "both rankers, vectors cached",
    "index-query": "with `smartsearch index`",
    "index-build": "making that index",
}


def after(record: Json, speed: Json | None, assumed: Assumed) -> Iterator[str]:
    """What takes over where this tool ends."""
    turns = assumed.users * assumed.turns
    part = record["parts"].get("engines", {})
    near = nearest(record, BOTH, 1_000)
    rerank = cost(record, near)
    yield "## What takes over"
    yield ""
    yield (
        "- **Partition by user**: as above, as long as a question belongs to a user. A folder a user, a "
        "line naming it; `--shard` or Ray divides the lines. Nothing is built, so nothing is stale."
    )
    if speed is not None:
        yield (
            "- **`smartsearch index`** for one corpus of 10^6 to 10^7 turns on one machine: the same "
            "answers, from the table above."
        )
    if "trigram" in part:
        tri, words = (part[name]["bytes"] / part["turns"] for name in ("trigram", "words"))
        per_user = tri * assumed.turns
        hours = part["trigram"]["build_cpu"] / part["turns"] * turns / HOUR
        linear = part["trigram"]["query_ms"] / 1000.0 / part["turns"]
        yield (
            f"- **SQLite FTS5 with trigrams**, beside the chats of a user who is asked often: {_n(tri)} "
            f"bytes a turn (measured) × {_power(assumed.turns)} = {_size(per_user)} a user, "
            f"{_size(tri * turns)} and {_n(hours)} vCPU-hours for all. A question that finds a fixed share "
            f"of the turns takes time in proportion to them: {_n(linear * 1e6)} µs a turn (measured: "
            f"{_n(part['trigram']['query_ms'])} ms / {part['turns']:,}), so "
            f"{_n(linear * assumed.turns * 1000.0)} ms over {_power(assumed.turns)} turns, "
            f"{_n(linear * 1e7)} s over 10^7, and {_n(linear * turns / HOUR)} hours over {_power(turns)}: "
            "an accelerator for one partition, not for all."
        )
    yield (
        "- **Vespa in streaming mode**, where users wait for answers and each question belongs to one "
        "user: it keeps the raw documents of a user together on disk, without an index, and 45 bytes a "
        "document in memory ([its documentation](https://docs.vespa.ai/en/streaming-search.html); not "
        f"measured here): {_power(turns)} × 45 = {_size(turns * 45)} of memory over all nodes for turns as "
        "documents, and the transcripts on their disks."
    )
    if "words" in part:
        found = int(part["words"]["hits"])
        hours = part["words"]["build_cpu"] / part["turns"] * turns / HOUR
        yield (
            "- **An inverted index (Tantivy, Lucene, Elasticsearch)** for questions over all users. Size, "
            f"taking FTS5 by words for it: {_n(words)} bytes a turn (measured) × {_power(turns)} = "
            f"{_size(words * turns)}; made in about {_n(hours)} vCPU-hours at SQLite's speed. A term that "
            f"stands in one turn of a thousand (assumed) has {_power(turns)} / 1,000 = "
            f"{_power(turns / 1000)} entries: at 2 bytes each (assumed) {_size(turns / 1000 * 2)} to read "
            "for that term, over as many shards as shall read it at once."
        )
        yield (
            f"- **smartsearch as the reranker of its candidates.** The engine gives its best {found:,} "
            "turns; written as a chat file (JSONL with name, time and content), `smartsearch query "
            f"QUESTION FILE` ranks and cuts them. Cost, measured over {near['turns']:,} turns "
            f"({_n(near['candidates'])} candidates): {_n(rerank.all)} s of processor, "
            f"${_n(rerank.all / HOUR * assumed.price)} a question, whatever the size of the corpus: "
            f"{_power(assumed.users)} such questions are {_n(assumed.users * rerank.all / HOUR)} vCPU-hours."
        )
    yield ""
    yield (
        "What is lost on the way: an index by words finds words, not substrings; an engine that gives a "
        "fixed number of candidates ends this tool's multi-hop steps, which look for names that earlier "
        "hits brought up, unless it is asked again for these."
    )


def assumptions(assumed: Assumed) -> Iterator[str]:
    """What was taken for granted."""
    yield "## Assumed"
    said = {
        "users": "users",
        "turns": "turns of each",
        "price": "$ for a vCPU-hour, on demand",
        "storage": "$ for a GB of object storage and month",
        "puts": "$ for 1,000 writes to an object store",
        "gets": "$ for 1,000 reads",
        "trip": "seconds for one write to an object store",
        "night": "hours in which all has to be done",
        "memory": "GB of memory for each vCPU",
    }
    yield from _table(
        ("option", "what", "value"),
        [
            (f"`--{one.name}`", said[one.name], f"{getattr(assumed, one.name):,.10g}")
            for one in fields(assumed)
        ],
        left=(1,),
    )
    yield ""
    yield (
        "Prices are round numbers of the right size, not a provider's list. Also assumed: every user's "
        "chats are alike, processor time grows with the number of users and with nothing else, and a vCPU "
        "is one like those of this machine."
    )


def receipts(record: Json) -> Iterator[str]:
    """When and from what each part comes, and every command."""
    yield "## Receipts"
    lines = []
    for name in PARTS:
        part = record["parts"].get(name)
        if part:
            receipt = part["receipt"]
            commit = receipt["commit"][:10] + ("+" if receipt.get("dirty") else "")
            rows = part.get("rows", ())
            busy = max((one.get("busy") or 0.0 for one in rows), default=None)
            loads = ", ".join(f"{one['load']:.1f}" for one in rows if "load" in one)
            used = "-" if busy is None else f"{busy:.0%}"
            lines.append((name, receipt["date"], commit, used, loads or "-", f"{part['seconds']:.0f}"))
    yield from _table(
        ("part", "date", "commit", "others used, at most", "load before each run", "took, s"), lines
    )
    commands = {
        f"    {one['command']}": None for part in record["parts"].values() for one in part.get("rows", ())
    }
    if commands:
        yield ""
        yield "The commands, each in an empty folder with its questions:"
        yield ""
        yield from commands


def _absent(record: Json, name: str) -> Iterator[str]:
    yield ""
    yield f"Not measured: {record['parts'].get(name, {}).get('left_out', 'this part was not run')}."


def _speed(speed: Json, section: str, name: str) -> Json | None:
    for one in speed["sections"].get(section, {}).get("rows", ()):
        if one["id"] == name and "left_out" not in one:
            found: Json = one
            return found
    return None


def _n(value: float | None) -> str:
    """Three digits that count, never more than are known."""
    if value is None:
        return "-"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def _some(number: int, what: str) -> str:
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def _power(value: float) -> str:
    """10^6 where it is that, else as a number."""
    exponent = round(math.log10(value))
    return f"10^{exponent}" if exponent >= 3 and math.isclose(value, 10.0**exponent) else f"{value:,.0f}"


def _size(value: float) -> str:
    """Bytes with a unit."""
    for unit, name in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= unit:
            return f"{_n(value / unit)} {name}"
    return f"{value:.0f} bytes"


def _table(names: Sequence[str], lines: Sequence[Sequence[str]], left: Sequence[int] = ()) -> Iterator[str]:
    """A table, its first column and those of `left` to the left."""
    yield ""
    yield f"| {' | '.join(names)} |"
    yield f"|{''.join('---|' if place in (0, *left) else '---:|' for place in range(len(names)))}"
    yield from (f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    add = parser.add_argument
    add("--record", type=Path, default=ROOT / ".out" / "scale" / "record.json")
    speeds = sorted((HERE / "results").glob("*-speed.json"))
    add("--speed", type=Path, default=speeds[-1] if speeds else None, help="a record of benchmarks/speed")
    whole = sorted((HERE / "results").glob("*-engines.json"))
    add("--engines", type=Path, default=whole[-1] if whole else None, help="a record of engines.py")
    add("--out", type=Path, default=ROOT / "docs" / "scale.md")
    for one in fields(Assumed):
        add(f"--{one.name}", type=float, default=one.default)
    given = parser.parse_args(arguments)
    record = read(given.record)
    speed = None
    if given.speed is not None:
        from run import read as read_speed

        speed = read_speed(given.speed)
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
    given.out.write_text(page(record, speed, assumed, command, engines), encoding="utf-8")
    print(given.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
