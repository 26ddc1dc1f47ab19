"""Times that programs write out in words of many languages: `terça-feira, 6 de fevereiro de 2024 às 14:16`.

Only for what is known to be a time: in prose such words may be anything. Months are those of the Gregorian
calendar, years of Thailand are counted back; unknown words between them are ignored.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from smartsearch.text.times import MONTHS_BEGIN, calendar_day, is_late, to_iso

_LONGEST = 100
_NUMBERED = re.compile(r"(?P<y>\d{4})\s?[年년]\s?(?P<m>\d{1,2})\s?[月월]\s?(?P<d>\d{1,2})\s?[日일]")
_VIETNAMESE = re.compile(r"(?P<d>\d{1,2}) tháng (?P<m>\d{1,2})(?: năm|,)? (?P<y>\d{4})", re.I)
_CLOCK = re.compile(
    r"(?<!\d)(\d{1,2})(?:[:.]|\s?[時时点點시]\s?)(\d{2})(?:(?:[:.]|\s?[分분]\s?)(\d{2}))?(?!\d)"
)
_YEAR, _DAY = re.compile(r"(?<!\d)(\d{4})(?!\d)"), re.compile(r"(?<!\d)(\d{1,2})(?!\d)")
_UTC = re.compile(r"\b(?:UTC|GMT)(?:(?P<sign>[+-])(?P<h>\d{1,2})(?::?(?P<m>\d{2}))?)?(?!\w)")


def _plain(word: str) -> str:
    """A word without case and marks."""
    return "".join(
        one for one in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(one)
    )


_MONTHS = {_plain(begin): month for begin, month in MONTHS_BEGIN.items()}
_APART = re.compile(r"[\u0590-\u0fff]")
"""Scripts in which a month may have something before it in one word."""
_STEM = re.compile(
    "|".join(
        stem if _APART.match(stem) else rf"(?<![^\W\d_]){stem}"
        for stem in sorted(_MONTHS, key=len, reverse=True)
    )
)


def time_of(value: object, *, day_first: bool = True) -> str:
    """What is known to be a time as `to_iso` reads it, or in the words of another language; "" for none."""
    return to_iso(value, day_first=day_first) or (_written_out(value) if isinstance(value, str) else "")


@lru_cache(maxsize=4096)
def _written_out(text: str) -> str:
    if len(text) > _LONGEST:
        return ""
    clock = _CLOCK.search(text)
    day = _day(f"{text[: clock.start()]} {text[clock.end() :]}" if clock else text)
    if not day or not clock:
        return day
    hour, minute, second = (int(found or 0) for found in clock.groups())
    late = is_late(text[: clock.start()], text[clock.end() :])
    if late is not None and 1 <= hour <= 12:
        hour = hour % 12 + 12 * late
    if hour > 23 or minute > 59 or second > 59:
        return day
    return f"{day}T{hour:02}:{minute:02}:{second:02}{_offset(text)}"


def _offset(text: str) -> str:
    found = _UTC.search(text)
    if not found:
        return ""
    return f"{found['sign'] or '+'}{int(found['h'] or 0):02}:{found['m'] or '00'}"


def _day(text: str) -> str:
    if found := _NUMBERED.search(text) or _VIETNAMESE.search(text):
        return calendar_day(int(found["y"]), int(found["m"]), int(found["d"]))
    months = [_MONTHS[found[0]] for found in _STEM.finditer(_plain(text))]
    year, day = _YEAR.search(text), _DAY.search(text)
    if not (months and year and day):
        return ""
    counted = int(year[1]) - (543 if int(year[1]) > 2400 else 0)
    return calendar_day(counted, months[-1], int(day[1]))
