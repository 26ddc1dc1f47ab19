"""The records of the training data: a chat with its labelled questions, and a rendered group."""

from __future__ import annotations

from dataclasses import dataclass

from smartsearch.types import Turn


@dataclass(frozen=True)
class Labelled:
    """A question about a chat and the turns that answer it, best first (indices into `Chat.turns`).

    `answer` helps to find the place in a long turn; no model sees it. `context` says that
    the right turn means something only with the turn before it. `related` turns may answer too and
    are not used as wrong ones, unless they only ask. `complete`: `gold` and `related` hold every turn that
    answers, so that even what a model ranks first may be used as wrong.
    """

    question: str
    gold: tuple[int, ...]
    kind: str = "question"
    answer: str = ""
    context: bool = False
    related: frozenset[int] = frozenset()
    complete: bool = False


@dataclass(frozen=True)
class Chat:
    """A conversation of one source. `names` are the words that may be replaced by random first names.

    `rename` is the share of groups in which they are. `repeats` says that other turns often say what
    the right turn says, so that a wrong turn must not overlap with the question more than the right one.
    """

    source: str
    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Labelled, ...] = ()
    names: tuple[str, ...] = ()
    rename: float = 0.0
    repeats: bool = False


@dataclass(frozen=True)
class Group:
    """One question with its right text and wrong texts of the same conversation, as models read them."""

    source: str
    kind: str
    chat: str
    question: str
    right: str
    wrong: list[str]

    @property
    def texts(self) -> list[str]:
        """All texts, the right one first."""
        return [self.right, *self.wrong]
