"""The settings of QRMeM (docs/systems.md)."""

from __future__ import annotations

from dataclasses import dataclass

from smartsearch.settings import COUNT_OR_ALL, finds, taken_as


@dataclass(frozen=True)
class Settings:
    """What `Config` has of QRMeM."""

    qrmem: str = finds(
        "kn",
        "--system qrmem: walk by what is lacking (kn), widen the question (ges), entities alone (te), or kn "
        "without a part.",
        "Ranking",
        choices=("kn", "ges", "te", "no-update", "no-open-entities", "no-reflection", "no-navigation"),
        rare=True,
    )
    qrmem_scope: int = finds(  # 0: all
        12,
        "--system qrmem: segments its graph is made of, the best by our own search; `all` as in the paper.",
        "Ranking",
        metavar=COUNT_OR_ALL,
        rare=True,
    )
    qrmem_trials: int = finds(5, lowest=1)  # entities that a walk adds at most (paper: no number)


set_in = taken_as(Settings)
