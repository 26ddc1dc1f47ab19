"""How sure it is that a turn answers: one logistic over what the search saw.

The weights belong to a pair of rankers, as those of the learned fusion do, and lie beside them. They are
fitted on questions asked of their own chat and of another (recipe/confidence.py).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from smartsearch.rank.learned import logit
from smartsearch.types import Query, Scores, Term, fold

WEAK = 0.25
"""Below this confidence a result is called weak: one in twenty of the answerable questions of the fit."""
UNSAID = 0.7
"""The same where nobody says a name of the question, or any of its nouns."""
LOWEST = -10.0
"""The logit of a search that the cross-encoder read nothing of."""


def absent(query: Query, counts: Mapping[str, int]) -> tuple[Term, ...]:
    """The question's own terms that no turn contains; `counts` says how many do, by folded text."""
    return tuple(term for term in query.terms if not counts.get(fold(term.text)))


def signals(query: Query, missing: Sequence[Term], scores: Sequence[Scores]) -> dict[str, float]:
    """What confidence is a sum over.

    `ce` is the best cross-encoder score as a logit, `colbert` the best MaxSim, `typed` the share of the
    question's weight that stands in the turns as typed.
    """
    read = [s.ce for s in scores if s.ce is not None]
    weight = sum(term.weight for term in query.terms)
    lost = sum(term.weight for term in missing)
    return {
        "bias": 1.0,
        "ce": float(logit(np.array(read)).max()) if read else LOWEST,
        "colbert": max((s.colbert for s in scores if s.colbert is not None), default=0.0),
        "typed": 1.0 - lost / weight if weight else 0.0,
    }


def confidence(seen: Mapping[str, float], weights: Mapping[str, float]) -> float:
    """The chance that a turn answers, 0 to 1."""
    return 1.0 / (
        1.0 + math.exp(-sum(weights[name] * value for name, value in seen.items() if name in weights))
    )


def is_weak(sure: float, query: Query, missing: Sequence[Term]) -> bool:
    """Whether so sure an answer is called weak; `missing` are terms that stand nowhere, nor anything near."""
    named = [term for term in query.terms if term.kind in ("NOUN", "PROPN")]
    unsaid = [term for term in named if term in missing]
    carries = bool(named) and (unsaid == named or any(term.kind == "PROPN" for term in unsaid))
    return sure < (UNSAID if carries else WEAK)
