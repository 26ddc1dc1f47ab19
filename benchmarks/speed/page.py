"""Writes performance.md and performance.svg from a record: `python benchmarks/speed/page.py`.

A record needs no particular sections or rows: what was not measured is said where it would stand.
"""

from __future__ import annotations

import argparse
import io
import math
import os
import sys
from collections import Counter
from collections.abc import Collection, Generator, Iterator, Sequence
from pathlib import Path

from measure import HERE, INT8, Json
from run import read
from targets import MISSED, REACHED, TARGETS, UNKNOWN, row_of, verdict

ROOT = HERE.parents[1]
NONE = "-"
BUSY = 0.1
"""Share of the cores that others used before a section, above which its figures are to be doubted."""
CURVES = (
    ("query", "query, cold process, cold cache", "#0072b2", "o-"),
    ("query-warm", "query, cold process, warm cache", "#009e73", "s-"),
    ("none", "query --rank none", "#d55e00", "^-"),
    ("index-query", "query with the index", "#8c4bc4", "D-"),
)
STAGES = ("load", "read", "parse", "retrieve", "colbert", "crossencoder", "fuse", "truncate")
TITLES = {
    "start": "start-up",
    "conversation": "one conversation, cold",
    "warm": "one conversation, warm",
    "batch": "batch",
    "long": "long turns",
    "size": "cost curve",
    "scan": "raw scan",
    "rivals": "side by side",
    "memory": "memory of a server",
}


def page(record: Json, command: str) -> str:
    """The whole page as Markdown."""
    parts = (
        head, doubts, table, rivals, asking, stages, curve, serving, starting, scan, commands, receipts
    )  # fmt: skip
    lines = [line for part in parts for line in (*part(record), "")]
    lines += ["## How this page was made", "", f"    {command}", ""]
    return "\n".join(lines).rstrip() + "\n"


def head(record: Json) -> Iterator[str]:
    """Title, and on what machine."""
    yield "# Performance"
    yield ""
    yield "<!-- Written by benchmarks/speed/page.py from a record of run.py beside it: `make speed`. -->"
    yield ""
    machines = {_machine(section) for section in record["sections"].values()}
    yield from sorted(f"Measured on {machine}." for machine in machines)
    yield ""
    yield (
        "Seconds are on the clock; a cold process is started for each question and pays for Python, "
        "imports, models and reading; files are in the page cache. The median counts, over the runs told. "
        "What a table compares took turns in one run, so that its ratios hold where the machine's speed "
        "wanders; seconds of different sections are less comparable. Peak memory is the most of any run, "
        "children included; 1 MB is 10^6 bytes."
    )


def _machine(section: Json) -> str:
    receipt = section["receipt"]
    machine = receipt["machine"]
    has = section.get("instructions")
    vectors = f" ({instructed(has)})" if has else ""
    return (
        f"{machine['cpu']}{vectors}, {receipt['threads']} threads on {machine['cores']} cores, "
        f"{machine['memory_gib']} GiB, Python {machine['python']}, {machine['system']}"
    )


def instructed(has: Sequence[str]) -> str:
    """The widest vector instructions, and whether there are some for int8, which our models are."""
    int8 = [name for name in has if name in INT8]
    widest = next(name for name in reversed(has) if name not in INT8)
    if int8:
        return f"{widest}, for int8 {', '.join(int8)}"
    return f"{widest}, no VNNI, which makes models of int8 faster"


def doubts(record: Json) -> Iterator[str]:
    """What speaks against these figures."""
    quick = [TITLES.get(name, name) for name, section in record["sections"].items() if section.get("quick")]
    if quick:
        yield f"- **Quick runs, to see that they work, no figures to quote: {', '.join(quick)}.**"
    runs = [(TITLES.get(name, name), section) for name, section in record["sections"].items()]
    runs += [(_of_sizes(name, one), one) for name, section in list(runs) for one in section.get("later", ())]
    for name, run in runs:
        if (run.get("busy") or 0) > BUSY:
            yield f"- **{name}: others used {run['busy']:.0%} of the cores before it.**"
    dirty = [
        TITLES.get(name, name) for name, section in record["sections"].items() if section["receipt"]["dirty"]
    ]
    if dirty:
        yield f"- The checkout had changes beyond its commit: {', '.join(dirty)}."


def _of_sizes(name: str, run: Json) -> str:
    """What a run was of that measured some sizes of the cost curve again."""
    return f"{name}, {', '.join(f'{int(size):,}' for size in run['sizes'])} turns"


