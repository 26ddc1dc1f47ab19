"""The text both scorers read for a turn. Training and search share it, so they cannot drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from smartsearch.config import Config
from smartsearch.types import Corpus, Turn

CONTEXT_CHARACTERS = 120
"""How much of the previous turn's end is shown: a reply often means something only after a question,
and the question stands at the end of the turn before."""

MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)


@dataclass(frozen=True)
class Shown:
    """What scorers see of a turn: its date, the end of the turn `before`, and a long one in `windows`."""

    date: bool = True
    before: bool = True
    windows: bool = True


SHOWN, PLAIN = Shown(), Shown(date=False, before=False, windows=False)
"""Ours, and the paper's: the turn alone, a long one whole, of which a scorer reads what its length allows."""


def shown(config: Config) -> Shown:
    """What the config lets scorers see."""
    return Shown("date" in config.beside, "before" in config.beside, config.windows)


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


def context_of(previous: Turn | None) -> str:
    """` | Ben: ...end of the turn before`, or nothing where there is none."""
    if previous is None or not previous.text:
        return ""
    end = previous.text
    if len(end) > CONTEXT_CHARACTERS:
        end = "..." + end[-CONTEXT_CHARACTERS:].partition(" ")[2]
    name = f"{previous.speaker}: " if previous.speaker else ""
    return f" | {name}{end}"


def scored_text(turn: Turn, previous: Turn | None = None, show: Shown = SHOWN) -> str:
    """`[8 May 2023] Ann: text (image: caption) | Ben: ...end of the turn before`.

    The turn comes first so that a scorer's length limit cuts the context, not the turn. Of a turn too
    long for one text `rank.windows` makes several.
    """
    return " ".join(f"{heading(turn, show)}{body(turn)}{context_of(previous)}".split())


def scored_texts(corpus: Corpus, indices: Sequence[int], show: Shown = SHOWN) -> list[str]:
    """The scored text of each turn in `indices`."""
    return [scored_text(corpus.turns[i], turn_before(corpus, i, show), show) for i in indices]


def turn_before(corpus: Corpus, index: int, show: Shown) -> Turn | None:
    """The turn before in the session, where it is shown."""
    before = corpus.previous[index] if show.before else -1
    return corpus.turns[before] if before >= 0 else None
