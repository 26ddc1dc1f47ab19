"""Stamps as phones and browsers of many countries write them: digits, order, halves of the day. No format.

`times.py` reads a stamp by itself; here a file decides at once which part is the day (`Order`), and a line's
beginning is taken apart without trying one shape after another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

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
# `p. m.` and its like may be spaced and dotted; all others stand as they are.
_HALF = r"(?:[apfeAPFE]\.?\s?[mM]\b\.?|{})".format(
    "|".join(sorted({re.escape(w) for w in _LATE if w[1:] != "m" or not w.isascii()}, key=len, reverse=True))
)
_DATE = (
    r"(?P<a>\d{1,4})(?P<mark>[-/.]|\. |年|년 )(?P<b>\d{1,2})(?:[-/.月]|\. |월 )"
    r"(?P<c>\d{1,4})(?:[日일]|\.(?!\d))?"
)
_CLOCK = r"(?P<hour>\d{1,2})[:.](?P<minute>\d{2})(?:[:.](?P<second>\d{2}))?"
# Between date and clock: `, `, `،`, ` à `, ` klo `, ` a las `; some languages put the half of the day first.
STAMP = (
    rf"{_DATE}[,،]?\s(?:(?P<early>{_HALF})\s?|[^\W\d]{{1,4}}\s){{0,2}}"
    rf"{_CLOCK}(?:\s?(?P<late>{_HALF}))?"
)
"""A numeric date and a clock, for a pattern that is compiled with `re.I`. Bounded in every part."""
_GROUPS = ("a", "b", "c", "mark", "hour", "minute", "second", "late", "early")
_DAY = re.compile(r"[\u200e\[]{0,4}(?P<day>\d{1,4}[-/.年]\S{0,12})")
MARKS = re.compile("[\u200f\u202a-\u202e\u2066-\u2069\ufeff]")
"""Marks of writing direction, which phones strew into stamps and names. U+200E is left: it says something."""


@dataclass(frozen=True)
class Order:
    """What a file's dates without the year in front begin with."""

    day_first: bool


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

    def iso(self, order: Order) -> str:
        """`2023-05-08T13:56:00`, or "" for a date of no calendar known here. Local time, no offset."""
        day, hour = _day(self.a, self.b, self.c, order.day_first), self.hour
        if self.late is not None and 1 <= hour <= 12:
            hour = hour % 12 + 12 * self.late
        if not day or hour > 23 or self.minute > 59 or self.second > 59:
            return ""
        return f"{day}T{hour:02}:{self.minute:02}:{self.second:02}"


def changes(lines: Iterable[str], stamp: Callable[[str], Stamp | None]) -> Iterator[Stamp]:
    """A stamp wherever the date changes: enough to tell the order, and few beside the lines.

    `stamp` gives that of a line, None for a line without.
    """
    last = ""
    for line in lines:
        if not line or line[0] in " \t" or line[0].isalpha():
            continue
        found = _DAY.match(line if line.isascii() else MARKS.sub("", line[:40]))
        if found and found["day"] != last and (here := stamp(line)):
            last = found["day"]
            yield here


def order(stamps: Iterable[Stamp]) -> Order:
    """Whether 8 May is written 8/5 in a file: what no month can be decides, then what keeps time running on.

    Messages stand in order of time: an order in which the dates jump back more often is the wrong one. A
    file of early days only has no such sign; then the style of the United States (`5/8/23, 1:56 PM`) is
    month first and every other is day first.
    """
    dates = [(int(s.a), int(s.b), s) for s in stamps if len(s.a) < 3]
    if any(a > 12 for a, _, _ in dates):
        return Order(True)
    if any(b > 12 for _, b, _ in dates):
        return Order(False)
    back = {first: _jumps([s for _, _, s in dates], first) for first in (True, False)}
    if back[True] != back[False]:
        return Order(back[True] < back[False])
    american = dates and all(s.mark == "/" and len(s.c) == 2 and s.half in ("AM", "PM") for _, _, s in dates)
    padded = any(s.a[0] == "0" or s.b[0] == "0" for _, _, s in dates)
    return Order(not american or padded)


def _jumps(stamps: list[Stamp], day_first: bool) -> int:
    days = [day for s in stamps if (day := _day(s.a, s.b, s.c, day_first))]
    return sum(later < earlier for earlier, later in pairwise(days))


@lru_cache(maxsize=1 << 14)
def _day(a: str, b: str, c: str, day_first: bool) -> str:
    """The date as ISO; any script's digits. Buddhist years (Thailand) are turned into common ones."""
    first, second, third = int(a), int(b), int(c)
    if len(a) == 4:
        year, month, day = first, second, third
    else:
        year = third + 2000 if third < 100 else third
        day, month = (first, second) if (day_first and second <= 12) or first > 12 else (second, first)
    if 2400 <= year < 2700:
        year -= 543
    try:
        return date(year, month, day).isoformat() if year >= 1970 else ""
    except ValueError:
        return ""
