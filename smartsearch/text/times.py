"""The ways chats write a time, to ISO 8601: by itself, or as the stamp before a line. Knows no chat format.

`to_iso` reads a time by itself; month names are English. A `Stamp` is the numeric time that phones and
browsers of many countries write before a line: there the file decides at once which part is the day.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime, timezone
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
MONTH_NAMES = (
    "jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    "|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?"
)
_MONTH = rf"({MONTH_NAMES})\.?"
_YEAR_FIRST = re.compile(r"(?<!\d)(\d{4})([-/.])(\d{1,2})\2(\d{1,2})(?!\d)")
_NTH = r"(\d{1,2})(?:st|nd|rd|th)?"
_DAY_MONTH = re.compile(rf"(?<!\d){_NTH}(?:\s+of)?[\s-]+{_MONTH},?[\s-]+(\d{{4}})(?!\d)", re.I)
_MONTH_DAY = re.compile(rf"\b{_MONTH}[\s-]+{_NTH},?[\s-]+(\d{{4}})(?!\d)", re.I)
_NUMERIC = re.compile(r"(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(\d{4}|\d{2})(?!\d)")
_CLOCK = re.compile(
    r"(?<![\d:])(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,]\d+)?)?(?![\d:])\s*([ap])?(?(4)\.?m\b\.?)"
    r"\s*(Z\b|UTC\b|GMT\b|[+-](?:[01]\d|2[0-3]):?[0-5]\d(?!\d))?",
    re.I,
)
_BETWEEN = r"[\s,.;()\[\]|–—-]"
_FILLER = r"(?:(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?|on|at|t)"
_NOISE = re.compile(rf"{_BETWEEN}*(?:{_FILLER}(?:{_BETWEEN}+{_FILLER})*{_BETWEEN}*)?", re.I)
_ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)T([01]\d|2[0-3])(:[0-5]\d:[0-5]\d)(?:\.\d+)?(Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)?", re.A
)
_OURS = re.compile(
    r"[1-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d"
    r"(?:[+-](?:[01]\d|2[0-3]):[0-5]\d)?",
    re.ASCII,
)
"""Times that are as `to_iso` writes them, for sure: most are."""
_FRACTION = re.compile(r":\d\d(\.\d{1,9})", re.ASCII)
_DIGITS = re.compile(r"\d{9,17}(?:\.\d+)?")
NAMED_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)([-_.]?)(0[1-9]|1[0-2])\2(0[1-9]|[12]\d|3[01])(?!\d)")
_TAKEN_OUT = re.compile(r"export|backup|dump|archive", re.I)


def to_iso(value: object, *, day_first: bool = True) -> str:
    """A time as ISO 8601: `2023-05-08T13:56:00`, a bare date where no clock is given, or "" if not parsed.

    Takes LoCoMo's "1:56 pm on 8 May, 2023", LongMemEval's "2023/05/20 (Sat) 02:21", ISO, "May 8, 2023 1:56
    PM", "08/05/2023, 13:56:01", with or without brackets, and epoch seconds, milli- or microseconds (number
    or digits). An offset that the source gives is kept, epochs are UTC (`+00:00`), fractions of a second
    are dropped. `8/5/23` is read by `day_first`, which a reader decides once a file with `is_day_first`; a
    part above 12 overrules it. Never raises.
    """
    if isinstance(value, str):
        if _OURS.fullmatch(value):
            return value
        return _text_to_iso(value.strip(), day_first) if len(value) <= 80 else ""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e18:
        return ""
    return _epoch_to_iso(float(value))


def instant(stamp: str) -> float | None:
    """Seconds since 1970, with their fraction, of a time that `to_iso` takes: to tell which is earlier.

    A time without an offset counts as UTC. None where it is no time.
    """
    iso = to_iso(stamp)
    if not iso:
        return None
    moment = datetime.fromisoformat(iso)
    fraction = _FRACTION.search(stamp)
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)).timestamp()
    return seconds + float(fraction[1]) if fraction else seconds


def is_day_first(stamps: Iterable[str]) -> bool:
    """Whether a file writes 8 May as 8/5: yes if a stamp forces it, no if one forces the other, else yes."""
    month_first = False
    for stamp in stamps:
        found = _NUMERIC.search(stamp)
        if found and int(found[1]) > 12:
            return True
        month_first = month_first or (found is not None and int(found[3]) > 12)
    return not month_first


def is_ambiguous(stamp: str) -> bool:
    """Whether `stamp` holds a date such as 8/5/23, which `is_day_first` has to decide about."""
    return not _OURS.fullmatch(stamp) and _NUMERIC.search(stamp) is not None


def clock(text: str) -> str:
    """A time of day alone, as `13:56:00`, or "" when `text` is anything else."""
    time, rest = _take_clock(text.strip())
    return time if time and _NOISE.fullmatch(rest) else ""


def find_date(text: str, *, day_first: bool = True) -> str:
    """The first date that stands anywhere in `text`, as `2023-05-08`, or ""."""
    return _take_date(text, day_first)[0]


def day_of_name(name: str) -> str:
    """The one day in a file's name, `standup-2026-04-02` or `20260402_notes` or `2 April 2026`, or "".

    Not one of two days, nor the day of an export or a backup: nothing need have been said on it.
    """
    days = {calendar_day(int(year), int(month), int(day)) for year, _, month, day in NAMED_DAY.findall(name)}
    if not days:
        written = name.replace("_", " ")
        days = {find_date(found[0]) for p in (_DAY_MONTH, _MONTH_DAY) for found in p.finditer(written)}
    return days.pop() if len(days) == 1 and not _TAKEN_OUT.search(name) else ""


@lru_cache(maxsize=4096)
def _text_to_iso(text: str, day_first: bool) -> str:
    if _DIGITS.fullmatch(text):
        return _epoch_to_iso(float(text))
    if found := _ISO.fullmatch(text):  # what programs write, ten times as fast as the general way
        day = _take_date(found[1], day_first)[0]
        return f"{day}T{found[2]}{found[3]}{_offset(found[4])}" if day else ""
    day, rest = _take_date(text, day_first)
    if not day:
        return ""
    time, rest = _take_clock(rest)
    if not _NOISE.fullmatch(rest):
        return ""
    return f"{day}T{time}" if time else day


def _take_date(text: str, day_first: bool) -> tuple[str, str]:
    """The first date in `text` and `text` without it, or "" and `text`."""
    if found := _YEAR_FIRST.search(text):
        year, month, day = int(found[1]), int(found[3]), int(found[4])
    elif found := _DAY_MONTH.search(text):
        year, month, day = int(found[3]), month_of(found[2]), int(found[1])
    elif found := _MONTH_DAY.search(text):
        year, month, day = int(found[3]), month_of(found[1]), int(found[2])
    elif found := _NUMERIC.search(text):
        year, month, day = _ordered(int(found[1]), int(found[3]), int(found[4]), day_first)
    else:
        return "", text
    iso = calendar_day(year, month, day)
    return (iso, f"{text[: found.start()]} {text[found.end() :]}") if iso else ("", text)


def _ordered(first: int, second: int, year: int, day_first: bool) -> tuple[int, int, int]:
    """Year, month and day of a date whose year stands last; what is no month is the day."""
    year += 2000 if year < 100 else 0
    if (day_first and second <= 12) or first > 12:
        return year, second, first
    return year, first, second


def calendar_day(year: int, month: int, day: int) -> str:
    """The day as ISO 8601, "" where the calendar has none."""
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        return ""


def _take_clock(text: str) -> tuple[str, str]:
    """The first time of day in `text`, with its offset if given, and `text` without it."""
    found = _CLOCK.search(text)
    if not found:
        return "", text
    hour, minute, second = int(found[1]), int(found[2]), int(found[3] or 0)
    if found[4]:
        if not 1 <= hour <= 12:
            return "", text
        hour = hour % 12 + (12 if found[4].lower() == "p" else 0)
    if hour > 23 or minute > 59 or second > 59:
        return "", text
    rest = f"{text[: found.start()]} {text[found.end() :]}"
    return f"{hour:02}:{minute:02}:{second:02}{_offset(found[5])}", rest


def _offset(written: str | None) -> str:
    if not written:
        return ""
    if written[0] not in "+-":
        return "+00:00"
    return f"{written[0]}{int(written[1:3]):02}:{int(written[-2:]):02}"  # any script's digits


def month_of(name: str) -> int:
    """The number of a month by its English name, of which three letters tell."""
    return MONTHS.index(name[:3].lower()) + 1


def _epoch_to_iso(number: float) -> str:
    """Seconds, milli- or microseconds since 1970, told apart by size; "" for a number that is no time."""
    for below, unit in ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6)):
        if 1e8 * unit <= number < below:
            return datetime.fromtimestamp(int(number / unit), timezone.utc).isoformat()
    return ""


# Before noon and after it, as CLDR's locales abbreviate them, without dots and spaces, case-folded.
_BEFORE = (
    *("am", "fm", "öö", "πμ", "sa", "vorm", "de", "ص", "صباحًا", "قظ", "午前", "上午", "早上", "凌晨", "清晨"),
    *("오전", "पूर्वाह्न", "ก่อนเที่ยง", "дп"),
)
_AFTER = (
    *("pm", "em", "ös", "μμ", "ch", "nachm", "du", "م", "مساءً", "بظ", "午後", "下午", "晚上", "中午"),
    *("오후", "अपराह्न", "หลังเที่ยง", "пп"),
)
_LATE = {**dict.fromkeys(_BEFORE, False), **dict.fromkeys(_AFTER, True)}
_LOOSE = re.compile(r"[\s.]+")


def is_late(before: str, after: str) -> bool | None:
    """Whether a clock between two texts is of after noon, by the words next to it; None where none tells.

    Before the clock only words of other scripts count: Latin ones mean other things there.
    """
    words = [*after.split()[:1], "".join(after.split()[:2])]
    words += [word for word in before.split()[-1:] if not word.isascii()]
    known = (_LATE.get(_LOOSE.sub("", word).strip(",").casefold()) for word in words)
    return next((late for late in known if late is not None), None)


# `p. m.` and its like may be spaced and dotted; all others stand as they are.
_HALF = r"(?:[apfeAPFE]\.?\s?[mM]\b\.?|{})".format(
    "|".join(sorted({re.escape(w) for w in _LATE if w[1:] != "m" or not w.isascii()}, key=len, reverse=True))
)
_DATE = (
    r"(?P<a>\d{1,4})(?P<mark>[-/.]|\. |年|년 )(?P<b>\d{1,2})(?:[-/.月]|\. |월 )"
    r"(?P<c>\d{1,4})(?:[日일]|\.(?!\d))?"
)
_STAMP_CLOCK = r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
# Between date and clock: `, `, `،`, ` à `, ` klo `, ` a las `; some languages put the half of the day first.
STAMP = (
    rf"{_DATE}[,،]?\s(?:(?P<early>{_HALF})\s?|[^\W\d]{{1,4}}\s){{0,2}}"
    rf"{_STAMP_CLOCK}(?:\s?(?P<late>{_HALF}))?"
)
"""A numeric date and a clock, for a pattern that is compiled with `re.I`. Bounded in every part."""
_GROUPS = ("a", "b", "c", "mark", "hour", "minute", "second", "late", "early")
_STAMP_DAY = re.compile(r"[\u200e\[]{0,4}(?P<day>\d{1,4}[-/.年]\S{0,12})")
MARKS = re.compile("[\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Marks of writing direction, which phones strew into stamps and names. U+200E is left: it says something."""


