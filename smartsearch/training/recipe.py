"""All of it, from data to shipped files: the order of docs/training.md in one command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from smartsearch.models import manifest
from smartsearch.training import colbert, crossencoder, data, evaluate, export, parser

MINUTES = (38.0, 36.0, 26.0)
"""Of the cross-encoder's two rounds and of the ColBERT, one core each, for the shipped files."""


def steps(source: Path, work: Path, minutes: Sequence[float]) -> list[tuple[str, list[str]]]:
    """(command, arguments) of each step; the ColBERT learns from the first round of the cross-encoder."""
    groups, first, second, late = (str(work / name) for name in ("data", "ce1", "ce2", "colbert"))
    teacher, shipped = (
        str(work / "teacher"),
        {name: str(manifest.SHIPPED / name) for name in manifest.FOLDERS},
    )
    again = ["--start", first, "--scale", "0.6", "--seed", "14"]
    return [
        ("parser", ["--data", str(source), "--out", shipped["en_smartsearch"]]),
        ("data", [str(source), groups]),
        ("crossencoder", [groups, first, "--minutes", str(minutes[0])]),
        ("export", ["crossencoder", first, teacher]),
        ("crossencoder", [groups, second, *again, "--minutes", str(minutes[1])]),
        ("export", ["crossencoder", second, shipped["crossencoder"], "--data", groups]),
        ("colbert", [groups, late, "--teacher", teacher, "--minutes", str(minutes[2])]),
        ("export", ["colbert", late, shipped["colbert"], "--data", groups]),
        ("evaluate", [groups, shipped["crossencoder"], shipped["colbert"]]),
    ]


COMMANDS = {
    "parser": parser.main,
    "data": data.main,
    "crossencoder": crossencoder.main,
    "colbert": colbert.main,
    "export": export.main,
    "evaluate": evaluate.main,
}


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training all DATA/train --work build/models`."""
    options = argparse.ArgumentParser(prog="smartsearch.training all", description=__doc__)
    options.add_argument("data", type=Path, help="the folder of training sources (SOURCES.md)")
    options.add_argument("--work", type=Path, default=Path("build/models"), help="checkpoints and logs")
    options.add_argument(
        "--minutes", type=float, nargs=3, default=MINUTES, help="of cross-encoder, its second round, ColBERT"
    )
    chosen = options.parse_args(argv)
    for command, arguments in steps(chosen.data, chosen.work, chosen.minutes):
        print(f"== {command} {' '.join(arguments)}", flush=True)
        code = COMMANDS[command](arguments)
        if code:
            return int(code)
    manifest.write()
    return 0
