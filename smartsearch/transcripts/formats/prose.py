"""Prose, the last resort: any text that is no known chat, a paragraph a turn, and said so.

Of a paragraph of more than 120 words each such part is a turn, each line where it is a log's.

A line that is only a date starts a session and dates what is below it, as in `chat.py`, and is no turn. Other
headings of Markdown belong to the paragraph below them; the one that a file begins with is its title.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

from smartsearch.text.stamps import place, seconds
from smartsearch.text.times import Orders
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.chat_layout import LONGEST, NUMERIC, session
from smartsearch.transcripts.formats.csvtext import SUFFIXES, columns
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_HEADING = re.compile(r"(#{1,6})\s+(\S.{0,200}?)[\s#]*$")
_MOST = 120
"""Words of a turn: more is cut, so that a place is where the words stand."""
_LETTERS = 5  # of a word, at least, and of what is written without blanks
_FEW, _SAME = 8, 0.8  # lines of a log, and the share of them that begin alike
_DIGITS = re.compile(r"\d+")
_PLACE = re.compile(r"[\[(]?(?P<at>(?:\d{1,2}:)?\d{1,2}:\d\d)[\])]?(?:\s+(?P<text>\S.*)|\s*)$")
_SPACED = re.compile(r"\S{1,600}\s*")
_NO_LEVEL = 7  # of what is below every heading


def detect(source: Source) -> bool:
    """Whether it is text, but not JSON, XML or a table: their shape would be lost in prose."""
    return not (source.json.items or source.is_xml or (source.suffix in SUFFIXES and columns(source)))


def read(source: Source) -> Iterator[Record]:
    """Paragraphs, parted by blank lines, as turns without a speaker; `line` is a paragraph's first.

    A heading joins the paragraph below it. A date holds up to the next heading of its level.
    """
    title = name = date = ""
    level, above, title_line = _NO_LEVEL, range(0), 0  # `above`: headings with nothing below them yet
    dated = (line for line in source.lines if len(line) <= LONGEST and NUMERIC.search(line))
    orders = Orders.of(filter(session, dated))

    def turns(first: int, end: int) -> Iterator[Turn]:
        place = {"conversation": source.stem, "session": name, "title": title}
        for line, text in _windows(source.lines, first, end):
            yield Turn(text, time=date, path=source.path, line=line, **place)

    if places := _places(source.lines):
        yield from _recorded(source, places)
        return
    for n, block in enumerate(_blocks(source)):
        first = source.lines[block.start - 1]
        heading = _heading(source, first)
        marks, words = heading.groups() if heading else ("", "")
        begun = session(first, orders=orders) if len(block) == 1 else None
        if begun:
            if above and above != range(title_line, title_line + 1):
                yield from turns(above.start, above.stop)
            name, date, level = begun[0], begun[1] or date, len(marks) or _NO_LEVEL
            above = block if heading and name != date else range(0)
        elif heading:
            if not n:
                title, title_line = words, block.start
            if len(marks) <= level:
                name, date, level = "", "", _NO_LEVEL
            above = range(above.start or block.start, block.stop)
        else:
            yield from turns(above.start or block.start, block.stop)
            above = range(0)
    if above:
        yield from turns(above.start, above.stop)


def _places(lines: Sequence[str]) -> dict[int, re.Match[str]]:
    """Lines that begin with a place in a recording, where they do not fall back and are a third of a file."""
    found = {number: at for number, line in enumerate(lines, 1) if (at := _PLACE.match(line))}
    spots = [seconds(one["at"]) or 0 for one in found.values()]
    written = sum(1 for line in lines if line.strip())
    run_on = all(one <= other for one, other in pairwise(spots)) and spots[:1] < [60]
    return found if 2 * len(found) >= _FEW and len(found) * 3 >= written and run_on else {}


def _recorded(source: Source, places: Mapping[int, re.Match[str]]) -> Iterator[Record]:
    """What is said at each place of a recording."""
    starts = [*places, len(source.lines) + 1]
    for number, end in pairwise((1, *starts) if starts[0] > 1 else starts):
        held = source.lines[number - 1 : end - 1]
        found = places.get(number)
        if found:
            held[0] = found["text"] or ""
        text = "\n".join(held).strip()
        if text:
            at = place(seconds(found["at"]) or 0) if found else ""
            yield Turn(text, path=source.path, line=number, conversation=source.stem, turn=at)


def _windows(lines: Sequence[str], first: int, end: int) -> Iterator[tuple[int, str]]:
    """What stands on these lines in texts of at most so many words, each with the line that it begins on."""
    begin, words, held = first, 0, list[str]()
    if _are_records(lines[first - 1 : end - 1]):
        yield from ((number, lines[number - 1].strip()) for number in range(first, end))
        return
    for number in range(first, end):
        for piece in _pieces(lines[number - 1].rstrip()):
            count = len(piece.split()) or len(piece) // _LETTERS
            if held and words + count > _MOST:
                yield begin, "\n".join(held).strip()
                begin, words, held = number, 0, []
            held.append(piece)
            words += count
    if held:
        yield begin, "\n".join(held).strip()


def _are_records(lines: Sequence[str]) -> bool:
    """Whether a long paragraph is a log of a kind not known here: its lines begin with the same marks
    and digits."""
    if sum(map(len, lines)) < _MOST * _LETTERS or len(lines) < _FEW:
        return False
    begun = Counter(_DIGITS.sub("0", line.split(None, 1)[0]) for line in lines if line.strip())
    first, count = begun.most_common(1)[0]
    return count >= _SAME * len(lines) and not first.isalpha() and len(set(first)) > 1


def _pieces(line: str) -> Iterator[str]:
    """A line, or what ends at a sentence's end and is no longer than a window."""
    if len(line) <= _MOST * _LETTERS:
        yield line
        return
    words = _SPACED.findall(line)
    for at in range(0, len(words), _MOST):
        yield "".join(words[at : at + _MOST]).strip()


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
