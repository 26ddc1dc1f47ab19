"""The settings of xMemory (docs/systems.md), and by name what its paper leaves open."""

from __future__ import annotations

from dataclasses import dataclass, replace

from smartsearch.settings import finds, taken_as


@dataclass(frozen=True)
class Constants:
    """What the paper leaves open, and the parts that an ablation leaves out.

    A theme has `cap` facts at most; themes `split` and `merge`. `attach` is the likeness from which a fact
    joins its nearest theme, None for that of most before it. f is weighed over `around` themes, with `eps`
    added to the median deviation of similarities. Stage I chooses among the `pool` facts most like the
    question and their themes, up to `themes` and `facts`: `greedy` by `alpha` * coverage + (1 - alpha) *
    likeness until a share `covered` is covered, else the nearest. Stage II looks at `episodes`, the `nearest`
    to the question among them whether a chosen fact comes from one or not; not `gated`, it opens all.

    `gain`: by this share of itself uncertainty has to fall for an episode and again for its messages, and
    `patience` episodes in a row may fail. With `opens` gains are absolute, each over the facts alone: one
    above `gain` lets an episode in, one above `opens` its messages, one not above `low` counts against
    going on.
    """

    cap: int = 12
    split: bool = True
    merge: bool = True
    attach: float | None = None
    around: int = 128  # all, of a few conversations
    eps: float = 0.02
    pool: int = 100
    themes: int = 6
    facts: int = 20
    alpha: float = 0.5
    covered: float = 0.9
    greedy: bool = True
    episodes: int = 20
    nearest: int = 0
    gain: float = 0.05
    patience: int = 2
    opens: float | None = None
    low: float = 0.0
    gated: bool = True


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

WAYS = {
    "full": OURS,
    "no-split": replace(OURS, split=False),
    "no-merge": replace(OURS, merge=False),
    "no-split-merge": replace(OURS, split=False, merge=False),
    "no-stage1": replace(OURS, greedy=False),
    "no-stage2": replace(OURS, gated=False),
    "memory-only": replace(OURS, greedy=False, gated=False),
    "authors": AUTHORS,
}
"""Its paper's ablations, and `authors`, whole with the constants of their code."""


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


def constants(config: object) -> Constants:
    """What the paper leaves open, as the config's way has it."""
    return replace(WAYS[set_in(config).xmemory], cap=set_in(config).xmemory_cap)
