"""All of it, from data to shipped files: the order of docs/training.md in one command."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from smartsearch.models import manifest
from smartsearch.training import (
    calibrate,
    colbert,
    crossencoder,
    data,
    evaluate,
    export,
    fusion,
    parser,
    validate,
)

STEPS = {"ce1": 420, "ce2": 443, "ce3": 291, "ce4": 435, "colbert1": 345, "colbert2": 347, "colbert3": 420}
"""Steps of each round for the shipped files: the learning rate follows them, so that a run repeats."""


def steps(source: Path, work: Path, counts: Mapping[str, int] = STEPS) -> list[tuple[str, list[str]]]:
    """(command, arguments) of each step, every round from where the one before it ended.

    The first rounds see the third-party sources alone; the last ones the written conversations too, with
    wrong turns that the second ColBERT ranks high.
    """

    def at(name: str) -> str:
        return str(work / name)

    def round_of(kind: str, name: str, start: str, groups: str, *more: str) -> tuple[str, list[str]]:
        begin = ["--start", at(start)] if start else []
        return kind, [at(groups), at(name), *begin, "--steps", str(counts[name]), *more]

    shipped = {name: str(manifest.SHIPPED / name) for name in manifest.FOLDERS}
    mined = ["--miner", at("miner"), "--share", "0.5", "--seed", "31"]
    teacher = ["--teacher", at("teacher")]
    last_ce = ["--scale", "0.7", "--groups", "12", "--wrong", "6", "--seed", "42"]
    last_colbert = [*teacher, "--wrong", "4", "--distil", "0.3", "--seed", "41"]
    return [
        ("parser", ["--data", str(source), "--out", shipped["en_smartsearch"]]),
        ("data", [str(source), at("groups"), "--no-written"]),
        round_of("crossencoder", "ce1", "", "groups"),
        round_of("crossencoder", "ce2", "ce1", "groups", "--scale", "0.6", "--seed", "14"),
        round_of("crossencoder", "ce3", "ce2", "groups", "--scale", "0.6", "--seed", "22"),
        ("export", ["crossencoder", at("ce2"), at("teacher")]),
        round_of("colbert", "colbert1", "", "groups", *teacher),
        round_of("colbert", "colbert2", "colbert1", "groups", *teacher, "--seed", "21"),
        ("export", ["colbert", at("colbert2"), at("miner")]),
        ("data", [str(source), at("mined"), *mined]),
        round_of("crossencoder", "ce4", "ce3", "mined", *last_ce),
        round_of("colbert", "colbert3", "colbert2", "mined", *last_colbert),
        ("export", ["crossencoder", at("ce4"), shipped["crossencoder"], "--data", at("mined")]),
        ("export", ["colbert", at("colbert3"), shipped["colbert"], "--data", at("mined")]),
        ("evaluate", [at("mined"), shipped["crossencoder"], shipped["colbert"]]),
        ("validate", [str(source), "--out", at("samples.npz")]),
        ("calibrate", [at("samples.npz"), shipped["crossencoder"]]),
        ("fusion", [at("samples.npz"), shipped["crossencoder"]]),
    ]


COMMANDS = {
    "parser": parser.main,
    "data": data.main,
    "crossencoder": crossencoder.main,
    "colbert": colbert.main,
    "export": export.main,
    "evaluate": evaluate.main,
    "validate": validate.main,
    "calibrate": calibrate.main,
    "fusion": fusion.main,
}


def main(argv: Sequence[str]) -> int:
    """`python -m smartsearch.training all DATA/train --work build/models`."""
    options = argparse.ArgumentParser(prog="smartsearch.training all", description=__doc__)
    options.add_argument("data", type=Path, help="the folder of training sources (SOURCES.md)")
    options.add_argument("--work", type=Path, default=Path("build/models"), help="checkpoints and logs")
    chosen = options.parse_args(argv)
    for command, arguments in steps(chosen.data, chosen.work):
        print(f"== {command} {' '.join(arguments)}", flush=True)
        code = COMMANDS[command](arguments)
        if code:
            return int(code)
    manifest.write()
    return 0
