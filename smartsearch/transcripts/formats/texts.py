"""Messengers that write a chat as text, each as a declaration: Zoom, Signal, KakaoTalk, LINE, Element.

Layouts and words as readers on GitHub have them, or the program that writes them; each names its source. Who
came and went, reactions, what was deleted and what a reply quotes is left out; an app's word for a picture is
a caption. Times are the writer's, without an offset.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import partial
from itertools import pairwise, takewhile

from smartsearch.text.stamps import STAMP as ANY_STAMP
from smartsearch.text.times import MARKS, STAMP, Stamp, calendar_day, clock, to_iso
from smartsearch.transcripts.formats.captions import bracketed, caption
from smartsearch.transcripts.formats.speakers import is_label, looks_like_name
from smartsearch.transcripts.formats.textform import (
    LOOKED_AT,
    Opened,
    Opens,
    Told,
    above,
    clocks,
    first,
    kinds,
    numbers,
    written,
)
from smartsearch.transcripts.source import Source

_HALVES = kinds({"AM": "上午|午前|오전|凌晨|早上", "PM": "下午|午後|오후|晚上|中午"})
_HALVED = re.compile(rf"({'|'.join(_HALVES)}) ?(\d.*)")


def _hour(written_so: str) -> str:
    """A clock, behind a word for half of the day where there is one: `오후 1:56`."""
    found = _HALVED.fullmatch(written_so.strip())
    return clock(f"{found[2]} {_HALVES[found[1]]}" if found else written_so)


def _joined(here: Opened, below: list[str]) -> str:
    return "\n".join([here.text, *(line.rstrip() for line in below)]).strip()


# Zoom's chat of a meeting, as it is saved or copied. The layouts that a reader of Zoom's files on GitHub
# lists by kind ("type1" to "type4"), the patterns of michellenicolephillips/Zoom_Chat_Easy_Reader; the copied
# one after users' own. The cloud's clock is the place in the recording, `turn`.
#     10:01:02 From  Maya Reis  to  Everyone:             (saved now, the text below, behind a tab)
#     10:01:02\t From  Maya Reis  to  Ole(Direct Message) : text       (older; the oldest name nobody)
#     From Maya Reis to Everyone:  10:01 AM               (copied out of the window, the text below)
#     00:12:31\tMaya Reis:\ttext                          (of a recording in Zoom's cloud)
_CLOCK = r"\d{1,2}:\d{2}:\d{2}"
_FROM = (
    r"(?:(?P<english>[Ff]rom)|Von|De|Da|Van|Od|От|Från|Fra|来自|來自|開始)\s{1,3}(?P<name>[^\t\n:]{1,100}?)"
)
_TO = (
    r"\s{1,4}(?(english)[Tt]o|(?:[Aa]n|a|à|para|aan|do|кому|till?|到|至|宛先))\s{1,4}"
    r"(?P<to>[^\n:]{1,100}?)"
)
_ASIDE = r"(?P<aside>\s{0,4}\((?:Direct Message|Privately)\))?"
_SAVED = re.compile(
    rf"(?:(?P<day>\d{{4}}-\d\d-\d\d) )?(?P<clock>{_CLOCK})[\t ]{{1,3}}{_FROM}"
    rf"(?:{_TO})?\s?:(?:\s(?P<text>.*))?$"
)
_COPIED = re.compile(
    rf"{_FROM}(?:{_TO}|\s\((?P<alone>[Pp]rivately)\))"
    rf"(?:\s?:{_ASIDE}(?:\s{{1,4}}(?P<clock>\d{{1,2}}:\d{{2}}(?:\s?[AaPp]M)?))?|(?P<tight>\d{{1,2}}:\d{{2}}))\s{{0,4}}$"
)
_CLOUD = re.compile(rf"(?P<clock>{_CLOCK})\t(?P<name>[^\t\n:]{{1,100}}):\t(?P<text>.*)$")
_PRIVATE = re.compile(r"\s{0,4}\((?:Direct Message|Privately)\)$")
_EVERYONE = re.compile(r"[Ee]veryone\b|.*\((?:Direct Message|Privately)\)$")
_FOLDER = re.compile(r"(?P<day>\d{4}-\d\d-\d\d) \d\d\.\d\d\.\d\d (?P<name>.{1,200}?)(?: \d{9,12})?$")
_REACTION = re.compile(
    r"Reacted to [\"“].{0,400}[\"”] with \S{1,16}|Removed an? \S{1,16} reaction from [\"“].{0,400}[\"”]", re.S
)
_REPLY = re.compile(r"Replying to [\"“][^\n]{0,400}[\"”]\n+(?=\S)")


def _is_zoom(source: Source) -> bool:
    """Whether the file begins with such a line; two of the cloud's, and one to all of the copied ones."""
    above = takewhile(lambda line: not _zoom(line), written(source)[:3])
    first_line = next((line for line in written(source)[:3] if _zoom(line)), "")
    if any(not line.startswith("---") for line in above):
        return False
    begun = _zoom(first_line)
    if begun is None or _SAVED.match(first_line):
        return begun is not None
    here = [found for line in source.lines[:LOOKED_AT] if (found := _zoom(line))]
    if begun.turn:
        return len(here) > 1 and all(found.turn for found in here)
    return any(_EVERYONE.match(found.more) for found in here)


