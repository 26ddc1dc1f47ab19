"""The turns of preferred speakers, moved up in the ranked list; nothing is lost (docs/decisions/0013)."""

from __future__ import annotations

from collections.abc import Sequence

from smartsearch.rank.cascade import Ranking
from smartsearch.transcripts.filters import speaks
from smartsearch.types import Turn


def promoted(ranking: Ranking, turns: Sequence[Turn], names: Sequence[str], share: float) -> Ranking:
    """`ranking` with each turn of a speaker in `names` as if it stood at `share` of its rank.

    So it counts the same whatever made the order: scores of one ranker, of several, or match weight. Equal
    ones keep their order.
    """
    if not names:
        return ranking
    preferred = [any(speaks(name, turns[c.index].speaker) for name in names) for c in ranking.candidates]
    order = sorted(range(len(preferred)), key=lambda n: (n + 1) * (share if preferred[n] else 1.0))
    return ranking.reordered(order)
