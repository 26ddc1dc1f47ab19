"""The head of a chat's turns, inferred from the file: how stamp, name and marks stand before the text.

A head is written as people would state it: `[TIME] NAME: TEXT`, `NAME, [TIME]` with the text below, `NAME`
on one line and `TIME` on the next. Every line suggests the heads that it may have (`_suggested`); the one
that explains most lines, with the fewest names that speak once, is the file's (`infer`). Names are what
recurs at that place: no pattern of capitals tells them. What programs log is no chat, however well it fits.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import pairwise, takewhile

from smartsearch.errors import InputError
from smartsearch.text.stamps import STAMP, seconds
from smartsearch.text.times import WEEKDAY
from smartsearch.transcripts.formats.speakers import (
    BADGES,
    Opening,
    is_label,
    is_particle,
    looks_like_name,
    may_be_name,
    role,
    unlike,
)

_LONGEST = 240  # characters of a line in which its head ends
_WIDEST = 70  # characters of a stamp at a line's end
_STAMPED = re.compile(STAMP, re.I)
_NEW = ("", "New", "NEW", "Neu", "Nuevo", "Nouveau", "Novo", "Nuovo", "Nieuw", "Ny", "Nowe", "新着", "新消息")
"""What may stand above a head that a blank line sets off: where windows show what is new."""
_TIMED = re.compile(r"\d[:.]\d\d|\d ?(?:[hm] ?\d|min|sec|sek|s ?[)\]])| ago\b| commented on ", re.I)
"""What a line with a stamp has at least."""
_MARKED = re.compile(r"[:：<>【「\t—]|^\s*[\[({#*_]| [-–→] ")
"""What a line with a name and no stamp has."""
_LEAD = re.compile(r"\s{0,40}[\s>@#*•\-–—(\[<{【「_`]{0,12}")
_MARKS = re.compile(r"[\s\])}>|,;:：\-–—*_•(\[<{【「`]{0,12}(?:from (?=\S))?", re.I)
_PAIRS = {"<": ">", "[": "]", "(": ")", "{": "}", "【": "】", "「": "」", "**": "**", "__": "__"}
_PAIRS |= {"*": "*", "_": "_", "`": "`"}
_CLOSING = tuple(">]】」}")
_BEHIND = re.compile(r"[\s\])}>】」*_`|:：\-–—]{0,8}")
_COLON = re.compile(r"\s?(?::(?=\s|$|\*\*)|：)")
_PROMPT = re.compile(r"[^\s<>]{1,40}(> )")
_THREADED = re.compile(r"\|\s{1,4}(?=> )")
"""What slackdump writes before the answers in a thread."""
_CODES = re.compile(r"\|H[^|\n]{0,80}\|h|\|[hr]|\|c[0-9a-f]{8}")
"""What World of Warcraft writes for links and colours."""
_COMMENTED = " commented"
"""What GitHub writes between who speaks and the day."""
_DASH = re.compile(r"\s(?:[-–—|»>→]|::)\s|—(?=\S)")
_CLOSED = re.compile(r"[\s\])}】」:：,*_`]{0,6}")
_OPENERS = " \t\xa0[(<{【「,-–—|»@•·*_`:："
_BLANKS = re.compile(r"[^\S\n]+")
_COLUMN = re.compile(r"\t|  ")
_WORDS = 7
_PREAMBLE = 80  # lines of title, summary and names before the first turn
_FEW = 6
"""Turns of a short file, whose speakers may speak once, and lines that may stand above them."""
_ID = re.compile(r"\s?[\[(<](?:[A-Z0-9]{5,24}|\d{4}|[^\s<>()\[\]]{1,64}@[^\s<>()\[\]]{1,100})[\])>]$")
_RECEIVER = re.compile(
    r" \((?:(?:to|an|à|a|para) (?:[^()]|\([^()]*\))*|pinned|edited)\)$| (?:→|->) [^→>]{1,60}$"
    r"| to (?:everyone|.{1,60} \(privately\))$| sent the following messages? at$"
)
_INITIALS = re.compile(r"(?:[^\W\d_]\.){1,4}")
_VOICES = "~&@%+!"
"""Marks of rank before a nick."""
_CHANNEL = "[CHANNEL] "
_DOTTED = "NAME. TEXT"
"""How plays and parliaments write: names in capitals, or with a title."""
_TITLE = r"(?:Mr|Mrs|Ms|Miss|Mme|Mlle|MM?|Dr|Sir|Lord|Lady|Herr|Frau|Senator|MR|MRS|MS|DR)\.? "
_CAPITALS = r"(?:Mc|Mac)?[^\W\d_a-zß-öø-ÿ](?:[^\W\d_a-zß-öø-ÿ]|['’-]){1,24}"
_BEFORE_DOT = re.compile(
    rf"\s{{0,8}}(?P<name>{_TITLE}[^\s.:;?!()]{{2,30}}(?: [^\s.:;?!()]{{1,30}}){{0,12}}"
    rf"|(?!{_TITLE})(?:(?:The|THE) )?{_CAPITALS}(?: (?:(?:and|und|et|y|e) )?{_CAPITALS}){{0,3}}"
    r"(?: pro tempore)?)"
    r"(?:(?:, [^\s.][^.\n]{1,60}| \([^()\n]{1,80}\)| \[[^\[\]\n]{1,80}\])?\. | (?=\[))(?P<text>\S.*)"
)
_PIECES = re.compile(r"(TIME|NAME|TEXT|\[CHANNEL\] |\n)")
_LEVELS = (
    "trace|debug|verbose|silly|info|information|notice|note|log|warn|warning|err|error|severe|crit|critical|fatal"
    "|alert|emerg|panic|statement|detail|hint|success|failure|failed|fine|finest|http|stderr|stdout|pass|fail"
)
_TITLED = re.compile(r"(?:the|a|act|scene|part|chapter|akt|szene|persons?|personen|cast) ", re.I)
"""How titles begin, which stand alone on their lines as names do."""
_LEVEL = re.compile(rf"(?:\W|^)(?:{_LEVELS})(?:\W|$)|\w\[\d{{1,7}}\]:", re.I)
"""What a line of a log has: a level, or the number of a process."""
_DATING = re.compile(r"(?:\b|[-_])(?:date|time|datum|zeit|fecha|(?<!#)(?:19|20)\d\d)$", re.I)
"""How labels of a time end, and works that are cited."""
_SENTENCE_END = ".!?…。！？;,"


@dataclass(frozen=True)
class Head:
    """A head by its `written` form: places for `TIME`, `NAME` and `TEXT`, and the marks between them.

    A line end in it stands for one, and at its begin for a blank line; without `TEXT` the text stands in
    the lines below. `[CHANNEL]` before the name is left out, and not every line needs one.
    """

    written: str

    @classmethod
    def stated(cls, said: str) -> Head:
        """A head as a person states it, and as `shown` tells it: ` / ` ends a line. Raises InputError."""
        written = re.sub(r"\s?TAB\s?", "\t", said.strip()).replace(" / ", "\n").removesuffix("\nTEXT")
        if written.count("NAME") != 1 or written.count("TEXT") > 1 or "TEXT" in written.rpartition("TEXT")[0]:
            hint = "as in 'TIME NAME: TEXT', or with the text in the lines below 'NAME, [TIME] / TEXT'"
            raise InputError(f"no head of turns: {said!r} has not one NAME", hint=hint, kind="unknown_head")
        return cls(written)

    @cached_property
    def _lines(self) -> tuple[_Part, ...]:
        return tuple(map(_Part.of, self.written.lstrip("\n").split("\n")))

    @cached_property
    def _unnamed(self) -> _Part | None:
        """Of a line with a stamp in the same place, and no name."""
        before, _, _ = self.written.partition("NAME")
        if "TIME" not in before or "\n" in before:
            return None
        marks = before.rpartition("TIME")[2].rstrip("<[({【「*")
        return _Part.of(f"{before.rpartition('TIME')[0]}TIME{marks}{'' if marks[-1:].isspace() else ' '}TEXT")

    @property
    def has_time(self) -> bool:
        """Whether the head has a place for a time."""
        return "TIME" in self.written

    @property
    def is_bare(self) -> bool:
        """Whether it is a name alone on its line, and no mark tells it."""
        return self.written == "NAME"

    @property
    def above(self) -> bool:
        """Whether its text stands in the lines below."""
        return "TEXT" not in self.written

    @property
    def shown(self) -> str:
        """As a person reads it: `[TIME] NAME: TEXT`."""
        written = self.written.lstrip("\n").replace("\n", " / ").replace("\t", " TAB ")
        return written + (" / TEXT" if self.above else "")

    def at(self, lines: Sequence[str], number: int) -> tuple[Opening, int] | None:
        """What the line of that number (1-based) opens, and the last line of its head; None for no head."""
        parts, end = self._begun(lines, number)
        apart = self.is_bare or self.written[0] == "\n"
        if parts is None or (apart and number > 1 and lines[number - 2].strip() not in _NEW):
            return None
        for part in self._lines[1:]:
            end += end < len(lines) and _TAGGED.fullmatch(lines[end]) is not None
            told = part.of_line(unlinked(lines[end])) if end < len(lines) else None
            if told is None:
                return None
            parts, end = told | parts, end + 1
        if parts["name"][:2] == "r/" and end < len(lines):  # of Reddit's first post, below its forum
            parts["name"], end = lines[end], end + 1
        name = "" if parts["name"][:3] == "***" else _tidied(parts["name"])
        if "<" in self.written:
            name = name if name[1:2].isdigit() else name.lstrip(_VOICES).strip() or name
        if self.written == _DOTTED:
            name = name.partition(", ")[0]
        if not name:
            return None
        style = "stamped" if self.has_time else "plain"
        here = Opening(style, parts.get("time", "").strip(), name, parts.get("text", "").strip())
        return here, end

    def _begun(self, lines: Sequence[str], number: int) -> tuple[dict[str, str] | None, int]:
        """The parts of a head's first line, with what stands between name and time below; where it ends."""
        line, first = lines[number - 1], self._lines[0]
        parts = first.of_line(unlinked(line))
        below = lines[number] if parts is None and len(self._lines) == 1 and number < len(lines) else ""
        if rest := _BEGUN.match(below):
            verb = _COMMENTED if rest[0] == _OPENED else ""
            return first.of_line(unlinked(f"{line}{verb} {below[rest.end() :]}")), number + 1
        if number + 1 < len(lines) and _BADGE.fullmatch(below):
            return first.of_line(unlinked(f"{line}{lines[number + 1]}")), number + 2
        return parts, number

    def goes_on(self, lines: Sequence[str], number: int) -> str:
        """The stamp of a line that is no more, with which a speaker of such a head goes on; "" for none."""
        line = lines[number - 1]
        if not (
            self.has_time
            and self.above
            and len(line) < _WIDEST
            and _TIMED.search(line)
            and _is_stamp(line.strip())
        ):
            return ""
        below = "".join(lines[number : number + 1]).strip()
        alone = not below or _is_stamp(below) or self.at(lines, number + 1)
        stamp = None if alone else _STAMPED.search(line)
        return stamp[0] if stamp else ""

    def unnamed(self, line: str) -> Opening | None:
        """A line that begins as heads do and names nobody, such as who came and went."""
        told = self._unnamed.of_line(line) if self._unnamed else None
        return Opening("stamped", told["time"].strip(), "", told["text"].strip()) if told else None