def _zoom(line: str) -> Opened | None:
    if found := _SAVED.match(line):
        said, to = found["text"] or "", found["to"] or ""
        return Opened(found["name"].strip(), said, found["clock"], to, to_iso(found["day"]))
    if found := _COPIED.match(line):
        to = (found["to"] or found["alone"]) + (found["aside"] or "")
        return Opened(found["name"].strip(), "", found["clock"] or found["tight"] or "", more=to)
    if found := _CLOUD.match(line):
        return Opened(found["name"].strip(), found["text"], turn=found["clock"].rjust(8, "0"), more="")
    return None


def _zoom_said(here: Opened, below: list[str], _: Opened | None) -> tuple[str, str] | None:
    said = _joined(here, [line.removeprefix("\t") for line in below])
    if _REACTION.fullmatch(said):
        return None
    private = said and _PRIVATE.search(here.more)
    shown = bracketed("direct message to", _PRIVATE.sub("", here.more)) if private else ""
    return _REPLY.sub("", said, count=1), shown


def _meeting(source: Source, part: str) -> str:
    """The day or the name of a meeting, which its folder tells: `2023-05-08 10.00.00 Boat Shed 123456789`."""
    found = _FOLDER.match(source.folder)
    return found[part] if found else ""


# Signal: bepaald/signalbackup-tools (Android), `signalbackup/exporttxt.cc`, `signalbackup.h`
# (`TXTaddReactions`); carderne/signal-export (Desktop), `sigexport/models.py` (`Message.to_md`), `create.py`,
# `merge.py`.
#     [May 08, 2023 13:56:01] <Maya> text                     (signalbackup-tools)
#     [May 08, 2023 13:56:01] *** <Maya> sent file "beach.jpg"
#     [2023-05-08 13:56:01] Maya: text                        (signal-export, `Maya/chat.md`)
# Other lines with `***` are events. Reactions of the first, `(Jonas: +1; Maya: ok)`, cannot be told from a
# remark in parentheses, so they stay; those of the second are `(- Jonas: +1 -)`, what its replies quote lines
# of `> `.
_BACKUP = re.compile(
    r"\[(?P<time>[^\W\d]{3,5}\.? \d{2}, \d{4} \d{2}:\d{2}:\d{2})\] "
    r"(?:<(?P<name>[^<>\n]{1,100})> (?P<text>.*)"
    r"|\*\*\* <(?P<sender>[^<>\n]{1,100})> sent file"
    r"(?: (?:\"(?P<file>[^\"\n]{1,300})\"|of type (?P<type>[\w./+-]{1,80})))?.*"
    r"|\*\*\* .*)$"
)
_EXPORT = re.compile(
    r"\[(?P<time>\d{4}-\d{2}-\d{2},? \d{2}:\d{2}(?::\d{2})?)\] "
    r"(?:No-Sender|(?P<name>[^:\n]{1,100})): ?(?P<text>.*)$"
)
_POLL = re.compile(r"^ {10,200}(?=\[\d{1,5}\] )")  # the choices stand under their question
_THREAD = re.compile(r" ?\(_id\d{1,9}\)$")
_LINK = re.compile(r"!?\[(?P<name>[^\[\]\n]{1,200})\]\((?P<path>\.{1,2}/[^()\n]{1,300})\) {0,2}")
_REACTIONS = re.compile(r"\(- [^\n]{1,2000} -\)")
_STICKER = re.compile(r"\(\( [^\n]{1,40} \)\)")


