"""The settings of MemoRAG (docs/systems.md)."""

from __future__ import annotations

from dataclasses import dataclass

from smartsearch.settings import finds, taken_as


@dataclass(frozen=True)
class Settings:
    """What `Config` has of MemoRAG."""

    memorag: str = finds(
        "gist",
        "--system memorag: the memory that drafts clues, notes (gist) or all the chats (long).",
        "Ranking",
        choices=("gist", "long"),
        rare=True,
    )
    memorag_clues: str = finds(
        "with",
        "--system memorag: clues are searched with the question; or each alone and the question too, as its "
        "authors' code (only); or they alone, as its formula.",
        "Ranking",
        choices=("with", "only", "formula"),
        rare=True,
    )
    memorag_ratio: int = finds(8, lowest=2)  # words for one that is kept (paper: 2 to 16)
    memorag_context: int = finds(16_384, lowest=2048)  # tokens that its language model reads


set_in = taken_as(Settings)