def table(record: Json) -> Iterator[str]:
    """Every target, what was measured, and whether it is reached."""
    yield "## Targets"
    lines = []
    count: Counter[str] = Counter()
    for target in TARGETS:
        row = row_of(record, target.section, target.row)
        word, value = verdict(target, row)
        ratio = NONE if value is None or not target.bound else _ratio(value / target.bound)
        measured = NONE if value is None else f"{_number(value)} {target.unit}"
        runs = NONE if value is None else str(row["runs"])
        tail = value is not None and target.figure == "median" and row["runs"] > 1
        p95 = _number(row["p95"]) if tail else NONE
        word = f"{word}: {row['left_out']}" if word == UNKNOWN and "left_out" in row else word
        lines.append((target.what, target.said, measured, word, p95, ratio, runs))
        count[word.partition(":")[0]] += 1
    yield ""
    has = [section["instructions"] for section in record["sections"].values() if section.get("instructions")]
    if has and not any("avx512_vnni" in names for names in has):
        yield "The targets are for a reference machine with `avx512_vnni`, which this one has not."
    yield ", ".join(f"{number} {word}" for word, number in sorted(count.items(), key=_by_verdict)) + "."
    yield from _table(("what", "target", "ours", "verdict", "p95", "of target", "runs"), lines, left=(1, 3))


def _by_verdict(counted: tuple[str, int]) -> int:
    return (REACHED, MISSED, UNKNOWN).index(counted[0])


def curve(record: Json) -> Iterator[str]:
    """Time and memory by size of the corpus."""
    yield "## Cost curve"
    section = record["sections"].get("size", {})
    sizes = _sizes(record)
    if not sizes:
        yield from _absent(section)
        return
    yield ""
    yield "![Seconds and peak memory by number of turns, both axes logarithmic](performance.svg)"
    shown = [one for one in CURVES if any(_of_size(record, size, one[0]) for size in sizes)]
    lines = []
    for size in sizes:
        about = section["more"]["sizes"][str(size)]
        cells = [f"{size:,}", f"{_number(about['bytes'] / 1e6)}"]
        for key, *_ in shown:
            row = _of_size(record, size, key)
            cells += [_number(row["median"]), _number(row["peak_mb"])] if row else [NONE, NONE]
        first = _of_size(record, size, "query") or _of_size(record, size, "none")
        cells.append(f"{first['candidates']:,.0f}" if first else NONE)
        cells.append(f"{first['answered']} of {first['runs']}" if first else NONE)
        lines.append(cells)
    names = [f"{title}, {what}" for _, title, *_ in shown for what in ("s", "peak MB")]
    yield from _table(("turns", "MB", *names, "candidates", "fact in the top 10"), lines)
    yield ""
    for key, title, *_ in shown:
        told = growth([(size, row["median"]) for size in sizes if (row := _of_size(record, size, key))])
        if told is not None:
            yield f"- {title}: the last tenfold took {10**told:.1f} times as long; exponent {told:.2f}"
    absent: dict[str, list[str]] = {}
    for key, title in (*((one[0], one[1]) for one in CURVES), ("index-build", "making the index")):
        row = row_of(record, "size", f"turns-{sizes[-1]}-{key}")
        if "left_out" in row:
            absent.setdefault(row["left_out"], []).append(title)
        elif key == "index-build":
            spent, peak = _number(row["median"]), _number(row["peak_mb"])
            yield f"- making the index of {sizes[-1]:,} turns: {spent} s, peak {peak} MB."
    yield from (f"- {', '.join(titles)}: not measured, {why}." for why, titles in absent.items())


def _sizes(record: Json) -> list[int]:
    return sorted(map(int, record["sections"].get("size", {}).get("more", {}).get("sizes", {})))


def _of_size(record: Json, size: int, key: str) -> Json | None:
    row = row_of(record, "size", f"turns-{size}-{key}")
    return None if "left_out" in row else row


def growth(points: Sequence[tuple[float, float]]) -> float | None:
    """The exponent between the two largest sizes: 1 is linear; None for fewer than two."""
    if len(points) < 2:
        return None
    (small, before), (large, after) = points[-2:]
    return math.log(after / before) / math.log(large / small)


