"""Fewer tokens for the same turns: what every turn of a session repeats is said once (paper, future work).

Two measures, each by itself: `dates` says a session's date once, `speakers` writes initials and a legend.
Counting and printing both go by `Writing.adding`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from smartsearch.types import Turn


def initials(turns: Sequence[Turn]) -> dict[str, str]:
    """A short name for each speaker: as many first letters as tell them apart, if that is shorter.

    Of letters and digits alone: a sign in front could look like the beginning of another line, or be unseen.
    """
    names = list(dict.fromkeys(turn.speaker for turn in turns if turn.speaker))
    given: dict[str, str] = {}
    for name in names:
        short = _short(name, set(given.values()) | set(names))
        if len(short) < len(name):
            given[name] = short
    return given


def _short(name: str, taken: set[str]) -> str:
    words = "".join(c for c in name if c.isalnum() or c.isspace()).split()
    if not words:
        return name
    letters = "".join(word[0] for word in words).upper()
    tries = [letters[:1], letters, *(words[0][:n].capitalize() for n in range(2, len(words[0])))]
    return next((short for short in tries if short not in taken), name)


@dataclass(frozen=True)
class Writing:
    """What is written already, so that it need not be again. `short` holds the initials of the names."""

    dates: bool = False
    short: dict[str, str] = field(default_factory=dict)
    dated: frozenset[tuple[tuple[str, str, str], str]] = frozenset()
    introduced: frozenset[str] = frozenset()

    def line(self, turn: Turn) -> str:
        """A turn below its date, by its speaker's initials where there are such."""
        shown = turn if not self.dates else replace(turn, time="")
        return replace(shown, speaker=self.short.get(turn.speaker, turn.speaker)).rendered

    def adding(self, turn: Turn) -> tuple[str, Writing]:
        """What writing `turn` adds to the reader's text, and what is written then."""
        parts, after = [], self
        if self.short.get(turn.speaker) and turn.speaker not in self.introduced:
            parts.append(legend({turn.speaker: self.short[turn.speaker]}))
            after = replace(after, introduced=after.introduced | {turn.speaker})
        key = (turn.place, turn.date)
        if self.dates and turn.date and key not in self.dated:
            parts.append(f"[{turn.date}]")
            after = replace(after, dated=after.dated | {key})
        return "\n".join([*parts, self.line(turn)]), after


def legend(short: dict[str, str]) -> str:
    """`M = Maya, J = Jonas`."""
    return ", ".join(f"{letters} = {name}" for name, letters in short.items())


def writing(turns: Sequence[Turn], measures: Sequence[str]) -> Writing:
    """How `turns` are written with these measures; with none, each as it is rendered."""
    return Writing("dates" in measures, initials(turns) if "speakers" in measures else {})
