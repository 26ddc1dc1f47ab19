"""Text and Markdown chats: turns opened by `Name: text`, stamped, bold or under headings, and sessions.

`speakers.py` says which lines open a turn, `chat_layout.py` in which of their styles a file is: the one that
explains most of it. Lines that open nothing in it, and all of fenced code and front matter, continue the turn
before. A line that is only a date (`--- 8 May 2023 ---`, `# 2023-05-08`) or names a numbered session
(`## Session 2`) starts a session and dates the turns below it that have no date of their own; so does a
heading that begins with a date (`## 2023-05-08: the boat`). In a chat with an assistant, whose answers have
such headings too, only one right above a turn does.

A turn's time may stand on a line below its speaker (`_Timestamp: 2023-05-08 13:56_`) or, in the whole file,
above. Left out, as nobody said it: that line, a `Model: name` there, and the rule (`---`) between turns.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from smartsearch.text.times import clock, to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.chat_layout import (
    DECORATION,
    HALF,
    TITLE,
    Layout,
    Style,
    goes_on,
    layout_of,
    session,
)
from smartsearch.transcripts.formats.speakers import HEADINGS, Opening, is_sure, role
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_DETECT_LINES = 500  # a chat shows itself early; the whole file is parsed only once it is known to be one
_DENSE = 0.25  # share of lines that open turns in a chat whose turns are a few lines long
_PREAMBLE = 5  # a chat of long turns still starts with one: lines of title and introduction allowed before
_ALL = 0.9  # share of lines that one person speaks in a chat of nobody else
_FEW = 6  # people who may speak once or twice each; more such names are labels
_MANY = 20  # turns of questions and answers that are a talk's, not a page's
_SURELY = 0.85  # share of labels that are followed by the one that mostly follows: fields of records


def detect(source: Source) -> bool:
    """Whether the file's beginning is turns of people or roles, and not a document with labels."""
    if source.json.items:
        return False
    lines = source.lines[:_DETECT_LINES]
    layout = layout_of(lines)
    opened = [layout.found[number] for number in layout.opened]
    named = [here.name for here in opened if here.name]
    if not named:
        return False
    if layout.chosen.pair:
        return _is_dialogue(layout.chosen, lines)
    if layout.style in HEADINGS and all(role(name) == "assistant" for name in named) and len(set(named)) > 1:
        return False  # what each of several assistants is set up with
    written = [number for number, line in enumerate(lines, 1) if line.strip()]
    if len(set(named)) < 2 and layout.style != "stamped":
        one_side = layout.chosen.share >= HALF and layout.chosen.one_side
        return one_side or 1 < len(named) >= _ALL * len(written)
    recurs = len(set(named)) < len(named) or any(is_sure(name) for name in named)
    if layout.style != "stamped" and _is_document(layout, lines, named, recurs):
        return False
    dense = len(opened) >= _DENSE * len(written)
    return dense or (recurs and written.index(layout.opened[0]) <= _PREAMBLE)


def _is_dialogue(chosen: Style, lines: Sequence[str]) -> bool:
    """Whether turns of both sides are most of the file, not an example in it.

    Words that are titles too have to begin it, or to be many.
    """
    before = sum(1 for line in lines[: chosen.opened[0] - 1] if line.strip())
    begun = any(map(is_sure, chosen.names)) or before <= 2 * _PREAMBLE or len(chosen.opened) >= _MANY
    return begun and chosen.share > HALF


def _is_document(layout: Layout, lines: Sequence[str], named: Sequence[str], recurs: bool) -> bool:
    """Whether names are labels: of a form, a list, a README with its headings, or the fields of records."""
    counts = Counter(named)
    labels = sum(1 for here in layout.found.values() if here.style == layout.style)
    if labels > 3 * len(named) or len(counts) > max(_FEW, HALF * len(named)):
        return True
    if len(named) > 4 and not recurs:
        return True  # `Title: ...`, `Author: ...`: every name once
    if layout.style == "- bold" and not recurs and len(named) < HALF * sum(map(bool, map(str.strip, lines))):
        return True
    headed = _headings(layout, lines, named) > max(2, len(named) / 3)
    return headed or _is_alone(counts) or (_in_order(named) and _in_groups(layout))


def _is_alone(counts: Counter[str]) -> bool:
    """Whether an assistant speaks and nobody else does twice."""
    others = [count for name, count in counts.items() if not is_sure(name)]
    return len(others) < len(counts) and max(others, default=0) < 2


