"""Text and Markdown chats: turns opened by `Name: text`, stamped, bold or under headings, and sessions.

`speakers.py` says which lines open a turn. A file has one style, that which explains most of it (`_chosen`);
lines that open nothing in it, and all of fenced code and front matter, continue the turn before. A line that
is only a date (`--- 8 May 2023 ---`, `# 2023-05-08`) or names a numbered session (`## Session 2`)
starts a session and dates the turns below it that have no date of their own; so does a heading that begins
with a date (`## 2023-05-08: the boat`). In a chat with an assistant, whose answers have such headings too,
only one right above a turn does.

A turn's time may stand on a line below its speaker (`_Timestamp: 2023-05-08 13:56_`) or, in the whole file,
above. Left out, as nobody said it: that line, a `Model: name` there, and the rule (`---`) between turns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from smartsearch.text.times import clock, find_date, is_day_first, to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.speakers import (
    HEADINGS,
    STYLES,
    Opening,
    both_sides,
    is_sure,
    opening,
    role,
    speakers,
)
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_DETECT_LINES = 500  # a chat shows itself early; the whole file is parsed only once it is known to be one
LONGEST = 200  # characters of a line that starts a session
_DENSE = 0.25  # share of lines that open turns in a chat whose turns are a few lines long
_PREAMBLE = 5  # a chat of long turns still starts with one: lines of title and introduction allowed before
_NEAR = 0.8  # of the share that the best style explains: between styles with both roles the boldest wins
_HEADED = 3  # turns a heading that names a person is worth: what it heads is longer
_HALF = 0.5
_FEW = 6  # people who may speak once or twice each; more such names are labels
_MANY = 20  # turns of questions and answers that are a talk's, not a page's
_MORE = 5  # times as often as a person an assistant may speak
_SURELY = 0.85  # share of labels that are followed by the one that mostly follows: fields of records

_SESSION = re.compile(
    r"(?P<name>(?:(?P<numbered>session|conversation)|day|part|chapter|chat)\s+\d+)\b(?P<rest>.{0,60})$", re.I
)
_SET_OFF = re.compile(r"#{1,6}\s|[-=–—_~*]{2,}|\[")
_TITLE = re.compile(r"#{1,6}\s")
_FENCE = re.compile(r"\s{0,3}(?P<fence>`{3,}|~{3,})\s*(?P<info>[^`]*)$")
_RULE = re.compile(r"\s*(?:-\s?){3,}$|\s*(?:\*\s?){3,}$|\s*_{3,}\s*$")
_ABOUT = re.compile(
    r"[_*>\s]{0,6}(?:(?P<label>[A-Z][a-z]{2,12}(?: [a-z]{2,9})?)[_*]{0,3}:[_*]{0,3}\s+)?(?P<said>.{1,60})$"
)
_DECORATION = "#*=_~-–—[]() \t"
_AFTER_DATE = re.compile(r"[:|–—]\s| - | \(")


def detect(source: Source) -> bool:
    """Whether the file's beginning is turns of people or roles, and not a document with labels."""
    if source.json.items:
        return False
    lines = source.lines[:_DETECT_LINES]
    layout = _layout(lines)
    opened = [layout.found[number] for number in layout.opened]
    named = [here.name for here in opened if here.name]
    if not named:
        return False
    if layout.chosen.pair:
        return _is_dialogue(layout.chosen, lines)
    if layout.style in HEADINGS and all(role(name) == "assistant" for name in named) and len(set(named)) > 1:
        return False  # what each of several assistants is set up with
    if len(set(named)) < 2 and layout.style != "stamped":
        return layout.chosen.share >= _HALF and layout.chosen.one_side
    recurs = len(set(named)) < len(named) or any(is_sure(name) for name in named)
    if layout.style != "stamped" and _is_document(layout, lines, named, recurs):
        return False
    written = [number for number, line in enumerate(lines, 1) if line.strip()]
    dense = len(opened) >= _DENSE * len(written)
    return dense or (recurs and written.index(layout.opened[0]) <= _PREAMBLE)


def _is_dialogue(chosen: _Chosen, lines: Sequence[str]) -> bool:
    """Whether turns of both sides are most of the file, not an example in it.

    Words that are titles too have to begin it, or to be many.
    """
    before = sum(1 for line in lines[: chosen.opened[0] - 1] if line.strip())
    begun = any(map(is_sure, chosen.names)) or before <= 2 * _PREAMBLE or len(chosen.opened) >= _MANY
    return begun and chosen.share > _HALF