def stages(record: Json) -> Iterator[str]:
    """Where a query's time goes."""
    yield "## Stages"
    columns: dict[str, Json] = {}
    for section in ("conversation", "warm", "long"):
        columns |= record["sections"].get(section, {}).get("more", {}).get("stages", {})
    if not columns:
        yield ""
        yield "Not measured."
        return
    names = {
        "none": "`--rank none`, cold process",
        "cold": "`query`, cold process, cold cache",
        "warm-cache": "`query`, cold process, warm cache",
        "warm": "`query`, warm process",
        "long": "long turns, warm process",
    }
    shown = [key for key in names if key in columns]
    python = row_of(record, "conversation", "python").get("median", 0.0)
    imported = row_of(record, "conversation", "import").get("median", 0.0)
    outside = {key: columns[key].get("outside", {}).get("median") for key in shown}
    spent: dict[str, list[float | None]] = {
        "Python's start": [None if outside[key] is None else python for key in shown],
        "import of the command line": [
            None if outside[key] is None else max(imported - python, 0.0) for key in shown
        ],
        **{stage: [_stage(columns[key], stage) for key in shown] for stage in STAGES},
        "the rest: arguments, output, end": [
            None if outside[key] is None else max(outside[key] - imported, 0.0) for key in shown
        ],
    }
    walls = [columns[key]["total"]["median"] + (outside[key] or 0.0) for key in shown]
    lines = [
        [what, *(NONE if one is None else f"{_ms(one)} ({one / wall:.0%})" for one, wall in zip(some, walls))]
        for what, some in (spent | {"all": walls}).items()
    ]
    yield from _table(("milliseconds, medians each; share", *(names[key] for key in shown)), lines)
    yield ""
    yield (
        "`load` is what is left to wait for when the files are read: models load meanwhile. `fuse` is the "
        "stage `rank` without its two rankers. Medians of stages need not add up to the median of all."
    )


def _stage(column: Json, stage: str) -> float:
    if stage == "fuse":
        parts = sum(column.get(name, {}).get("median", 0.0) for name in ("colbert", "crossencoder"))
        return max(float(column["rank"]["median"]) - parts, 0.0)
    return float(column.get(stage, {}).get("median", 0.0))


def starting(record: Json) -> Iterator[str]:
    """Commands that need no model."""
    yield "## Start-up"
    rows = yield from _seconds(record, "start")
    if not rows:
        return
    base = row_of(record, "start", "python")
    lines = []
    for row in rows:
        heavy = row_of(record, "start", f"{row['id']}-heavy").get("names")
        lines.append((*_timed(row, base), NONE if heavy is None else ", ".join(heavy) or "none"))
    yield from _table(("what", "median s", "p95", "of Python alone", "peak MB", "heavy packages"), lines)


def scan(record: Json) -> Iterator[str]:
    """The scan for terms beside ripgrep's."""
    yield "## Raw scan"
    rows = yield from _seconds(record, "scan")
    if not rows:
        return
    more = record["sections"]["scan"]["more"]
    yield ""
    yield (
        f"{more['files']:,} files, {more['bytes'] / 1e6:,.0f} MB, {more['turns']:,} turns; "
        f"the terms {', '.join(more['terms'])}. "
        "ripgrep and `query` are whole processes, our scan is a loop in one that runs already; ripgrep uses "
        "all cores, our scan one."
    )
    base = row_of(record, "scan", "scan-rg")
    lines = []
    for row in rows:
        rate = NONE if "left_out" in row else _number(row["megabytes"] / row["median"])
        ratio = NONE if "left_out" in row or "left_out" in base else f"{base['median'] / row['median']:.2f}"
        said = row["left_out"] if "left_out" in row else _number(row["median"])
        lines.append((row["what"], said, rate, ratio))
    yield from _table(("what", "median s", "MB/s", "speed against ripgrep"), lines)


def rivals(record: Json) -> Iterator[str]:
    """What a user would take instead."""
    yield "## Side by side"
    rows = yield from _seconds(record, "rivals")
    if not rows:
        return
    more = record["sections"]["rivals"]["more"]
    yield ""
    yield (
        f"LoCoMo's {more['conversation']}, {more['turns']} turns, {more['questions']} questions, each asked "
        "once of every system in turn. Gold: of the turns that answer, how many are in the top "
        f"{more['top']}. A row with fewer questions has its ratio to ours, and our gold, over the same ones. "
        "These are too few questions to tell how good a system is: see [results.md](results.md)."
    )
    for cold, title in ((False, "each question, everything loaded"), (True, "from the start of a process")):
        some = [row for row in rows if row["id"].startswith("rival-cold-") is cold]
        base = next((row for row in some if row["id"].endswith("ours")), {"left_out": ""})
        lines = []
        for row in some:
            beside = base if "ours" not in row else {"median": row["ours"]}
            more_cells = () if cold else (_gold(row, base), str(row.get("runs", NONE)))
            lines.append((*_timed(row, beside), *more_cells))
        more_names = () if cold else ("gold", "questions")
        yield from _table((title, "median s", "p95", "of ours", "peak MB", *more_names), lines)


