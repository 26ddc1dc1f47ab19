"""Terms that match a field of a turn and not its text: dates a question names, speakers that are preferred.

The dates are the paper's switch A2 (table A2); what both do and do not is docs/decisions/0013.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from smartsearch.config import Config
from smartsearch.text.dates import When, find, today
from smartsearch.transcripts.filters import speaks
from smartsearch.types import Term, Turn

DATE, SPEAKER = "DATE", "SPEAKER"
KINDS = frozenset((DATE, SPEAKER))
NARROW = 31
"""Days of a date whose turns are found by it alone; those of a longer one only weigh more where a word found
them: a year would be most of a chat."""


@dataclass(frozen=True)
class Field:
    """A term, and which turns have it. `adds`: it finds turns that no word found.

    `name` is the preferred speaker; `past` says that the term is a date such as "two weeks ago".
    """

    term: Term
    holds: Callable[[Turn], bool]
    adds: bool
    name: str = ""
    past: bool = False


def dates(question: str, config: Config) -> list[Field]:
    """The dates of a question, relative ones counted from `config.now`."""
    if not config.dates:
        return []
    day = today(config.now)
    return [
        Field(
            Term(when.name, DATE, config.weight_date, source=when.said),
            partial(_lies_in, when),
            when.days <= NARROW,
            past=when.relative and when.last < day.isoformat(),
        )
        for when in find(question, day)
    ]


def speakers(config: Config) -> list[Field]:
    """The speakers whose turns are preferred."""
    return [
        Field(Term(f"by {name}", SPEAKER, config.weight_speaker), partial(_says, name), True, name)
        for name in dict.fromkeys(config.speaker)
    ]


def _lies_in(when: When, turn: Turn) -> bool:
    return bool(turn.time) and when.holds(turn.date)


def _says(name: str, turn: Turn) -> bool:
    return speaks(name, turn.speaker)