def _is_signal(source: Source) -> bool:
    """Whether the first line is one of theirs and somebody speaks; of signal-export's, whether texts end so.

    It ends them with two blanks, Markdown's line break, or links into `./media/`. Without either the same
    lines are anybody's chat.
    """
    lines = source.lines[:LOOKED_AT]
    if _BACKUP.match(source.first_line()):
        return any(found and (found["name"] or found["sender"]) for found in map(_BACKUP.match, lines))
    if not _EXPORT.match(source.first_line()):
        return False
    broken = sum(line.endswith("  ") for line in lines)
    stamped = sum(map(bool, map(_EXPORT.match, lines)))
    return any("](./media/" in line for line in lines) or broken * 2 >= stamped


def _signal(source: Source) -> Opens:
    return _of_backup if _BACKUP.match(source.first_line()) else _of_export


def _of_backup(line: str) -> Opened | None:
    found = _BACKUP.match(line)
    if not found:
        return None
    name, kind = found["name"] or found["sender"], (found["type"] or "").partition("/")[0]
    unnamed = bracketed(kind if kind in ("image", "video", "audio") else "file")
    shown = caption(found["file"]) if found["file"] else unnamed if found["sender"] else ""
    return Opened(
        "" if name == "No-Sender" else name and name.strip(), found["text"] or "", found["time"], more=shown
    )


def _of_export(line: str) -> Opened | None:
    found = _EXPORT.match(line)
    return Opened((found["name"] or "").strip(), found["text"], found["time"]) if found else None


def _signal_said(here: Opened, below: list[str], _: Opened | None) -> tuple[str, str] | None:
    if here.more is not None:
        return _joined(here, [_POLL.sub("  ", line) for line in below]), here.more
    if here.text.strip() == "(This message was deleted)":
        return None
    captions: list[str] = []
    kept: list[str] = []
    quoting = not here.text.strip()
    for line in (here.text, *below):
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


# KakaoTalk: the readers suziewithz/kakaoship (`log_samples/temp.py`),
# Gudongyeop/kakaotalk_data_preprocessing, m00nlygreat/katalk and others; no export of a person's was looked
# at. Above all stand the chat's name and when it was saved. Clocks of 24 hours are read too, and the oldest
# English `1:56PM, May 8, 2023, Maya : text`.
#     2023년 5월 8일 오후 1:56, 마야 : text          May 8, 2023, 1:56 PM, Maya : text        (Android)
#     2023. 5. 8. 오후 1:56, 마야 : text            May 8, 2023, 1:56 PM, Maya : text        (iPhone)
#     --------------- 2023년 5월 8일 월요일 ---------------, [마야] [오후 1:56] text          (Windows)
#     Date,User,Message                           2023-05-08 13:56:01,"Maya","text"        (Mac)
_ENGLISH = r"[A-Z][a-z]{2,8} \d{1,2}, \d{4}"
_REST = r"(?:, (?:(?P<name>[^\n]{1,100}?) : ?(?P<text>.*)$)?|: )"
_NUMERIC = re.compile(STAMP + _REST, re.I)
_WESTERN = re.compile(
    rf"(?P<time>{_ENGLISH},? (?:at )?\d{{1,2}}:\d{{2}}(?:\s?[AaPp]M)?"
    rf"|\d{{1,2}}:\d{{2}}\s?[AaPp]M, {_ENGLISH}){_REST}"
)
_WINDOWS = re.compile(
    r"\[(?P<name>[^\n]{1,100}?)\] "
    r"\[(?P<clock>(?:오전|오후) \d{1,2}:\d{2}|\d{1,2}:\d{2}(?: [AP]M)?)\] ?(?P<text>.*)$"
)
_MAC = re.compile(
    r"(?P<time>\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),"
    r"(?:\"(?P<quoted>(?:[^\"]|\"\"){0,100})\"|(?P<name>[^,\"]{0,100})),(?P<mark>\"?)(?P<text>.*)$"
)
_KAKAO_DAY = re.compile(
    r"(?P<rule>-{5,40} )?(?:(?P<year>\d{4})[년.] ?(?P<month>\d{1,2})[월.] ?(?P<day>\d{1,2})[일.]"
    r"(?: [월화수목금토일]요일)?(?: (?:오전|오후) \d{1,2}:\d{2})?"
    rf"|(?:[A-Z][a-z]{{2,5}}day, )?(?P<english>{_ENGLISH}))(?: -{{5,40}})?$"
)
_KAKAO_HEADS = (
    re.compile(r"(?P<name>.{1,100}?) ?님과 카카오톡 대화$"),
    re.compile(r"KakaoTalk Chats? with (?P<name>.{1,100}?)(?:\.txt)?$"),
    re.compile(r"(?P<name>.{1,100}?) (?:with )?KakaoTalk Chats?$"),
)
_STEM = re.compile(r"KakaoTalk_?(?:Chat|Chats)?_(?P<name>.{1,100}?)_\d{4}-\d\d-\d\d[-\d]{0,12}$")
_KAKAO_SAVED = re.compile(r"(?:저장한 날짜|Date Saved) ?: ?\S")
_KAKAO_EVENT = re.compile(
    r".{1,80}님(?:이|을|과|께서)\s?.{0,100}"
    r"(?:들어왔습니다|나갔습니다|초대했습니다|초대하였습니다|내보냈습니다|가렸습니다)\.?"
    r"|.{1,80} (?:joined|left) (?:this|the) chat ?room\.?"
    r"|.{1,80} invited .{1,100} to (?:this|the) chat ?room\.?"
    r"|삭제된 메시지입니다\.|Deleted message\.|This message was deleted\."
)
_KAKAO_KINDS = kinds(
    {
        "image": "사진|Photo|Photos",
        "video": "동영상|Video",
        "sticker": "이모티콘|(이모티콘)|Emoticon|Emoticons|(emoticon)|(Emoticon)",
        "audio": "음성메시지|Voice Note|Voice Message",
    }
)
_SEVERAL = re.compile(r"(?:사진 (?P<count>\d{1,3})장|(?P<many>\d{1,3}) photos)", re.I)
_KAKAO_FILE = re.compile(r"(?:파일|File): (?P<name>[^\n]{1,200}\.\w{1,8})")


