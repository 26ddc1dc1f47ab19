"""Messages to episodes and semantics by rule, where no language model does it.

An episode is a run of messages of one session; a semantic is one statement that was made in it. Both are
extracts: nothing is written that nobody said, but for the days that relative dates mean.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

from smartsearch.systems.pieces import first_line
from smartsearch.text.dates import with_dates
from smartsearch.text.parse import Parser, stop_words, words
from smartsearch.types import Turn

MOST_STATEMENTS = 8
"""Of one message: a pasted page is not a hundred facts."""
LONGEST_STATEMENT = 400
"""Characters."""
FALLEN = {
    "boundaries": "windows of messages (where episodes begin)",
    "episodes": "records of episodes",
    "semantics": "facts",
    "names": "names of themes",
}
"""What the rule does where a language model cannot."""


@dataclass(frozen=True)
class Semantic:
    """One fact: its text, and the messages it comes from, counted from the start of its episode."""

    text: str
    messages: tuple[int, ...]
    source: str = "rule"


@dataclass(frozen=True)
class Episode:
    """A run of messages: how many, what it is called, when it began, and its facts, one at least. `content`
    tells it in the third person, where a language model wrote it; `source` says who did."""

    key: str
    messages: int
    title: str
    time: str
    semantics: tuple[Semantic, ...]
    content: str = ""
    source: str = "rule"

    @property
    def told(self) -> str:
        """What happened: its content, else its facts."""
        return self.content or " ".join(fact.text for fact in self.semantics)

    @property
    def record(self) -> str:
        """The episode as a reader gets it: when, what it is called, what happened."""
        return " ".join(filter(None, (f"[{self.time}]" if self.time else "", self.title, self.told)))


def episode(key: str, turns: Sequence[Turn], parser: Parser) -> Episode:
    """The episode of these messages: called by its first line, its facts the statements made in it. Where
    nobody states anything, the first message that says something is the only fact."""
    facts = [
        Semantic(_fact(turn, sentence), (n,))
        for n, turn in enumerate(turns)
        for sentence in parser.statements(turn.said)[:MOST_STATEMENTS]
    ]
    if not facts:
        n = next((n for n, turn in enumerate(turns) if turn.said.strip()), 0)
        facts = [Semantic(_fact(turns[n], turns[n].said), (n,))]
    return Episode(key, len(turns), first_line(turns[0]), turns[0].time, tuple(facts))


def _fact(turn: Turn, sentence: str) -> str:
    said = " ".join(with_dates(sentence[:LONGEST_STATEMENT], turn.date).split())
    return f"{turn.speaker}: {said}" if turn.speaker else said


def names(themes: Mapping[Any, Iterable[str]], most: int = 4) -> dict[Any, str]:
    """What themes of these facts are called: the words that tell each from the others, no speakers.

    A word counts as often as facts of the theme have it, times the log of how few themes do; of equals the
    earliest is first.
    """
    counts = {
        theme: Counter(word for text in texts for word in _said(text)) for theme, texts in themes.items()
    }
    spread = Counter(word for words in counts.values() for word in words)

    def telling(words: Counter[str]) -> list[str]:
        return sorted(words, key=lambda word: -words[word] * log((len(counts) + 1) / spread[word]))

    return {theme: ", ".join(telling(words)[:most]) for theme, words in counts.items()}


def _said(text: str) -> list[str]:
    """The telling words of a fact, each once."""
    said = dict.fromkeys(words(text.partition(": ")[2] or text))
    return [word for word in said if len(word) > 2 and not word.isdigit() and word not in stop_words()]
