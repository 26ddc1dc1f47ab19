"""Transcripts of meetings with `Maya Reis  0:12` above what was said: Otter's text, Teams' `.docx`.

    Maya Reis  0:12
    Good morning, everyone.

Two blanks or a tab part name and time, in a document one is enough. Teams' older documents have a line
`0:0:5.100 --> 0:0:8.250`, one with the name, and the text. What stands above, such as a summary, is a turn
of nobody; the document's title is the conversation's, a date the turns'. Who began to transcribe, how long it
was and `Transcribed by https://otter.ai` are left out. `turn` holds the place in the recording, `00:12:31`.

Sources: the parsers of Teams' documents and of Otter's text on GitHub, such as bristlenose's and
TrustInsights/otter-transcript-splitter; no file of a meeting was looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.speakers import is_label, looks_like_name
from smartsearch.transcripts.source import Source

_DETECT_LINES = 500
_PREAMBLE = 80  # lines of title, summary and names before the first turn
_EARLY = 120  # seconds in which somebody has spoken
_AT = r"(?P<at>(?:\d{1,4}:)?\d{1,2}:\d{2})\s{0,8}$"
_NAME = r"(?P<name>[^\W\d_][^\t\n:]{0,60}?)"
_APART = re.compile(rf"{_NAME}(?:[ \xa0]{{2,8}}|\t{{1,3}}){_AT}")
_DOCUMENT = re.compile(rf"{_NAME}[ \xa0\t]{{1,8}}{_AT}")
_ARROW = re.compile(r"(?P<at>\d{1,2}:\d{1,2}:\d{1,2})\.\d{1,3} --> \d{1,2}:\d{1,2}:\d{1,2}\.\d{1,3}\s{0,4}$")
_ASIDE = re.compile(
    r".{1,80} (?:started|stopped) transcription|Transcribed by https?://otter\.ai/?"
    r"|(?:\d{1,2}h ?)?\d{1,3}m(?: ?\d{1,2}s)?|\d{1,2}s|.{1,200}-Meeting Recording"
)


class _Opening(NamedTuple):
    """A line that begins a turn: who speaks, and from when on (seconds); the name may stand below."""

    name: str
    at: int


def detect(source: Source) -> bool:
    """Whether lines with names and rising times begin turns, and the names are those of speakers."""
    lines = source.lines[:_DETECT_LINES]
    opened = [(n, here) for n, line in enumerate(lines) if (here := _opening(source.suffix, line))]
    if len(opened) < 2 or opened[0][0] > _PREAMBLE:
        return False
    if any(later.at < earlier.at for (_, earlier), (_, later) in pairwise(opened)):
        return False
    names = [here.name for _, here in opened]
    followed = sum(n + 1 < len(lines) and bool(lines[n + 1].strip()) for n, _ in opened)
    if followed * 4 < len(opened) * 3 or any(map(is_label, filter(None, names))):
        return False
    return len(set(names)) < len(names) or (opened[0][1].at < _EARLY and all(map(looks_like_name, names)))


def _opening(suffix: str, line: str) -> _Opening | None:
    if len(line) > 120 or not any(map(str.isdigit, line[-12:])):
        return None
    if suffix == ".docx" and (found := _ARROW.match(line)):
        return _Opening("", _seconds(found["at"]))
    found = (_DOCUMENT if suffix == ".docx" else _APART).match(line)
    return _Opening(found["name"].strip(), _seconds(found["at"])) if found else None


def _seconds(written: str) -> int:
    parts = [int(part) for part in written.split(":")]
    return sum(part * 60**n for n, part in enumerate(reversed(parts)))


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    lines = source.lines
    starts = [n for n, line in enumerate(lines) if _opening(source.suffix, line)]
    title, day, above = _preamble(source, lines[: starts[0] if starts else len(lines)])
    conversation = title or source.stem
    if any(line.strip() for _, line in above):
        first = next(n for n, line in above if line.strip())
        text = "\n".join(line for _, line in above).strip()
        yield turn(source.path, Item(None, first), text, "", day, conversation=conversation)
    for start, end in pairwise([*starts, len(lines)]):
        here = _opening(source.suffix, lines[start])
        below = [line.strip() for line in lines[start + 1 : end] if not _ASIDE.fullmatch(line.strip()[:300])]
        if here is None:
            continue
        name = here.name or (below.pop(0) if below else "")
        yield turn(
            source.path,
            Item(None, start + 1),
            text="\n".join(below).strip(),
            speaker=name,
            time=day,
            conversation=conversation,
            turn=f"{here.at // 3600:02}:{here.at // 60 % 60:02}:{here.at % 60:02}",
        )


def _preamble(source: Source, lines: list[str]) -> tuple[str, str, list[tuple[int, str]]]:
    """The title and the day of a document, and what else stands above the first turn, with its lines."""
    title = day = ""
    rest: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        bare = line.strip()
        found = to_iso(bare)[:10]
        if source.suffix == ".docx" and bare and not title and not rest:
            title = bare
        elif found and not day:
            day = found
        elif not _ASIDE.fullmatch(bare[:300]):
            rest.append((number, bare))
    return title, day, rest
