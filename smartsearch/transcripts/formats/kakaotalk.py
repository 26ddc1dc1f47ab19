"""KakaoTalk's export of a chat: as text of a phone or of Windows, as CSV of a Mac; Korean and English.

| written on | lines |
|---|---|
| Android | `2023년 5월 8일 오후 1:56, 마야 : text`, `May 8, 2023, 1:56 PM, Maya : text` |
| iPhone | `2023. 5. 8. 오후 1:56, 마야 : text`, `May 8, 2023, 1:56 PM, Maya : text` |
| Windows | `--------------- 2023년 5월 8일 월요일 ---------------`, `[마야] [오후 1:56] text` |
| Mac | `Date,User,Message`, `2023-05-08 13:56:01,"Maya","text"` |

Clocks of 24 hours are read too, and the oldest English `1:56PM, May 8, 2023, Maya : text`. Above all stand
the chat's name and when it was saved. Who came and went is left out, and so are deleted messages. A message
of nothing but KakaoTalk's word for a picture is its caption. Times are the writer's, without an offset.

Sources: the readers suziewithz/kakaoship (`log_samples/temp.py`), Gudongyeop/kakaotalk_data_preprocessing,
m00nlygreat/katalk and others on GitHub; no export of a person's was looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from smartsearch.text.times import MARKS, STAMP, Stamp, calendar_day, clock, to_iso
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.source import Source

_DETECT_LINES = 300
_ENGLISH = r"[A-Z][a-z]{2,8} \d{1,2}, \d{4}"
_HALF_CLOCK = r"\d{1,2}:\d{2}(?:\s?[AaPp]M)?"
_REST = r"(?:, (?:(?P<name>[^\n]{1,100}?) : ?(?P<text>.*)$)?|: )"
_NUMERIC = re.compile(STAMP + _REST, re.I)
_WESTERN = re.compile(
    rf"(?P<time>{_ENGLISH},? (?:at )?{_HALF_CLOCK}|\d{{1,2}}:\d{{2}}\s?[AaPp]M, {_ENGLISH}){_REST}"
)
_WINDOWS = re.compile(
    r"\[(?P<name>[^\n]{1,100}?)\] "
    r"\[(?P<clock>(?:오전|오후) \d{1,2}:\d{2}|\d{1,2}:\d{2}(?: [AP]M)?)\] ?(?P<text>.*)$"
)
_MAC = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),"
    r"(?:\"(?P<quoted>(?:[^\"]|\"\"){0,100})\"|(?P<name>[^,\"]{0,100})),(?P<mark>\"?)(?P<text>.*)$"
)
_DAY = re.compile(
    r"(?P<rule>-{5,40} )?(?:(?P<year>\d{4})[년.] ?(?P<month>\d{1,2})[월.] ?(?P<day>\d{1,2})[일.]"
    r"(?: [월화수목금토일]요일)?(?: (?:오전|오후) \d{1,2}:\d{2})?"
    rf"|(?:[A-Z][a-z]{{2,5}}day, )?(?P<english>{_ENGLISH}))(?: -{{5,40}})?$"
)
_HEADS = tuple(
    map(
        re.compile,
        (
            r"(?P<name>.{1,100}?) ?님과 카카오톡 대화$",
            r"KakaoTalk Chats? with (?P<name>.{1,100}?)(?:\.txt)?$",
            r"(?P<name>.{1,100}?) (?:with )?KakaoTalk Chats?$",
        ),
    )
)
_SAVED = re.compile(r"(?:저장한 날짜|Date Saved) ?: ?\S")
_COLUMNS = "Date,User,Message"
_EVENT = re.compile(
    r".{1,80}님(?:이|을|과|께서)\s?.{0,100}"
    r"(?:들어왔습니다|나갔습니다|초대했습니다|초대하였습니다|내보냈습니다|가렸습니다)\.?"
    r"|.{1,80} (?:joined|left) (?:this|the) chat ?room\.?"
    r"|.{1,80} invited .{1,100} to (?:this|the) chat ?room\.?"
)
_DELETED = frozenset(("삭제된 메시지입니다.", "Deleted message.", "This message was deleted."))
_PICTURES = {
    **dict.fromkeys(("사진", "Photo", "Photos"), "image"),
    **dict.fromkeys(("동영상", "Video"), "video"),
    **dict.fromkeys(
        ("이모티콘", "(이모티콘)", "Emoticon", "Emoticons", "(emoticon)", "(Emoticon)"), "sticker"
    ),
    **dict.fromkeys(("음성메시지", "Voice Note", "Voice Message"), "audio"),
}
_SEVERAL = re.compile(r"(?:사진 (?P<count>\d{1,3})장|(?P<many>\d{1,3}) photos)", re.I)
_FILE = re.compile(r"(?:파일|File): (?P<name>[^\n]{1,200}\.\w{1,8})")


class _Opening(NamedTuple):
    """A line that begins a message, or an event or a day where it has no name: with its time, or a clock."""

    time: str
    clock: str = ""
    name: str = ""
    text: str = ""
    quoted: bool = False


def detect(source: Source) -> bool:
    """Whether the file begins with the chat's name and when it was saved, with a Mac's columns, or with a day
    or a message in a layout that nobody else writes; and whether messages follow.
    """
    first, *rest = [line for line in source.lines[:_DETECT_LINES] if line.strip()] or [""]
    if first == _COLUMNS:
        return any(map(_MAC.match, rest[:5]))
    named = sum(here is not None and here.name != "" for here in map(_opening, [first, *rest]))
    if any(head.match(first) for head in _HEADS) and any(map(_SAVED.match, rest[:2])):
        return named > 0
    day = _DAY.match(first)
    if day and day["rule"]:
        return any(map(_WINDOWS.match, rest))
    phone = [
        line for line in (first, *rest[:2]) if _NUMERIC.match(MARKS.sub("", line)) or _WESTERN.match(line)
    ]
    return named > 1 and (day is not None or _opening(first) is not None) and bool(phone)


def _opening(line: str) -> _Opening | None:
    if not line or not (line[0].isdigit() or line[0] in "-[ADFJMNOS"):
        return None
    if line[0] == "-":
        found = _DAY.match(line)
        return _Opening(_day(found)) if found and found["rule"] else None
    if line[0] == "[":
        found = _WINDOWS.match(line)
        return _Opening("", _hour(found["clock"]), found["name"], found["text"]) if found else None
    if found := _MAC.match(line):
        name = (found["quoted"] or found["name"] or "").replace('""', '"')
        return _Opening(to_iso(found["time"]), "", name, found["text"], bool(found["mark"]))
    clean = MARKS.sub("", line)
    if found := _NUMERIC.match(clean):
        time = Stamp.of(found).iso(day_first=True)
    elif found := _WESTERN.match(clean):
        time = to_iso(found["time"].replace(" at ", " "))
    else:
        return None
    return _Opening(time, "", found["name"] or "", found["text"] or "")


def _day(found: re.Match[str]) -> str:
    if found["english"]:
        return to_iso(found["english"])
    return calendar_day(int(found["year"]), int(found["month"]), int(found["day"]))


def _hour(written: str) -> str:
    """`오후 1:56` as a clock."""
    half, _, hour = written.rpartition(" ")
    if half in ("오전", "오후"):
        return clock(f"{hour} {'PM' if half == '오후' else 'AM'}")
    return clock(written)


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    conversation, day = _name(source), ""
    messages = list(source.opened(_opening))
    following = [*(here.time[:10] for _, here, _ in messages[1:]), ""]
    for (item, here, below), next_day in zip(messages, following):
        day = here.time[:10] or day
        said = _said("\n".join([here.text, *_own(below, day, next_day)]), here.quoted) if here.name else None
        if said is not None:
            yield turn(
                source.path,
                item,
                text=said[0],
                speaker=here.name.strip(),
                time=f"{day}T{here.clock}" if day and here.clock else here.time,
                caption=said[1],
                conversation=conversation,
            )


def _own(below: list[str], day: str, next_day: str) -> list[str]:
    """The lines below a message that are its own: without the day above the next one, and without events."""
    lines = [line.rstrip() for line in below if not _EVENT.fullmatch(line.strip()[:300])]
    while lines and not lines[-1]:
        lines.pop()
    found = _DAY.match(lines[-1]) if lines and next_day != day else None
    return lines[:-1] if found and _day(found) == next_day else lines


def _said(text: str, quoted: bool) -> tuple[str, str] | None:
    """The text and the caption of a message, None for an event or what was deleted."""
    text = text.strip()
    if quoted:
        text = text.removesuffix('"').replace('""', '"').strip()
    if text in _DELETED or _EVENT.fullmatch(text[:300]):
        return None
    if kind := _PICTURES.get(text):
        return "", bracketed(kind)
    if several := _SEVERAL.fullmatch(text):
        return "", " ".join([bracketed("image")] * min(int(several["count"] or several["many"]), 30))
    if file := _FILE.fullmatch(text):
        return "", caption(file["name"])
    return text, ""


_STEM = re.compile(r"KakaoTalk_?(?:Chat|Chats)?_(?P<name>.+?)_\d{4}-\d\d-\d\d[-\d]{0,12}$")


def _name(source: Source) -> str:
    """The chat's name, by the file's first line, by the name of a Mac's file, else that of the file."""
    first = source.first_line()
    found = next((found for head in _HEADS if (found := head.match(first))), None) or _STEM.match(source.stem)
    return found["name"].strip() if found else source.stem