@dataclass(frozen=True)
class _Part:
    """One line of a head: what stands before the stamp, and behind it; without a stamp all is `behind`."""

    before: re.Pattern[str] | None
    behind: re.Pattern[str]
    leads: bool = False
    ends: bool = False

    @classmethod
    @lru_cache(maxsize=256)
    def of(cls, written: str) -> _Part:
        before, time, behind = written.partition("TIME")
        if not time:
            return cls(None, _compiled(written))
        return cls(
            _compiled(before),
            _compiled(behind.replace("TIME", "")),
            "NAME" not in before,
            "TEXT" not in behind,
        )

    def of_line(self, line: str) -> dict[str, str] | None:
        """The parts of a line, None where it is not written so."""
        if self.before is None:
            found = self.behind.fullmatch(line)
            return found.groupdict() if found else None
        if self.leads:
            begin = _leading(self.before, line)
            stamp = _STAMPED.match(line, begin) if begin is not None else None
            told: dict[str, str] = {}
        else:
            begin = max(1, len(line) - _WIDEST) if self.ends else 1
            timed = (
                _TIMED.search(line, begin - 1, _LONGEST) if len(line) < _LONGEST or not self.ends else None
            )
            if not timed:
                return None
            short = self.before.match(line)
            at = short.end() if short else 0
            stamp = _STAMPED.match(line, at) if begin <= at <= timed.start() else None
            stamp = stamp or _STAMPED.search(line, begin)
            first = self.before.fullmatch(line[: stamp.start()]) if stamp else None
            if not first:
                return None
            told = first.groupdict()
        found = self.behind.fullmatch(line, stamp.end()) if stamp else None
        return {"time": stamp[0], **told, **found.groupdict()} if stamp and found else None


