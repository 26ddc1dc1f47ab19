"""LINE's export of a chat as text, `[LINE] Chat history with Maya.txt`, in many languages.

    [LINE] Chat history with Maya
    Saved on: 2023/05/10 09:00

    2023/05/08(Mon)
    13:56<tab>Maya<tab>text

Days are written `2023.05.08 Monday`, `2023/05/08（一）` or `Mon, 05/08/2023` too, clocks `午後1:56` or
`01:56PM`. A text of several lines stands in quotation marks. A computer parts clock, name and text by
blanks: the name is the first word there, or the whole of the name that the head gives. Who came, went or
called and what was unsent is left out; LINE's words for a picture and its like are captions.

Sources: the readers of ChatLab ("line-native-txt"), Knaito163/NLP_LINE and others on GitHub, which tell the
layouts of Japanese, English, both Chinese and Thai; no export of a person's was looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from functools import partial
from typing import NamedTuple

from smartsearch.text.times import calendar_day, clock
from smartsearch.transcripts.format import Record, turn
from smartsearch.transcripts.formats.captions import bracketed
from smartsearch.transcripts.source import Source

_DETECT_LINES = 300
_HEADS = tuple(
    map(
        re.compile,
        (
            r"(?:\[LINE\] )?Chat history (?:with|in) (?P<name>.{1,100}?)$",
            r"(?:\[LINE\] )?(?P<name>.{1,100}?)(?:との|の)トーク履歴$",
            r"(?:\[LINE\] ?)?[與与]?(?P<name>.{1,100}?)的(?:聊天記錄|聊天记录|聊天紀錄)$",
            r"(?:\[LINE\] )?ประวัติการ(?:สนทนา|แชท)กับ ?(?P<name>.{1,100}?)$",
            r"\[LINE\] ?(?P<name>.{1,100}?)$",
        ),
    )
)
_SAVED = re.compile(r"[^\d\t]{3,30}[:：] ?\d{4}[/.-]\d{1,2}[/.-]\d{1,2} \S")
_DAY = re.compile(
    r"(?P<year>\d{4})(?P<mark>[./])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})\.?\s?[(（]?[^\W\d_]{1,12}\.?[)）]?$"
    r"|(?P<name>[^\W\d_]{2,12})\.?,? (?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<last>\d{4})$"
)
_HALVES = {
    **dict.fromkeys(("上午", "午前", "오전", "凌晨", "早上"), "AM"),
    **dict.fromkeys(("下午", "午後", "오후", "晚上", "中午"), "PM"),
}
_CLOCK = rf"(?P<half>{'|'.join(_HALVES)})? ?(?P<clock>\d{{1,2}}:\d{{2}})(?P<late> ?[AaPp][Mm])?"
_TABBED = re.compile(rf"{_CLOCK}\t(?:(?P<name>[^\t]{{1,100}})\t(?P<text>.*)|(?P<event>.*))$")
_SPACED = re.compile(rf"{_CLOCK} (?P<text>\S.*)$")
_KINDS = {
    word: kind
    for kind, words in {
        "image": "写真|Photo|照片|圖片|图片|รูป|รูปภาพ|ภาพ|사진",
        "video": "動画|Video|影片|视频|วิดีโอ|동영상",
        "sticker": "スタンプ|Sticker|貼圖|贴图|สติกเกอร์|스티커",
        "file": "ファイル|File|檔案|文件|ไฟล์|파일",
        "audio": "ボイスメッセージ|Voice message|Audio|語音訊息|语音信息|ข้อความเสียง|음성메시지",
        "contact": "連絡先|Contact|聯絡資訊|联系方式|연락처",
        "location": "位置情報|Location|位置訊息|位置信息|위치",
        "album": "アルバム|Album|Albums|相簿|相册|อัลบั้ม|앨범",
        "note": "ノート|Notes|Note|記事本|记事本|โน้ต|노트",
    }.items()
    for word in words.split("|")
}


class _Opening(NamedTuple):
    """A line that begins a message, an event without a name, or a day, which has no clock."""

    clock: str
    name: str
    text: str
    day: str = ""


def detect(source: Source) -> bool:
    """Whether the file begins with LINE's head, or with a day and a person's tabbed line below."""
    first, *rest = [line for line in source.lines[:_DETECT_LINES] if line.strip()] or [""]
    tabbed = sum(found is not None and found["name"] is not None for found in map(_TABBED.match, rest))
    if head := _head(first):
        spaced = bool(rest and _SAVED.match(rest[0])) and any(map(_SPACED.match, rest))
        return (tabbed > 0 or spaced) and (first.startswith("[LINE]") or bool(head and _SAVED.match(rest[0])))
    return bool(_day(first)) and tabbed > 1


def _head(line: str) -> str:
    """The chat's name in a file's first line."""
    found = next((found for head in _HEADS if (found := head.match(line.strip("\ufeff")))), None)
    return found["name"].strip() if found else ""


def _opening(partner: str, spaced: bool, line: str) -> _Opening | None:
    if day := _day(line) if line[:1].isalnum() and len(line) < 40 else "":
        return _Opening("", "", "", day)
    if found := _TABBED.match(line):
        return _Opening(_hour(found), found["name"] or "", found["text"] or "")
    found = _SPACED.match(line) if spaced else None
    if not found:
        return None
    said = found["text"]
    name = partner if partner and said.startswith(f"{partner} ") else said.partition(" ")[0]
    return _Opening(_hour(found), name, said[len(name) + 1 :])


def _hour(found: re.Match[str]) -> str:
    return clock(f"{found['clock']} {found['late'] or _HALVES.get(found['half'] or '', '')}")


def _day(line: str) -> str:
    """The day that a line by itself tells, or ""; the name of the day tells which part is the month."""
    found = _DAY.match(line)
    if not found:
        return ""
    if found["year"]:
        return calendar_day(int(found["year"]), int(found["month"]), int(found["day"]))
    first, second, year = int(found["first"]), int(found["second"]), int(found["last"])
    days = [day for day in (calendar_day(year, first, second), calendar_day(year, second, first)) if day]
    named = [day for day in days if f"{date.fromisoformat(day):%a}" == found["name"][:3].capitalize()]
    return (named or days or [""])[0]


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    partner, day = _head(source.first_line()), ""
    spaced = not any("\t" in line and _TABBED.match(line) for line in source.lines[:_DETECT_LINES])
    for item, here, below in source.opened(partial(_opening, partner, spaced)):
        if here.day:
            day = here.day
        said = _said("\n".join([here.text, *(line.rstrip() for line in below)])) if here.name else None
        if said is not None:
            yield turn(
                source.path,
                item,
                text=said[0],
                speaker=here.name.strip(),
                time=f"{day}T{here.clock}" if day and here.clock else day,
                caption=said[1],
                conversation=partner or source.stem.removeprefix("[LINE]").strip(),
            )


def _said(text: str) -> tuple[str, str] | None:
    """The text and the caption of a message; None for a call."""
    text = text.strip()
    if "\n" in text and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    if text.startswith("☎") and "\n" not in text:
        return None
    kind = _KINDS.get(text[1:-1]) if text.startswith("[") and text.endswith("]") else None
    return ("", bracketed(kind)) if kind else (text, "")
