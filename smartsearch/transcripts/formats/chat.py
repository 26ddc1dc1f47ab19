"""Text and Markdown chats: turns opened by `Name: text`, stamped, bold or under headings, and their sessions.

`speakers.py` says which lines open a turn. A file has one style (`_style`); lines that open nothing in it
continue the turn before. A line that is only a date (`--- 8 May 2023 ---`, `# 2023-05-08`) or names a
numbered session (`## Session 2 (2023-05-08)`) starts a session and dates the turns below it that have no
date of their own; so does a heading that begins with a date (`## 2023-05-08: the boat`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from smartsearch.text.times import clock, find_date, is_day_first, to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.speakers import Opening, opening, role, speakers
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_DETECT_LINES = 500  # a chat shows itself early; the whole file is parsed only once it is known to be one
LONGEST = 200  # characters of a line that starts a session
_DENSE = 0.25  # share of lines that open turns in a chat whose turns are a few lines long
_PREAMBLE = 5  # a chat of long turns still starts with one: lines of title and introduction allowed before

_SESSION = re.compile(
    r"(?P<name>(?:(?P<numbered>session|conversation)|day|part|chapter|chat)\s+\d+)\b(?P<rest>.{0,60})$", re.I
)
_SET_OFF = re.compile(r"#{1,6}\s|[-=–—_~*]{2,}|\[")
_TITLE = re.compile(r"#{1,6}\s")
_DECORATION = "#*=_~-–—[]() \t"
_AFTER_DATE = re.compile(r"[:|–—]\s| - | \(")


def detect(source: Source) -> bool:
    """Whether enough lines of the file's beginning open turns, and their names are not a list of labels."""
    if source.json.items:
        return False
    lines = source.lines[:_DETECT_LINES]
    layout = _layout(lines)
    opened = [line for line in lines if layout.opens(line)]
    named = [layout.found[line].name for line in opened if layout.found[line].name]
    if not named or (len(named) < 2 and layout.style != "stamped"):
        return False
    recurs = len(set(named)) < len(named) or any(role(name) for name in named)
    if len(named) > 4 and not recurs and layout.style != "stamped":
        return False  # `Title: ...`, `Author: ...`: every name once is a form, not a chat
    written = [line for line in lines if line.strip()]
    return len(opened) >= _DENSE * len(written) or (recurs and written.index(opened[0]) <= _PREAMBLE)


@dataclass(frozen=True)
class _Layout:
    """How one file writes its turns: its style, its speakers, and the opening each line would be."""

    style: str = ""
    names: frozenset[str] = frozenset()
    found: dict[str, Opening] = field(default_factory=dict)
    day_first: bool = True

    def opens(self, line: str) -> bool:
        here = self.found.get(line)
        if here is None or here.style not in (self.style, "stamped"):
            return False
        if here.style == "stamped":
            return self.style == "stamped" or here.name in self.names
        return here.name in self.names


def _layout(lines: list[str]) -> _Layout:
    found = {}
    for line in _outside_code(lines):
        here = opening(line)
        if here and not session(line):
            found[line] = here
    openings = [found[line] for line in lines if line in found]
    style = _style(openings)
    names = speakers(openings, style)
    return _Layout(style, names, found, is_day_first(o.stamp for o in openings if o.stamp))


def _style(openings: list[Opening]) -> str:
    """The first style in order of appearance that is no exception in the file: a third of the commonest.

    Headings are few by nature and their names strictly chosen: two of a level are enough.
    """
    accepted = {style: speakers(openings, style) for style in dict.fromkeys(o.style for o in openings)}
    counts = Counter(o.style for o in openings if o.name in accepted[o.style])
    most = max(counts.values(), default=0)
    for style, count in counts.items():
        if (style[0] == "#" and count >= 2) or (style[0] != "#" and count * 3 >= most):
            return style
    return ""


def _outside_code(lines: list[str]) -> list[str]:
    """The lines outside fenced code; all of them when the fences do not pair up."""
    if sum(line.startswith("```") for line in lines) % 2:
        return lines
    outside, fenced = [], False
    for line in lines:
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            outside.append(line)
    return outside


def read(source: Source) -> Iterator[Record]:
    """Turns in file order. Text before the first turn is a turn without a speaker; a title names the chat."""
    layout = _layout(source.lines)
    state = _State(source, layout, date=source.day)
    alone = True  # the line stands at the start or after a blank one
    for number, line in enumerate(source.lines, 1):
        begun = session(line, alone, layout.day_first)
        if begun:
            yield from state.close()
            state.session, state.date = begun[0], begun[1] or state.date
        elif layout.opens(line):
            yield from state.close()
            state.open(number, layout.found[line])
        elif not (state.started or state.title) and _TITLE.match(line):
            state.title = line.strip(_DECORATION)
        else:
            state.lines.append(line)
            state.line = state.line or (number if line.strip() else 0)
        alone = not line.strip()
    yield from state.close()


@dataclass
class _State:
    """The turn being read and what the lines above it said of session, date and title."""

    source: Source
    layout: _Layout
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
        text = "\n".join(line.rstrip() for line in self.lines).strip()
        opened, line = self.opened, self.line
        self.opened, self.line, self.lines = None, 0, []
        if not text:
            if opened:
                yield FormatError("a speaker without text", line=line, kind="no_text")
            return
        name = opened.name if opened and opened.name in self.layout.names else ""
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


def session(line: str, alone: bool = True, day_first: bool = True) -> tuple[str, str] | None:
    """The session and the date that a line by itself starts, or None for any other line.

    Such a line is set off: by a heading, rules or bold marks, or by blank lines (`alone`). "Day 1: Lisbon" in
    an answer is none, so only `Session` and its like count by number alone, the rest need a date.
    """
    if len(line) > LONGEST:
        return None
    body = line.strip().strip(_DECORATION)
    set_off = _SET_OFF.match(line) is not None
    if not (set_off or alone) or not 3 < len(body) <= 90 or not any(map(str.isdigit, body)):
        return None
    if found := _SESSION.match(body):
        date = find_date(found["rest"], day_first=day_first)
        bare = not found["rest"].strip(_DECORATION + ":,.") or bool(to_iso(found["rest"].strip(":, ")))
        if (found["numbered"] or date) and (set_off or bare):
            return found["name"], date
    if body.isdigit():
        return None
    if day := to_iso(body, day_first=day_first)[:10]:
        return day, day
    first = _AFTER_DATE.split(body, maxsplit=1)[0] if _TITLE.match(line) else ""
    day = to_iso(first, day_first=day_first) or to_iso(body[:10]) if first else ""
    return (body, day[:10]) if day and not (first.isdigit() or body[:10].isdigit()) else None
