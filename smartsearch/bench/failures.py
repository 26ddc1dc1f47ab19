"""Where a question failed and where its gold was lost, without a human (paper section 5; seeds 1.10).

Pure over places in the corpus: nothing here reads text but `answer_absent`, and no model runs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.cutting import KEPT, REASONS
from smartsearch.bench.types import Indices
from smartsearch.types import fold

NO_EVIDENCE, SEARCH_MISS, RANKING, INFERENCE, NOT_JUDGED, OK = (
    "no evidence",
    "search miss",
    "reranker/budget",
    "LLM inference",
    "not judged",
    "ok",
)
CLASSES = (NO_EVIDENCE, SEARCH_MISS, RANKING, INFERENCE, NOT_JUDGED, OK)
"""The failure classes in the order they are tested, and `ok`.

`not judged`: all gold was kept, a judge was asked and gave no verdict.
"""

NOT_RETRIEVED, CASCADE = "not retrieved", "cascade"
STAGES = (NOT_RETRIEVED, CASCADE, *REASONS[1:], REASONS[KEPT])
"""How far a gold turn came: the stage that lost it, in pipeline order, or that it was kept.

`cascade`: dropped, and the cross-encoder had never read it. The others are what the cut says.
"""

RULES = ("all", "any")


@dataclass(frozen=True)
class Outcome:
    """What happened to one question.

    `gold` holds places in the corpus. `ranked` is what retrieval found, in its final order, as places of
    shape (n,); `fate` tells what became of each, shape (n,), as places in `cutting.REASONS`; `read` which
    of them the cross-encoder scored, shape (n,), None where that is all of them or it did not run.
    `missing` counts the evidence that names no turn of the corpus. `right` is the judge's verdict on
    the answer, None without one; `judged` whether one was asked for. `answer_absent`: see the function.
    """

    gold: frozenset[int]
    ranked: Indices
    fate: NDArray[np.int8]
    read: NDArray[np.bool_] | None = None
    missing: int = 0
    right: bool | None = None
    judged: bool = False
    answer_absent: bool = False


@dataclass(frozen=True)
class Failure:
    """The class of a question (`CLASSES`), the stage that is to blame where ranking or the cut is, and the
    number of gold turns by how far they came."""

    kind: str
    split: str = ""
    gold: dict[str, int] = field(default_factory=dict)
    answer_absent: bool = False


@dataclass(frozen=True)
class Tally:
    """Failures counted: questions by class and by blamed stage, gold turns by how far they came.

    `answer_absent` counts questions, of any class, whose answer stands nowhere in the conversation.
    """

    questions: int
    kinds: dict[str, int]
    splits: dict[str, int]
    gold: dict[str, int]
    answer_absent: int


@dataclass(frozen=True)
class FailureSummary:
    """The tally of all questions and of each category."""

    overall: Tally
    by_category: dict[str, Tally]


def losses(outcome: Outcome) -> Counter[str]:
    """The number of gold turns by how far they came (`STAGES`)."""
    places = np.flatnonzero(np.isin(outcome.ranked, list(outcome.gold)))
    fates = outcome.fate[places]
    unread = np.zeros(len(places), dtype=bool) if outcome.read is None else ~outcome.read[places]
    stages = Counter(
        CASCADE if fate != KEPT and skipped else REASONS[fate]
        for fate, skipped in zip(fates.tolist(), unread.tolist(), strict=True)
    )
    lost = len(outcome.gold) - len(places)
    return stages + Counter({NOT_RETRIEVED: lost})


def classify(outcome: Outcome, rule: str = "all") -> Failure:
    """The class of one question, by the order of tests of seeds 1.10. A right answer is no failure.

    Under rule `all` every gold turn must reach the reader, under `any` one of them. Where gold was lost at
    several stages, ranking or the cut is to blame unless all that is lost was never retrieved. The blamed
    stage is the first that lost a turn under `all` (each must be mended), the last under `any` (the
    nearest to being kept).
    """
    if rule not in RULES:
        raise ValueError(f"rule {rule!r} is none of {RULES}")
    stages = losses(outcome)
    kind, split = _judged(outcome, stages, rule)
    return Failure(kind, split, _ordered(stages, STAGES), outcome.answer_absent)


def _judged(outcome: Outcome, stages: Counter[str], rule: str) -> tuple[str, str]:
    if outcome.right:
        return OK, ""
    if not outcome.gold or (rule == "all" and outcome.missing):
        return NO_EVIDENCE, ""
    kept = stages[REASONS[KEPT]]
    enough = kept == len(outcome.gold) if rule == "all" else kept > 0
    if enough:
        without = NOT_JUDGED if outcome.judged else OK
        return (without if outcome.right is None else INFERENCE), ""
    dropped = [stage for stage in STAGES if stages[stage] and stage not in (NOT_RETRIEVED, REASONS[KEPT])]
    if not dropped:
        return SEARCH_MISS, ""
    return RANKING, dropped[0] if rule == "all" else dropped[-1]


def summary(failures: Iterable[tuple[str, Failure]]) -> FailureSummary:
    """The failures counted, each given with its category; categories come out sorted."""
    groups: dict[str, list[Failure]] = {}
    for category, failure in failures:
        groups.setdefault(category, []).append(failure)
    return FailureSummary(
        overall=_tally(failure for group in groups.values() for failure in group),
        by_category={category: _tally(groups[category]) for category in sorted(groups)},
    )


def answer_absent(answer: str, conversation: str) -> bool:
    """Whether no content word of an answer stands anywhere in a conversation: a sign of wrong annotation.

    `conversation` is the folded text of all its turns as the reader gets them, dates included. A word of
    three characters or more that is no stop word is content; an answer without one is not called absent.
    Only a sign: "two" or "yes" may be the right answer and never be said.
    """
    from smartsearch.text.parse import without_torch

    with without_torch():
        from spacy.lang.en.stop_words import STOP_WORDS

    words = [word for word in re.findall(r"\w{3,}", fold(answer)) if word not in STOP_WORDS]
    return bool(words) and not any(word in conversation for word in words)


def _tally(failures: Iterable[Failure]) -> Tally:
    every = list(failures)
    gold: Counter[str] = Counter()
    for failure in every:
        gold.update(failure.gold)
    return Tally(
        questions=len(every),
        kinds=_ordered(Counter(failure.kind for failure in every), CLASSES),
        splits=_ordered(Counter(failure.split for failure in every if failure.split), STAGES),
        gold=_ordered(gold, STAGES),
        answer_absent=sum(failure.answer_absent for failure in every),
    )


def _ordered(counts: Counter[str], order: tuple[str, ...]) -> dict[str, int]:
    return {name: counts[name] for name in order if counts[name]}
