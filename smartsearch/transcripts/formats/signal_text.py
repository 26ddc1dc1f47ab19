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
from smartsearch.transcripts.format import Format, Record
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
    lines = source.lines[:_DETECT_LINES]
    first = next((line for line in lines if line.strip()), "")
    if not _OPENING.match(first):
        return False
    return any((found := _OPENING.match(line)) and not found["event"] for line in lines)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order; unstamped lines go on with the turn above."""
    conversation = _THREAD.sub("", source.stem)
    number, here = 0, None
    lines: list[str] = []
    for at, line in enumerate([*source.lines, None], 1):
        opened = _OPENING.match(line) if line is not None and line.startswith("[") else None
        if line is not None and not opened:
            lines.append(_POLL.sub("  ", line).rstrip())
            continue
        if here and here["event"] is None:
            yield Turn(
                text="\n".join(lines).strip(),
                speaker=(here["name"] or here["sender"]).strip(),
                time=to_iso(here["time"]),
                caption="" if here["name"] else _caption(here["file"], here["type"]),
                path=source.path,
                line=number,
                conversation=conversation,
            )
        number, here, lines = at, opened, [opened["text"] or ""] if opened else []


def _caption(file: str | None, media_type: str | None) -> str:
    if file:
        return caption(file)
    kind = (media_type or "").partition("/")[0]
    return bracketed(kind if kind in ("image", "video", "audio") else "file")


FORMAT = Format(
    name="signal-text",
    description="Signal's chats as signalbackup-tools writes them in plain text",
    extensions=(".txt",),
    detect=detect,
    read=read,
    how="with a backup of Signal for Android: signalbackup-tools BACKUP PASSPHRASE --exporttxt FOLDER",
)
