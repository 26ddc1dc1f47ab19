"""The settings of xMemory (docs/systems.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from smartsearch.settings import finds

WITHOUT = ("split", "merge", "stage1", "stage2")
"""Parts that can be left out."""


@dataclass(frozen=True)
class Settings:
    """What `Config` has of xMemory."""

    xmemory_without: tuple[str, ...] = finds(
        (),
        "xmemory without these parts: themes are not split, not merged; facts (stage1) or episodes (stage2) "
        "are the nearest, not chosen.",
        "Ranking",
        choices=WITHOUT,
        metavar=",".join(WITHOUT),
        shown="none",
        rare=True,
    )
    xmemory_cap: int = finds(12, lowest=1)  # facts of a theme (paper: Fano's bound gives 11.5; 8 to 14 tried)


def set_in(config: object) -> Settings:
    """A `Config` as these settings, which every one has."""
    return cast("Settings", config)