def _is_kakao(source: Source) -> bool:
    """Whether the file begins with the chat's name and when it was saved, with a Mac's columns, or with a day
    or a message in a layout that nobody else writes; and whether messages follow.
    """
    begun, *rest = written(source) or [""]
    if begun == "Date,User,Message":
        return any(map(_MAC.match, rest[:5]))
    named = sum(bool(here and here.name) for here in map(_kakao, [begun, *rest]))
    if any(head.match(begun) for head in _KAKAO_HEADS) and any(map(_KAKAO_SAVED.match, rest[:2])):
        return named > 0
    day = _KAKAO_DAY.match(begun)
    if day and day["rule"]:
        return any(map(_WINDOWS.match, rest))
    phone = any(_NUMERIC.match(MARKS.sub("", line)) or _WESTERN.match(line) for line in (begun, *rest[:2]))
    return named > 1 and (day is not None or _kakao(begun) is not None) and phone


def _kakao(line: str) -> Opened | None:
    if not line or not (line[0].isdigit() or line[0] in "-[ADFJMNOS"):
        return None
    if line[0] == "-":
        found = _KAKAO_DAY.match(line)
        return Opened(day=_kakao_day(found)) if found and found["rule"] else None
    if line[0] == "[":
        found = _WINDOWS.match(line)
        return Opened(found["name"].strip(), found["text"], _hour(found["clock"])) if found else None
    if found := _MAC.match(line):
        name = (found["quoted"] or found["name"] or "").replace('""', '"').strip()
        return Opened(name or None, found["text"], to_iso(found["time"]), more=bool(found["mark"]))
    clean = MARKS.sub("", line)
    if found := _NUMERIC.match(clean):
        time = Stamp.of(found).iso(day_first=True)
    elif found := _WESTERN.match(clean):
        time = to_iso(found["time"].replace(" at ", " "))
    else:
        return None
    return Opened(found["name"] and found["name"].strip(), found["text"] or "", time)


def _kakao_day(found: re.Match[str]) -> str:
    if found["english"]:
        return to_iso(found["english"])
    return calendar_day(int(found["year"]), int(found["month"]), int(found["day"]))


