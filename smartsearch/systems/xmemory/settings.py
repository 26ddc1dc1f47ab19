"""The settings of xMemory (docs/systems.md)."""

from __future__ import annotations

from dataclasses import dataclass

from smartsearch.settings import finds, taken_as

WAYS: dict[str, frozenset[str]] = {
    "full": frozenset(),
    "no-split": frozenset(("split",)),
    "no-merge": frozenset(("merge",)),
    "no-split-merge": frozenset(("split", "merge")),
    "no-stage1": frozenset(("stage1",)),
    "no-stage2": frozenset(("stage2",)),
    "memory-only": frozenset(("stage1", "stage2")),
    "authors": frozenset(),
}
"""What each way leaves out: its paper's ablations, and `authors`, whole with the constants of their code."""


@dataclass(frozen=True)
class Settings:
    """What `Config` has of xMemory."""

    xmemory: str = finds(
        "full",
        "--system xmemory: with the constants of its authors' code, or without a part: themes are not split "
        "or merged; facts (stage1) or episodes (stage2) are the nearest, not chosen.",
        "Ranking",
        choices=tuple(WAYS),
        rare=True,
    )
    xmemory_cap: int = finds(12, lowest=1)  # facts of a theme (paper: Fano's bound gives 11.5; 8 to 14 tried)


set_in = taken_as(Settings)


def without(config: object) -> frozenset[str]:
    """The parts that are left out."""
    return WAYS[set_in(config).xmemory]
