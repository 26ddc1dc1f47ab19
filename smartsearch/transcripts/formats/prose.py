"""Prose, the last resort: any text that is no known chat, a paragraph a turn, and said so.

A line that is only a date starts a session and dates what is below it, as in `chat.py`, and is no turn. Other
headings of Markdown belong to the paragraph below them; the one that a file begins with is its title.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smartsearch.text.times import is_day_first
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.chat_layout import LONGEST, session
from smartsearch.transcripts.formats.csvtext import SUFFIXES, columns
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_HEADING = re.compile(r"(#{1,6})\s+(\S.{0,200}?)[\s#]*$")
_NO_LEVEL = 7  # of what is below every heading


def detect(source: Source) -> bool:
    """Any text but JSON and tables, which have a shape of their own that prose would hide."""
    return not source.json.items and not (source.suffix in SUFFIXES and columns(source))


def read(source: Source) -> Iterator[Record]:
    """Paragraphs, parted by blank lines, as turns without a speaker; `line` is a paragraph's first.

    A heading joins the paragraph below it. A date holds up to the next heading of its level.
    """
    title = name = date = ""
    level, above, title_line = _NO_LEVEL, range(0), 0  # `above`: headings with nothing below them yet
    day_first = is_day_first(line for line in source.lines if len(line) <= LONGEST)

    def turn(first: int, end: int) -> Turn:
        text = "\n".join(line.rstrip() for line in source.lines[first - 1 : end - 1]).strip()
        place = {"conversation": source.stem, "session": name, "title": title}
        return Turn(text, time=date, path=source.path, line=first, **place)

    for n, block in enumerate(_blocks(source)):
        first = source.lines[block.start - 1]
        heading = _heading(source, first)
        marks, words = heading.groups() if heading else ("", "")
        begun = session(first, day_first=day_first) if len(block) == 1 else None
        if begun:
            if above and above != range(title_line, title_line + 1):
                yield turn(above.start, above.stop)
            name, date, level = begun[0], begun[1] or date, len(marks) or _NO_LEVEL
            above = block if heading and name != date else range(0)
        elif heading:
            if not n:
                title, title_line = words, block.start
            if len(marks) <= level:
                name, date, level = "", "", _NO_LEVEL
            above = range(above.start or block.start, block.stop)
        else:
            yield turn(above.start or block.start, block.stop)
            above = range(0)
    if above:
        yield turn(above.start, above.stop)


def _blocks(source: Source) -> Iterator[range]:
    """The lines (1-based) of each paragraph; a heading, or a line that starts a session, is one by itself."""
    start = 0
    for number, line in enumerate([*source.lines, ""], 1):
        apart = bool(_heading(source, line)) or (not start and session(line) is not None)
        if start and (apart or not line.strip()):
            yield range(start, number)
            start = 0
        if apart:
            yield range(number, number + 1)
        elif line.strip():
            start = start or number


def _heading(source: Source, line: str) -> re.Match[str] | None:
    return _HEADING.match(line) if source.suffix in (".md", ".markdown", "") else None
