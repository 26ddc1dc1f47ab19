"""The ways chats write a time, to ISO 8601. English month names; knows no format."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date, datetime, timezone
from functools import lru_cache

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\.?"
)
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
_DIGITS = re.compile(r"\d{9,17}(?:\.\d+)?")


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
        year, month, day = int(found[3]), _month(found[2]), int(found[1])
    elif found := _MONTH_DAY.search(text):
        year, month, day = int(found[3]), _month(found[1]), int(found[2])
    elif found := _NUMERIC.search(text):
        first, second, year = int(found[1]), int(found[3]), int(found[4])
        year += 2000 if year < 100 else 0
        day, month = (first, second) if (day_first and second <= 12) or first > 12 else (second, first)
    else:
        return "", text
    try:
        iso = date(year, month, day).isoformat()
    except ValueError:
        return "", text
    return iso, f"{text[: found.start()]} {text[found.end() :]}"


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


def _month(name: str) -> int:
    return _MONTHS.index(name[:3].lower()) + 1


def _epoch_to_iso(number: float) -> str:
    """Seconds, milli- or microseconds since 1970, told apart by size; "" for a number that is no time."""
    for below, unit in ((1e11, 1.0), (1e14, 1e3), (1e17, 1e6)):
        if 1e8 * unit <= number < below:
            return datetime.fromtimestamp(int(number / unit), timezone.utc).isoformat()
    return ""
