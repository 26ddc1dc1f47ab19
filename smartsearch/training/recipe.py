"""All of it, from data to shipped files: the order of docs/training.md in one command."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from smartsearch.models import manifest
from smartsearch.training import colbert, crossencoder, data, evaluate, export, parser


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training all DATA/train --work build --minutes 38 28`."""
    options = argparse.ArgumentParser(prog="smartsearch.training all", description=__doc__)
    options.add_argument("data", type=Path, help="the folder of training sources (SOURCES.md)")
    options.add_argument("--work", type=Path, default=Path("build/models"), help="checkpoints and logs")
    options.add_argument(
        "--minutes", type=float, nargs=2, default=(38.0, 28.0), help="of cross-encoder and ColBERT"
    )
    chosen = options.parse_args(argv)
    groups, cross, late = (str(chosen.work / name) for name in ("data", "ce", "colbert"))
    shipped = {name: str(manifest.SHIPPED / name) for name in manifest.FOLDERS}
    steps = (
        (parser, ["--data", str(chosen.data), "--out", shipped["en_smartsearch"]]),
        (data, [str(chosen.data), groups]),
        (crossencoder, [groups, cross, "--minutes", str(chosen.minutes[0])]),
        (export, ["crossencoder", cross, shipped["crossencoder"], "--data", groups]),
        (colbert, [groups, late, "--teacher", shipped["crossencoder"], "--minutes", str(chosen.minutes[1])]),
        (export, ["colbert", late, shipped["colbert"], "--data", groups]),
        (evaluate, [groups, shipped["crossencoder"], shipped["colbert"]]),
    )
    for step, arguments in steps:
        print(f"== {step.__name__.rpartition('.')[2]} {' '.join(arguments)}", flush=True)
        code = step.main(arguments)
        if code:
            return int(code)
    manifest.write()
    return 0
