"""Measures the density of evidence after a cut, and how soon it covers the answer (xMemory paper, section 4).

A block is what is kept of one chunk of whole turns (chunks.py), in the order of its best turn, so that
systems compare whatever their own units are. The paper does not say how long its blocks are.
"""

from __future__ import annotations

from collections.abc import Sequence

from smartsearch.bench.types import Indices

HITS = ("one word", "two words", "more words")
"""Names of the counts of blocks with one, two and more distinct answer words: the paper's density."""
GOLD = ("one", "two", "more")
"""The same counts by gold turns: our own measure."""
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

    HITS and GOLD count the blocks of questions with two gold turns or more, else 0: the paper tells density
    of multi-hop questions. COST counts what a reader has read once all `wanted` words, the content words of
    the answer, have appeared; NaN where they never do, and where none is wanted.
    """
    blocks: dict[int, list[int]] = {}
    for turn in kept.tolist():
        blocks.setdefault(int(chunks[turn]), []).append(turn)
    right, several = set(gold.tolist()), list(blocks.values()) if len(gold) > 1 else []
    words = [len(wanted & frozenset().union(*(said[turn] for turn in turns))) for turns in several]
    found = [len(right.intersection(turns)) for turns in several]
    read, missing, cost = 0, wanted, 0
    for turns in blocks.values() if wanted else ():
        read, cost = read + 1, cost + int(tokens[turns].sum())
        missing = missing.difference(*(said[turn] for turn in turns))
        if not missing:
            break
    met = (read, cost) if wanted and not missing else (float("nan"),) * 2
    counts = dict(zip((*HITS, *GOLD), (*_counts(words), *_counts(found))))
    return {"blocks": len(several), **counts, **dict(zip(COST, met)), "wanted": bool(wanted)}


def _counts(hits: Sequence[int]) -> tuple[int, int, int]:
    return hits.count(1), hits.count(2), sum(hit > 2 for hit in hits)