@lru_cache(maxsize=4096)
def _tidied(name: str) -> str:
    """A name without badges, stars and quotes, and without an account's id or a receiver behind it."""
    badges = BADGES.match(name)
    bare = name[badges.end() if badges else 0 :].strip().strip('*"\u2068\u2069')
    bare = bare.strip("_") if bare[:1] == bare[-1:] == "_" else bare
    alone = _ID.sub("", bare.rstrip(" :»|·•").removesuffix(" ^")).partition(" -- ")[0]
    return _RECEIVER.sub("", alone).removeprefix("Postby ") or name


def _leading(before: re.Pattern[str], line: str) -> int | None:
    found = before.match(line)
    return found.end() if found else None


def _compiled(part: str) -> re.Pattern[str]:
    """The pattern of what stands on one side of a stamp, or of a whole line without one."""
    if part == _DOTTED:
        return _BEFORE_DOT
    pieces = [piece for piece in _PIECES.split(part) if piece]
    written = [r"\s{0,40}" if not pieces or pieces[0] != "TEXT" else ""]
    if not part.strip():
        pieces, written = [], [rf"{_STATUS}{_gap(part) if part else ''}\s{{0,40}}{_ARRIVED}"]
    for n, piece in enumerate(pieces):
        if piece == "NAME":
            closing = pieces[n + 1].strip()[:1] if n + 1 < len(pieces) else ""
            barred = re.escape(closing) if closing in _CLOSING else ""
            written.append(rf"(?P<name>[^\s{barred}](?:[^\n\t{barred}]{{0,79}}?[^\s{barred}])??)")
        elif piece == "TEXT":
            written.append(r"(?P<text>.*)")
        elif piece == _CHANNEL:
            written.append(r"(?:\[[^\[\]\n]{1,40}\]\s+)?")
        else:
            written.append(_literal(piece))
    return re.compile("".join(written) + ("" if part.endswith("TEXT") else r"\s*"))