class Stamp(NamedTuple):
    """The parts of a stamp as written; `late` is None on a clock of 24 hours, `seconds` if it has any.

    A tuple, for a file has one a line.
    """

    a: str
    b: str
    c: str
    mark: str
    hour: int
    minute: int
    second: int
    late: bool | None
    half: str
    seconds: bool

    @classmethod
    def of(cls, found: re.Match[str]) -> Stamp:
        """The stamp of a match of a pattern with `STAMP` in it."""
        a, b, c, mark, hour, minute, second, late, early = found.group(*_GROUPS)
        half = late or early or ""
        is_late = _LATE.get(_LOOSE.sub("", half).casefold()) if half else None
        return cls(a, b, c, mark, int(hour), int(minute), int(second or 0), is_late, half, second is not None)

    def iso(self, day_first: bool) -> str:
        """`2023-05-08T13:56:00`, or "" for a date of no calendar known here. Local time, no offset."""
        day, hour = _stamp_day(self.a, self.b, self.c, day_first), self.hour
        if self.late is not None and 1 <= hour <= 12:
            hour = hour % 12 + 12 * self.late
        if not day or hour > 23 or self.minute > 59 or self.second > 59:
            return ""
        return f"{day}T{hour:02}:{self.minute:02}:{self.second:02}"


