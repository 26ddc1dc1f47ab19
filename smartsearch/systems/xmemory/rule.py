"""Messages to episodes and semantics by rule, where no language model does it.

An episode is a run of messages of one session; a semantic is one statement that was made in it. Both are
extracts: nothing is written that nobody said, but for the days that relative dates mean.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from smartsearch.systems.baselines import words
from smartsearch.text.dates import with_dates
from smartsearch.text.parse import Parser, stop_words
from smartsearch.types import Turn

GAP_MINUTES = 30.0
"""Silence that ends an episode."""
LONGEST = 12
"""Messages of an episode at most; the paper's are usually up to 10 or 15."""
SHORTEST = 4
"""Messages that an episode has before its words alone may end it."""
AHEAD = 3
"""Messages whose words are compared with those of the episode so far."""
RELATED = 0.1
"""Share of their words that the episode must have had; the paper asks a model for 30% relevance."""
TELLING = 6
"""Different words that both sides need for that."""
MOST_STATEMENTS = 8
"""Of one message: a pasted page is not a hundred facts."""
LONGEST_STATEMENT = 400
"""Characters."""
_TURNING = re.compile(
    r"\W*(?:by the way|btw|anyway|anyways|on another note|changing the subject|speaking of which|new topic"
    r"|one more thing|different question|unrelated|before i forget)\b",
    re.I,
)
"""How people begin another topic."""


@dataclass(frozen=True)
class Semantic:
    """One fact: its text, and the messages it comes from, counted from the start of its episode."""

    text: str
    messages: tuple[int, ...]
    source: str = "rule"


@dataclass(frozen=True)
class Episode:
    """A run of messages: how many, what it is called, when it began, and its facts, one at least.

    `content` tells it in the third person, where a language model wrote it; `source` says who did.
    """

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


def spans(turns: Sequence[Turn]) -> list[range]:
    """The episodes of a corpus as runs of turns, in order; every turn is in one."""
    said = [_content(turn) for turn in turns]
    if not turns:
        return []
    starts = [0]
    for at in range(1, len(turns)):
        if _ends(turns, said, starts[-1], at):
            starts.append(at)
    return [range(start, stop) for start, stop in zip(starts, [*starts[1:], len(turns)], strict=True)]


def _ends(turns: Sequence[Turn], said: Sequence[frozenset[str]], start: int, at: int) -> bool:
    """Whether the episode that began at `start` ends before the turn `at`."""
    before, turn = turns[at - 1], turns[at]
    if turn.place != before.place or at - start >= LONGEST or _minutes(before, turn) > GAP_MINUTES:
        return True
    if at - start > 1 and _TURNING.match(turn.text):
        return True
    if at - start < SHORTEST:
        return False
    following = [n for n in range(at, min(at + AHEAD, len(turns))) if turns[n].place == turn.place]
    so_far, coming = frozenset().union(*said[start:at]), frozenset().union(*(said[n] for n in following))
    telling = min(len(so_far), len(coming)) >= TELLING
    return telling and len(so_far & coming) < RELATED * len(coming)


def _content(turn: Turn) -> frozenset[str]:
    return frozenset(word for word in words(turn.said) if len(word) > 2) - stop_words()


def _minutes(before: Turn, after: Turn) -> float:
    """Minutes between two turns; 0 where their times do not tell."""
    try:
        passed = datetime.fromisoformat(after.time) - datetime.fromisoformat(before.time)
    except (ValueError, TypeError):  # no time, or one with an offset and one without
        return 0.0
    return passed.total_seconds() / 60.0


def keys(turns: Sequence[Turn], runs: Sequence[range]) -> list[str]:
    """What tells each episode from all others: what was said in it, by whom and when, wherever it stands.

    Of several that say the same, the second and further are numbered.
    """
    seen: Counter[str] = Counter()
    made = []
    for run in runs:
        key = key_of(turns[run.start : run.stop])
        made.append(f"{key}-{seen[key]}" if seen[key] else key)
        seen[key] += 1
    return made


def key_of(turns: Sequence[Turn]) -> str:
    """What tells messages from others: what was said, by whom and when."""
    digest = hashlib.blake2b(digest_size=12)
    for turn in turns:
        digest.update(repr((turn.speaker, turn.time, turn.said)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def episode(key: str, turns: Sequence[Turn], parser: Parser) -> Episode:
    """The episode of these messages: called by its first line, its facts the statements made in it.

    Where nobody states anything, the first message that says something is the only fact.
    """
    facts = [
        Semantic(_fact(turn, sentence), (n,))
        for n, turn in enumerate(turns)
        for sentence in parser.statements(turn.said)[:MOST_STATEMENTS]
    ]
    if not facts:
        n = next((n for n, turn in enumerate(turns) if turn.said.strip()), 0)
        facts = [Semantic(_fact(turns[n], turns[n].said), (n,))]
    return Episode(key, len(turns), _line(turns[0]), turns[0].time, tuple(facts))


def _fact(turn: Turn, sentence: str) -> str:
    said = " ".join(with_dates(sentence[:LONGEST_STATEMENT], turn.date).split())
    return f"{turn.speaker}: {said}" if turn.speaker else said


def _line(turn: Turn) -> str:
    said = " ".join(turn.said.split())
    return said if len(said) <= 80 else f"{said[:77]}..."


def name(texts: Iterable[str], most: int = 4) -> str:
    """What a theme is called: the words that most of its facts have, the earliest of equals, no speakers."""
    counts: Counter[str] = Counter()
    for text in texts:
        statement = text.partition(": ")[2] or text
        said = [word for word in words(statement) if len(word) > 2 and not word.isdigit()]
        counts.update(list(dict.fromkeys(word for word in said if word not in stop_words())))
    return ", ".join(word for word, _ in counts.most_common(most))
