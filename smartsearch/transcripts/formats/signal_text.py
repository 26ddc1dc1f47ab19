"""Signal on Android as signalbackup-tools' `--exporttxt` writes it: `[May 08, 2023 13:56:01] <Maya> text`.

Files stand on lines of their own, `[...] *** <Maya> sent file "beach.jpg"`; other lines with `***` are events
and left out. Reactions stand at the end of a text, `(Jonas: +1; Maya: ok)`, and cannot be told from a remark
in parentheses, so they stay. Times are local, without an offset.

Source: bepaald/signalbackup-tools, `signalbackup/exporttxt.cc`, `signalbackup.h` (`TXTaddReactions`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_DETECT_LINES = 300
_OPENING = re.compile(
    r"\[(?P<time>[^\W\d]{3,5}\.? \d{2}, \d{4} \d{2}:\d{2}:\d{2})\] "
    r"(?:<(?P<name>[^<>\n]{1,100})> (?P<text>.*)"
    r"|\*\*\* <(?P<sender>[^<>\n]{1,100})> sent file"
    r"(?: (?:\"(?P<file>[^\"\n]{1,300})\"|of type (?P<type>[\w./+-]{1,80})))?.*"
    r"|\*\*\* (?P<event>.*))$"
)
_POLL = re.compile(r"^ {10,200}(?=\[\d{1,5}\] )")  # the choices stand under their question
_THREAD = re.compile(r" ?\(_id\d{1,9}\)$")


def detect(source: Source) -> bool:
    """Whether the file begins with such a line, and somebody speaks."""
    if not _OPENING.match(source.first_line()):
        return False
    openings = map(_OPENING.match, source.lines[:_DETECT_LINES])
    return any(found and not found["event"] for found in openings)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order; unstamped lines go on with the turn above."""
    conversation = _THREAD.sub("", source.stem)
    for item, here, below in source.opened(_OPENING.match):
        if here["event"] is None:
            rest = (_POLL.sub("  ", line).rstrip() for line in below)
            yield Turn(
                text="\n".join([here["text"] or "", *rest]).strip(),
                speaker=(here["name"] or here["sender"]).strip(),
                time=to_iso(here["time"]),
                caption="" if here["name"] else _caption(here["file"], here["type"]),
                path=source.path,
                line=item.line,
                conversation=conversation,
            )


def _caption(file: str | None, media_type: str | None) -> str:
    if file:
        return caption(file)
    kind = (media_type or "").partition("/")[0]
    return bracketed(kind if kind in ("image", "video", "audio") else "file")
