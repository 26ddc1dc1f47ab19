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
| Minecraft | `[13:56:01] [Server thread/INFO]: <maya> text`, `... [Render thread/INFO]: [CHAT] <maya> text` |

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
from collections import Counter
from pathlib import PurePath

from smartsearch.text.times import NAMED_DAY, calendar_day, to_iso
from smartsearch.transcripts.formats.chat_layout import session
from smartsearch.transcripts.formats.textform import Opened, Opens, Told, written
from smartsearch.transcripts.source import Source

# mIRC's colours and weights, and the numbers that are left where a copy lost the control character.
_CODES = re.compile(r"\x03(?:\d{1,2}(?:,\d{1,2})?)?|[\x02\x0f\x11\x16\x1d\x1e\x1f]")
_COLOUR = re.compile(r"\d{2}(?=\[\d{2}:\d{2})")
_STAMP = (
    r"\[?(\d{10}(?= )"
    r"|(?:(?P<date>\d{4}-\d{2}-\d{2}|\d{2}-[A-Z][a-z]{2}-\d{4})(?P<between>[ T])|[A-Za-z]{3} [ \d]\d )?"
    r"\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,6})?(?:Z|[+-](?:[01][0-9]|2[0-3]):?[0-5][0-9]|\s?[ap]m)?)\]?"
)
_THREAD = (
    r"(?: \[(?:[^\[\]\n]{1,60}/)?INFO\](?: \[[^\[\]\n]{1,60}\])?:?(?: \[(?:CHAT|System|Not Secure)\]){0,2})?"
)
"""What Minecraft writes between the time and who speaks."""
_LINE = re.compile(
    rf"{_STAMP}{_THREAD}(?:\s{{0,3}}<(?P<mark>[ ~&@%+!*]?)\s{{0,24}}"
    r"(?P<nick>[^<>\s](?:[^<>\n]{0,38}[^<>\s])?)>(?:[ \t](?P<text>.*))?$"
    r"|\s\[(?P<server>Server)\] (?P<told>.*)$"
    r"|\s{1,24}(?:(?P<sign>\*[ \t]?|[•—] |Action: )(?P<actor>[^\s*]{1,40})(?: (?P<deed>.*))?$|(?P<event>\S))"
    r"|-!- )"
)
_RELAYED = re.compile(r"<[~&@%+]?([^<>\s](?:[^<>\n]{0,38}[^<>\s])?)> (\S.*)$")
"""Who speaks elsewhere, as a bridge to another network tells it."""
_COLUMNS = re.compile(r"(?P<stamp>\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2})\t(?P<who>[^\t]{0,40})\t(?P<text>.*)$")
_DATED = re.compile(
    r"(?:--- (?:Log opened|Log closed|Day changed)|\*\*\*\* (?:BEGIN|ENDING) LOGGING AT"
    r"|Session (?:Start|Time|Close)[^:\n]{0,60}:|\[\d{2}:\d{2}(?::\d{2})?\] ---) (?P<when>.{8,40})$"
)
_EAST = re.compile(r"(?P<month>\d{1,2})月 {1,2}(?P<day>\d{1,2}) (?:[\d:]{5,8} )?(?P<year>\d{4})")
_IDENT = re.compile(r"Session Ident: (?P<name>.{1,80})$")
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


def detect(source: Source) -> bool:
    """Whether half of the first lines are those of a log, and somebody speaks in them."""
    lines = written(source)
    found = [(line, _line(line)) for line in lines]
    said = [here.name for _, here in found if here and here.more == "said"]
    marked = sum(_DATED.match(line) is not None or _IDENT.match(line) is not None for line in lines)
    shaped = sum(here is not None for _, here in found)
    if not said or (len(said) < 2 and not marked) or (shaped + marked) * 2 < len(lines):
        return False
    columns = [line for line, here in found if here and _COLUMNS.match(line)]
    if columns and all("\t" in line for line, here in found if here and here.more == "said"):
        # a table of times and words: only where names recur, as those of people do
        return len(set(said)) < len(said) or source.suffix == ".weechatlog"
    return True


def _opens(source: Source) -> Opens:
    """What a line opens; whose every message tells another's nick is a bridge, and those speak."""
    said = [here for line in written(source) if (here := _line(line)) and here.more == "said"]
    relayed = Counter(here.name for here in said if _RELAYED.match(here.text))
    counts = Counter(here.name for here in said)
    told = {found[1] for here in said if (found := _RELAYED.match(here.text))}
    bridges = {
        name for name, many in relayed.items() if 2 < many == counts[name] and not told & counts.keys()
    }

    def opens(line: str) -> Opened | None:
        here = _opened(line)
        told = _RELAYED.match(here.text) if here and here.name in bridges else None
        return here._replace(name=told[1], text=told[2]) if here and told else here

    return opens if bridges else _opened


def _opened(line: str) -> Opened | None:
    """A stamped line, or one that tells the day or the channel of those below."""
    here = _line(line)
    if (here is None or here.name is None) and (dated := _DATED.match(line)):
        east = _EAST.search(dated["when"])
        day = calendar_day(int(east["year"]), int(east["month"]), int(east["day"])) if east else ""
        return Opened(day=day or to_iso(dated["when"])[:10])
    if here is None and line[:1] in "-=*#" and (begun := session(line)) and begun[1]:
        return Opened(day=begun[1])
    ident = None if here else _IDENT.match(line)
    return Opened(room=ident["name"].strip()) if ident else here


def _line(line: str) -> Opened | None:
    """A stamped line; `more` is `said` where it is no deed and no event."""
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
    stamp = found[1]
    if nick := found["nick"]:
        return Opened(nick, found["text"] or "", stamp, "said")
    if found["server"]:
        return Opened(found["server"], found["told"], stamp, "said")
    if actor := found["actor"]:
        deed = found["deed"] or ""
        # Only clients with other stamps and signs begin events with a star too.
        sure = found["sign"][0] != "*" or found["between"] == "T"
        if sure or not (
            actor.lower() in _ABOUT or actor[0] in "#-*" or actor[-1] == ":" or _EVENT.search(deed[:300])
        ):
            return Opened(actor.lstrip("~&@%+") or actor, deed, stamp)
    return Opened(stamp=stamp)


def _column(found: re.Match[str]) -> Opened:
    who, text, stamp = found["who"].strip(), found["text"], found["stamp"]
    if who in ("*", "…"):
        nick, _, deed = text.partition(" ")
        return Opened(nick.lstrip("~&@%+"), deed, stamp)
    if who in _NOT_NICKS or not any(map(str.isalnum, who)):
        return Opened(stamp=stamp)
    return Opened(who.lstrip("~&@%+!"), text, stamp, "said")


def _said(here: Opened, below: list[str], _: Opened | None) -> tuple[str, str] | None:
    """What was said, with the wrapped lines below; None for an empty line."""
    text = here.text.strip()
    return ("\n".join(filter(None, [text, *map(str.strip, below)])) if below else text, "") if text else None


_BUFFER = re.compile(r"^irc\.[^.]{1,60}\.(?=.)")  # WeeChat names a log after the buffer: irc.libera.#harbour


def _named(source: Source) -> str:
    """The channel in the path: `#harbour/2023-05-08.log`, `#harbour_20230508.log`."""
    stem = _BUFFER.sub("", source.stem)
    if not source.day:
        return stem
    return NAMED_DAY.sub("", stem).strip(" -_.") or PurePath(source.path).parent.name or stem


FORMS = {"irc": Told(detect, _opens, lambda _: _said, called=_named)}