def _literal(piece: str) -> str:
    """The pattern of marks; a colon is of either width, and behind it a blank, or the text of a full one."""
    made = ""
    for found in re.finditer(r"[^\S\n]+|[:：]\s*|.", piece):
        mark = found[0]
        if mark[0] in ":：":
            made += r"\s?(?::(?!\S)|：)\s*" if found.end() == len(piece) else r"\s?[:：]\s*"
        elif mark.isspace():
            alone = found.end() == len(piece) and piece[found.start() - 1 :][:1] in _CLOSING
            made += rf"(?:{_gap(mark)}|$)" if alone else _gap(mark)
        else:
            made += re.escape(mark)
    return made


def _gap(mark: str) -> str:
    return r"\s*\t\s*" if "\t" in mark else r"[^\S\n]{2,}" if len(mark) > 1 else r"[^\S\n]+"


def _spaced(marks: str) -> str:
    return _BLANKS.sub(lambda found: "\t" if "\t" in found[0] else "  " if len(found[0]) > 1 else " ", marks)


def _suggested(line: str) -> Iterator[str]:
    """The heads that a line may have."""
    line = unlinked(line[:_LONGEST])
    if (". " in line[:_WIDEST] or " [" in line[:_WIDEST]) and _BEFORE_DOT.match(line):
        yield _DOTTED
    timed = _TIMED.search(line)
    if not timed and not _MARKED.search(line, 0, 90):
        return
    lead = _LEAD.match(line)
    begin = lead.end() if lead else 0
    before = line[:begin].lstrip()
    stamp = _STAMPED.search(line, begin) if timed else None
    if stamp and stamp.start() == begin:
        for rest in _named(line[stamp.end() :], alone=True):
            yield _spaced(f"{before}TIME{rest}")
    elif stamp and stamp.start() < 100:
        yield from _stamp_behind(line, begin, before, stamp)
    if not (stamp and stamp.start() == begin):
        for rest in _named(line[begin:], alone="#" in before, opened=before):
            yield _spaced(f"{before.removesuffix('[') if rest.startswith(_CHANNEL) else before}{rest}")


def _stamp_behind(line: str, begin: int, before: str, stamp: re.Match[str]) -> Iterator[str]:
    """Heads in which the name stands before the stamp."""
    between = line[begin : stamp.start()]
    name = between.rstrip(_OPENERS).removesuffix(_COMMENTED)
    if name[-1:] and before[-1:] and _PAIRS.get(before[-1]) == name[-1]:
        name = name[:-1].rstrip()
    behind = line[stamp.end() :]
    closed = _CLOSED.match(behind)
    marks, text = (closed[0], behind[closed.end() :]) if closed else ("", behind)
    if not name or len(name.split()) > _WORDS + 2:
        return
    middle = between[len(name) :]
    if text and not re.search(r"[:：\])]|\t|\s\s", marks):
        return
    yield _spaced(f"{before}NAME{middle}TIME{marks.rstrip() if not text else marks}{'TEXT' if text else ''}")


def _named(rest: str, *, alone: bool, opened: str = "") -> Iterator[str]:
    """What may stand from behind a stamp on, or from a line's begin: marks, a name, marks, and the text."""
    found = _MARKS.match(rest) if not opened else None
    marks = found[0] if found else ""
    told = rest[len(marks) :]
    opener = next((pair for pair in _PAIRS if (marks or opened).rstrip().endswith(pair)), "")
    if opener:
        end = told.find(_PAIRS[opener])
        if 0 < end <= 80:
            behind = _BEHIND.match(told[end:])
            mark = told[end - 1] if told[end - 1] in ":：" else ""
            closing = mark + (behind[0] if behind else _PAIRS[opener])
            end -= len(mark)
            text = told[end + len(closing) :]
            yield f"{marks}NAME{closing if text else closing.rstrip()}{'TEXT' if text else ''}"
            if opener == "[" and closing == "] ":
                before = marks.removesuffix("[")
                yield from (f"{before}{_CHANNEL}{rest}" for rest in _named(text, alone=False))
    if colon := _COLON.search(told[:90]):
        full = "：" in colon[0]
        text = told[colon.end() :].strip()
        yield f"{marks}NAME{'：' if full else ':'}{'' if not text else 'TEXT' if full else ' TEXT'}"
    if alone and told.strip() and len(told) <= 80:
        yield f"{marks}NAME"
    if gap := _COLUMN.search(told[:60].rstrip()):
        yield f"{marks}NAME{gap[0]}TEXT"
    if (dash := _DASH.search(told[:80])) and (alone or "|" not in marks):
        yield f"{marks}NAME{dash[0]}TEXT"
    elif not opener and (bracket := _PROMPT.match(told)):
        yield f"{marks}NAME{bracket[1]}TEXT"