def _is_document(layout: _Layout, lines: Sequence[str], named: Sequence[str], recurs: bool) -> bool:
    """Whether names are labels: of a form, of lists, among headings as of a README, or fields of records."""
    counts = Counter(named)
    labels = sum(1 for here in layout.found.values() if here.style == layout.style)
    again = sum(count for count in counts.values() if count > 1)
    if labels > 3 * len(named) or (len(named) > 4 and (not recurs or again < _HALF * len(named))):
        return True  # `Title: ...`, `Author: ...`: every name once
    others = [count for name, count in counts.items() if not is_sure(name)]
    if len(counts) > max(_FEW, _HALF * len(named)) or (
        len(others) < len(counts) and max(others, default=0) < 2
    ):
        return True  # so many labels, or one beside an assistant who speaks with nobody
    headings = sum(1 for line in lines if _TITLE.match(line) and not session(line))
    own = len(named) if layout.style.startswith("#") else 0
    listed = (
        layout.style == "- bold" and not again and len(named) < _HALF * sum(map(bool, map(str.strip, lines)))
    )
    return listed or headings - own > max(2, len(named) / 3) or _in_order(named, counts)


def _in_order(named: Sequence[str], counts: Counter[str]) -> bool:
    """Whether three names and more come round in one order, as those of fields do and of people do not."""
    pairs = Counter(pairwise(named))
    first: dict[str, int] = {}
    for (name, _), count in pairs.items():
        first[name] = max(first.get(name, 0), count)
    often = [count for _, count in counts.most_common(3)]
    even = len(often) == 3 and 1 < often[2] >= _HALF * often[0]
    return even and sum(first.values()) >= _SURELY * sum(pairs.values())


@dataclass(frozen=True)
class _Chosen:
    """What one style makes of a file: its speakers and the lines (1-based) that open their turns.

    `share` is that of the written lines from the first of them on. `one_side` is true where one role alone
    speaks under headings, with a time, an emoji or in several messages: a log of which only that is left.
    `with_one` is true where an assistant speaks with one other by name.
    """

    style: str = ""
    names: frozenset[str] = frozenset()
    opened: tuple[int, ...] = ()
    share: float = 0.0
    one_side: bool = False
    with_one: bool = False

    @property
    def pair(self) -> bool:
        """Whether an assistant speaks with a user, or with one other by name."""
        return both_sides(self.names) or self.with_one

    @property
    def weight(self) -> float:
        """How much it explains where no roles tell."""
        return self.share * len(self.opened) * (_HEADED if self.style[0] == "#" else 1)


@dataclass(frozen=True)
class _Layout:
    """How one file writes its turns: its style and speakers, the opening each line would be, by number.

    `opened` are the lines that open turns, `about` those that tell of one: its time, its model.
    """

    chosen: _Chosen = field(default_factory=_Chosen)
    found: Mapping[int, Opening] = field(default_factory=dict)
    day_first: bool = True
    opened: tuple[int, ...] = ()
    about: frozenset[int] = frozenset()

    @property
    def style(self) -> str:
        """The style of its turns."""
        return self.chosen.style


def _layout(lines: Sequence[str]) -> _Layout:
    found, told = {}, dict[int, range]()
    for number in _outside_code(lines):
        here = opening(lines[number - 1])
        if here and not session(lines[number - 1]):
            stamp, last = ("", 0) if here.text else _below(lines, number, here.name)
            found[number] = replace(here, stamp=here.stamp or stamp)
            told[number] = range(number + 1, last + 1)
    written = [number for number, line in enumerate(lines, 1) if line.strip()]
    chosen = _chosen(found, written)
    opened = tuple(number for number, here in found.items() if _opens(here, chosen))
    about = {line for number in opened for line in told[number]} - set(opened)
    for number, (line, stamp) in _above(lines, written, opened, found).items():
        found[number] = replace(found[number], stamp=stamp)
        about.add(line)
    day_first = is_day_first(here.stamp for here in found.values() if here.stamp)
    return _Layout(chosen, found, day_first, opened, frozenset(about))


