"""All of it, from data to shipped files, in one command, which goes on where it was broken off."""

from __future__ import annotations

import argparse
import json
import math
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recipe.__main__ import run
from recipe.rankers import UNFINISHED
from smartsearch.models import manifest

STEPS = {
    **{"ce1": 420, "ce2": 443, "ce3": 291, "ce4": 435, "ce5": 330, "ce6": 527, "ce7": 814, "ce8": 1162},
    **{"colbert1": 345, "colbert2": 347, "colbert3": 420, "colbert4": 270, "colbert5": 460},
    **{"colbert6": 643, "colbert7": 1314},
}
"""Steps of each round: the learning rate follows them, so that a run repeats."""
STRETCHES = "299"
"""So many stretches of real chats have their written questions trained on; the set encoder learns from those
of the others."""
PARTS = 4
"""In which the set encoder's lists are made."""

Step = tuple[str, list[str]]


@dataclass(frozen=True)
class Mined:
    """A round with the written conversations and the wrong turns that the last ColBERT ranks high.

    `share` is of the third-party sources' questions; the seeds are of the groups, the cross-encoder and the
    ColBERT, whose teacher is that export or the round's own cross-encoder.
    """

    share: str
    seeds: tuple[str, str, str]
    teacher: str = ""
    real: bool = False


MINED = (
    Mined("0.5", ("31", "42", "41"), "teacher"),
    Mined("0.25", ("51", "52", "53"), "x_ce4"),
    Mined("0.2", ("61", "62", "63"), "x_ce5"),
    Mined("0.7", ("103", "104", "105"), real=True),
    Mined("0.3", ("305", "307", "407"), real=True),
)


def steps(source: Path, work: Path, models: Path = manifest.SHIPPED) -> list[Step]:
    """(command, arguments) of each step, every round from where the one before it ended; last come `models`.

    The first rounds see the third-party sources alone, the next three the written conversations too, the last
    two real people's chats as well.
    """

    def at(name: str) -> str:
        return str(work / name)

    def round_of(kind: str, name: str, start: str, groups: str, *more: str) -> Step:
        begin = ["--start", at(start)] if start else []
        return kind, [at(groups), at(name), *begin, "--steps", str(STEPS[name]), *more]

    shipped = {name: str(models / name) for name in manifest.FOLDERS}
    first_teacher = ["--teacher", at("teacher")]

    def mined_round(number: int, how: Mined) -> list[Step]:
        """Its groups, both rankers on them, and their exports."""
        groups, before = f"mined{number}", f"colbert{number + 1}"
        ce, late = f"ce{number + 3}", f"colbert{number + 2}"
        real = ["--real", "--stretches", STRETCHES] if how.real else []
        mine = ["--miner", at(f"x_{before}"), "--share", how.share, *real, "--seed", how.seeds[0]]
        of_ce = ["--scale", "0.6", "--groups", "16"] if how.real else ["--scale", "0.7", "--groups", "12"]
        of_late = ["--scale", "0.6", "--groups", "24"] if how.real else []
        last = how is MINED[-1]
        ce_export, late_export = (
            (shipped["crossencoder"], shipped["colbert"]) if last else (at(f"x_{ce}"), at(f"x_{late}"))
        )
        trials = ["--data", at(groups)] if last else []
        teacher = at(how.teacher) if how.teacher else ce_export
        return [
            ("data", [str(source), at(groups), *mine]),
            round_of(
                *("crossencoder", ce, f"ce{number + 2}", groups, *of_ce),
                *("--wrong", "6", "--seed", how.seeds[1]),
            ),
            ("export", ["crossencoder", at(ce), ce_export, *trials]),
            round_of(
                *("colbert", late, before, groups, "--teacher", teacher, "--wrong", "4"),
                *("--distil", "0.3", *of_late, "--seed", how.seeds[2]),
            ),
            ("export", ["colbert", at(late), late_export, *trials]),
        ]

    lists = [at(f"lists{part}.npz") for part in range(1, PARTS + 1)]
    held_out = [at("samples.npz"), at("real.npz")]
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
        *(step for number, how in enumerate(MINED, start=1) for step in mined_round(number, how)),
        ("evaluate", [at(f"mined{len(MINED)}"), shipped["crossencoder"], shipped["colbert"]]),
        ("validate", [str(source), "--out", held_out[0]]),
        ("validate", [str(source), "--real", "--out", held_out[1]]),
        ("calibrate", [*held_out, shipped["crossencoder"]]),
        *(
            ("validate", [str(source), "--unseen", STRETCHES, "--part", f"{n}/{PARTS}", "--out", path])
            for n, path in enumerate(lists, start=1)
        ),
        ("set_encoder", [*held_out, *lists, shipped["crossencoder"]]),
        ("static_weight", [str(source)]),
        ("confidence", [str(source)]),
        ("manifest", []),
    ]


def rest(file: Path, commands: Sequence[str]) -> int:
    """How many of `commands` the file says are done; its lines from the first that differs on are dropped."""
    done = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    same = 0
    while same < min(len(done), len(commands)) and done[same] == commands[same]:
        same += 1
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(f"{line}\n" for line in done[:same]), encoding="utf-8")
    return same


def main(argv: Sequence[str]) -> int:
    """`python -m recipe all DATA/train --work build/models --device cuda --minutes 9`."""
    options = argparse.ArgumentParser(prog="recipe all", description=__doc__)
    options.add_argument("data", type=Path, help="the folder of training sources, one folder each")
    options.add_argument("--work", type=Path, default=Path("build/models"), help="checkpoints and logs")
    options.add_argument("--device", default="cpu", help="of the rankers' training, as torch names it")
    said = f"begin no step and break training off after so many (0: never); exit code {UNFINISHED} then"
    options.add_argument("--minutes", type=float, default=0.0, help=said)
    options.add_argument("--threads", type=int, default=os.cpu_count(), help="of what runs on the CPU")
    chosen = options.parse_args(argv)
    end = time.monotonic() + 60 * chosen.minutes if chosen.minutes else math.inf
    every = steps(chosen.data, chosen.work)
    names = [json.dumps(step) for step in steps(*map(Path, ("DATA", "WORK", "MODELS")))]
    log = chosen.work / "done.jsonl"
    begin = rest(log, names)
    if begin:
        print(
            f"{begin} of {len(every)} steps were done before, says {log}: remove it to begin anew", flush=True
        )
    for number in range(begin, len(every)):
        command, arguments = every[number]
        left = (end - time.monotonic()) / 60
        if left <= 0:
            print(f"{number} of {len(every)} steps are done; the same command goes on", flush=True)
            return UNFINISHED
        more: list[str] = []
        if command in ("crossencoder", "colbert"):
            more = ["--device", chosen.device, "--piece", str(left)]
        elif command in ("data", "evaluate", "validate", "static_weight", "confidence"):
            more = ["--threads", str(chosen.threads)]
        print(f"== {number + 1}/{len(every)} {command} {' '.join([*arguments, *more])}", flush=True)
        code = run(command, [*arguments, *more])
        if code:
            return code
        with log.open("a", encoding="utf-8") as file:
            file.write(f"{names[number]}\n")
    return 0