def _of_lines(lines: Sequence[str]) -> Iterator[str]:
    """The heads of more than one line, about each line that is only a stamp."""
    for n, line in enumerate(lines):
        bare = unlinked(line).strip()
        above = lines[n - 1].strip() if n else ""
        if above and bare[:1] in "[(" and len(above) <= 80 and (begun := _BRACKETED.match(bare)):
            yield f"NAME\n{begun['opens']}TIME{begun['closes']} TEXT"
        if above and bare[:2] == "— " and len(above) <= 80 and _is_stamp(bare[2:]):
            yield f"NAME\n— {_stamp_in(bare[2:])}"
        if not bare or len(bare) > 60 or not _TIMED.search(bare) or not _is_stamp(bare):
            continue
        if n > 1 and above in ("—", "-", "•", "·", "|", ",") and lines[n - 2].strip():
            yield f"NAME\n{above}\n{_stamp_in(bare)}"
        elif n > 1 and not above and 0 < len(lines[n - 2].strip()) <= 80:
            yield f"NAME\n\n{_stamp_in(bare)}"
        elif above and len(above) <= 80 and n + 1 < len(lines):
            again = _is_stamp(lines[n + 1].strip())
            yield f"NAME\n{_stamp_in(bare)}" + (f"\n{_stamp_in(lines[n + 1].strip())}" if again else "")
            if lines[n].startswith("  "):
                yield f"NAME\n  {_stamp_in(bare)}"
            if n == 1 or not lines[n - 2].strip():
                yield f"\nNAME\n{_stamp_in(bare)}"
        below = lines[n + 1] if n + 1 < len(lines) else ""
        if below.strip() and len(below) <= 80:
            yield f"{_stamp_in(bare)}\nNAME"
        for rest in _named(below.strip(), alone=False):
            yield f"{_stamp_in(bare)}\n{_spaced(rest)}"


_STATUS = r"(?::[\w+-]{2,40}:|APP\b)?"
"""What Slack's people set beside their names, and how it tells programs, as it is copied."""
_BADGES = r"APP|BOT|Bot|OP|MOD|Mod|\[[A-Z]{2,4}\]"
_BADGE = re.compile(rf"\s*(?:{_BADGES})\s*")
"""What stands below a name on a line of its own."""
_TAGGED = re.compile(rf"\s*(?:{_BADGES}|[A-Z]{{2,4}})\s*")
"""The same, or the tag of a server, where a time has to follow."""
_OPENED = "opened "
_BEGUN = re.compile(rf"{_OPENED}(?=on )|Role icon, [^—\n]{{1,60}} (?=— )")
"""What stands below a name before a time: GitHub's first post, Discord's members with a role."""
_ARRIVED = r"(?:\s?[-–—·|(,]\s?(?i:read|delivered|sent|seen|edited)\b.{0,40})?"
"""Whether a message reached its receiver, as phones tell it behind its time."""
_LINKED = re.compile(rf"\[(\(?{STAMP}\)?)\]\(https?://[^()\s]*\)", re.I)


_RANKED = re.compile(r"(?<=\d )【[^】]{1,20}】(?=\S[^()<>]{0,60}[(<][^()<>\s]{4,64}[)>]\s*$)")
"""What QQ calls a member of a group, between the time and the name."""
_PASSED = re.compile(r"(?<= ago) \| .{0,80}\[[-–]\]\s*$")
"""`| parent | next [–]`, as Hacker News shows it behind the time."""


_CHANGED = re.compile(r"(?<=\S) \| [^\W\d_]{3,20} \d{1,2}:\d\d(?::\d\d)?(?: ?[ap]m)?(?=\] )", re.I)
"""When a message was edited or removed, as Skype tells it behind the time."""


_READ = re.compile(r" \(Read by [^()\n]{1,60}\)(?= \S)")
"""When a message was read, as imessage-exporter tells it behind the time."""


def unlinked(line: str) -> str:
    """A line whose first stamp is no link into a recording any more, without a rank, and ways to others."""
    line = _RANKED.sub("", line, count=1) if "】" in line else line
    line = _PASSED.sub("", line) if "ago | " in line else line
    line = line.replace("**\\<", "**<", 1) if line[:3] == "**\\" else line
    line = _READ.sub("", line, count=1) if " (Read by " in line else line
    line = _CHANGED.sub("", line, count=1) if line[:1] == "[" and " | " in line else line
    line = _THREADED.sub("", line, count=1) if line[:1] == "|" else line
    line = _CODES.sub("", line) if "|h" in line else line
    return _LINKED.sub(r"[\1]", line, count=1) if "](http" in line else line


