"""How a setting is declared: by the core in config.py, by a system in the `settings.py` of its folder."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, TypeVar, cast

T = TypeVar("T")

COUNT_OR_ALL = "N|all"
"""The metavar of settings that take a number or `all`, which is 0."""

Panel = Literal["Language model", "Budget", "Retrieval", "Ranking", "Filters", "Output", "Run"]
"""Where `--help` lists a setting's option."""
Part = Literal["find", "rank", "cut", "run"]


def setting(
    default: Any,
    help: str = "",
    panel: Panel | None = None,
    *flags: str,
    choices: tuple[str, ...] = (),
    lowest: int = 0,
    metavar: str = "",
    shown: str = "",
    part: Part = "run",
    trusted: bool = False,
    rare: bool = False,
    weights: bool = False,
) -> Any:
    """A field of `Config`: all that the command line, files, environment, cache keys and docs know of it.

    With a `panel` it is an option, `--name` unless `flags` say otherwise, of some `choices` or a number from
    `lowest` up; a `rare` one is set by `--set NAME=VALUE`. `shown` is what help says of the default. `part`
    is the part of a search that it changes: cache keys hold the settings of the parts that made a value, and
    none of `run`. A project file may not set what is `trusted`. `weights`: it names weights
    to load, and a path counts from the current folder.
    """
    described = {"help": help, "panel": panel, "flags": flags, "choices": choices, "lowest": lowest}
    described |= {"metavar": metavar, "shown": shown, "part": part}
    described |= {"trusted": trusted, "rare": rare, "weights": weights}
    return dataclasses.field(default=default, metadata=described)


finds, ranks = partial(setting, part="find"), partial(setting, part="rank")
cuts, runs = partial(setting, part="cut"), partial(setting, part="run")
"""`setting` for each part of a search."""


@dataclass(frozen=True)
class Reads:
    """A scorer's part in the fused order: its weight in RRF, and how much it reads.

    It reads every candidate, or where others do, only the best by the first of those (`head`), or of the
    order of all others the first few: as many as the setting `first` says.

    A scorer outside the profiles names its loader as `module:function` (`loads`), and the setting and role of
    its model where it has one.
    """

    weight: float
    head: bool = False
    first: str = ""
    loads: str = ""
    model: str = ""
    role: str = ""


def taken_as(_kind: type[T]) -> Callable[[object], T]:
    """What takes a `Config` as the settings of one system, which every one has."""
    return lambda config: cast("T", config)