def stamps_day_first(
    lines: Iterable[str], stamp: Callable[[str], Stamp | None], american_year: int = 2
) -> bool:
    """Whether 8 May is written 8/5 in a file: what no month can be decides, then what keeps time running on.

    `stamp` gives the stamp of a line, None for a line without. Messages stand in order of time: the order in
    which the dates jump back more often is the wrong one. A file of early days only has no such sign; then
    the style of the United States (`5/8/23, 1:56 PM`) is month first and every other is day first. Its year
    has `american_year` digits: browsers write four.
    """
    dates = [(int(s.a), int(s.b), s) for s in _changes(lines, stamp) if len(s.a) < 3]
    if any(a > 12 for a, _, _ in dates):
        return True
    if any(b > 12 for _, b, _ in dates):
        return False
    back = {first: _jumps([s for _, _, s in dates], first) for first in (True, False)}
    if back[True] != back[False]:
        return back[True] < back[False]
    american = dates and all(
        s.mark == "/" and len(s.c) == american_year and s.half in ("AM", "PM") for _, _, s in dates
    )
    padded = any(s.a[0] == "0" or s.b[0] == "0" for _, _, s in dates)
    return not american or padded


def _changes(lines: Iterable[str], stamp: Callable[[str], Stamp | None]) -> Iterator[Stamp]:
    """A stamp wherever the date changes: enough to tell the order, and few beside the lines."""
    last = ""
    for line in lines:
        if not line or line[0] in " \t" or line[0].isalpha():
            continue
        found = _STAMP_DAY.match(line if line.isascii() else MARKS.sub("", line[:40]))
        if found and found["day"] != last and (here := stamp(line)):
            last = found["day"]
            yield here


def _jumps(stamps: list[Stamp], day_first: bool) -> int:
    days = [day for s in stamps if (day := _stamp_day(s.a, s.b, s.c, day_first))]
    return sum(later < earlier for earlier, later in pairwise(days))


@lru_cache(maxsize=1 << 14)
def _stamp_day(a: str, b: str, c: str, day_first: bool) -> str:
    """The date as ISO; any script's digits. Buddhist years (Thailand) are turned into common ones."""
    first, second, third = int(a), int(b), int(c)
    year, month, day = (first, second, third) if len(a) == 4 else _ordered(first, second, third, day_first)
    year -= 543 if 2400 <= year < 2700 else 0
    return calendar_day(year, month, day) if year >= 1970 else ""
