"""The text both scorers read for a turn. Training and search share it, so they cannot drift."""

from __future__ import annotations

import re
from collections.abc import Sequence, Set
from dataclasses import dataclass

from smartsearch.config import Config
from smartsearch.types import Corpus, Turn

CONTEXT_CHARACTERS = 120
"""How much of the end of a turn before is shown: a reply often means something only after a question,
and the question stands at the end of the turn before."""
BEFORE = 4
"""The most turns before that a scorer sees of a short turn: people write in bursts, and the question is not
always the last turn."""
SHORT = 200
"""Characters of a short turn and of what stands before it; a longer one is shown with one turn before."""
LEAST = 20
"""One turn more is shown if so many characters are left."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


_ASKS = re.compile(r"\?[^\w?]*$")
OF_ASKING = r"(?:what|which|who|whom|whose|where|when|why|how)"
IS = r"(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should)"
_NO_SUBJECT = r"(?!(?:i|you|he|she|it|we|they|the|an?|my|your|his|her|our|their|this|that|there|people)\b)"
_SOMEBODY = r"(?:i|you|he|she|we|they|any(?:one|body)|some(?:one|body))"
_BEGINS = re.compile(
    r"(?:(?:hey|hi|hello|ok|okay|so|and|but|btw|also|wait|um|oh)\b[ ,:]*|@?\w+[,:] )?"
    rf"(?:{OF_ASKING}['\u2019]?(?:s|re|ll)\b"
    rf"|(?!which {IS}\b){OF_ASKING}(?: {_NO_SUBJECT}\w+){{0,3}}? {IS}\b"
    rf"|{IS} {_SOMEBODY}\b|(?:is|are|does|can|will|should) (?:it|there|the|that|this|my|your|our)\b)",
    re.IGNORECASE,
)
FEW_WORDS = 14
"""The most words of a turn that asks without a question mark."""


@dataclass(frozen=True)
class Shown:
    """What scorers see of a turn: its date, the ends of the turns `before`, and a long one in `windows`."""

    date: bool = True
    before: int = 1
    windows: bool = True


SHOWN, PLAIN = Shown(), Shown(date=False, before=0, windows=False)
"""Ours, and the paper's: the turn alone and whole; a scorer reads as much of it as its length allows."""


def shown(config: Config) -> Shown:
    """What the config lets scorers see."""
    return Shown("date" in config.beside, int("before" in config.beside), config.windows)


def spoken_date(time: str) -> str:
    """`2023-05-08T13:56` as people say it, `8 May 2023`, so that a date in a question meets it."""
    try:
        year, month, day = (int(part) for part in time[:10].split("-"))
        return f"{day} {MONTHS[month - 1]} {year}"
    except (ValueError, IndexError):
        return ""


def heading(turn: Turn, show: Shown = SHOWN) -> str:
    """`[8 May 2023] Ann: `, or less where the turn has no date or speaker."""
    date = spoken_date(turn.time) if show.date else ""
    stamp = f"[{date}] " if date else ""
    return f"{stamp}{turn.speaker}: " if turn.speaker else stamp


def body(turn: Turn) -> str:
    """`text (image: caption)`."""
    return f"{turn.text} (image: {turn.caption})" if turn.caption else turn.text


def asks(turn: Turn) -> bool:
    """Whether it ends with a question mark."""
    return _ASKS.search(turn.text) is not None


def puts(turn: Turn) -> bool:
    """Whether it asks: it ends with a question mark, or is short and begins as a question in English does."""
    said = turn.text.strip()
    short = len(said.split()) <= FEW_WORDS and not said.endswith((".", "!"))
    return asks(turn) or (short and _BEGINS.match(said) is not None)


def context_of(turn: Turn, before: Sequence[Turn]) -> str:
    """` | Ben: ...end of the turn before | Ann: ...the one before that`; `before` is the nearest first."""
    room, shown = max(CONTEXT_CHARACTERS, SHORT - len(turn.text)), ""
    for said in before:
        if not said.text:
            break
        end = said.text
        most = min(CONTEXT_CHARACTERS, room - len(shown))
        if len(end) > most:
            end = "..." + end[-most:].partition(" ")[2]
        shown += f" | {said.speaker}: {end}" if said.speaker else f" | {end}"
        if room - len(shown) < LEAST:
            break
    return shown


def scored_text(turn: Turn, before: Sequence[Turn] = (), show: Shown = SHOWN) -> str:
    """`[8 May 2023] Ann: text (image: caption) | Ben: ...end of the turn before | Ann: ...the one before`.

    The turn comes first so that a scorer's length limit cuts the context, not the turn. Of a turn too
    long for one text `rank.windows` makes several. `before` are the turns before, the nearest first.
    """
    return " ".join(f"{heading(turn, show)}{body(turn)}{context_of(turn, before)}".split())


def scored_texts(corpus: Corpus, indices: Sequence[int], show: Shown = SHOWN) -> list[str]:
    """The scored text of each turn in `indices`."""
    return [scored_text(corpus.turns[i], turns_before(corpus, i, show), show) for i in indices]


def turns_before(
    corpus: Corpus, index: int, show: Shown, without: Set[int] = frozenset()
) -> tuple[Turn, ...]:
    """The turns before in the session that may be shown, the nearest first, but those at `without`."""
    return tuple(corpus.turns[before] for before in places_before(corpus, index, show, without))


def places_before(corpus: Corpus, index: int, show: Shown, without: Set[int] = frozenset()) -> list[int]:
    """Where they stand."""
    found: list[int] = []
    before = corpus.previous[index]
    while before >= 0 and len(found) < show.before:
        if before not in without:
            found.append(before)
        before = corpus.previous[before]
    return found