def _below(lines: Sequence[str], number: int, name: str) -> tuple[str, int]:
    """The time that stands below a speaker, before any text, and the last line that tells of the turn.

    Such lines are also the model, and the name once more.
    """
    stamp, last = "", 0
    for at in range(number, min(number + 6, len(lines))):
        line = lines[at].strip()
        found = _ABOUT.match(line) if line else None
        if line and not found:
            break
        said = found["said"].strip(" _*") if found else ""
        label = found["label"] if found else ""
        if said and not stamp and ("T" in to_iso(said) or (label and clock(said))):
            stamp, last = said, at + 1
        elif label == "Model" or (said and said == name):
            last = at + 1
        elif said:
            break
    return stamp, last


def _opens(here: Opening, chosen: _Chosen) -> bool:
    if here.style == "stamped" and (chosen.style == "stamped" or not chosen.pair):
        return chosen.style == "stamped" or here.name in chosen.names
    return here.style == chosen.style and here.name in chosen.names


def _chosen(found: Mapping[int, Opening], written: Sequence[int]) -> _Chosen:
    """The style that explains most of the file.

    Where an assistant speaks, that is the one that sets its lines off most of those that start as early: an
    answer has labels in bold, but no label has answers below it. Else the one that opens most turns.
    """
    styles = [_candidate(style, found, written) for style in STYLES]
    styles = [known for known in styles if known.opened]
    pairs = [known for known in styles if known.pair]
    if pairs:
        most = max(known.share for known in pairs)
        early = max(
            (known for known in pairs if known.share >= _NEAR * most), key=lambda known: len(known.opened)
        )
        return next(known for known in pairs if known.share >= _NEAR * most or _outweighs(known, early))
    return max(styles, key=lambda known: (known.one_side, known.weight), default=_Chosen())


def _outweighs(known: _Chosen, early: _Chosen) -> bool:
    """Whether a bolder style opens as many turns as an earlier one, which is what a page says above them."""
    return known.share >= _HALF * early.share and len(known.opened) >= len(early.opened)


def _candidate(style: str, found: Mapping[int, Opening], written: Sequence[int]) -> _Chosen:
    ours = {number: here for number, here in found.items() if here.style == style}
    names = speakers(list(ours.values()), style)
    opened = tuple(number for number, here in ours.items() if here.name in names)
    after = sum(1 for number in written if opened and number >= opened[0])
    headed = len(names) == 1 and style in HEADINGS and is_sure(next(iter(names)))
    said = style == "said" and "You" not in names
    told = said or any(_has_clock(ours[number].stamp) or ours[number].pictured for number in opened)
    one_side = headed and (len(opened) > 2 or told)
    with_one = _is_with_one([ours[number].name for number in opened])
    return _Chosen(style, names, opened, after / len(written) if written else 0.0, one_side, with_one)


def _is_with_one(named: Sequence[str]) -> bool:
    """Whether an assistant and one person speak, neither much more often than the other."""
    counts = Counter(named)
    assistants = sum(role(name) == "assistant" and is_sure(name) for name in counts)
    balanced = max(counts.values(), default=0) <= _MORE * min(counts.values(), default=0)
    return len(counts) == 2 and assistants == 1 and not all(map(role, counts)) and balanced


def _has_clock(stamp: str) -> bool:
    return "T" in to_iso(stamp) or bool(clock(stamp))


def _above(
    lines: Sequence[str], written: Sequence[int], opened: Sequence[int], found: Mapping[int, Opening]
) -> dict[int, tuple[int, str]]:
    """The line that is the time of the turn below it, and that time, by turn, where most turns have one."""
    above, starts = {}, set(opened)
    for before, number in pairwise(number for number in written if not _RULE.match(lines[number - 1])):
        stamp = lines[before - 1].strip().strip(_DECORATION)
        if number in starts and not found[number].stamp and before not in starts and "T" in to_iso(stamp):
            above[number] = before, stamp
    return above if len(above) > max(1, _HALF * len(opened)) else {}


