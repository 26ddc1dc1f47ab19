"""Measures of a ranking that the field has agreed on, by its own library (`ir-measures` over trec_eval)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

DEPTH = 100
"""Ranked passages that are looked at."""


def ranking_measures(
    ranked: Mapping[str, Sequence[int]], gold: Mapping[str, Sequence[int]]
) -> dict[str, float]:
    """nDCG@10, mean reciprocal rank and mean average precision at DEPTH, over the questions that have gold.

    `ranked` holds the best passages of each question, best first (the best DEPTH count); `gold` those that
    hold a gold turn.
    """
    import ir_measures
    from ir_measures import AP, RR, nDCG

    names = {nDCG @ 10: "ndcg@10", RR @ DEPTH: f"mrr@{DEPTH}", AP @ DEPTH: f"map@{DEPTH}"}
    judged = {question: {str(place): 1 for place in places} for question, places in gold.items() if places}
    if not judged:
        return {}
    listed = {
        question: {str(place): float(-rank) for rank, place in enumerate(order[:DEPTH], 1)}
        for question, order in ranked.items()
    }
    found = ir_measures.calc_aggregate(list(names), judged, listed)
    return {name: float(found[measure]) for measure, name in names.items()}
