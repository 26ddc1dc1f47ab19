"""Turns that contain the words as they stand, in the order of the files: `query -F`, without any model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from smartsearch.config import Config
from smartsearch.models.tools import Tools
from smartsearch.retrieve.grep import Haystack
from smartsearch.systems.base import Card, Clock, Empty, Memory, Progress, Ranked
from smartsearch.text.literals import PHRASE
from smartsearch.types import Hit, Scores, Term, Trace, fold

if TYPE_CHECKING:
    from smartsearch.systems.base import System


CARD = Card(
    "fixed", "turns that contain the question, or a line of it, as it stands", whole=False, uncut=True
)
CARDS = {CARD.name: CARD}


def load(config: Config, tools: Callable[[Config], Tools]) -> System:
    """The system; it needs none of SmartSearch's models."""
    return Fixed()


class Fixed:
    """The system: each line of a question is looked for, whatever its case unless it has a capital."""

    card = CARD
    fingerprint = ""

    def prepare(self, corpus: Haystack, folder: Path | None, progress: Progress) -> Memory:
        """Nothing."""
        return Empty()

    def search(self, question: str, corpus: Haystack, memory: Memory, config: Config) -> Ranked:
        """The turns in corpus order; `absent` are the lines that none contains."""
        clock = Clock()
        terms = [Term(line, PHRASE, 1.0) for line in question.splitlines() if line.strip()]
        found: dict[int, list[Term]] = {}
        anyhow: dict[Term, int] = {}
        with clock("retrieve"):
            for term in terms:
                places = corpus.turns_with(term.text)
                anyhow[term] = len(places)
                for index in places:
                    turn = corpus.corpus.turns[index]
                    if term.text == fold(term.text) or term.text in turn.spoken:
                        found.setdefault(index, []).append(term)
        hits = [
            Hit(rank, corpus.corpus.turns[i], Scores(float(len(found[i]))), tuple(found[i]), index=i)
            for rank, i in enumerate(sorted(found), start=1)
        ]
        said = {term for inside in found.values() for term in inside}
        absent = tuple(term for term in terms if term not in said)
        cased = (
            f"{term.text!r} has a capital, so case counts; turns with {fold(term.text)!r}: {anyhow[term]:,}"
            for term in absent
            if anyhow[term]
        )
        trace = Trace(tuple(terms), candidates=len(hits), timing_ms=clock.spent, absent=absent)
        return Ranked(hits, trace, warnings=tuple(cased))
