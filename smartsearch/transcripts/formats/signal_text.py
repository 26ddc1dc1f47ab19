"""Signal's chats as text: `--exporttxt` of signalbackup-tools (Android) and signal-export (Desktop).

    [May 08, 2023 13:56:01] <Maya> text                     (signalbackup-tools)
    [May 08, 2023 13:56:01] *** <Maya> sent file "beach.jpg"
    [2023-05-08 13:56:01] Maya: text                        (signal-export, `Maya/chat.md`)

Other lines with `***` are events and left out. Reactions of the first, `(Jonas: +1; Maya: ok)`, cannot be
told from a remark in parentheses, so they stay. Of the second what a reply quotes (lines of `> `) is not its
author's and is cut, and so are reactions, `(- Jonas: +1 -)`, and deleted messages; attachments,
`![beach.jpg](./media/beach.jpg)`, and stickers become captions. Older exports write `[2023-05-08, 13:56]` and
`index.md`. Times are local, without an offset.

Source: bepaald/signalbackup-tools, `signalbackup/exporttxt.cc`, `signalbackup.h` (`TXTaddReactions`);
carderne/signal-export, `sigexport/models.py` (`Message.to_md`), `create.py`, `merge.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePath

from smartsearch.text.times import to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.source import Source

_DETECT_LINES = 500
_BACKUP = re.compile(
    r"\[(?P<time>[^\W\d]{3,5}\.? \d{2}, \d{4} \d{2}:\d{2}:\d{2})\] "
    r"(?:<(?P<name>[^<>\n]{1,100})> (?P<text>.*)"
    r"|\*\*\* <(?P<sender>[^<>\n]{1,100})> sent file"
    r"(?: (?:\"(?P<file>[^\"\n]{1,300})\"|of type (?P<type>[\w./+-]{1,80})))?.*"
    r"|\*\*\* .*)$"
)
_EXPORT = re.compile(
    r"\[(?P<time>\d{4}-\d{2}-\d{2},? \d{2}:\d{2}(?::\d{2})?)\] (?P<name>[^:\n]{1,100}): ?(?P<text>.*)$"
)
_POLL = re.compile(r"^ {10,200}(?=\[\d{1,5}\] )")  # the choices stand under their question
_THREAD = re.compile(r" ?\(_id\d{1,9}\)$")
_LINK = re.compile(r"!?\[(?P<name>[^\[\]\n]{1,200})\]\((?P<path>\.{1,2}/[^()\n]{1,300})\) {0,2}")
_REACTIONS = re.compile(r"\(- [^\n]{1,2000} -\)")
_STICKER = re.compile(r"\(\( [^\n]{1,40} \)\)")
_DELETED = "(This message was deleted)"


def detect(source: Source) -> bool:
    """Whether the first line is one of theirs and somebody speaks; of signal-export's, whether texts end so.

    It ends them with two blanks, Markdown's line break, or links into `./media/`. Without either the same
    lines are anybody's chat.
    """
    lines = source.lines[:_DETECT_LINES]
    if _BACKUP.match(source.first_line()):
        return any(found and (found["name"] or found["sender"]) for found in map(_BACKUP.match, lines))
    if not _EXPORT.match(source.first_line()):
        return False
    broken = sum(line.endswith("  ") for line in lines)
    return any("](./media/" in line for line in lines) or broken * 2 >= sum(
        map(bool, map(_EXPORT.match, lines))
    )


def read(source: Source) -> Iterator[Record]:
    """Turns in file order; unstamped lines go on with the turn above."""
    own = source.stem in ("chat", "index", "")  # the file's name, else the folder has the chat's
    folder = PurePath(source.path).parent.name.removesuffix(".zip") if own else ""
    of_backup = _BACKUP.match(source.first_line()) is not None
    for item, here, below in source.opened((_BACKUP if of_backup else _EXPORT).match):
        said = _of_backup(here, below) if of_backup else _of_export([here["text"], *below])
        if said is not None:
            name = here["name"] or here["sender"]
            yield turn(
                source.path,
                item,
                text=said[0],
                speaker="" if name == "No-Sender" else name.strip(),
                time=to_iso(here["time"]),
                caption=said[1],
                conversation=folder or _THREAD.sub("", source.stem),
            )


def _of_backup(here: re.Match[str], below: list[str]) -> tuple[str, str] | None:
    """The text and the caption of a message, None for an event."""
    text = "\n".join([here["text"] or "", *(_POLL.sub("  ", line).rstrip() for line in below)]).strip()
    if here["name"]:
        return text, ""
    if not here["sender"]:
        return None
    kind = (here["type"] or "").partition("/")[0]
    unnamed = bracketed(kind if kind in ("image", "video", "audio") else "file")
    return text, caption(here["file"]) if here["file"] else unnamed


def _of_export(lines: list[str]) -> tuple[str, str] | None:
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
        if "(" in line:
            if _REACTIONS.fullmatch(line.strip()[:2100]):
                continue
            if _STICKER.match(line):
                captions.append(bracketed("sticker"))
                line = _STICKER.sub("", line, count=1)
            for found in _LINK.finditer(line):
                sticker = found["path"].startswith("../exported_stickers/")
                captions.append(bracketed("sticker") if sticker else caption(found["name"]))
            line = _LINK.sub("", line)
        kept.append(line.rstrip())
    return "\n".join(kept).strip(), " ".join(captions)
