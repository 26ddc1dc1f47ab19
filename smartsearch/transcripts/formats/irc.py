"""IRC logs of clients, bouncers and bots. Joins, modes and notices are left out.

| writer | lines |
|---|---|
| irssi | `--- Day changed Tue May 09 2023`, `13:56 <@maya> text`, `13:56  * maya waves`, `13:57 -!- ...` |
| WeeChat | `2023-05-08 13:56:01<tab>@maya<tab>text`, `...<tab> *<tab>maya waves`, `...<tab>--><tab>...` |
| ZNC, energymech | `[13:56:01] <maya> text`, `... * maya waves`, `... *** Joins: ...`; date in the name |
| HexChat | `**** BEGIN LOGGING AT Mon May  8 13:50:00 2023`, `May 08 13:56:01 <maya><tab>text` |
| mIRC | `Session Start: Mon May 08 13:50:00 2023`, `Session Ident: #harbour`, `[13:56] <@maya> text` |
| Limnoria | `2023-05-08T13:56:01+0200  <maya> text`, `...  * maya waves`, `...  *** maya has joined ...` |
| The Lounge | `[2023-05-08T13:56:01.000Z] <@maya> text`, `... * @maya waves`, `... *** maya (...) joined` |
| Textual | `[2023-05-08T13:56:01+0200] <maya> text`, `... • maya waves` |
| IRCCloud | `[2023-05-08 13:56:01] <maya> text`, `... — maya waves`, `... → maya joined (...)` |
| eggdrop | `[00:00] --- Tue May  9 2023`, `[13:56] <maya> text`, `[13:56] Action: maya waves` |

A clock without a date takes it from the last line that gives one, else from the file's name, and where it
falls back by hours without such a line a day has passed. Times are the writer's, with the offset if it tells
one. Turns are lines; an indented or unstamped line goes on with the turn above.

Sources: znc/znc `modules/log.cpp`, log2timeline/plaso `xchatlog.py`, neostats `logserv` (mIRC), the logs that
parsers of irssi and HexChat on GitHub test with; chaoss/grimoirelab-perceval `tests/data/supybot`,
thelounge/thelounge `messageStorage/text.ts`, mbp/pisg `Format/eggdrop.pm` and `supy.pm`, ryan0n's
irccloud-parse-logs. Of Textual's no real log could be seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date, timedelta
from pathlib import PurePath
from typing import NamedTuple

from smartsearch.text.times import MONTHS, NAMED_DAY, to_iso
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_DETECT_LINES = 400
_PASSED = 6 * 60  # minutes that a clock falls back when a day has passed; a change of summer time is one hour

# mIRC's colours and weights, and the numbers that are left where a copy lost the control character.
_CODES = re.compile(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|[\x02\x0f\x11\x16\x1d\x1e\x1f]")
_COLOUR = re.compile(r"\d{2}(?=\[\d{2}:\d{2})")
_STAMP = (
    r"(?:\[?(?:(?P<date>\d{4}-\d{2}-\d{2}|\d{2}-[A-Z][a-z]{2}-\d{4})(?P<between>[ T])"
    r"|(?P<month>[A-Za-z]{3}) (?P<day>[ \d]\d) )?"
    r"(?P<clock>\d{1,2}:\d{2}(?::\d{2})?)(?:[.,]\d{1,6})?(?P<zone>Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9])?\]?)"
)
_LINE = re.compile(
    rf"{_STAMP}(?:\s{{0,3}}<(?P<mark>[ ~&@%+!*]?)(?P<nick>[^<>\s](?:[^<>\n]{{0,38}}[^<>\s])?)>(?:["
    rf" \t](?P<text>.*))?$"
    r"|\s{1,3}(?:(?P<sign>\*[ \t]?|[•—] |Action: )(?P<actor>[^\s*]{1,40})(?: (?P<deed>.*))?$|(?P<event>\S)))"
)
_COLUMNS = re.compile(
    r"(?P<date>\d{4}-\d{2}-\d{2}) (?P<clock>\d{2}:\d{2}:\d{2})\t(?P<who>[^\t]{0,40})\t(?P<text>.*)$"
)
_DATED = re.compile(
    r"(?:--- (?:Log opened|Log closed|Day changed)|\*\*\*\* (?:BEGIN|ENDING) LOGGING AT"
    r"|Session (?:Start|Time|Close)[^:\n]{0,60}:|\[\d{2}:\d{2}(?::\d{2})?\] ---) (?P<when>.{8,40})$"
)
_IDENT = re.compile(r"Session Ident: (?P<name>.{1,80})$")
_WHEN = re.compile(r"[A-Za-z]{3} (?P<month>[A-Za-z]{3}) {1,2}(?P<day>\d{1,2}) (?:[\d:]{8} )?(?P<year>\d{4})")
# What HexChat and mIRC write after the `*` that also begins an action. The host is what no action has.
_EVENT = re.compile(
    r"^\([^()\s]{1,80}@[^()\s]{1,120}\) |(?:has|have) (?:joined|left|quit|changed the topic)\b"
    r"|(?:is|are) now (?:known as|talking)|sets? mode|(?:gives|removes) (?:channel|voice)|was kicked"
    r"|has kicked|invites you|sets? ban"
)
_ABOUT = frozenset(
    ("now", "topic", "set", "you", "disconnected", "rejoined", "attempting", "retrieving", "users")
)
_NOT_NICKS = frozenset(("-->", "<--", "--", "=!=", "", "*", "***"))


class _Line(NamedTuple):
    """A stamped line: `kind` is `said`, `did` or `event`; date, month and offset as far as it gives them."""

    kind: str
    clock: str
    nick: str = ""
    text: str = ""
    day: str = ""
    month: int = 0
    monthday: int = 0
    zone: str = ""


def detect(source: Source) -> bool:
    """Whether half of the first lines are those of a log, and somebody speaks in them."""
    lines = [line for line in source.lines[:_DETECT_LINES] if line.strip()]
    found = [(line, _line(line)) for line in lines]
    said = [here.nick for _, here in found if here and here.kind == "said"]
    marked = sum(_DATED.match(line) is not None or _IDENT.match(line) is not None for line in lines)
    shaped = sum(here is not None for _, here in found)
    if not said or (len(said) < 2 and not marked) or (shaped + marked) * 2 < len(lines):
        return False
    if all("\t" in line for line, here in found if here and here.kind == "said" and here.day):
        columns = [line for line, here in found if here and here.day]
        if columns:  # a table of times and words: only where names recur, as those of people do
            return len(set(said)) < len(said) or source.suffix == ".weechatlog"
    return True


def _line(line: str) -> _Line | None:
    if not line[:1] or not (line[0].isdigit() or line[0] in "[\x03JFMASOND"):
        return None
    if "\x03" in line or "\x0f" in line or "\x02" in line or "\x1f" in line:
        line = _CODES.sub("", line)
    if "\t" in line and (found := _COLUMNS.match(line)):
        return _column(found)
    colour = _COLOUR.match(line)
    found = _LINE.match(line, colour.end() if colour else 0)
    if not found:
        return None
    month = _month(found["month"])
    zone = (found["zone"] or "").replace("Z", "+0000")
    when = (
        *(_day(found["date"] or ""), month, int(found["day"] or 0)),
        f"{zone[:3]}:{zone[-2:]}" if zone else "",
    )
    clock = found["clock"]
    if nick := found["nick"]:
        return _Line("said", clock, nick, found["text"] or "", *when)
    if actor := found["actor"]:
        deed = found["deed"] or ""
        # Only clients with other stamps and signs begin events with a star too.
        sure = found["sign"][0] != "*" or found["between"] == "T"
        if not sure and (actor.lower() in _ABOUT or actor[0] in "#-*" or _EVENT.search(deed[:300])):
            return _Line("event", clock, "", "", *when)
        return _Line("did", clock, actor.lstrip("~&@%+") or actor, deed, *when)
    return _Line("event", clock, "", "", *when)


def _column(found: re.Match[str]) -> _Line:
    who, text = found["who"].strip(), found["text"]
    if who == "*":
        nick, _, deed = text.partition(" ")
        return _Line("did", found["clock"], nick.lstrip("~&@%+"), deed, found["date"])
    if who in _NOT_NICKS or " " in who:
        return _Line("event", found["clock"], "", "", found["date"])
    return _Line("said", found["clock"], who.lstrip("~&@%+!"), text, found["date"])


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    state = _State(source, *_named(source))
    for number, line in enumerate(source.lines, 1):
        if dated := _DATED.match(line):
            yield from state.close()
            state.date_from(dated["when"])
        elif here := _line(line):
            yield from state.close()
            state.take(number, here)
        elif ident := _IDENT.match(line):
            state.conversation = ident["name"].strip()
        elif state.lines and line.strip():
            state.lines.append(line.strip())
    yield from state.close()


@dataclass
class _State:
    """The turn being read, and the date that the lines above it gave."""

    source: Source
    conversation: str
    day: date | None = None
    minutes: int = -1
    number: int = 0
    here: _Line | None = None
    time: str = ""
    lines: list[str] = field(default_factory=list)

    def take(self, number: int, here: _Line) -> None:
        """Begin a turn, or, for an event, only learn from its clock."""
        self.time = self._time(here)
        if here.kind != "event" and here.text.strip():
            self.number, self.here, self.lines = number, here, [here.text.strip()]

    def close(self) -> Iterator[Record]:
        """The turn read so far, if any."""
        if self.here:
            yield Turn(
                text="\n".join(self.lines),
                speaker=self.here.nick,
                time=self.time,
                path=self.source.path,
                line=self.number,
                conversation=self.conversation,
            )
        self.here, self.lines = None, []

    def date_from(self, written: str) -> None:
        """Take over the date of `Mon May 08 13:50:00 2023`."""
        found = _WHEN.search(written)
        if found and (month := _month(found["month"])):
            self.day, self.minutes = _date(int(found["year"]), month, int(found["day"])) or self.day, -1

    def _time(self, here: _Line) -> str:
        hour, minute, second = map(int, f"{here.clock}:0".split(":")[:3])
        if hour > 23 or minute > 59 or second > 59:
            return ""
        shown = f"T{hour:02}:{minute:02}:{second:02}"
        minutes = hour * 60 + minute
        if here.day:
            day = _date(*map(int, here.day.split("-")))
            return f"{day.isoformat()}{shown}{here.zone}" if day else ""
        if here.month:
            self._to_month(here.month, here.monthday)
        elif self.day and minutes + _PASSED < self.minutes:
            self.day = self.day + timedelta(days=1) if self.day < date.max else self.day
        self.minutes = minutes
        return f"{self.day.isoformat()}{shown}" if self.day else ""

    def _to_month(self, month: int, day: int) -> None:
        """HexChat's lines have no year: it is that of the head, one more once December turns to January."""
        if self.day:
            year = self.day.year + (self.day.month == 12 and month == 1)
            self.day = _date(year, month, day) or self.day


def _day(written: str) -> str:
    """The date of a stamp as ISO 8601, also of `08-May-2023`, which Limnoria's forerunner wrote."""
    return to_iso(written) if written[2:3] == "-" else written


def _month(name: str | None) -> int:
    lower = (name or "").lower()
    return MONTHS.index(lower) + 1 if lower in MONTHS else 0


def _date(year: int, month: int, day: int) -> date | None:
    try:
        return date(year, month, day)
    except ValueError:
        return None


_BUFFER = re.compile(r"^irc\.[^.]{1,60}\.(?=.)")  # WeeChat names a log after the buffer: irc.libera.#harbour


def _named(source: Source) -> tuple[str, date | None]:
    """The channel and the date in the path: `#harbour/2023-05-08.log`, `#harbour_20230508.log`."""
    stem = _BUFFER.sub("", source.stem)
    if not source.day:
        return stem, None
    name = NAMED_DAY.sub("", stem).strip(" -_.")
    return name or PurePath(source.path).parent.name or stem, date.fromisoformat(source.day)
