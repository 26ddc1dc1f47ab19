"""How dense the evidence is that a cut leaves, and how soon it covers the answer (xMemory paper, section 4).

A block is what is kept of one chunk of whole turns (chunks.py), in the order of its best turn, so that
systems compare whatever their own units are. The paper does not say how long its blocks are.
"""

from __future__ import annotations

from collections.abc import Sequence

from smartsearch.bench.types import Indices

HITS = ("one", "two", "more")
"""Names of the counts of blocks with one, two and more gold turns."""
COST = ("cover blocks", "cover tokens")


def of_kept(
    kept: Indices,
    gold: Indices,
    chunks: Indices,
    tokens: Indices,
    said: Sequence[frozenset[str]],
    wanted: frozenset[str],
) -> dict[str, float]:
    """Measures of the turns `kept` (n,), best first; `chunks`, `tokens` and the words `said` are each turn's.

    `blocks` and HITS count blocks, 0 for a question with less than two gold turns. COST is what a reader has
    read when it has met all words `wanted`, NaN where it never does and where none is wanted.
    """
    blocks: dict[int, list[int]] = {}
    for turn in kept.tolist():
        blocks.setdefault(int(chunks[turn]), []).append(turn)
    right = set(gold.tolist()) if len(gold) > 1 else set()
    hits = [len(right.intersection(turns)) for turns in blocks.values()] if right else []
    counts = (hits.count(1), hits.count(2), sum(hit > 2 for hit in hits))
    read, missing, cost = 0, wanted, 0
    for turns in blocks.values() if wanted else ():
        read, cost = read + 1, cost + int(tokens[turns].sum())
        missing = missing.difference(*(said[turn] for turn in turns))
        if not missing:
            break
    met = (read, cost) if wanted and not missing else (float("nan"),) * 2
    return {"blocks": len(hits), **dict(zip(HITS, counts)), **dict(zip(COST, met)), "wanted": bool(wanted)}
