"""Gold turns of LoCoMo-10 whose label is doubtful by our own reading: a second column, never the headline.

`locomo_labels.tsv` names each by question and turn, with a kind and a reason. We read all 138 questions
of which the shipped rankers lost a gold turn (466 gold turns, 63 doubtful), and 160 drawn at random from the
other 1,398 (232, 13 doubtful). The list is incomplete, and a figure without its turns flatters smartsearch.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from smartsearch.bench.types import Group

LIST = Path(__file__).with_name("locomo_labels.tsv")
KINDS = {
    "beside": "a turn at most two away holds what is asked, this one does not",
    "topic": "it is about something else",
    "empty": "a greeting, thanks, assent or a question",
    "speaker": "it is the other person's, or the question names the wrong one",
    "answer": "the answer does not follow from it",
}


@dataclass(frozen=True)
class Label:
    """A doubtful gold turn. `read`: `lost` or `found`, which of the questions read it stood in."""

    question: str
    turn: str
    read: str
    kind: str
    reason: str


@cache
def labels() -> tuple[Label, ...]:
    """The list in its order."""
    _head, *lines = LIST.read_text(encoding="utf-8").splitlines()
    return tuple(Label(*line.split("\t")) for line in lines)


def doubtful(group: Group) -> Mapping[str, frozenset[int]]:
    """Of the group's questions those with doubtful gold, by id: places in its corpus.

    A label that is no gold turn of the question is left out: other editions number their questions otherwise.
    """
    listed: dict[str, set[str]] = {}
    for label in labels():
        listed.setdefault(label.question, set()).add(label.turn)
    turns = group.corpus.turns
    named = {
        question.id: frozenset(place for place in question.gold if turns[place].turn in listed[question.id])
        for question in group.questions
        if question.id in listed
    }
    return {identity: places for identity, places in named.items() if places}
