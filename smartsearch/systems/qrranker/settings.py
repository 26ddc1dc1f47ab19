"""The settings of QRRanker (docs/systems.md)."""

from __future__ import annotations

from dataclasses import dataclass

from smartsearch.runtime.extras import needs
from smartsearch.settings import Reads, ranks, taken_as

RANKERS = {
    "qr": Reads(
        0.7,  # as the cross-encoder; nothing was tuned
        head=True,
        first="qr_candidates",
        loads="smartsearch.systems.qrranker.causal:scorer",
        model="qr_model",
        role="qrranker",
    )
}
"""Its scorer, beside ours too."""


@dataclass(frozen=True)
class Settings:
    """What `Config` has of QRRanker."""

    qr_model: str = ranks(
        "",
        f"qrranker's causal language model: folder as ./PATH, or hub id; {needs('qr')}.",
        "Ranking",
        metavar="MODEL",
        shown="none",
        trusted=True,
        weights=True,
        rare=True,
    )
    qr_heads: str = ranks(
        "",
        "Which heads of that model rank: a file of `qrranker detect`, as ./PATH.",
        "Ranking",
        metavar="FILE",
        shown="heads.json of the model's folder",
        trusted=True,
        weights=True,
        rare=True,
    )
    qr_candidates: int = ranks(  # the paper's
        50, "How many of our first turns qrranker reads, all at once.", "Ranking", lowest=1, rare=True
    )
    qr_memory: bool = ranks(
        False,
        "--system qrranker reads titles of xmemory's episodes before the turns, up to 512 tokens.",
        "Ranking",
        rare=True,
    )
    qr_dtype: str = ranks("auto", choices=("auto", "float32", "bfloat16", "float16"))  # auto: halves on a GPU


set_in = taken_as(Settings)