def _kakao_said(here: Opened, below: list[str], after: Opened | None) -> tuple[str, str] | None:
    lines = [line.rstrip() for line in below if not _KAKAO_EVENT.fullmatch(line.strip()[:300])]
    while lines and not lines[-1]:
        lines.pop()
    found = _KAKAO_DAY.match(lines[-1]) if lines else None
    next_day = after.stamp[:10] if after else ""
    if found and next_day != here.stamp[:10] and _kakao_day(found) == next_day:
        lines.pop()  # the day above the next message
    text = _joined(here, lines)
    if here.more:
        text = text.removesuffix('"').replace('""', '"').strip()
    if _KAKAO_EVENT.fullmatch(text[:300]):
        return None
    if kind := _KAKAO_KINDS.get(text):
        return "", bracketed(kind)
    if several := _SEVERAL.fullmatch(text):
        return "", " ".join([bracketed("image")] * min(int(several["count"] or several["many"]), 30))
    file = _KAKAO_FILE.fullmatch(text)
    return ("", caption(file["name"])) if file else (text, "")


# LINE, `[LINE] Chat history with Maya.txt`: the readers of ChatLab ("line-native-txt"), Knaito163/NLP_LINE
# and others, which tell the layouts of Japanese, English, both Chinese and Thai; no export of a person's was
# looked at.
#     [LINE] Chat history with Maya
#     Saved on: 2023/05/10 09:00
#
#     2023/05/08(Mon)          (or 2023.05.08 Monday, 2023/05/08（一）, Mon, 05/08/2023)
#     13:56<tab>Maya<tab>text  (or 午後1:56, 01:56PM)
# A text of several lines stands in quotation marks. A computer parts clock, name and text by blanks: the name
# is the first word there, or the words that all lines of who is called so begin with, or the head's.
_LINE_HEADS = (
    re.compile(r"(?:\[LINE\] )?Chat history (?:with|in) (?P<name>.{1,100}?)$"),
    re.compile(r"(?:\[LINE\] )?(?P<name>.{1,100}?)(?:との|の)トーク履歴$"),
    re.compile(r"(?:\[LINE\] ?)?[與与]?(?P<name>.{1,100}?)的(?:聊天記錄|聊天记录|聊天紀錄)$"),
    re.compile(r"(?:\[LINE\] )?ประวัติการ(?:สนทนา|แชท)กับ ?(?P<name>.{1,100}?)$"),
    re.compile(r"\[LINE\] ?(?P<name>.{1,100}?)$"),
)
_LINE_SAVED = re.compile(r"[^\d\t]{3,30}[:：] ?\d{4}[/.-]\d{1,2}[/.-]\d{1,2} \S")
_LINE_DAY = re.compile(
    r"(?P<year>\d{4})(?P<mark>[./])(?P<month>\d{1,2})(?P=mark)(?P<day>\d{1,2})\.?\s?[(（]?[^\W\d_]{1,12}\.?[)）]?$"
    r"|(?P<name>[^\W\d_]{2,12})\.?,? (?P<first>\d{1,2})/(?P<second>\d{1,2})/(?P<last>\d{4})$"
)
_LINE_CLOCK = rf"(?P<clock>(?:(?:{'|'.join(_HALVES)}) ?)? ?\d{{1,2}}:\d{{2}}(?: ?[AaPp][Mm])?)"
_TABBED = re.compile(rf"{_LINE_CLOCK}\t(?:(?P<name>[^\t]{{1,100}})\t(?P<text>.*)|(?P<event>.*))$")
_SPACED = re.compile(rf"{_LINE_CLOCK} (?P<text>\S.*)$")
_LINE_KINDS = kinds(
    {
        "image": "写真|Photo|照片|圖片|图片|รูป|รูปภาพ|ภาพ|사진",
        "video": "動画|Video|影片|视频|วิดีโอ|동영상",
        "sticker": "スタンプ|Sticker|貼圖|贴图|สติกเกอร์|스티커",
        "file": "ファイル|File|檔案|文件|ไฟล์|파일",
        "audio": "ボイスメッセージ|Voice message|Audio|語音訊息|语音信息|ข้อความเสียง|음성메시지",
        "contact": "連絡先|Contact|聯絡資訊|联系方式|연락처",
        "location": "位置情報|Location|位置訊息|位置信息|위치",
        "album": "アルバム|Album|Albums|相簿|相册|อัลบั้ม|앨범",
        "note": "ノート|Notes|Note|記事本|记事本|โน้ต|노트",
    }
)


