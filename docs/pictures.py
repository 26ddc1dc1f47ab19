"""Writes docs/pictures/: a terminal with real output, plots of measured records: `python docs/pictures.py`.

A test keeps the plots equal to the records, and the picture to what the command prints.
"""

from __future__ import annotations

import json
import math
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Callable, Iterable, Sequence
from fcntl import ioctl
from html import escape
from io import StringIO
from pathlib import Path

from rich.console import Console
from rich.text import Text

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "docs" / "pictures"
RECORDS = ROOT / "benchmarks" / "results"
QUALITY = {"LoCoMo-10": "20261129-032400-locomo10.json", "BEAM-100K": "20261129-035204-beam-100K.json"}
CONFIDENCE = "20261129-confidence.jsonl"
WIDTH = 96
COMMANDS = (
    ("when did Maya adopt the dog docs/samples -n 3", ["--progress", "none"]),
    ("show docs/samples/harbour-street.md:68 -C1", []),
)
"""What is typed, and what more keeps a spinner out of the picture."""
FRAME = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">
<style>.{unique_id}-matrix {{ font: {char_height}px ui-monospace, Menlo, Consolas, monospace; }}
{styles}</style>
<rect width="{width}" height="{height}" rx="8" fill="#1b1d23"/>
<g transform="translate({terminal_x}, {terminal_y})"><defs>
{lines}</defs>{backgrounds}<g class="{unique_id}-matrix">{matrix}</g></g>
</svg>
"""
"""As rich fills it in; without its fonts, which a browser would load from elsewhere."""
STYLE = """<style>
text { font: 13px system-ui, sans-serif; fill: #24292f }
.quiet { fill: #57606a } .axis { stroke: #8c959f }
.one { fill: #0a6e4f; stroke: #0a6e4f } .two { fill: #0b5cad; stroke: #0b5cad }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 } .quiet { fill: #9da7b1 } .axis { stroke: #6e7681 }
.one { fill: #3fcf9b; stroke: #3fcf9b } .two { fill: #6cb6ff; stroke: #6cb6ff } }
</style>"""
LEFT, TOP, ACROSS, DOWN = 60, 40, 520, 260
"""Where a plot's field is, and its size, in pixels."""

Point = tuple[float, float, str]


def printed(arguments: Sequence[str]) -> str:
    """What a command prints on a terminal of WIDTH columns, with its colours."""
    ours, theirs = pty.openpty()
    ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, WIDTH, 0, 0))
    own = {"SMARTSEARCH_DAEMON": "never", "TERM": "xterm-256color", "TZ": "UTC"}
    own |= {"COLUMNS": str(WIDTH), "LINES": "50", "LC_ALL": "C.UTF-8"}
    command = [sys.executable, "-m", "smartsearch", *arguments]
    ran = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | own, stdin=theirs, stdout=theirs, stderr=theirs, close_fds=True
    )
    os.close(theirs)
    parts = []
    try:
        while part := os.read(ours, 65536):
            parts.append(part)
    except OSError:  # Linux tells the end of a terminal so
        pass
    ran.wait()
    os.close(ours)
    text = b"".join(parts).decode().replace("\r\n", "\n")
    return re.sub(r"\x1b\]8;[^\x1b\x07]*(?:\x1b\\|\x07)|\x1b\[[?\d]*[A-HJKhl]|[^\n]*\r", "", text)


def terminal() -> str:
    """The picture of a session."""
    console = Console(
        record=True, width=WIDTH, file=StringIO(), force_terminal=True, color_system="truecolor"
    )
    for typed, more in COMMANDS:
        console.print(Text.assemble(("$ ", "green"), (f"smartsearch {typed}", "bold")))
        console.print(Text.from_ansi(printed([*typed.split(), *more]).rstrip("\n")), soft_wrap=True)
        console.print()
    return console.export_svg(title="", code_format=FRAME, unique_id="terminal")


def said(picture: str) -> list[str]:
    """The lines of a picture of a terminal, without times, which differ between runs."""
    rows: dict[float, list[tuple[float, str]]] = {}
    for x, y, text in re.findall(r'<text[^>]* x="([\d.]+)" y="([\d.]+)"[^>]*>([^<]*)</text>', picture):
        rows.setdefault(float(y), []).append((float(x), text))
    lines = ["".join(text for _, text in sorted(rows[y])) for y in sorted(rows)]
    return [re.sub(r"\d+\.\d+ s", "0 s", line.replace("&#160;", " ")).strip() for line in lines]


def quality() -> str:
    """Gold found among the 62 best against the median time of a question, from two records."""
    series: dict[str, list[Point]] = {}
    for name, file in QUALITY.items():
        record = json.loads((RECORDS / file).read_text(encoding="utf-8"))
        found = {row["name"].partition(" B")[0]: row["recall"]["turn@62"]["micro"] for row in record["rows"]}
        stages = {stage: took["p50"] for stage, took in record["latency"]["stages"].items()}
        grep = stages["parse"] + stages["retrieve"]
        series[name] = [
            (record["latency"]["rivals"]["bm25_date"]["p50"], found["bm25_date"], "BM25, neighbours, dates"),
            (grep, found["I3 weight"], "grep and hops alone"),
            (stages["total"], found["I3 cascade"], "smartsearch"),
        ]
    across = [(0.1, "0.1 ms"), (1, "1 ms"), (10, "10 ms"), (100, "0.1 s"), (1000, "1 s")]
    title = "Answers found among the 62 best, by median time a question (warm, one thread)"
    return plot(title, series, across, lambda x: math.log10(x / 0.1) / 4.5, "")


def confidence() -> str:
    """How often one of the first three hits answers, by what the confidence says; held-out halves."""
    lines = (RECORDS / CONFIDENCE).read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if "from" in row]
    points = [(row["from"] + 0.05, row["right"], f"{row['questions']}") for row in rows]
    across = [(tenth / 10, f".{tenth}" if 0 < tenth < 10 else f"{tenth // 10}") for tenth in range(0, 11, 2)]
    count = sum(row["questions"] for row in rows)
    title = f"One of the first three hits answers, by the confidence told ({count:,} questions)"
    return plot(title, {"": points}, across, float, line(place(0, 0), place(1, 1), "axis"))


