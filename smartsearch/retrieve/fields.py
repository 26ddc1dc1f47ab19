"""Terms that match a field of a turn and not its text: dates and titles a question names, preferred speakers.

The dates are the paper's switch A2 (paper table 8). What both do and do not do: docs/decisions/0013.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial

from smartsearch.config import Config
from smartsearch.text.dates import When, find, today
from smartsearch.transcripts.filters import speaks
from smartsearch.types import Query, Term, Turn, bare

DATE, SPEAKER, TITLE = "DATE", "SPEAKER", "TITLE"
KINDS = frozenset((DATE, SPEAKER, TITLE))
NARROW = 31
"""A date of at most so many days finds turns by itself. A longer one only adds weight to turns that a word
found: a year would be most of a chat."""


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


def titles(query: Query, known: Collection[str], config: Config) -> list[Field]:
    """The terms of a question that stand in a conversation's title; `known` has them as `title` gives them.

    A title alone finds turns where it has every term but the verbs: then the title was typed.
    """
    if not config.typed:
        return []
    every_title = "\0".join(known)  # no term spans two
    wanted = {term.text: re.compile(rf"(?<!\w){re.escape(bare(term.text))}(?!\w)") for term in query.terms}
    named = [term for term in query.terms if wanted[term.text].search(every_title)]
    if not named:
        return []
    every = [wanted[term.text] for term in query.terms if term.kind != "VERB" or term in named]
    whole = {title for title in known if all(one.search(title) for one in every)}
    return [
        Field(
            Term(f"titled {term.text}", TITLE, term.weight, source=term.text),
            partial(_is_titled, wanted[term.text], whole),
            bool(whole),
        )
        for term in named
    ]


def title(turn: Turn) -> str:
    """What the turn's conversation is called, a mail's subject too; folded, without accents."""
    return bare(turn.title or turn.conversation)


def _is_titled(wanted: re.Pattern[str], whole: Collection[str], turn: Turn) -> bool:
    name = title(turn)
    return name in whole if whole else wanted.search(name) is not None


def _lies_in(when: When, turn: Turn) -> bool:
    return bool(turn.time) and when.holds(turn.date)


def _says(name: str, turn: Turn) -> bool:
    return speaks(name, turn.speaker)