def _is_line(source: Source) -> bool:
    """Whether the file begins with LINE's head, or with a day and a person's tabbed line below."""
    begun, *rest = written(source) or [""]
    tabbed = sum(found is not None and found["name"] is not None for found in map(_TABBED.match, rest))
    if first(_LINE_HEADS, begun.strip("\ufeff")):
        saved = bool(rest and _LINE_SAVED.match(rest[0]))
        return (tabbed > 0 or (saved and any(map(_SPACED.match, rest)))) and (begun[:6] == "[LINE]" or saved)
    if not _line_day(begun):
        return False
    words = Counter(found["text"].partition(" ")[0] for found in map(_SPACED.match, rest) if found)
    return tabbed > 1 or (len(words) > 1 and len(words) * 2 < words.total() >= len(rest) / 2)


def _line_name(source: Source) -> str:
    return first(_LINE_HEADS, source.first_line().strip("\ufeff"))


def _line(source: Source) -> Opens:
    partner = _line_name(source)
    spaced = not any("\t" in line and _TABBED.match(line) for line in source.lines[:LOOKED_AT])
    names = _line_names(source.lines) if spaced else {}

    def opens(line: str) -> Opened | None:
        if day := _line_day(line) if line[:1].isalnum() and len(line) < 40 else "":
            return Opened(day=day)
        if found := _TABBED.match(line):
            name = found["name"] and found["name"].strip()
            return Opened(name, found["text"] or "", _hour(found["clock"]))
        found = _SPACED.match(line) if spaced else None
        if not found:
            return None
        said = found["text"]
        begun = said.partition(" ")[0]
        if begun.count("「") > begun.count("」"):  # whom somebody added to the group
            return Opened(stamp=_hour(found["clock"]))
        name = partner if partner and said.startswith(f"{partner} ") else names.get(begun, begun)
        return Opened(name, said[len(name) + 1 :], _hour(found["clock"]))

    return opens


_KANA = re.compile(r"[\u3041-\u3096]")


def _line_names(lines: Sequence[str]) -> dict[str, str]:
    """By its first word the name of who speaks more than once, where blanks part it from the text too."""
    said: dict[str, list[list[str]]] = {}
    for found in filter(None, map(_SPACED.match, lines)):
        words = found["text"].split(" ")
        said.setdefault(words[0], []).append(words[1:-1])
    return {
        begun: " ".join([begun, *(words[0] for words in takewhile(partial(_is_of_name, begun), zip(*many)))])
        for begun, many in said.items()
        if len(many) > 1
    }


def _is_of_name(begun: str, words: Sequence[str]) -> bool:
    """Whether a word is the same in all lines that begin alike, and begins as names do.

    Of two lines, which may happen to say the same, only behind a title, or short, or in the name's script.
    """
    word = words[0]
    alike = begun[-1] == "." or len(word) < 3 or not (word.isascii() or begun.isascii() or _KANA.search(word))
    return (
        len(set(words)) == 1 and (len(words) > 2 or alike) and word[:1].isalpha() and not word[:1].islower()
    )


def _line_day(line: str) -> str:
    """The day that a line by itself tells, or ""; the name of the day tells which part is the month."""
    found = _LINE_DAY.match(line)
    if not found:
        return ""
    if found["year"]:
        return calendar_day(int(found["year"]), int(found["month"]), int(found["day"]))
    one, other, year = int(found["first"]), int(found["second"]), int(found["last"])
    days = [day for day in (calendar_day(year, one, other), calendar_day(year, other, one)) if day]
    named = [day for day in days if f"{date.fromisoformat(day):%a}" == found["name"][:3].capitalize()]
    return (named or days or [""])[0]


def _line_said(here: Opened, below: list[str], _: Opened | None) -> tuple[str, str] | None:
    text = _joined(here, below)
    if "\n" in text and text[0] == text[-1] == '"':
        text = text[1:-1].strip()
    if text.startswith("☎") and "\n" not in text:  # a call
        return None
    kind = _LINE_KINDS.get(text[1:-1]) if text.startswith("[") and text.endswith("]") else None
    return ("", bracketed(kind)) if kind else (text, "")