_BRACKETED = re.compile(rf"(?P<opens>[\[(]{{1,2}})(?:{STAMP})(?P<closes>[\])]{{1,2}}) \S", re.I)
_ONLY = re.compile(rf"{_STATUS}\s*[\[(]?\s?(?:{STAMP})\s?[\])]?{_ARRIVED}", re.I)


def _is_stamp(bare: str) -> bool:
    return _ONLY.fullmatch(bare) is not None


def _stamp_in(bare: str) -> str:
    return f"{bare[0] if bare[0] in '[(' else ''}TIME{bare[-1] if bare[-1] in '])' else ''}"


@dataclass(frozen=True)
class Found:
    """A head with what it opens in a file's beginning: by line (1-based), and the last line of each."""

    head: Head
    opened: dict[int, Opening]
    ends: dict[int, int]

    @cached_property
    def names(self) -> Counter[str]:
        """How often who speaks."""
        return Counter(here.name for here in self.opened.values())

    @property
    def weight(self) -> tuple[int, int, int]:
        """How well it explains the file: turns of those who speak more than once, less those who do not."""
        often = sum(count for name, count in self.names.items() if count > 1 and _is_name(name))
        once = sum(1 for count in self.names.values() if count == 1)
        marks = sum(not mark.isspace() for mark in _PIECES.sub("", self.head.written))
        return often - once, self.head.has_time, marks


def known_names(opened: Mapping[int, Opening], head: Head) -> frozenset[str]:
    """Who of those that stand where names do may speak: who recurs, or once what looks like a name."""
    counts = Counter(here.name for here in opened.values() if here.name)
    others = unlike([here for here in opened.values() if here.name]) if not head.has_time else set()
    if head.is_bare:
        named = [name for name in counts if name[0].isalpha() and _is_name(name) and may_be_name(name)]
        often = {name for name in named if counts[name] > 1}
        if len(often) > 1:  # people are named so here: others may be in small letters, or numbers
            often |= {
                name for name, n in counts.items() if n > 2 and len(name.split()) < 4 and _is_name(name)
            }
        capital = all(name.partition(" (")[0].isupper() for name in often)
        once = {name for name in named if _length(name) < 4 and not _TITLED.match(name)}
        return frozenset(
            often | {name for name in once if (name.partition(" (")[0].isupper() if capital else " " in name)}
        )
    dated = all(len(here.stamp) > 14 for here in opened.values())  # a day and a clock, as nobody says
    words = 2 if head.has_time and (dated or not head.above) else int(head.has_time or "> " in head.written)
    if words == 2 and all(here.name for here in opened.values()):
        words = 5
    if head.written.endswith(("TIME", "TIME]", "TIME)", "TIME:")):
        words = _WORDS
    return frozenset(
        name
        for name, n in counts.items()
        if _is_name(name)
        and name not in others
        and (n > 1 or may_be_name(name) or len(name.split()) <= words or name[0] == "+" or "@" in name)
    )


def _length(name: str) -> int:
    """How many words a name has besides particles."""
    return sum(not is_particle(word) for word in name.split())


def without_asides(opened: Mapping[int, Opening]) -> dict[int, Opening]:
    """What is opened, names without what stands in brackets behind them where somebody has the name alone, or
    with other words in small letters behind it, as plays tell what is done.
    """
    names = {here.name for here in opened.values()}
    asides = Counter(
        begun for name in names if (told := name.partition(" ("))[2][:1].islower() and (begun := told[0])
    )
    return {
        number: replace(here, name=alone)
        if " (" in here.name and ((alone := here.name.partition(" (")[0]) in names or asides[alone] > 2)
        else here
        for number, here in opened.items()
    }


def without_verbs(opened: Mapping[int, Opening]) -> dict[int, Opening]:
    """What is opened, names without the words of telling beside them all: `Maya says`, `Posted by Maya`."""
    opened = without_asides(opened)
    split = [name.split() for name in {here.name for here in opened.values() if here.name}]
    first = _alike(split)
    last = _alike([words[first:][::-1] for words in split])
    kept = [" ".join(words[first : len(words) - last]) for words in split]
    if len(split) < 2 or not first + last or min(map(len, kept)) < 2:
        return opened
    short = {" ".join(words): name for words, name in zip(split, kept, strict=True)}
    return {
        number: replace(here, name=short.get(" ".join(here.name.split()), ""))
        for number, here in opened.items()
    }


def _alike(names: Sequence[Sequence[str]]) -> int:
    """How many words all names begin with, of those that leave one: up to one in small letters."""
    columns = takewhile(lambda words: len(set(words)) == 1, zip(*(name[:-1] for name in names)))
    told = [n for n, (word, *_) in enumerate(columns, 1) if word.islower() and not is_particle(word)]
    return max(told, default=0)


