"""The stamps of a chat's lines: what one looks like, and what those of a whole file tell together.

A stamp is a date and a clock in any of the ways that programs and people write them, a clock alone, or a
place in a recording (`0 minutes 4 seconds`, `00:00:04.120 --> 00:00:07.900`). What one stamp leaves open
its file decides (`Timeline`): stamps of one form have one order of day and month, words for the halves of
the day are learnt from their hours, and a clock that falls back begins a day.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta

from smartsearch.text.times import (
    ABROAD_HALF,
    ANY_MONTH,
    SHORT_DAY,
    WEEKDAY,
    Orders,
    calendar_day,
    clock,
    find_date,
    month_of,
    take_date,
    to_iso,
)

_WORD = r"[^\s\d!-/:-@\[-`{-~·—–|、。，：（）【】「」]"
_DAY_OF_WEEK = rf"(?=[^\W\d]){WEEKDAY}[.,]{{0,2}} {{1,2}}"
_SHORT_DAY = rf"(?=[^\W\d])(?<!\w)(?:(?<!\s){SHORT_DAY}[.,]{{0,2}}|{SHORT_DAY}[.,]{{1,2}}) (?=\d)"
_NUMBERS = "|".join(rf"\d{{1,4}}{mark}\d{{1,2}}{mark}\d{{1,4}}" for mark in ("-", "/", r"\.", r"\. "))
_EAST = r"(?:\d{4}\s?[年년]\s?)?\d{1,2}\s?[月월]\s?\d{1,2}\s?[日일]"
_EAST += r"(?:\s?[(（]?[^\W\d_]{1,3}[)）]|周[一二三四五六日])?"
_NAMED = (
    rf"\d{{1,2}}(?:st|nd|rd|th|er|º|\.)?(?: | de | of |[-/]){ANY_MONTH}\.?"
    r"(?:(?:,| de)? \d{4}(?!:)(?: [гр]\.?)?|[-/]\d{2,4})?"
    rf"|\d{{4}}\.? {ANY_MONTH} \d{{1,2}}\."
    rf"|{ANY_MONTH}\.? {{1,2}}\d{{1,2}}(?:st|nd|rd|th)?(?![:\d])(?:,? \d{{4}}(?![:\d]))?"
)
_RELATIVE = (
    r"(?:to-?day|yesterday|heute|gestern|hoy|ayer|aujourd['’]hui|hier|oggi|ieri|hoje|ontem|vandaag|gisteren"
    r"|сегодня|вчера|今天|昨天|今日|昨日|오늘|어제|dzisiaj|wczoraj)"
)
_NEAR = rf"(?:{_RELATIVE}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)"
_EARLY = rf"(?:{_WORD}{{1,14}}\.?\s|(?:上午|下午|午前|午後|오전|오후|凌晨|早上|晚上|中午)\s?)"
_ZONE = (
    r"(?:\s?(?:Uhr\b|Z\b|(?:UTC|GMT)(?:[+-]\d{1,2}(?::?\d\d)?)?\b|(?-i:[A-Z]{1,2}[SD]?T|CES?T)\b"
    r"|[+-]\d\d:?\d\d\b|(?:Eastern|Central|Mountain|Pacific) Time\b))?"
)
_HALF = (
    rf"(?:[ap]\.?\s?m\b\.?|{ABROAD_HALF}(?![^\W_])|(?-i:SA|CH|PG|PTG|TG|NM|VM)\b"
    rf"|(?!(?:Dr|Mrs?|Ms|Prof|St|Hr|Fr|Sra?|Ing|Mag)\.|(?-i:[A-Z])\.){_WORD}{{1,9}}\.(?:\s?{_WORD}{{1,6}}\.)?)"
)
_CLOCK = rf"\d{{1,2}}:\d\d(?::\d\d)?(?:[.,]\d{{1,9}})?(?:\s?{_HALF})?{_ZONE}"
_LOOSE = rf"\d{{1,2}}(?:[:.]|\s?h\s?)\d\d(?:[:.]\d\d)?(?:[.,]\d{{1,9}})?(?:\s?{_HALF})?{_ZONE}"
_BETWEEN = r"(?:T|-|\]\s?\[|[,،;]?\s{0,2}(?:(?:at|à|às|um|klo|kl\.?|alle|a las|om|в|[-–·@|])\s{1,2})?)"
_DATE = rf"(?:{_NUMBERS}|{_EAST}|{_NAMED})\.?(?:\s[гр]\.)?"
_SURE_DATE = (
    r"\d{4}-\d{1,2}-\d{1,2}|\d{4}/\d{1,2}/\d{1,2}|\d{1,2}\.\d{1,2}\.\d{4}|\d{1,2}/\d{1,2}/\d{4}"
    rf"|\d{{1,2}}\.? {ANY_MONTH}\.?,? \d{{4}}|{ANY_MONTH}\.? \d{{1,2}},? \d{{4}}"
)
_HOURS = r"\s?(?:h|hrs?|hours?|stunden?|heures?|horas?|ore|uur)\b"
_MINUTES = r"\s?(?:m|mins?|minut\w{0,3})\b"
_SECONDS = r"\s?(?:s|secs?|se[ck]und\w{0,2}|seconds?|secondes?)\b"
_AND = r",?(?: and| und| et| y| e)? ?"
_SPAN = (
    rf"\d{{1,3}}{_HOURS}{_AND}\d{{1,2}}{_MINUTES}(?:{_AND}\d{{1,2}}{_SECONDS})?"
    rf"|\d{{1,3}}{_MINUTES}{_AND}\d{{1,2}}{_SECONDS}|\d{{1,2}} (?:minut\w{{1,3}}|seconds?"
    rf"|se[ck]und\w{{1,3}})\b"
)
_SPOT = r"\d{1,4}:\d{1,2}(?::\d{1,2}){0,2}(?:[.,]\d{1,3})?"
_TO = r"(?:\s?(?:-->|->|–|—)\s?|\s-\s)"
_AT = r"\d{1,4}:\d\d(?::\d\d)?(?:[.,]\d{1,3})?"
STAMP = (
    rf"(?<![a-z\d:])(?:{_SPOT}{_TO}{_SPOT}"
    rf"|(?:{_DAY_OF_WEEK}|{_SHORT_DAY}|(?:le|am|den|on|el|il|em|op) )?(?:{_DATE}){_BETWEEN}{_EARLY}?{_LOOSE}"
    rf"(?:\s(?-i:[A-Z]{{3,4}})(?=\s\d{{4}}\b))?(?:\s\d{{4}}\b)?"
    rf"|(?:{_DAY_OF_WEEK})?{_CLOCK}(?:[,;]?\s(?:{_DATE}))?|\d{{3,4}}:\d\d(?::\d\d)?"
    rf"|{_NEAR}{_BETWEEN}{_CLOCK}"
    rf"|\d{{1,2}}[-/.]\d{{1,2}}\.?,?\s(?:at )?{_CLOCK}"
    rf"|(?:{_SURE_DATE})(?=[\s,:\])|*_])|(?<=commented )on (?:{_SURE_DATE})|{_SPAN}|\d{{1,3}}s(?=\s?[)\]])"
    r"|\d{1,3}\s?(?:[hdwmy]|mo|min\w{0,4}|hours?|days?|weeks?|months?|years?) ago)(?![^\W_]|:\d)"
)
"""What a stamp looks like, for a pattern compiled with `re.I`. Bounded in every part; without groups."""
_PLACE = re.compile(rf"(?P<from>{_SPOT}){_TO}{_SPOT}|(?P<at>{_AT})|(?P<span>{_SPAN}|\d{{1,3}}s)", re.I)
_SHORT = re.compile(r"(\d{1,2})[-/.](\d{1,2})\.?,?\s(?:at )?(?=\d{1,2}[:.]\d\d)", re.ASCII)
_ALONE = re.compile(r"([01]?\d|2[0-3]):([0-5]\d)(?::([0-5]\d))?", re.ASCII)
"""A clock and no more, as most stamps without a date are."""
_UNKNOWN = re.compile(rf"{_RELATIVE}(?![^\W_])", re.I)
_PARTS = re.compile(r"(\d{1,3})\s?(\w)")
_PASSED = 6 * 60
"""Minutes that a clock falls back when a day has passed; a change of summer time is one hour."""
_YEARLESS = re.compile(
    rf"(?<![\d/.])(?:(?P<n>\d{{1,2}})\.? (?:de )?(?P<month>{ANY_MONTH})|(?P<month2>{ANY_MONTH})\.?"
    rf" {{1,2}}(?P<n2>\d{{1,2}})"
    r"|(?P<east>\d{1,2})\s?[月월]\s?(?P<n3>\d{1,2}))(?![\d:])",
    re.I,
)


def seconds(stamp: str) -> int | None:
    """The place in a recording that a stamp may be: seconds from its begin on, None for a date."""
    found = _PLACE.fullmatch(stamp.strip())
    if not found:
        return None
    if found["span"]:
        units = {unit.lower(): int(number) for number, unit in _PARTS.findall(stamp)}
        return sum(units.get(unit, 0) * many for unit, many in (("h", 3600), ("m", 60), ("s", 1)))
    whole = (found["from"] or found["at"]).replace(",", ".").partition(".")[0]
    at = 0
    for part in whole.split(":")[:3]:  # a fourth part counts pictures
        at = 60 * at + int(part)
    return at


def place(at: int) -> str:
    """Seconds as `00:12:31`."""
    return f"{at // 3600:02}:{at // 60 % 60:02}:{at % 60:02}"


def yearless(text: str, before: str) -> str:
    """The day that a text tells without a year: in the year of the day `before` it, or one later; or ""."""
    found = _YEARLESS.search(text) if before else None
    if not found:
        return ""
    month = int(found["east"]) if found["east"] else month_of(found["month"] or found["month2"])
    day = calendar_day(int(before[:4]), month, int(found["n"] or found["n2"] or found["n3"]))
    late = before[5:7] == "12" and month == 1
    return calendar_day(int(before[:4]) + 1, month, int(day[8:])) if day and late else day


def _nearest(one: int, other: int, before: str) -> str:
    """The day of a month and a day, in either order, that is nearest to the day `before` it; "" without."""
    if not before:
        return ""
    year, last = int(before[:4]), date.fromisoformat(before)
    days = (calendar_day(at, *told) for at in (year, year + 1) for told in ((one, other), (other, one)))
    return min(filter(None, days), key=lambda day: abs(date.fromisoformat(day) - last), default=before)


def day_above(lines: Sequence[str]) -> str:
    """The one day that the lines above a chat's first turn tell, but for that of an export; or ""."""
    told = [line for line in lines[-_ABOVE:] if len(line) < _LONGEST and not _TAKEN_OUT.search(line)]
    orders = Orders.of(told)
    days = {day for line in told if (day := find_date(line, day_first=orders.day_first(line)))}
    return days.pop() if len(days) == 1 else ""