# A Matrix room as Element's "Export chat, Plain text" writes it: `5/8/2023, 1:56:00 PM - Maya: text`:
# element-hq/element-web, `src/utils/exportUtils/PlainTextExport.ts` and `src/TextForEvent.tsx`. The stamp is
# the browser's own (`toLocaleString`), always with seconds, which WhatsApp's never has. Events have no
# `Name:`. An emote, `* Maya Reis waves`, is "waves" of the longest name that has spoken above, else of its
# first word.
_NAME_LIMIT = 100
_ELEMENT = re.compile(rf"{STAMP}\s-\s", re.I)
_QUOTES = re.compile('["“”«»„]')
# Of what is quoted 32 characters are left; it may have any sign in it, a heart (<3) too.
_QUOTED = re.compile(r'<(?:@[^<>"\n]{1,200}|[^<>"\n]{1,200}(?= "))(?: "[^\n]{1,40}?")?> ')
_SENT = re.compile(
    r"(?P<name>[^\n]{1,100}?) sent an? (?P<kind>image|sticker|video|file|audio)\b\.?(?: \([^()]{4,60}\))?"
)
_FILE = re.compile(
    r"(?P<name>[^\n()]{1,200}) \((?:File Attached|Media omitted[^()]{0,40}|Error fetching file)\)"
)
_ROOM = re.compile(r"(?P<brand>[^-]{1,40}) - (?P<name>.{1,200}) - Chat Export - \d{4}-\d{2}-\d{2}.*", re.S)


def _is_element(source: Source) -> bool:
    """Whether the first line begins with a stamp that has seconds, all stamps have them, and people speak."""
    begun, opens = source.first_line(), _element(source)
    if not begun[:1].isdigit() or not opens(begun):
        return False
    openings = [here for line in source.lines[:LOOKED_AT] if (here := opens(line))]
    said = [here.name for here in openings if here.name and not here.more and not is_label(here.name)]
    seconds = all(here.stamp.seconds for here in openings)
    return seconds and len(openings) > 1 and bool(said) and len(said) * 4 >= len(openings)


def _element(_: Source) -> Opens:
    names: set[str] = set()

    def opens(line: str) -> Opened | None:
        if not line[:1].isdigit() and line[:1] not in "\u200e\u200f":
            return None
        clean = line if line.isascii() else MARKS.sub("", line).replace("\u200e", "")
        found = _ELEMENT.match(clean)
        if not found:
            return None
        stamp, rest = Stamp.of(found), clean[found.end() :]
        name, colon, text = rest.partition(": ")
        if colon and len(name) <= _NAME_LIMIT and len(_QUOTES.findall(name)) % 2 == 0:
            names.add(name.strip())
            return Opened(name.strip() or None, text, stamp)
        if sent := _SENT.fullmatch(rest.strip()):
            names.add(sent["name"])
            return Opened(sent["name"], "", stamp, more=bracketed(sent["kind"]))
        if rest.startswith("* "):
            who = _who(rest[2:], names)
            return Opened(who or None, rest[len(who) + 3 :], stamp, more=" ")
        return Opened(stamp=stamp)

    return opens


def _who(deed: str, names: set[str]) -> str:
    """The longest known name that an emote begins with, else its first word."""
    ends = (end for end in range(min(len(deed) - 1, _NAME_LIMIT), 0, -1) if deed[end] == " ")
    return next((deed[:end] for end in ends if deed[:end] in names), deed.partition(" ")[0])


def _element_said(here: Opened, below: list[str], _: Opened | None) -> tuple[str, str]:
    text = _joined(here, below)
    if here.more:  # a file, or a blank for an emote
        return text, here.more.strip()
    if file := _FILE.fullmatch(text):
        return "", caption(file["name"])
    if quoted := _QUOTED.match(text):
        return text[quoted.end() :].strip(), ""
    lines = text.split("\n")
    last = len(lines) - 1
    said = next((n for n, line in enumerate(lines[:last]) if not line.startswith(">")), last)
    return "\n".join(lines[said:]).strip(), ""


