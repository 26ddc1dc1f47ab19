"""The chat of a Zoom meeting, as it is saved or copied: `meeting_saved_chat.txt`, `chat.txt`, `GMT...txt`.

    10:01:02 From  Maya Reis  to  Everyone:             (saved now, the text below, behind a tab)
    10:01:02\\t From  Maya Reis  to  Ole(Direct Message) : text       (older; the oldest name nobody)
    From Maya Reis to Everyone:  10:01 AM               (copied out of the window, the text below)
    00:12:31\\tMaya Reis:\\ttext                          (of a recording in Zoom's cloud)

Who a direct message is to is a caption. Reactions are left out, and so is the quotation above a reply. The
day is that of the folder, `2023-05-08 10.00.00 Boat Shed 123456789`, whose name is the conversation's too, or
of the file's name; a clock that falls back has passed midnight. The cloud's clock is the place in the
recording, `turn`.

Sources: the layouts that a reader of Zoom's files on GitHub lists by kind ("type1" to "type4"), the patterns
of michellenicolephillips/Zoom_Chat_Easy_Reader; the copied one after users' own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from smartsearch.text.stamps import Timeline
from smartsearch.text.times import Orders, to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed
from smartsearch.transcripts.source import Source

_DETECT_LINES = 300
_CLOCK = r"\d{1,2}:\d{2}:\d{2}"
_FROM = r"From\s{1,3}(?P<name>[^\t\n:]{1,100}?)"
_TO = r"\s{1,4}[Tt]o\s{1,4}(?P<to>[^\n:]{1,100}?)"
_ASIDE = r"(?P<aside>\s{0,4}\((?:Direct Message|Privately)\))?"
_SAVED = re.compile(
    rf"(?:(?P<day>\d{{4}}-\d\d-\d\d) )?(?P<clock>{_CLOCK})[\t ]{{1,3}}{_FROM}"
    rf"(?:{_TO})?\s?:(?:\s(?P<text>.*))?$"
)
_COPIED = re.compile(
    rf"{_FROM}{_TO}\s?:{_ASIDE}(?:\s{{1,4}}(?P<clock>\d{{1,2}}:\d{{2}}(?:\s?[AaPp]M)?))?\s{{0,4}}$"
)
_CLOUD = re.compile(rf"(?P<clock>{_CLOCK})\t(?P<name>[^\t\n:]{{1,100}}):\t(?P<text>.*)$")
_PRIVATE = re.compile(r"\s{0,4}\((?:Direct Message|Privately)\)$")
_EVERYONE = re.compile(r"Everyone\b|.*\((?:Direct Message|Privately)\)$")
_FOLDER = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) \d\d\.\d\d\.\d\d (?P<name>.{1,200}?)(?: \d{9,12})?$")
_REACTION = re.compile(
    r"Reacted to [\"“].{0,400}[\"”] with \S{1,16}|Removed an? \S{1,16} reaction from [\"“].{0,400}[\"”]", re.S
)
_REPLY = re.compile(r"Replying to [\"“][^\n]{0,400}[\"”]\n+(?=\S)")


class _Opening(NamedTuple):
    """A line that begins a message."""

    clock: str
    name: str
    to: str
    text: str
    day: str = ""
    place: str = ""


def detect(source: Source) -> bool:
    """Whether the file begins with such a line; two of the cloud's, and one to all of the copied ones."""
    first = _opening(source.first_line())
    if first is None:
        return False
    if _SAVED.match(source.first_line()):
        return True
    here = [found for line in source.lines[:_DETECT_LINES] if (found := _opening(line))]
    if first.place:
        return len(here) > 1 and all(found.place for found in here)
    return any(_EVERYONE.match(found.to) for found in here)


def _opening(line: str) -> _Opening | None:
    if found := _SAVED.match(line):
        clock_, name, to, text, day = (found[part] or "" for part in ("clock", "name", "to", "text", "day"))
        return _Opening(clock_, name, to, text, day)
    if found := _COPIED.match(line):
        return _Opening(found["clock"] or "", found["name"], found["to"] + (found["aside"] or ""), "")
    if found := _CLOUD.match(line):
        return _Opening("", found["name"], "", found["text"], place=found["clock"].rjust(8, "0"))
    return None


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    folder = _FOLDER.match(source.folder)
    timed = Timeline(Orders({}), {}, to_iso(folder["day"]) if folder else source.day, rolls=True)
    for item, here, below in source.opened(_opening):
        said = "\n".join([here.text, *(line.removeprefix("\t").rstrip() for line in below)]).strip()
        if here.day:
            timed.on(to_iso(here.day) or timed.day)
        time = timed.at(here.clock) if here.clock else ""
        if not _REACTION.fullmatch(said):
            yield turn(
                source.path,
                item,
                text=_REPLY.sub("", said, count=1),
                speaker=here.name.strip(),
                time=time if "T" in time else "",
                caption=_to(here.to) if said else "",
                conversation=folder["name"] if folder else source.stem,
                turn=here.place,
            )


def _to(name: str) -> str:
    """Who a direct message is to."""
    return bracketed("direct message to", _PRIVATE.sub("", name)) if _PRIVATE.search(name) else ""