def _headings(layout: Layout, lines: Sequence[str], named: Sequence[str]) -> int:
    """How many headings there are beside those that name speakers or sessions."""
    alone = [line for above, line in pairwise(("", *lines)) if TITLE.match(line) and not above.strip()]
    own = len(named) if layout.style.startswith("#") else 0
    return sum(1 for line in alone if not session(line)) - own


def _in_order(named: Sequence[str]) -> bool:
    """Whether three names and more come round in one order, as those of fields do."""
    counts, pairs = Counter(named), Counter(pairwise(named))
    first: dict[str, int] = {}
    for (name, _), count in pairs.items():
        first[name] = max(first.get(name, 0), count)
    often = [count for _, count in counts.most_common(3)]
    even = len(often) == 3 and 1 < often[2] >= HALF * often[0]
    return even and sum(first.values()) >= _SURELY * sum(pairs.values())


def _in_groups(layout: Layout) -> bool:
    """Whether the same names always stand right below another one, and the same never, as in records."""
    starts = set(layout.opened)
    places = Counter((layout.found[number].name, number - 1 in starts) for number in layout.opened[1:])
    most = {name: max(places[name, True], places[name, False]) for name, _ in places}
    below = {places[name, True] >= places[name, False] for name in most}
    return len(below) > 1 and sum(most.values()) >= _SURELY * sum(places.values())


def read(source: Source) -> Iterator[Record]:
    """Turns in file order. Text before the first turn is a turn without a speaker; a title names the chat."""
    layout = layout_of(source.lines, known=True)
    state = _State(source, layout, date=source.day)
    starts = set(layout.opened)
    alone = True  # the line stands at the start or after a blank one
    for number, line in enumerate(source.lines, 1):
        if number in layout.about:
            pass
        elif number in starts:
            yield from state.close()
            state.open(number, layout.found[number])
        elif (begun := session(line, alone, layout.day_first)) and (
            not layout.chosen.pair or _is_above(number, source.lines, starts)
        ):
            yield from state.close()
            state.session, state.date = begun[0], begun[1] or state.date
        elif not (state.started or state.title) and TITLE.match(line):
            state.title = line.strip(DECORATION)
        else:
            state.lines.append(line)
            state.line = state.line or (number if line.strip() else 0)
        alone = not line.strip()
    yield from state.close()


def _is_above(number: int, lines: Sequence[str], starts: set[int]) -> bool:
    """Whether a turn starts right below a line: in a chat with an assistant a session does so only there."""
    below = next((n for n in range(number + 1, len(lines) + 1) if goes_on(lines[n - 1])), 0)
    return below in starts


@dataclass
class _State:
    """The turn being read and what the lines above it said of session, date and title."""

    source: Source
    layout: Layout
    title: str = ""
    session: str = ""
    date: str = ""
    started: bool = False
    line: int = 0
    opened: Opening | None = None
    lines: list[str] = field(default_factory=list)

    def open(self, number: int, opened: Opening) -> None:
        self.line, self.opened, self.started = number, opened, True
        self.lines = [opened.text]

    def close(self) -> Iterator[Record]:
        """The turn read so far, if any, and a clean slate for the next."""
        while len(self.lines) > (self.opened is not None) and not goes_on(self.lines[-1]):
            self.lines.pop()
        text = "\n".join(line.rstrip() for line in self.lines).strip()
        opened, line = self.opened, self.line
        self.opened, self.line, self.lines = None, 0, []
        if not text:
            if opened:
                yield FormatError("a speaker without text", line=line, kind="no_text")
            return
        name = opened.name if opened and opened.name in self.layout.chosen.names else ""
        if opened and opened.name and not name:  # a label under a stamp is part of what was said
            text = f"{opened.name}: {text}"
        yield Turn(
            text=text,
            speaker=name,
            time=self._time(opened.stamp if opened else ""),
            role=role(name),
            path=self.source.path,
            line=line,
            conversation=self.title or self.source.stem,
            session=self.session,
        )

    def _time(self, stamp: str) -> str:
        """The turn's time: its stamp, a clock on the date last read, or that date."""
        if time := to_iso(stamp, day_first=self.layout.day_first):
            self.date = time[:10]
            return time
        hour = clock(stamp)
        return f"{self.date}T{hour}" if hour and self.date else self.date
