"""Compares an answer with the reference by their words, without a judge."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping

import numpy as np

from smartsearch.types import fold

MEASURES = {"f1": "F1", "bleu1": "BLEU-1", "rouge_l": "ROUGE-L", "exact": "EM", "contained": "contains"}
"""Headings by measure."""
_WORD = re.compile(r"\w+")
_ARTICLES = frozenset(("a", "an", "the"))


def overlap(answer: str, reference: str) -> dict[str, float]:
    """MEASURES of an answer, 0 to 1: over case-folded words without articles, as SQuAD's script has them.

    F1 is of shared words; BLEU-1 their precision with the penalty for brevity, without smoothing; ROUGE-L the
    F measure of the longest common subsequence; EM the same words; contains: the reference stands within
    the answer (QRMeM's EM, which exceeds its F1, can be no other).
    """
    from rapidfuzz.distance import LCSseq

    said, wanted = _words(answer), _words(reference)
    shared = (Counter(said) & Counter(wanted)).total()
    brevity = min(1.0, math.exp(1 - len(wanted) / len(said))) if said else 0.0
    return {
        "f1": _share(2 * shared, len(said) + len(wanted)),
        "bleu1": _share(shared, len(said)) * brevity,
        "rouge_l": _share(2 * LCSseq.similarity(said, wanted), len(said) + len(wanted)),
        "exact": float(said == wanted),
        "contained": float(f" {' '.join(wanted)} " in f" {' '.join(said)} "),
    }


def best(answer: str, references: Iterable[str]) -> dict[str, float]:
    """MEASURES of an answer, each against the reference that gives most of it."""
    every = [overlap(answer, one) for one in references]
    return {name: max(one[name] for one in every) for name in MEASURES}


def mean(values: Iterable[Mapping[str, float] | None]) -> dict[str, float | None]:
    """The mean of each of MEASURES over the answers that have it; None without any."""
    known = [value for value in values if value is not None]
    return {name: float(np.mean([one[name] for one in known])) if known else None for name in MEASURES}


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(fold(text)) if word not in _ARTICLES]


def _share(part: float, whole: int) -> float:
    return part / whole if whole else 0.0