def _gold(row: Json, ours: Json) -> str:
    """What was found of the gold; where that is of fewer questions, what ours found there."""
    if not row.get("gold"):
        return NONE
    said = f"{row['found']} of {row['gold']} ({row['found'] / row['gold']:.0%})"
    fewer = "ours_found" in row and row["gold"] != ours.get("gold")
    return f"{said}; ours {row['ours_found']}" if fewer else said


def asking(record: Json) -> Iterator[str]:
    """Our own ways to be asked, each beside another."""
    yield "## Ways to ask"
    seen = False
    for name, base, kept in (
        ("conversation", "cold", ("none", "cold", "warm-cache")),
        ("warm", "warm", ("warm", "daemon", "daemon-overhead")),
        ("long", "long", ("long", "long-again")),
    ):
        section = record["sections"].get(name, {})
        rows = [row for row in section.get("rows", ()) if row["id"] in kept]
        if not rows:
            continue
        seen, more = True, section.get("more", {})
        about = TITLES[name]
        if "turns" in more:
            what = f"{more['turns']:,} turns"
            about += f" ({more['kind']}, {what})" if "kind" in more else f" ({what})"
        yield from _table(
            (about, "median s", "p95", f"of `{base}`" if base != "warm" else "of warm", "peak MB"),
            [_timed(row, row_of(record, name, base)) for row in rows],
        )
    row = row_of(record, "batch", "batch")
    if "left_out" not in row:
        seen = True
        yield ""
        yield (
            f"`batch`: {row['asked']:,} questions over LoCoMo's ten conversations, "
            f"{_number(row['median'])} questions a second ({_number(1 / row['median'])} s each), start and "
            f"encoding of all turns included; peak {_number(row['peak_mb'])} MB."
        )
    if not seen:
        yield from _absent({})


def serving(record: Json) -> Iterator[str]:
    """A server's memory over many questions."""
    yield "## Memory of a server"
    section = record["sections"].get("memory", {})
    if not section.get("rows"):
        yield from _absent(section)
        return
    more = section["more"]
    points = more["points"]
    first = next(point["rss_mb"] for point in points if point["questions"])
    yield ""
    yield (
        f"Questions to one `smartsearch serve`, each another one, over the sample chats and one that grows; "
        f"every {more['full_every']}th is ranked by the models, the others are `--rank none`."
    )
    lines = [
        (
            f"{point['questions']:,}",
            _number(point["rss_mb"]),
            f"{point['rss_mb'] / first:.2f}",
            *(_number(point[key]) if point[key] else NONE for key in ("ms_full", "ms_none")),
        )
        for point in points
    ]
    names = (f"of that after {next(p['questions'] for p in points if p['questions']):,}",)
    yield from _table(
        ("questions", "resident MB", *names, "ms a ranked question", "ms a `--rank none`"), lines
    )


def _timed(row: Json, base: Json) -> tuple[str, ...]:
    """What, median, 95th percentile, ratio to `base`, peak."""
    if "left_out" in row:
        return row["what"], f"not measured: {row['left_out']}", NONE, NONE, NONE
    ratio = _ratio(row["median"] / base["median"]) if base.get("median") else NONE
    peak = _number(row["peak_mb"]) if "peak_mb" in row else NONE
    return row["what"], _number(row["median"]), _number(row["p95"]), ratio, peak


def commands(record: Json) -> Iterator[str]:
    """Every row that was measured, with its command."""
    yield "## Every figure"
    lines = []
    for name, section in record["sections"].items():
        for row in section.get("rows", ()):
            if "left_out" not in row:
                figures = (_number(row[key]) for key in ("median", "p95", "least", "most"))
                peak = _number(row["peak_mb"]) if "peak_mb" in row else NONE
                said = f"`{row['command']}`"
                lines.append(
                    (TITLES.get(name, name), row["what"], said, str(row["runs"]), row["unit"], *figures, peak)
                )
    yield from _table(
        ("section", "what", "command", "runs", "unit", "median", "p95", "least", "most", "peak MB"),
        lines,
        left=(1, 2, 4),
    )


