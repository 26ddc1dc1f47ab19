"""Signal Desktop's chats as signal-export writes them: `Maya/chat.md`, `[2023-05-08 13:56:01] Maya: text`.

What a reply quotes (lines of `> `) is not its author's and is cut, and so are reactions, `(- Jonas: +1 -)`,
and deleted messages. Attachments, `![beach.jpg](./media/beach.jpg)`, and stickers become captions. Times are
local, without an offset. Older exports write `[2023-05-08, 13:56]` and `index.md`.

Source: carderne/signal-export, `sigexport/models.py` (`Message.to_md`), `create.py`, `merge.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from smartsearch.text.times import to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Format, Record
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_DETECT_LINES = 500
_OPENING = re.compile(
    r"\[(?P<time>\d{4}-\d{2}-\d{2},? \d{2}:\d{2}(?::\d{2})?)\] (?P<name>[^:\n]{1,100}): ?(?P<text>.*)$"
)
_LINK = re.compile(r"!?\[(?P<name>[^\[\]\n]{1,200})\]\((?P<path>\.{1,2}/[^()\n]{1,300})\) {0,2}")
_REACTIONS = re.compile(r"\(- [^\n]{1,2000} -\)")
_STICKER = re.compile(r"\(\( [^\n]{1,40} \)\)")
_DELETED = "(This message was deleted)"


def detect(source: Source) -> bool:
    """Whether the first line opens a message, and the file ends its texts as the exporter does.

    It ends them with two blanks, Markdown's line break, or links into `./media/`. Without either the same
    lines are anybody's chat.
    """
    lines = source.lines[:_DETECT_LINES]
    first = next((line for line in lines if line.strip()), "")
    if not _OPENING.match(first):
        return False
    openings = [line for line in lines if _OPENING.match(line)]
    broken = sum(line.endswith("  ") for line in lines)
    return any("](./media/" in line for line in lines) or broken * 2 >= len(openings)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    conversation = _contact(source)
    number, here = 0, None
    lines: list[str] = []
    for at, line in enumerate([*source.lines, None], 1):
        opened = _OPENING.match(line) if line is not None and line.startswith("[") else None
        if line is not None and not opened:
            lines.append(line)
            continue
        if here and (said := _said(lines)):
            if not any(said):
                yield FormatError("a message without text", line=number, kind="no_text")
            else:
                yield Turn(
                    text=said[0],
                    speaker="" if here["name"] == "No-Sender" else here["name"].strip(),
                    time=to_iso(here["time"]),
                    caption=said[1],
                    path=source.path,
                    line=number,
                    conversation=conversation,
                )
        number, here, lines = at, opened, [opened["text"]] if opened else []


def _said(lines: list[str]) -> tuple[str, str] | None:
    """The text and the captions of a message, None for one that was deleted."""
    if lines[0].strip() == _DELETED:
        return None
    captions: list[str] = []
    kept: list[str] = []
    quoting = not lines[0].strip()
    for line in lines:
        if quoting and line.startswith(">"):
            continue
        if line.strip() and (kept or not line.startswith(">")):
            quoting = False
        if _REACTIONS.fullmatch(line.strip()[:2100]):
            continue
        if _STICKER.match(line):
            captions.append(bracketed("sticker"))
            line = _STICKER.sub("", line, count=1)
        for found in _LINK.finditer(line):
            sticker = found["path"].startswith("../exported_stickers/")
            captions.append(bracketed("sticker") if sticker else caption(found["name"]))
        kept.append(_LINK.sub("", line).rstrip())
    return "\n".join(kept).strip(), " ".join(captions)


def _contact(source: Source) -> str:
    """The chat's name: that of the folder, for the file itself is always `chat.md`."""
    own = source.stem in ("chat", "index", "")
    return (PurePath(source.path).parent.name.removesuffix(".zip") or source.stem) if own else source.stem


FORMAT = Format(
    name="signal-markdown",
    description="Signal Desktop's chats as signal-export writes them in Markdown",
    extensions=(".md",),
    detect=detect,
    read=read,
    how="with Signal Desktop: pip install signal-export, then sigexport FOLDER",
)