def are_places(head: Head, stamps: Sequence[str]) -> bool:
    """Whether stamps are places in a recording: they begin near its start, or have fractions or units."""
    at = [found for stamp in stamps if (found := seconds(stamp)) is not None]
    if not at or len(at) < len(stamps):
        return False
    if any(_FINE.search(stamp) for stamp in stamps):
        return True
    early = stamps[0].split(":")[0] in ("0", "00") and (head.above or at[0] < _EARLY)
    back = sum(later < earlier for earlier, later in pairwise(at))
    return (early or any(found > _A_DAY for found in at)) and back * 4 <= max(len(at), 4)


_FINE = re.compile(r"[a-z>–—]|\d[.,]\d", re.I)
_EARLY = 120
"""Seconds in which somebody has spoken."""
_A_DAY = 86_400


def infer(lines: Sequence[str]) -> Found | None:
    """The head of most turns in a file's beginning, None where it is no chat with one."""
    written = [n for n, line in enumerate(lines) if line.strip()]
    counts = Counter(form for n in written for form in dict.fromkeys(_suggested(lines[n])))
    counts.update(_of_lines(lines))
    often = [form for form, count in counts.most_common(12) if count > 1]
    often += ["NAME"] * ("NAME" not in often)
    found = [_found(Head(form), lines) for form in often]
    held = [one for one in found if _holds(one, lines)]
    best = max(held, key=lambda one: one.weight, default=None)
    if best and "[NAME] " in best.head.written:  # most brackets stand before names: they hold a channel
        within = [one for one in found if _CHANNEL in one.head.written and _opens_most(best, one)]
        within = [one for one in within if any(map(_is_name, one.names))]
        best = max(within, key=lambda one: one.weight, default=best)
    if best and best.head.is_bare:
        timed = [one for one in held if one.head.has_time and _opens_most(best, one)]
        best = max(timed, key=lambda one: one.weight, default=best)
    return best


def _opens_most(best: Found, other: Found) -> bool:
    """Whether most of what one head opens another does too."""
    return 4 * len(best.opened.keys() & other.opened) >= 3 * len(best.opened)


def _found(head: Head, lines: Sequence[str]) -> Found:
    opened, ends, end = dict[int, Opening](), dict[int, int](), 0
    for number in range(1, len(lines) + 1):
        if number > end and lines[number - 1].strip() and (here := head.at(lines, number)):
            opened[number], end = here
            ends[number] = end
    if head.is_bare:
        names = known_names(opened, head)
        opened = {number: here for number, here in opened.items() if here.name in names}
        ends = {number: ends[number] for number in opened}
    return Found(head, without_verbs(opened), ends)


def _is_name(name: str) -> bool:
    """Whether a text may be a name, where it stands as one does."""
    bare = name.strip()
    return (
        len(bare.split()) <= _WORDS
        and (any(map(str.isalpha, bare)) or bare[:1] == "+" or bare.isdigit())
        and not is_label(bare)
        and not _LEVEL.search(bare)
        and (
            bare[-1] not in _SENTENCE_END
            or (bare[-1] == "." and (" " in bare or bare[0] == "@" or bool(_INITIALS.fullmatch(bare))))
        )
        and not any(sign in bare for sign in ("://", "()", "："))
        and (bare[-1] != '"' or bare[0] == '"')
        and "  " not in bare
        and not _DATING.search(bare)
        and all(bare.count(opens) == bare.count(closes) for opens, closes in ("()", "[]", "<>", "{}"))
    )


def _holds(found: Found, lines: Sequence[str]) -> bool:
    """Whether a head is a chat's, and what it opens is turns of people."""
    head, names, turns = found.head, found.names, len(found.opened)
    often = sum(count for name, count in names.items() if count > 1 and _is_name(name))
    if not turns:
        return False
    named = head.has_time and all(map(looks_like_name, names))
    few = (named or (head.has_time and head.above and often)) and turns <= _FEW and min(found.opened) <= _FEW
    handles = all(" " not in name or looks_like_name(name) for name in names)
    ago = head.written[0] != "T" and all(one.stamp.endswith(" ago") for one in found.opened.values())
    few = few or (handles and (ago or head.written.strip().count("\n") > 1))
    every = not head.above and _opens_all(found, lines)
    most = max(3, (0.75 if named or every or (head.above and head.has_time) else 0.6) * turns)
    if len(names) < 2 or not (few or (turns > 2 and often >= 0.5 * turns and len(names) <= most)):
        return False
    if sum(n for name, n in names.items() if not _is_name(name)) > 0.2 * turns or _logged(found, lines):
        return False
    if head.written.startswith("--") or ("] [NAME]" in head.written and all(map(str.isupper, names))):
        return False  # who changed a package; what part of a program
    if head.written.count("[") != head.written.count("]"):
        return False
    if "NAME  TEXT" in head.written and 2 * sum("  " in here.text for here in found.opened.values()) > turns:
        return False  # a table of more columns
    if head.written == "NAME TIME" and any(len(name) > 2 and _WEEKDAY.fullmatch(name) for name in names):
        return False  # days with their times
    if head.written.startswith("TIME\n") and next(filter(None, map(str.strip, lines))) in names:
        return False  # times stand at the end of turns
    if head.above:
        alone = Counter(map(str.strip, lines)) if "\n" in head.written else Counter[str]()
        twice = sum(n > 1 and lines[n - 2].strip() == here.name for n, here in found.opened.items())
        if sum(alone[name] for name in names) - twice >= 2 * turns:
            return False  # what stands below messages, or names without a time
        below = [end < len(lines) and bool(lines[end].strip()) for end in found.ends.values()]
        apart = [end + 1 < len(lines) and bool(lines[end + 1].strip()) for end in found.ends.values()]
        starts = set(found.opened)
        bare = sum(end + 1 in starts for end in found.ends.values())
        marked = head.has_time or head.is_bare or set(head.written) & set("#*:：[")
        followed = max(sum(below), sum(apart)) if marked else sum(below)
        if not followed * 4 >= 3 * turns or bare * 4 >= turns or min(found.opened) > _PREAMBLE:
            return False
        begins = ("".join(lines[end : end + 2]).lstrip()[:2] for end in found.ends.values())
        if sum(begun in _LISTED for begun in begins) * 2 > turns:
            return False
        return head.has_time or (min(found.opened) <= _FEW * (1 + head.is_bare) and _is_talk(found))
    first = min(found.opened)
    after = sum(number >= first and any(map(str.isalnum, line)) for number, line in enumerate(lines, 1))
    if head.has_time:
        return turns * (4 if often else 1.5) >= after
    return turns * 5 >= (1 if head.written == _DOTTED else 3) * after and _is_talk(found, every)


