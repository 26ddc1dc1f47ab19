"""What the paper leaves open, by name: our numbers, and those in the authors' published code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Constants:
    """`attach` is the likeness from which a fact joins its nearest theme, None for that of most before it.

    f is weighed over `around` themes, with `eps` added to the median deviation of similarities. Stage I
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