# Messenger's and Instagram's windows, copied: above each message who sent it, above some of them a time.
#     Tue 9:14 AM
#     You sent
#     Is the accordion still there?
#     Maya Reis
#     It is
_BY_ME = frozenset(
    (
        *("You sent", "Du hast gesendet", "Du hast Folgendes gesendet", "Vous avez envoyé", "Enviaste"),
        *("Has enviado", "Hai inviato", "Você enviou", "Enviou", "Je hebt verzonden", "Jij hebt verzonden"),
        *("Du skickade", "Du sendte", "Wysłano przez Ciebie", "Вы отправили"),
    )
)
_SHOWN = ("Enter", "Aa")
_ANSWERED = re.compile(r"(?:You replied to|Respondiste a|Hai risposto a|Vous avez répondu à) .{1,80}")
_ANY_STAMP = re.compile(ANY_STAMP, re.I)


def _senders(source: Source) -> frozenset[str]:
    """Who stands alone above messages where the owner does, in words for oneself; else nobody."""
    if not any(line.strip() in _BY_ME for line in source.lines[:LOOKED_AT]):
        return frozenset()
    bare = [line.strip() for line in source.lines if line.strip()]
    counts = Counter(line for line in bare if line not in _SHOWN)
    own = _BY_ME & counts.keys()
    if sum(counts[words] for words in own) < 2:
        return frozenset()
    beside = Counter(one for one, other in pairwise(bare) if other in own)
    beside.update(other for one, other in pairwise(bare) if one in own)
    title = " ".join(bare[:3])
    often = (line for line, count in counts.items() if 2 * beside[line] < count > 1 and 1 < len(line) < 60)
    named = {line for line in often if line in title or (counts[line] > 2 and looks_like_name(line))}
    first = (other for one, other in pairwise(bare) if _is_time(one) and not _ANSWERED.fullmatch(other))
    return own | named | set(filter(looks_like_name, first)) | set(_in_full(source.lines).values())


def _in_full(lines: Sequence[str]) -> dict[int, str]:
    """The lines (1-based) with what somebody is called, in a group, above the whole name; and that."""
    rows = zip(["", *lines], lines, lines[1:])
    return {
        number: whole.strip()
        for number, (above, short, whole) in enumerate(rows, 1)
        if (not above.strip() or _is_time(above.strip())) and short.strip() and whole.startswith(f"{short} ")
    }


def _is_time(bare: str) -> bool:
    return bare[-1].isalnum() and _ANY_STAMP.fullmatch(bare) is not None


def _window(source: Source) -> Opens:
    names, stamp, number = _senders(source), "", 0
    own, called = next(iter(_BY_ME & names), ""), _in_full(source.lines)

    def opens(line: str) -> Opened | None:
        nonlocal stamp, number
        bare, number = line.strip(), number + 1
        if number in called:
            return Opened("", stamp=stamp)
        if bare in names or _ANSWERED.fullmatch(bare):
            return Opened(bare if bare in names else own, stamp=stamp)
        if bare and _is_time(bare):
            stamp = bare
            return Opened("", stamp=stamp)
        return None

    return opens


def _window_said(here: Opened, below: list[str], _: Opened | None) -> tuple[str, str] | None:
    said = _joined(here, [line for line in below if line.strip() not in _SHOWN])
    return (said, "") if said else None


FORMS = {
    "messenger-window": Told(lambda source: len(_senders(source)) > 1, _window, lambda _: _window_said),
    "zoom": Told(
        _is_zoom,
        lambda _: _zoom,
        lambda _: _zoom_said,
        time=lambda source: clocks(source, _meeting(source, "day")),
        called=lambda source: _meeting(source, "name") or source.stem,
    ),
    "signal-text": Told(
        _is_signal,
        _signal,
        lambda _: _signal_said,
        called=lambda source: _THREAD.sub("", above(source, "chat", "index", "")),
    ),
    "kakaotalk": Told(
        _is_kakao,
        lambda _: _kakao,
        lambda _: _kakao_said,
        called=lambda source: (
            first(_KAKAO_HEADS, source.first_line()) or first((_STEM,), source.stem) or source.stem
        ),
    ),
    "line": Told(
        _is_line,
        _line,
        lambda _: _line_said,
        time=lambda source: clocks(source, rolls=False),
        called=lambda source: _line_name(source) or source.stem.removeprefix("[LINE]").strip(),
    ),
    "element": Told(
        _is_element,
        _element,
        lambda _: _element_said,
        time=lambda source: numbers(source, _element(source)),
        called=lambda source: first((_ROOM,), above(source, "export")) or above(source, "export"),
    ),
}