def place(x: float, y: float) -> tuple[float, float]:
    """A place of the field, both from 0 to 1, in pixels."""
    return round(LEFT + x * ACROSS, 1), round(TOP + (1 - y) * DOWN, 1)


def line(start: tuple[float, float], end: tuple[float, float], kind: str) -> str:
    return f'<path d="M{start[0]} {start[1]}L{end[0]} {end[1]}" class="{kind}" stroke-dasharray="3 4"/>'


def words(x: float, y: float, text: str, anchor: str = "start", kind: str = "") -> str:
    return f'<text x="{x}" y="{y}" text-anchor="{anchor}" class="{kind}">{escape(text)}</text>'


def plot(
    title: str,
    series: dict[str, list[Point]],
    across: Iterable[tuple[float, str]],
    scale: Callable[[float], float],
    more: str,
) -> str:
    """Points with names over a share from 0 to 1; light or dark as the reader's page is."""
    parts = [words(LEFT, 22, title), more]
    for share in (0, 0.25, 0.5, 0.75, 1):
        parts += [line(place(0, share), place(1, share), "axis")]
        parts += [
            words(LEFT - 8, place(0, share)[1] + 4, f"{share:g}".removeprefix("0") or "0", "end", "quiet")
        ]
    parts += [words(place(scale(x), 0)[0], TOP + DOWN + 20, name, "middle", "quiet") for x, name in across]
    for kind, (name, points) in zip(("one", "two"), series.items(), strict=False):
        for x, y, label in points:
            at = place(scale(x), y)
            parts.append(f'<circle cx="{at[0]}" cy="{at[1]}" r="5" class="{kind}"/>')
            end = scale(x) > 0.7
            parts.append(
                words(
                    at[0] - 9 if end else at[0] + 9,
                    at[1] + (18 if kind == "two" else -8),
                    label,
                    "end" if end else "start",
                    "quiet",
                )
            )
        if name:
            row = TOP + DOWN + 44
            left = LEFT + 160 * (kind == "two")
            parts += [
                f'<circle cx="{left}" cy="{row - 4}" r="5" class="{kind}"/>',
                words(left + 10, row, name),
            ]
    size = f"0 0 {LEFT + ACROSS + 40} {TOP + DOWN + 56}"
    return "\n".join(
        [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="{size}" role="img">', STYLE, *parts, "</svg>\n"]
    )


MADE = {"terminal.svg": terminal, "quality.svg": quality, "confidence.svg": confidence}

if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    for name, make in MADE.items():
        if name != "confidence.svg" or (RECORDS / CONFIDENCE).is_file():
            (PICTURES / name).write_text(make(), encoding="utf-8")