_ABOVE, _LONGEST = 500, 200
_TAKEN_OUT = re.compile(r"export|backup|saved|printed|generated|downloaded", re.I)


@dataclass
class Timeline:
    """The times of a file's turns, asked for in file order; `day` is the one read last, "" where none is.

    Where it `rolls` a clock that falls back has passed midnight.
    """

    orders: Orders
    halves: dict[str, bool]
    day: str = ""
    rolls: bool = False
    _last: int = field(default=-1, repr=False)

    def on(self, day: str) -> None:
        """A line of its own tells the day."""
        self.day, self._last = day, -1

    def at(self, stamp: str) -> str:
        """The time of a stamp as ISO 8601; the day read last where it tells none, "" if there is none."""
        if found := _ALONE.fullmatch(stamp):
            hour = f"{found[1]:0>2}:{found[2]}:{found[3] or '00'}"
            if self.rolls:
                self._roll(hour)
            return f"{self.day}T{hour}" if self.day else ""
        if _UNKNOWN.match(stamp):  # of the day on which it was copied
            self.on("")
            return ""
        if time := to_iso(stamp, day_first=self.orders.day_first(stamp)):
            self.day = time[:10]
            if "T" in time:
                self._last = int(time[11:13]) * 60 + int(time[14:16])
                return time
        day, rest = take_date(stamp, self.orders.day_first(stamp))
        if day:  # and a word for half of the day, or before the clock
            self.day, stamp = day, rest
        elif day := yearless(stamp, self.day):
            self.on(day)
            stamp = _YEARLESS.sub("", stamp, count=1)
        elif found := _SHORT.match(stamp):
            self.on(_nearest(int(found[1]), int(found[2]), self.day))
            stamp = stamp[found.end() :]
        hour = clock(stamp, self.halves) or (clock(stamp.rpartition(" ")[2]) if day else "")
        if hour and self.rolls and not (time or day):
            self._roll(hour)
        return f"{self.day}T{hour}" if hour and self.day else self.day

    def _roll(self, hour: str) -> None:
        minutes = int(hour[:2]) * 60 + int(hour[3:5])
        if self.day and minutes + _PASSED < self._last:
            found = date.fromisoformat(self.day)
            self.day = (found + timedelta(days=1)).isoformat() if found < date.max else self.day
        self._last = minutes
