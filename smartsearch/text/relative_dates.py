"""What "last Friday" is in the calendar: relative dates of an English text, counted from the day it was said.

Only what has one meaning, or two that can both be named; "recently", "on Friday" and "a few days ago" stay as
they are. Knows no chat format and no clock.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = dict.fromkeys(("a", "an", "one"), 1) | {
    word: number
    for number, word in enumerate(
        ("two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"), start=2
    )
}
_DAY = {
    "the day before yesterday": -2,
    "the day after tomorrow": 2,
    "yesterday": -1,
    "last night": -1,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "this afternoon": 0,
    "this evening": 0,
    "tomorrow": 1,
}
_WHEN = {"last": -1, "this": 0, "next": 1}
_INEXACT = "".join(f"(?<!{word} )" for word in ("half", "of", "and", "or", "to", "over", "than", "ty"))
"""Not behind these: half a year, 2 or 3 days, more than a week, twenty one days ago."""
_PHRASE = re.compile(
    rf"\b(?:(?P<day>{'|'.join(_DAY)})"
    rf"|(?<!the )(?P<when>last|this|next) (?P<unit>{'|'.join(_DAYS)}|weekend|week|month|year)"
    rf"|{_INEXACT}(?<![.,–-])"
    rf"(?P<count>\d{{1,4}}|{'|'.join(_NUMBERS)}) (?P<ago>day|week|month|year)s? (?P<way>ago|from now))"
    r"\b(?:['’]s\b)?(?! of\b)(?!-)",
    re.I,
)


def with_dates(text: str, said: str) -> str:
    """`text` with `[= 2023-05-05]` behind each relative date; `said` is the ISO day it was said, or empty.

    A week is Monday to Sunday. "last Friday" is the one before the day it was said; "next Friday", which
    speakers mean in two ways, is the one to come and, where that is another, the one of the next week; so is
    "next weekend". "the next week" may count from another day and stays. A span of weeks counts days and is
    `about`; of months and years it names the month or the year.
    """
    try:
        day = date.fromisoformat(said)
    except ValueError:
        return text
    return _PHRASE.sub(lambda found: found[0] + _bracket(found, day), text)


def _bracket(found: re.Match[str], day: date) -> str:
    try:
        return f" [= {_meant(found, day)}]"
    except (ValueError, OverflowError):  # before the year 1 or after 9999
        return ""


def _meant(found: re.Match[str], day: date) -> str:
    if found["day"]:
        return str(day + timedelta(_DAY[found["day"].lower()]))
    if found["when"]:
        unit, step = found["unit"].lower(), _WHEN[found["when"].lower()]
        return _weekday(day, step, _DAYS.index(unit)) if unit in _DAYS else _PERIODS[unit](day, step)
    count = found["count"].lower()
    number = _NUMBERS[count] if count in _NUMBERS else int(count)
    return _SPANS[found["ago"].lower()](day, -number if found["way"].lower() == "ago" else number)


def _weekday(day: date, step: int, weekday: int) -> str:
    """The weekday (0 is Monday) before `day`, of its week, or to come."""
    of_week = _monday(day) + timedelta(weekday)
    if step == 0:
        return str(of_week)
    if step < 0:
        return str(of_week if of_week < day else of_week - timedelta(7))
    if of_week <= day:
        return str(of_week + timedelta(7))
    return f"{of_week} or {of_week + timedelta(7)}"


def _monday(day: date) -> date:
    return day - timedelta(day.weekday())


def _days(first: date, last: date) -> str:
    return f"{first} to {last}"


def _week(day: date, step: int) -> str:
    first = _monday(day) + timedelta(7 * step)
    return _days(first, first + timedelta(6))


def _weekend(day: date, step: int) -> str:
    """Saturday and Sunday: of the week, of the one before, or to come."""
    this = _monday(day) + timedelta(5)
    first = this + timedelta(7 * step)
    meant = _days(first, first + timedelta(1))
    return f"{_days(this, this + timedelta(1))} or {meant}" if step > 0 and day < this else meant


def _month(day: date, step: int) -> str:
    year, month = divmod(day.year * 12 + day.month - 1 + step, 12)
    return date(year, month + 1, 1).isoformat()[:7]


def _year(day: date, step: int) -> str:
    return date(day.year + step, 1, 1).isoformat()[:4]


_PERIODS: dict[str, Callable[[date, int], str]] = {
    "weekend": _weekend,
    "week": _week,
    "month": _month,
    "year": _year,
}
_SPANS: dict[str, Callable[[date, int], str]] = {
    "day": lambda day, step: str(day + timedelta(step)),
    "week": lambda day, step: f"about {day + timedelta(7 * step)}",
    "month": _month,
    "year": _year,
}
