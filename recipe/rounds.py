"""All of it, from data to shipped files: the order of docs/training.md in one command."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path

from recipe.__main__ import run
from smartsearch.models import manifest

STEPS = {
    **{"ce1": 420, "ce2": 443, "ce3": 291, "ce4": 435, "ce5": 330, "ce6": 527},
    **{"colbert1": 345, "colbert2": 347, "colbert3": 420, "colbert4": 270, "colbert5": 460},
}
"""Steps of each round for the shipped files: the learning rate follows them, so that a run repeats."""

MINED = 3
"""Rounds with the written conversations."""


def steps(source: Path, work: Path, counts: Mapping[str, int] = STEPS) -> list[tuple[str, list[str]]]:
    """(command, arguments) of each step, every round from where the one before it ended.

    The first rounds see the third-party sources alone; the last three the written conversations too, with
    the wrong turns that the last ColBERT ranks high.
    """

    def at(name: str) -> str:
        return str(work / name)

    def round_of(kind: str, name: str, start: str, groups: str, *more: str) -> tuple[str, list[str]]:
        begin = ["--start", at(start)] if start else []
        return kind, [at(groups), at(name), *begin, "--steps", str(counts[name]), *more]

    shipped = {name: str(manifest.SHIPPED / name) for name in manifest.FOLDERS}
    first_teacher = ["--teacher", at("teacher")]

    def mined_round(number: int, teacher: str, share: str, *seeds: int) -> list[tuple[str, list[str]]]:
        """Groups with wrong turns of the last ColBERT, both rankers on them, and their exports."""
        mining, of_cross, of_colbert = map(str, seeds)
        groups, before = f"mined{number}", f"colbert{number + 1}"
        ce, late = f"ce{number + 3}", f"colbert{number + 2}"
        mine = ["--miner", at(f"x_{before}"), "--share", share, "--seed", mining]
        of_ce = ["--scale", "0.7", "--groups", "12", "--wrong", "6", "--seed", of_cross]
        of_late = ["--teacher", at(teacher), "--wrong", "4", "--distil", "0.3", "--seed", of_colbert]
        last = number == MINED
        places = [shipped["crossencoder"], shipped["colbert"]] if last else [at(f"x_{ce}"), at(f"x_{late}")]
        data_of = ["--data", at(groups)] if last else []
        return [
            ("data", [str(source), at(groups), *mine]),
            round_of("crossencoder", ce, f"ce{number + 2}", groups, *of_ce),
            round_of("colbert", late, before, groups, *of_late),
            ("export", ["crossencoder", at(ce), places[0], *data_of]),
            ("export", ["colbert", at(late), places[1], *data_of]),
        ]

    return [
        ("parser", ["--data", str(source), "--out", shipped["en_smartsearch"]]),
        ("data", [str(source), at("groups"), "--no-written"]),
        round_of("crossencoder", "ce1", "", "groups"),
        round_of("crossencoder", "ce2", "ce1", "groups", "--scale", "0.6", "--seed", "14"),
        round_of("crossencoder", "ce3", "ce2", "groups", "--scale", "0.6", "--seed", "22"),
        ("export", ["crossencoder", at("ce2"), at("teacher")]),
        round_of("colbert", "colbert1", "", "groups", *first_teacher),
        round_of("colbert", "colbert2", "colbert1", "groups", *first_teacher, "--seed", "21"),
        ("export", ["colbert", at("colbert2"), at("x_colbert2")]),
        *mined_round(1, "teacher", "0.5", 31, 42, 41),
        *mined_round(2, "x_ce4", "0.25", 51, 52, 53),
        *mined_round(3, "x_ce5", "0.2", 61, 62, 63),
        ("evaluate", [at(f"mined{MINED}"), shipped["crossencoder"], shipped["colbert"]]),
        ("validate", [str(source), "--out", at("samples.npz")]),
        ("calibrate", [at("samples.npz"), shipped["crossencoder"]]),
        ("validate", [str(source), "--unseen", "0", "--out", at("lists.npz")]),
        ("set_encoder", [at("samples.npz"), at("lists.npz"), shipped["crossencoder"]]),
        ("manifest", []),
    ]


def main(argv: Sequence[str]) -> int:
    """`python -m recipe all DATA/train --work build/models`."""
    options = argparse.ArgumentParser(prog="recipe all", description=__doc__)
    options.add_argument("data", type=Path, help="the folder of training sources, one folder each")
    options.add_argument("--work", type=Path, default=Path("build/models"), help="checkpoints and logs")
    chosen = options.parse_args(argv)
    for command, arguments in steps(chosen.data, chosen.work):
        print(f"== {command} {' '.join(arguments)}", flush=True)
        code = run(command, arguments)
        if code:
            return code
    return 0
