"""How an app writes a chat as text, as a declaration (`Told`), and the one reader that goes by it.

A line begins a message, an event that nobody says, or a day; lines below go on with it. Patterns, the
app's own words and what is cut of a text are each app's (texts.py, whatsapp.py, irc.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import Any, NamedTuple

from smartsearch.text.stamps import Timeline, day_above
from smartsearch.text.times import Orders, Stamp, changes, halves
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.source import Source

LOOKED_AT = 500
"""Lines in which a chat shows itself."""
_CLOCKED = re.compile(r"\W{0,4}\d{1,2}:\d\d")


class Opened(NamedTuple):
    """What a line begins: a message of somebody, "" for one unknown; an event or a day where `name` is None.

    `stamp` is the time as written, or its parts; `room` what the chat is called from here on; `more` what the
    app's `said` asks for.
    """

    name: str | None = None
    text: str = ""
    stamp: Any = ""
    more: Any = None
    day: str = ""
    turn: str = ""
    room: str = ""


Opens = Callable[[str], Opened | None]
Says = Callable[[Opened, list[str], Opened | None], tuple[str, str] | None]
"""The text and the caption of a message, of its lines and of what follows it; None for what is left out."""


def clocks(source: Source, day: str = "", *, rolls: bool = True) -> Callable[[Opened], str]:
    """Times by a clock, in the day told last, by `day`, in the file's name or above all; "" without one.

    Where no line tells each day it `rolls`: a clock that falls back has passed midnight.
    """
    begun = next((n for n, line in enumerate(source.lines[:LOOKED_AT]) if _CLOCKED.match(line)), 0)
    timed = Timeline(Orders({}), {}, day or source.day or day_above(source.lines[:begun]), rolls=rolls)

    def at(here: Opened) -> str:
        if here.day:
            timed.on(here.day)
        time = timed.at(here.stamp) if here.stamp else timed.day
        return time if "T" in time or not rolls else ""

    return at


def numbers(source: Source, opens: Opens) -> Callable[[Opened], str]:
    """Times by numeric stamps, whose order of day and month and whose halves of the day the file tells."""

    def stamp(line: str) -> Stamp | None:
        here = opens(line)
        return here.stamp if here else None

    orders = Orders.of_numbers(one.numbers for one in changes(source.lines, stamp))

    @cache
    def learnt() -> Mapping[str, bool]:
        stamps = filter(None, map(stamp, source.lines))
        return halves((one.half, f"{one.a}/{one.b}/{one.c}", one.hour * 60 + one.minute) for one in stamps)

    return lambda here: here.stamp.iso(orders.of_stamp(here.stamp), learnt() if here.stamp.is_open else None)


@dataclass(frozen=True)
class Told:
    """An app: whether a file is its, what its lines begin, when and what was said, and the chat's name."""

    detect: Callable[[Source], bool]
    opens: Callable[[Source], Opens]
    says: Callable[[Source], Says]
    time: Callable[[Source], Callable[[Opened], str]] = clocks
    called: Callable[[Source], str] = lambda source: source.stem

    def read(self, source: Source) -> Iterator[Record]:
        """Turns in file order."""
        time, said, room = self.time(source), self.says(source), self.called(source)
        opened = source.opened(self.opens(source))
        ahead = next(opened, None)
        while ahead:
            item, here, below = ahead
            ahead = next(opened, None)
            room, when = here.room or room, time(here)
            if here.name is None or (told := said(here, below, ahead[1] if ahead else None)) is None:
                continue
            yield turn(
                source.path, item, told[0], here.name, when, told[1], conversation=room, turn=here.turn
            )


def first(patterns: Sequence[re.Pattern[str]], line: str) -> str:
    """The `name` that the first fitting pattern finds in a line, or ""."""
    found = next((found for one in patterns if (found := one.match(line))), None)
    return found["name"].strip() if found else ""


def kinds(words: Mapping[str, str]) -> dict[str, str]:
    """What stands for what, of words parted by `|`."""
    return {word: kind for kind, listed in words.items() for word in listed.split("|")}


def written(source: Source) -> list[str]:
    """The lines of a file's beginning that are not blank."""
    return [line for line in source.lines[:LOOKED_AT] if line.strip()]


def above(source: Source, *usual: str) -> str:
    """The name of a file, or of the folder or archive around one that all chats call the same."""
    return PurePath(source.path).parent.name.removesuffix(".zip") if source.stem in usual else source.stem
