"""How sure it is that one of the first three hits answers: one logistic over what the search saw.

The weights belong to a pair of rankers, as those of the learned fusion do, and lie beside them. They are
fitted on questions that a chat answers and on questions that it does not (recipe/confidence.py).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from smartsearch.rank.asked import stems_of
from smartsearch.rank.features import logit
from smartsearch.rank.static import STATIC
from smartsearch.text.literals import CODE, NUMBER, PHRASE
from smartsearch.types import Query, Result, Scores, Term, fold

WEAK = 0.3
"""Below this confidence a result is called weak (benchmarks/LOG.md)."""
UNSAID = 0.6
"""The same where no turn has some name of the question, or none has any of its nouns."""
FIRST, AHEAD = 5, 10
"""Hits that are looked at for the question's words, and those that the first one is compared with."""
LIKELY = 0.02
"""The lowest cross-encoder score of a turn of a weak answer that fills a prompt (benchmarks/LOG.md)."""
LOWEST = -10.0
"""The logit of a search for which the cross-encoder read no turn."""


def absent(query: Query, counts: Mapping[str, int]) -> tuple[Term, ...]:
    """The question's own terms that no turn contains; `counts` says how many do, by folded text."""
    return tuple(term for term in query.terms if not counts.get(fold(term.text)))


def signals(
    query: Query, missing: Sequence[Term], scores: Sequence[Scores], said: Sequence[str]
) -> dict[str, float]:
    """What confidence is a sum over; `scores` and what was `said` in the order of the hits.

    `ce` is the best cross-encoder score as a logit, `typed` the share of the question's weight that stands in
    the turns as typed, `absent` how many terms no turn has, `held` the most of the question's words that one
    of the FIRST hits says, `ahead` how far the best fused score is above the mean of the best AHEAD,
    `outdone` how many turns the static vectors place above the first hit, as log1p.
    """
    read = [s.ce for s in scores if s.ce is not None]
    weight = sum(term.weight for term in query.terms)
    lost = sum(term.weight for term in missing)
    stems = stems_of(query.text)
    held = [sum(stem in text for stem in stems) for text in map(fold, said[:FIRST])]
    fused = sorted((s.fused for s in scores if s.fused is not None), reverse=True)[:AHEAD]
    near = [s.more.get(STATIC, 0.0) for s in scores]
    return {
        "bias": 1.0,
        "ce": float(logit(np.array(read)).max()) if read else LOWEST,
        "typed": 1.0 - lost / weight if weight else 0.0,
        "absent": float(len(missing)),
        "held": max(held, default=0) / max(1, len(stems)),
        "ahead": fused[0] - sum(fused) / len(fused) if fused else 0.0,
        "outdone": math.log1p(sum(score > near[0] for score in near)),
    }


def confidence(seen: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The chance that one of the first three hits answers, 0 to 1."""
    return 1.0 / (
        1.0 + math.exp(-sum(weights[name] * value for name, value in seen.items() if name in weights))
    )


def is_weak(sure: float | None, query: Query, missing: Sequence[Term], near: Collection[str] = ()) -> bool:
    """Whether an answer is weak: a code, number, quoted phrase or name is nowhere, or it is not sure enough.

    `missing` are terms that no turn has, `near` the words among them that stand for something close or a
    date; `sure` is None where nothing tells how sure the answer is. A literal question is answered by whoever
    says it, and needs no ranker for that.
    """
    unsaid = [term for term in missing if term.text not in near]
    if any(term.kind in (CODE, NUMBER, PHRASE) for term in missing) or any(
        _named(term, query) for term in unsaid
    ):
        return True
    if query.literal and query.terms:
        return bool(unsaid)
    nouns = [term for term in query.terms if term.kind in ("NOUN", "PROPN")]
    unheard = [term for term in nouns if term in unsaid]
    carries = bool(nouns) and (unheard == nouns or any(term.kind == "PROPN" for term in unheard))
    return sure is not None and sure < (UNSAID if carries else WEAK)


def worth_reading(answer: Result) -> list[int]:
    """Places of the hits that a prompt is filled with: all; of a weak answer the first and the likely."""
    scores = [hit.scores.ce for hit in answer.hits]
    return [n for n, ce in enumerate(scores) if not answer.weak or not n or (ce is not None and ce >= LIKELY)]


def _named(term: Term, query: Query) -> bool:
    """Whether it is written as a name is: with a capital that does not merely begin the question."""
    capital = term.kind == "PROPN" and not term.text[:1].islower()
    return capital and (query.literal or not query.text.lstrip().startswith(term.text))
