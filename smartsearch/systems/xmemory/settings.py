"""The settings of xMemory (docs/systems.md), and by name what its paper leaves open."""

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


@dataclass(frozen=True)
class Constants:
    """What the paper leaves open.

    `attach` is the likeness from which a fact joins its nearest theme, None for that of most before it. f is
    weighed over `around` themes, with `eps` added to the median deviation of similarities. Stage I
    chooses among the `pool` facts most like the question and their themes, up to `themes` and `facts`, by
    `alpha` * coverage + (1 - alpha) * likeness until a share `covered` is covered. Stage II looks at
    `episodes`, the `nearest` to the question among them whether a chosen fact comes from one or not.

    `gain`: by this share of itself uncertainty has to fall for an episode and again for its messages, and
    `patience` episodes in a row may fail. With `opens` gains are absolute, each over the facts alone: one
    above `gain` lets an episode in, one above `opens` its messages, one not above `low` counts against
    going on.
    """

    attach: float | None = None
    around: int = 128  # all, of a few conversations
    eps: float = 0.02
    pool: int = 100
    themes: int = 6
    facts: int = 20
    alpha: float = 0.5
    covered: float = 0.9
    episodes: int = 20
    nearest: int = 0
    gain: float = 0.05
    patience: int = 2
    opens: float | None = None
    low: float = 0.0


OURS = Constants()
AUTHORS = Constants(
    attach=0.62,
    around=10,
    eps=1e-8,
    pool=40,
    themes=5,
    alpha=0.7,
    covered=1.0,
    episodes=10,
    nearest=10,
    gain=-0.45,
    opens=0.25,
    low=-0.4,
)
"""As in github.com/HU-xiaobai/xMemory (search and hierarchy), for Llama's entropy in nats."""


def constants(config: object) -> Constants:
    """What the paper leaves open, as the config's way has it."""
    return AUTHORS if set_in(config).xmemory == "authors" else OURS