def _outside_code(lines: Sequence[str]) -> Iterator[int]:
    """The numbers of the lines outside fenced code and front matter. A fence that never ends is none."""
    start = next((n for n, line in enumerate(lines[1:60], 2) if line == "---"), 0) if lines[0] == "---" else 0
    fences = dict(_fences(lines))
    number = start + 1
    while number <= len(lines):
        if number in fences:
            number = fences[number]
        else:
            yield number
        number += 1


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each fenced block; those that open with a language nest."""
    open_: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        found = _FENCE.match(line) if "`" in line[:6] or "~" in line[:6] else None
        if not found:
            continue
        fence = found["fence"]
        if open_ and not found["info"] and fence.startswith(open_[-1][1]):
            first, _ = open_.pop()
            yield first, number
        elif not open_ or found["info"]:
            open_.append((number, fence))


def read(source: Source) -> Iterator[Record]:
    """Turns in file order. Text before the first turn is a turn without a speaker; a title names the chat."""
    layout = _layout(source.lines)
    state = _State(source, layout, date=source.day)
    starts = set(layout.opened)
    alone = True  # the line stands at the start or after a blank one
    for number, line in enumerate(source.lines, 1):
        if number in layout.about:
            pass
        elif number in starts:
            yield from state.close()
            state.open(number, layout.found[number])
        elif begun := _begun(number, line, alone, source.lines, layout):
            yield from state.close()
            state.session, state.date = begun[0], begun[1] or state.date
        elif not (state.started or state.title) and _TITLE.match(line):
            state.title = line.strip(_DECORATION)
        else:
            state.lines.append(line)
            state.line = state.line or (number if line.strip() else 0)
        alone = not line.strip()
    yield from state.close()


def _begun(
    number: int, line: str, alone: bool, lines: Sequence[str], layout: _Layout
) -> tuple[str, str] | None:
    """The session that a line starts: in a chat with an assistant only right above a turn."""
    begun = session(line, alone, layout.day_first)
    if not begun or not layout.chosen.pair:
        return begun
    below = next((n for n in range(number + 1, len(lines) + 1) if _goes_on(lines[n - 1])), 0)
    return begun if below in layout.opened else None


def _goes_on(line: str) -> bool:
    return bool(line.strip()) and not _RULE.match(line)


@dataclass
class _State:
    """The turn being read and what the lines above it said of session, date and title."""

    source: Source
    layout: _Layout
    title: str = ""
    session: str = ""
    date: str = ""
    started: bool = False
    line: int = 0
    opened: Opening | None = None
    lines: list[str] = field(default_factory=list)

    def open(self, number: int, opened: Opening) -> None:
        self.line, self.opened, self.started = number, opened, True
        self.lines = [opened.text]

    def close(self) -> Iterator[Record]:
        """The turn read so far, if any, and a clean slate for the next."""
        while self.lines and not _goes_on(self.lines[-1]):
            self.lines.pop()
        text = "\n".join(line.rstrip() for line in self.lines).strip()
        opened, line = self.opened, self.line
        self.opened, self.line, self.lines = None, 0, []
        if not text:
            if opened:
                yield FormatError("a speaker without text", line=line, kind="no_text")
            return
        name = opened.name if opened and opened.name in self.layout.chosen.names else ""
        if opened and opened.name and not name:  # a label under a stamp is part of what was said
            text = f"{opened.name}: {text}"
        yield Turn(
            text=text,
            speaker=name,
            time=self._time(opened.stamp if opened else ""),
            role=role(name),
            path=self.source.path,
            line=line,
            conversation=self.title or self.source.stem,
            session=self.session,
        )

    def _time(self, stamp: str) -> str:
        """The turn's time: its stamp, a clock on the date last read, or that date."""
        if time := to_iso(stamp, day_first=self.layout.day_first):
            self.date = time[:10]
            return time
        hour = clock(stamp)
        return f"{self.date}T{hour}" if hour and self.date else self.date


def session(line: str, alone: bool = True, day_first: bool = True) -> tuple[str, str] | None:
    """The session and the date that a line by itself starts, or None for any other line.

    Such a line is set off: by a heading, rules or bold marks, or by blank lines (`alone`). "Day 1: Lisbon" in
    an answer is none, so only `Session` and its like count by number alone, the rest need a date.
    """
    if len(line) > LONGEST:
        return None
    body = line.strip().strip(_DECORATION)
    set_off = _SET_OFF.match(line) is not None
    if not (set_off or alone) or not 3 < len(body) <= 90 or not any(map(str.isdigit, body)):
        return None
    if found := _SESSION.match(body):
        date = find_date(found["rest"], day_first=day_first)
        bare = not found["rest"].strip(_DECORATION + ":,.") or bool(to_iso(found["rest"].strip(":, ")))
        if (found["numbered"] or date) and (set_off or bare):
            return found["name"], date
    if body.isdigit():
        return None
    if day := to_iso(body, day_first=day_first)[:10]:
        return day, day
    first = _AFTER_DATE.split(body, maxsplit=1)[0] if _TITLE.match(line) else ""
    day = to_iso(first, day_first=day_first) or to_iso(body[:10]) if first else ""
    return (body, day[:10]) if day and not (first.isdigit() or body[:10].isdigit()) else None
