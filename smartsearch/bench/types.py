"""Records of a benchmark: questions with gold turns, grouped by conversation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from string import ascii_uppercase

import numpy as np
from numpy.typing import NDArray

from smartsearch.types import Corpus, fold

Indices = NDArray[np.int64]
"""Places in `Corpus.turns`, shape (n,)."""


@dataclass(frozen=True)
class BenchQuestion:
    """A question with its gold.

    `gold` holds places in the group's `Corpus.turns`, `gold_sessions` session numbers (`Group.sessions`);
    where the data names only sessions `gold` is empty. `category` is the dataset's standard name led by
    its number where it has one ("1 multi-hop"). `date` is when the question is asked, ISO, or empty.
    `abstention`: the right answer is that the transcripts do not say; such a question has no gold. `others`
    are right answers too, `choices` those that a reader chooses from.
    """

    id: str
    text: str
    category: str = ""
    gold: frozenset[int] = frozenset()
    gold_sessions: frozenset[int] = frozenset()
    answer: str = ""
    date: str = ""
    abstention: bool = False
    others: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()

    @property
    def asked(self) -> str:
        """What a reader is asked: the question, with its choices by letter."""
        if not self.choices:
            return self.text
        listed = (f"{letter}. {choice}" for letter, choice in zip(ascii_uppercase, self.choices))
        return "\n".join((self.text, "Choose one of these and answer with its letter:", *listed))

    def chosen(self, answer: str) -> str:
        """The choice that an answer names, by its letter, else by its words; empty for none or several."""
        letter = re.match(r"\W*([A-Za-z])\W*(?:\.|\)|:|$)", answer)
        place = ascii_uppercase.index(letter[1].upper()) if letter else len(self.choices)
        if place < len(self.choices):
            return self.choices[place]
        named = [choice for choice in self.choices if fold(choice) in fold(answer)]
        return named[0] if len(named) == 1 else ""

    @property
    def day(self) -> str:
        """The day that relative dates count from; a fixed day if the question has none, for equal results."""
        return self.date[:10] or "1970-01-01"


@dataclass(frozen=True)
class Group:
    """One haystack, `corpus`, and the questions asked of it. `conversation` is unique in the dataset."""

    conversation: str
    corpus: Corpus
    questions: tuple[BenchQuestion, ...]

    @cached_property
    def sessions(self) -> Indices:
        """The session number of each turn, shape (turns,): 0, 1, ... in order of first appearance."""
        return session_numbers(self.corpus)


def session_numbers(corpus: Corpus) -> Indices:
    """The session number of each turn, by path, conversation and session id, in order of first appearance."""
    numbers: dict[tuple[str, str, str], int] = {}
    keys = [(turn.path, turn.conversation, turn.session) for turn in corpus.turns]
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], dtype=np.int64)


@dataclass(frozen=True)
class Dataset:
    """Questions and transcripts as read: what there is, what was dropped, and a hash of the data.

    `with_gold` counts the questions with gold turns or sessions. `groups` reads again at every call, one
    group at a time, so that data larger than memory will do. `dropped` lists by reason what the data names
    and this reader left out (evidence that names no turn, a question that cannot be read); `notes` says in
    words how special cases are handled.
    """

    name: str
    format: str
    path: str
    sha256: str
    questions: int
    with_gold: int
    groups: Callable[[], Iterator[Group]]
    dropped: dict[str, list[str]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