def _opens_all(found: Found, lines: Sequence[str]) -> bool:
    """Whether every paragraph from the first turn on opens one, as no document's do."""
    begun = [n for n in range(min(found.opened), len(lines) + 1) if lines[n - 1].strip()]
    begun = [n for n in begun if n == 1 or not lines[n - 2].strip()]
    return len(begun) > _FEW and all(n in found.opened for n in begun)


_WEEKDAY = re.compile(WEEKDAY, re.I)
_LISTED = ("- ", "* ", "+ ", "--", "==", "~~", "..")
"""What stands below titles of lists, and underlines titles."""


def _is_talk(found: Found, every: bool = False) -> bool:
    """Whether without stamps the names are people's: they alternate, and say more than a word.

    Where `every` paragraph opens a turn, half of them have to look so.
    """
    said = list(found.opened.values())
    switches = sum(one.name != other.name for one, other in pairwise(said))
    words = sum(len(here.text.split()) > 2 or not here.text.isascii() or found.head.above for here in said)
    bare = set(found.head.written) & set("<>`[【(「{")
    named = sum(may_be_name(name.partition(", ")[0]) or role(name) != "" for name in found.names)
    nicks = bool(bare & set("<>`")) and not any(" " in name for name in found.names)
    nicks = (
        nicks or found.head.written.startswith(("**[", _DOTTED)) or all(map(_NUMBERED.fullmatch, found.names))
    )
    alike = named == len(found.names) or nicks or ((bare or every) and named * 2 >= len(found.names))
    return switches * 4 >= len(said) and words * 2 >= len(said) and bool(alike)


_NUMBERED = re.compile(r"(?:speaker|spk)[ _-]?[\w?]{1,3}", re.I)


def is_filled_in(opened: Iterable[Opening]) -> bool:
    """Whether programs wrote what is said: numbers and settings, or the same words with other numbers."""
    opened = list(opened)
    if any(looks_like_name(here.name) and not _ODD.search(here.name) for here in opened):
        return False
    said = [here.text for here in opened if here.text]
    odd = (text for text in said if _ODD.search(text) and not (text[-1] in ".!?" and text.count(" ") > 3))
    if any(map(str.isalpha, "".join(said))) and 2 * sum(1 for _ in odd) > len(said):
        return True
    numbered = [_NUMBER.sub("0", text) for text in said if any(map(str.isdigit, text))]
    alike = len(numbered) > 2 * len(set(numbered))
    return alike and len(numbered) >= _FEW and 2 * len(numbered) > len(said)


_NUMBER = re.compile(r"\d+")
_ODD = re.compile(r"\d|\w_\w|\w/\w|[=\[\]{}]|://")


def _logged(found: Found, lines: Sequence[str]) -> bool:
    """Whether programs wrote these lines: levels stand in many of them, or numbers and settings in most."""
    said = [unlinked(lines[number - 1])[:90] for number in found.opened]
    below = [lines[end][:40] for end in found.ends.values() if end < len(lines)] if found.head.above else []
    levels = max(sum(map(bool, map(_LEVEL.search, said))), sum(map(bool, map(_LEVEL.match, below))))
    if levels * 4 > len(said):
        return True
    asked = sum("?" in here.text or " " not in here.text for here in found.opened.values())
    talk = found.head.written.startswith("(TIME) NAME:") and asked * 10 > len(said)  # as messengers write
    return not talk and is_filled_in(found.opened.values())
