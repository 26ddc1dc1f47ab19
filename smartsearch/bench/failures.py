"""Where a question failed and where its gold was lost, without a human (paper appendix D).

Works on places in the corpus: only `answer_absent` reads text, and no model runs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.cutting import KEPT, REASONS
from smartsearch.bench.types import Indices
from smartsearch.text.parse import stop_words, words

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

NOT_RETRIEVED, CASCADE, KEPT_TURN = "not retrieved", "cascade", REASONS[KEPT]
STAGES = (NOT_RETRIEVED, CASCADE, *REASONS[1:], KEPT_TURN)
"""The stage that lost a gold turn, in pipeline order, or `kept`.

`cascade`: dropped, and the cross-encoder had never read it. The others are what the cut says.
"""

RULES = ("all", "any")


@dataclass(frozen=True)
class Outcome:
    """The fate of one question.

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


def classify(outcome: Outcome, rule: str = "all") -> tuple[str, str]:
    """The class of one question, by the order of CLASSES, and the stage that is to blame where ranking is.

    Under rule `all` every gold turn must reach the reader, under `any` one of them; a right answer is no
    failure. Where gold was lost at several stages, ranking or the cut is to blame unless all that is lost
    was never retrieved. The blamed stage is the first that lost a turn under `all` (each must be mended),
    the last under `any` (the nearest to being kept).
    """
    stages = losses(outcome)
    if outcome.right:
        return OK, ""
    if not outcome.gold or (rule == "all" and outcome.missing):
        return NO_EVIDENCE, ""
    if stages[KEPT_TURN] >= (len(outcome.gold) if rule == "all" else 1):
        without = NOT_JUDGED if outcome.judged else OK
        return (without if outcome.right is None else INFERENCE), ""
    dropped = [stage for stage in STAGES if stages[stage] and stage not in (NOT_RETRIEVED, KEPT_TURN)]
    if not dropped:
        return SEARCH_MISS, ""
    return RANKING, dropped[0] if rule == "all" else dropped[-1]


def summary(outcomes: Iterable[tuple[str, Outcome]], rule: str) -> dict[str, Any]:
    """The failures of all questions and of each category; each outcome is given with its category."""
    groups: dict[str, list[Outcome]] = {}
    for category, outcome in outcomes:
        groups.setdefault(category, []).append(outcome)
    return {
        "overall": _tally([one for group in groups.values() for one in group], rule),
        "by_category": {category: _tally(groups[category], rule) for category in sorted(groups)},
    }


def _tally(outcomes: Sequence[Outcome], rule: str) -> dict[str, Any]:
    """Questions by class and by blamed stage, gold turns by how far they came.

    `answer_absent` counts questions, of any class, whose answer stands nowhere in the conversation.
    """
    found = [classify(outcome, rule) for outcome in outcomes]
    return {
        "questions": len(found),
        "kinds": _ordered(Counter(kind for kind, _ in found), CLASSES),
        "splits": _ordered(Counter(split for _, split in found), STAGES),
        "gold": _ordered(sum(map(losses, outcomes), Counter()), STAGES),
        "answer_absent": sum(outcome.answer_absent for outcome in outcomes),
    }


def answer_absent(answer: str, conversation: str) -> bool:
    """Whether no content word of an answer stands anywhere in a conversation: a sign of wrong annotation.

    `conversation` is the folded text of all its turns as the reader gets them, dates included. Content
    words have three characters or more and are not stop words; an answer without any is not called absent.
    It is only a sign: "two" or "yes" may be right and never be said.
    """
    content = [word for word in words(answer) if len(word) >= 3 and word not in stop_words()]
    return bool(content) and not any(word in conversation for word in content)


def _ordered(counts: Counter[str], order: tuple[str, ...]) -> dict[str, int]:
    return {name: counts[name] for name in order if counts[name]}
