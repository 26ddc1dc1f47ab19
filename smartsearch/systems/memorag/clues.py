"""Clues: what a memory drafts for a question, and the terms that a search makes of them."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import dataclass, replace
from typing import Literal

from smartsearch.config import Config
from smartsearch.text.parse import Parser
from smartsearch.types import Term, fold

Kind = Literal["answers", "queries", "points"]
"""Clues to an answer, surrogate queries for evidence that is spread, key points of a summary."""
MOST = 6
"""Clues that are searched, at most."""
LONGEST = 300
"""Characters of a clue."""
CLUE = "CLUE"
"""The kind of a term that a clue gave."""
HEAVY, LIGHT = 2.0, 0.5
"""What a name or noun of a clue weighs, and any other word of it; the paper has no weights."""
_LIGHT_KINDS = frozenset(("VERB", "TOKEN"))


@dataclass(frozen=True)
class Clues:
    """What a memory drafted: `items` of one kind and, if any, a `draft` of the answer.

    `fault` says why there are none, if so.
    """

    kind: Kind = "answers"
    items: tuple[str, ...] = ()
    draft: str = ""
    fault: str = ""

    @property
    def texts(self) -> tuple[str, ...]:
        """What is searched: the draft and the items, each once."""
        said = (" ".join(text.split())[:LONGEST] for text in (self.draft, *self.items))
        return tuple({fold(text): text for text in said if text}.values())[:MOST]


@dataclass(frozen=True)
class Built:
    """What making a memory took: the pieces that it worked on, those that it forgot, and those that failed,
    which stand there shortened and are not kept."""

    new: int = 0
    gone: int = 0
    failed: int = 0


def clue_terms(clue: str, known: Container[str], parser: Parser, config: Config) -> tuple[Term, ...]:
    """The terms of a clue that are not among the `known`, folded, each with the clue as its source."""
    return tuple(
        replace(term, kind=CLUE, weight=LIGHT if term.kind in _LIGHT_KINDS else HEAVY, source=clue)
        for term in parser.parse(clue, config).terms
        if fold(term.text) not in known
    )
