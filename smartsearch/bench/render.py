"""The passages as the reader gets them under the paper's compression, and what they then cost.

C1, timestamp compression: one date line a session instead of a date in every turn. C2, speaker
abbreviation: initials, told by a legend in the first line. Neither leaves out a turn or its words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from smartsearch.bench.cutting import Costs
from smartsearch.bench.types import Indices, session_numbers
from smartsearch.errors import UsageError
from smartsearch.types import Corpus, Turn

RENDERINGS = ("", "C1", "C2", "C1C2")
"""The names of the renderings; the empty one is `Turn.rendered`."""

UNDATED = "undated"
"""The header of a session without a date, so that it is not read under the date before it."""

Count = Callable[[str], int]


@dataclass(frozen=True)
class Rendering:
    """How turns are written: `name` is one of RENDERINGS."""

    name: str
    headers: bool
    initials: bool

    def costs(self, corpus: Corpus, count_tokens: Count) -> tuple[Costs, Costs]:
        """What each turn, session header and the legend cost in whitespace words, and in tokens.

        A text costs the legend once, if it has a turn; the header of each session it shows; and its turns.
        Tokens are counted part by part.
        """
        lines, headers, legend = self._parts(corpus, session_numbers(corpus), range(len(corpus.turns)))
        written = [lines[index] for index in range(len(corpus.turns))]

        def by(count: Count) -> Costs:
            return Costs(_counts(written, count), _counts(headers, count), count(legend) if legend else 0)

        return by(_words), by(count_tokens)

    def order(self, kept: Sequence[int], sessions: Indices) -> list[int]:
        """The turns in the order they are shown: as given, or under session headers.

        Then the sessions stand in the order of their best-ranked turn, each once, its turns in corpus order.
        """
        if not self.headers:
            return list(kept)
        grouped: dict[int, list[int]] = {}
        for index in kept:
            grouped.setdefault(int(sessions[index]), []).append(index)
        return [index for group in grouped.values() for index in sorted(group)]

    def text(self, corpus: Corpus, kept: Sequence[int], sessions: Indices) -> str:
        """The block the reader gets: `kept` turns, best first, in the order of `order`; empty for none."""
        lines, headers, legend = self._parts(corpus, sessions, kept)
        shown = [legend] if legend and kept else []
        last = -1
        for index in self.order(kept, sessions):
            session = int(sessions[index])
            if session != last and headers[session]:
                shown.append(headers[session])
            last = session
            shown.append(lines[index])
        return "\n".join(shown)

    def _parts(
        self, corpus: Corpus, sessions: Indices, wanted: Sequence[int]
    ) -> tuple[dict[int, str], list[str], str]:
        """The lines of the `wanted` turns by index, a header a session (may be empty), and the legend."""
        dates = session_dates(corpus, sessions) if self.headers else []
        short = initials(corpus) if self.initials else {}
        lines = {}
        for index in wanted:
            turn = corpus.turns[index]
            under_header = bool(dates) and turn.date == dates[sessions[index]]
            lines[index] = _line(turn, short, dated=not under_header)
        headers = [date or UNDATED for date in dates] if any(dates) else [""] * _sessions(sessions)
        return lines, headers, ", ".join(f"{letters}={name}" for name, letters in short.items())


def rendering(name: str) -> Rendering:
    """The rendering of that name. Raises UsageError for another."""
    if name not in RENDERINGS:
        raise UsageError(f"there is no compression {name!r}", hint="C1, C2 or C1C2", kind="usage")
    return Rendering(name, headers="C1" in name, initials="C2" in name)


def session_dates(corpus: Corpus, sessions: Indices) -> list[str]:
    """The day of each session, that of its first turn with one, or empty. Other days stay in their turns."""
    dates = [""] * _sessions(sessions)
    for turn, session in zip(corpus.turns, sessions):
        dates[session] = dates[session] or turn.date
    return dates


def initials(corpus: Corpus) -> dict[str, str]:
    """Each speaker's initials, `Ann Lee` to `AL`; those who would share them are numbered: A1, A2."""
    names = [name for name in dict.fromkeys(turn.speaker for turn in corpus.turns) if name.strip()]
    letters = {name: "".join(_initial(word) for word in name.split()) for name in names}
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(letters[name], []).append(name)
    used = {short for short, group in groups.items() if len(group) == 1}
    for short, group in groups.items():
        number = 0
        for name in group if len(group) > 1 else ():
            number += 1
            while f"{short}{number}" in used:
                number += 1
            letters[name] = f"{short}{number}"
            used.add(letters[name])
    return letters


def _initial(word: str) -> str:
    return next((c for c in word if c.isalnum()), word[0]).upper()


def _line(turn: Turn, short: dict[str, str], *, dated: bool) -> str:
    return replace(
        turn, speaker=short.get(turn.speaker, turn.speaker), time=turn.time if dated else ""
    ).rendered


def _sessions(sessions: Indices) -> int:
    return int(sessions.max()) + 1 if len(sessions) else 0


def _words(text: str) -> int:
    return len(text.split())


def _counts(texts: Sequence[str], count: Count) -> Indices:
    return np.array([count(text) if text else 0 for text in texts], dtype=np.int64)