def receipts(record: Json) -> Iterator[str]:
    """When and from what each section comes."""
    yield "## Receipts"
    lines = []
    taken = [(TITLES.get(name, name), section) for name, section in record["sections"].items()]
    taken += [
        (_of_sizes(name, one), one) for name, section in list(taken) for one in section.get("later", ())
    ]
    for name, section in taken:
        receipt = section["receipt"]
        others = NONE if section.get("busy") is None else f"{section['busy']:.0%}"
        lines.append(
            (
                name,
                receipt["date"],
                receipt["commit"][:10] + ("+" if receipt["dirty"] else ""),
                str(receipt["threads"]),
                others,
                f"{section['seconds']:.0f}",
                f"`{receipt['command']}`",
            )
        )
    yield from _table(
        ("section", "date", "commit", "threads", "others used", "took, s", "command"), lines, left=(1, 2, 6)
    )


def _seconds(record: Json, name: str) -> Generator[str, None, list[Json]]:
    """The rows of a section that are times; says so where there are none."""
    section = record["sections"].get(name, {})
    rows = [row for row in section.get("rows", ()) if row.get("unit", "s") == "s"]
    if not rows:
        yield from _absent(section)
    return rows


def _absent(section: Json) -> Iterator[str]:
    yield ""
    yield f"Not measured: {section.get('left_out', 'this section was not run')}."


def _number(value: float) -> str:
    """Three digits that count, never more than are known."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


def _ratio(value: float) -> str:
    """Two places, small ones as `_number`."""
    return f"{value:,.2f}" if value >= 0.1 else _number(value)


def _ms(seconds: float) -> str:
    return f"{seconds * 1000:,.0f}"


def _table(names: Sequence[str], lines: Sequence[Sequence[str]], left: Collection[int] = ()) -> Iterator[str]:
    """A table, its first column and those of `left` to the left."""
    yield ""
    yield f"| {' | '.join(names)} |"
    yield f"|{''.join('---|' if place in (0, *left) else '---:|' for place in range(len(names)))}"
    yield from (f"| {' | '.join(cell.replace('|', '/') for cell in line)} |" for line in lines)


def plot(record: Json) -> str | None:
    """The cost curve as SVG, the same for the same record; None without two sizes."""
    sizes = _sizes(record)
    if len(sizes) < 2:
        return None
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    settings = {"svg.fonttype": "none", "svg.hashsalt": "speed", "font.size": 9, "legend.frameon": False}
    with mpl.rc_context(settings):
        figure = Figure(figsize=(8.5, 3.8), facecolor="white", layout="constrained")
        FigureCanvasSVG(figure)
        panes = figure.subplots(1, 2)
        for axes, key, label in zip(panes, ("median", "peak_mb"), ("seconds, median", "peak memory, MB")):
            for name, title, colour, style in CURVES:
                points = [(size, row[key]) for size in sizes if (row := _of_size(record, size, name))]
                if points:
                    axes.plot(*zip(*points), style, color=colour, label=title, markersize=4)
            axes.set(xscale="log", yscale="log", xlabel="turns", ylabel=label)
            axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
            axes.yaxis.set_major_formatter("{x:,g}")
            axes.yaxis.set_minor_formatter(NullFormatter())
            axes.grid(visible=True, color="#dcdce2", linewidth=0.6)
            axes.spines[["top", "right"]].set_visible(False)
        panes[0].legend(loc="upper left")
        written = io.StringIO()
        figure.savefig(written, format="svg", metadata=dict.fromkeys(("Creator", "Date", "Format", "Type")))
    return "\n".join(line.rstrip() for line in written.getvalue().splitlines()) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--record", type=Path, default=ROOT / ".out" / "speed" / "record.json")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder of performance.md and .svg")
    given = parser.parse_args(arguments)
    record = read(given.record)
    shown = os.path.relpath(given.record, ROOT)
    shown = given.record.name if shown.startswith("..") else shown
    command = f"python benchmarks/speed/page.py --record {shown}"
    drawn = plot(record)
    given.out.mkdir(parents=True, exist_ok=True)
    (given.out / "performance.md").write_text(page(record, command), encoding="utf-8")
    if drawn:
        (given.out / "performance.svg").write_text(drawn, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
