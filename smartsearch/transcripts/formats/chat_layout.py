"""How a text chat is laid out: the style that explains it, its speakers, and which lines are what.

`chat.py` reads by it. `session` tells the lines that start sessions, for `prose.py` too.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from smartsearch.text.stamps import day_above, yearless
from smartsearch.text.times import ANY_MONTH, WEEKDAY, Orders, clock, find_date, to_iso
from smartsearch.transcripts.formats.heads import Head, known_names, without_asides, without_verbs
from smartsearch.transcripts.formats.speakers import (
    COPILOT,
    HEADINGS,
    STYLES,
    Opening,
    both_sides,
    guests,
    is_label,
    is_sentence,
    is_sure,
    opening,
    role,
    speakers,
    unlike,
)

LONGEST = 200  # characters of a line that starts a session
DECORATION = "#*=_~-–—─━═[]() \t"
TITLE = re.compile(r"#{1,6}\s")
HALF = 0.5
_DATE_ALONE = 50
NUMERIC = re.compile(r"\d[-/.]\d{1,2}[-/.]\d\d")
_NEAR = 0.8  # of the share that the best style explains: between styles with both roles the boldest wins
_HEADED = 3  # turns a heading that names a person is worth: what it heads is longer
_MORE = 5  # times as often as a person an assistant may speak

_SESSION = re.compile(
    r"(?P<name>(?:(?P<numbered>session|conversation)|day|part|chapter|chat)\s+\d+)\b(?P<rest>.{0,60})$", re.I
)
_PAGE = re.compile(
    r"\W{0,9}(?:[^\W\d]{1,10}\.? )?(?P<page>\d{1,4})(?: ?(?:/|[^\W\d]{1,4}) ?(?P<all>\d{1,4})\W{0,9}| [-–—])"
)
"""`Page 3 of 9`, `Seite 3/9`, `- 3 -`."""
_BUTTONS, _LIKELY = 12, 0.6
_ROW = 0.9  # share of lines that open turns where any line does
_NAME_WORDS = 5
_LISTED = re.compile(r"[-*] (?P<at>\d{1,2}:\d\d(?::\d\d)?) (?P<text>\S.*)")
"""An item of a list that begins with a clock."""
_DIGITS = re.compile(r"\d+")
_BY = (" by ", " von ", " par ", " de ", " por ", " di ", " door ", " av ", " af ")
"""Behind them the line above a head says who sent what it repeats, in Teams' window: `The lift ... by Ole`"""
_NO_ORDERS = Orders({})
_SETTING_OFF = "#-=–—─━═_~*["
_SET_OFF = re.compile(r"#{1,6}\s|[-=–—─━═_~*]{2,}|\[")
_AFTER_DATE = re.compile(r"[:|–—]\s| - | \(")
_ASKED = re.compile(r"# (?P<name>[\w.-]{1,39}): (?P<text>.*)")
"""How VS Code writes what was asked of GitHub Copilot."""
_FENCE = re.compile(r"\s{0,3}(?P<fence>`{3,20}|~{3,20})(?P<info>[^`~][^`]*)?$")
_PROPERTY = re.compile(r"[\w-]{1,60}:(?:\s|$)")
_LONG_MATTER = 400
_ENDS = ("---", "...")
_YEARLESS_ALONE = re.compile(
    rf"(?:{WEEKDAY},? )?(?:\d{{1,2}}(?:st|nd|rd|th|\.)? (?:de )?{ANY_MONTH}|{ANY_MONTH}"
    rf" \d{{1,2}}(?:st|nd|rd|th)?)",
    re.I,
)
_RULE = re.compile(r"\s*(?:[-=─━═<>]\s?){3,}$|\s*(?:\*\s?){3,}$|\s*_{3,}\s*$|\s*>\s*$")
_CLOCK_IN = re.compile(r"(?<!\d)(\d{1,2}):(\d\d)")
_MINUTES = 10  # in which Slack shows of a speaker's next message only the clock
_TIME_TAG = re.compile(r'<time datetime="([^"\n]{10,40})"[^<\n]{0,90}</time>')
_ABOUT = re.compile(
    r"[_*>\s]{0,6}(?:(?P<label>[A-Z][a-z]{2,12}(?: [a-z]{2,9})?)[_*]{0,3}:[_*]{0,3}\s+)?(?P<said>.{1,60})$"
)


@dataclass(frozen=True)
class Style:
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
class Layout:
    """How one file writes its turns: its style and speakers, the opening each line would be, by number.

    `opened` are the lines that open turns, `about` those that tell of one: its time, its model.
    """

    chosen: Style = field(default_factory=Style)
    found: Mapping[int, Opening] = field(default_factory=dict)
    orders: Orders = field(default_factory=lambda: Orders({}))
    opened: tuple[int, ...] = ()
    about: frozenset[int] = frozenset()

    @property
    def style(self) -> str:
        """The style of its turns."""
        return self.chosen.style


def layout_of(lines: Sequence[str], *, known: bool = False) -> Layout:
    """The layout of a file's lines, or of its beginning. Without a style where nobody speaks.

    Of a file `known` to be a chat those speak too whom one turn alone does not show to be people.
    """
    found, told = {}, dict[int, range]()
    wide = [
        n for n, line in enumerate(lines) if "：" in line[:LONGEST] and ":" not in line.partition("：")[0]
    ]
    recur = Counter(lines[n].partition("：")[0] for n in wide)
    wide = [n for n in wide if recur[lines[n].partition("：")[0]] > 1]
    if wide and sum(": " in line[:LONGEST] for line in lines) > len(wide):  # colons of both widths
        lines = list(lines)
        for n in wide:
            lines[n] = lines[n].replace("：", ": ", 1)
    for number in _outside_code(lines):
        here = opening(lines[number - 1])
        if here and not session(lines[number - 1]):
            stamp, last = ("", 0) if here.text else _below(lines, number, here.name)
            found[number] = replace(here, stamp=stamp) if stamp and not here.stamp else here
            told[number] = range(number + 1, last + 1)
    if any(here.name == COPILOT for here in found.values()):
        titles = (n for n in _outside_code(lines) if lines[n - 1][:2] == "# ")
        asked = ((n, _ASKED.fullmatch(lines[n - 1])) for n in titles)
        ours = {n: Opening("bold", "", here["name"], here["text"]) for n, here in asked if here}
        told |= dict.fromkeys(ours, range(0))
        found = dict(sorted((found | ours).items()))
    found = without_asides(found)
    written = [number for number, line in enumerate(lines, 1) if line.strip()]
    chosen = _chosen(found, written)
    if known and chosen.names:
        ours = {number: here for number, here in found.items() if here.style == chosen.style}
        more = guests(list(ours.values()), chosen.style, chosen.names)
        if chosen.style not in HEADINGS and not any(map(role, chosen.names)):
            more |= _in_row(lines, ours)
        chosen = replace(chosen, names=chosen.names | more)
    opened = tuple(number for number, here in found.items() if _opens(here, chosen))
    alone = sum(not found[number].text for number in opened)
    if chosen.style == "plain" and _ROW * len(opened) <= alone < len(opened):
        counts = Counter(found[number].name for number in opened)  # `However: ...` among names alone
        opened = tuple(n for n in opened if counts[found[n].name] > 1 or not found[n].text)
    about = {line for number in opened for line in told[number]} - set(opened)
    if chosen.style in HEADINGS and (listed := _listed(lines, found, opened)):
        found |= listed
        opened, about = tuple(listed), about | set(opened)
    return _layout(lines, chosen, found, opened, about)


def _listed(lines: Sequence[str], found: Mapping[int, Opening], opened: Sequence[int]) -> dict[int, Opening]:
    """The turns that are listed with their times below the names of who says them: `* 22:51:03 text`."""
    listed, heads = dict[int, Opening](), 0
    for begin, end in pairwise((*opened, len(lines) + 1)):
        times = {n: _LISTED.match(lines[n - 1]) for n in range(begin + 1, end)}
        told = {n: time for n, time in times.items() if time}
        heads += bool(told)
        listed |= {n: replace(found[begin], stamp=time["at"], text=time["text"]) for n, time in told.items()}
    return listed if 0 < len(opened) == heads else {}


def by_head(lines: Sequence[str], head: Head, *, stated: bool = False) -> Layout:
    """The layout of a file, or of its beginning, whose turns have this head; all its names where it is
    `stated`."""
    found, about, end, last = dict[int, Opening](), set[int](), 0, Opening("", "", "", "")
    for number in _outside_code(lines):
        if number <= end or not lines[number - 1].strip():
            continue
        if here := head.at(lines, number):
            last, end = here
            found[number], above = last, lines[number - 2].rstrip() if number > 1 else ""
            if above == last.name or above.removesuffix(last.name).endswith(_BY):
                about.add(number - 1)
        elif (
            last.name
            and number > end + 1
            and (stamp := head.goes_on(lines, number))
            and (lines[number - 1][0] == "[" or (stamp := _later(stamp, last.stamp)))
        ):
            last = found[number] = replace(last, stamp=stamp, text="")
        elif (unnamed := head.unnamed(lines[number - 1])) and 2 * len(unnamed.stamp) > len(last.stamp):
            found[number] = unnamed
        about.update(range(number + 1, end + 1))
    if head.above:
        found = _without_words(found)
    found = without_verbs(found)
    names = known_names(found, head) | (frozenset() if head.above else _in_row(lines, found))
    if stated:
        names = frozenset(here.name for here in found.values() if here.name)
    found |= _deeds(lines, head, found, names)
    apart = any(line.strip("[]()") == "TIME" for line in head.written.split("\n"))
    opened = tuple(sorted(found))
    if not head.has_time or (head.above and not apart):
        opened = tuple(number for number in opened if found[number].name in names or not found[number].name)
    if head.above:
        found = {number: found[number] for number in opened}
    style = Style("stamped" if head.has_time else "plain", names, opened)
    return _layout(lines, style, found, opened, about)


def _later(stamp: str, before: str) -> str:
    """The time of a clock alone below a turn, as that turn's is written; "" for a clock among its words.

    Below a time with a day it is one only where it follows within minutes.
    """
    if not to_iso(before):
        return stamp
    then, now = _CLOCK_IN.search(before), _CLOCK_IN.fullmatch(stamp)
    if not then or not now:
        return ""
    passed = (int(now[1]) - int(then[1])) * 60 + int(now[2]) - int(then[2])
    return before.replace(then[0], stamp, 1) if 0 <= passed <= _MINUTES else ""


def _without_words(found: Mapping[int, Opening]) -> dict[int, Opening]:
    """What is opened, without what ends in a time right below the name of who says it: `by 8 May, 18:00`.

    Neither does anybody speak once right above another head, as in a list of times.
    """
    counts = Counter(here.name for here in found.values())
    return {
        number: here
        for number, here in found.items()
        if counts[here.name] > 1 or not {number - 1, number + 1} & found.keys()
    }


def _deeds(
    lines: Sequence[str], head: Head, found: Mapping[int, Opening], names: Collection[str]
) -> dict[int, Opening]:
    """What people do between what they say: `* maya waves`, as IRC and Matrix write it."""
    told = {number: here for number, here in found.items() if not here.name and here.text[:2] == "* "}
    if head.written[0] == "<":
        stars = ((number, line) for number, line in enumerate(lines, 1) if line[:2] == "* ")
        told |= {number: Opening("plain", "", "", line) for number, line in stars if number not in found}
    deeds = dict[int, Opening]()
    for number, here in told.items():
        words = here.text[2:].split(" ", _NAME_WORDS)
        begun = (" ".join(words[:many]) for many in range(1, len(words)))
        if who := next((name for name in begun if name in names), ""):
            deeds[number] = replace(here, name=who, text=here.text[3 + len(who) :])
    return deeds


def _layout(
    lines: Sequence[str], style: Style, found: dict[int, Opening], opened: tuple[int, ...], about: set[int]
) -> Layout:
    """The layout of turns that begin on these lines, with the times that stand apart from their names."""
    for number, (line, stamp) in _apart(lines, opened, found).items():
        found[number] = replace(found[number], stamp=stamp)
        about.add(line)
    about |= _pages(lines, opened) | _buttons(lines, found, opened, about)
    above = day_above(lines[: opened[0] - 1]) if opened else ""
    return Layout(style, found, _orders(lines, found, about, above), opened, frozenset(about))


def _in_row(lines: Sequence[str], ours: Mapping[int, Opening]) -> frozenset[str]:
    """Whoever opens a line, or a paragraph, where nearly all open turns: one of them is as the other."""
    first = min(ours, default=0)
    written = [number for number, line in enumerate(lines, 1) if number >= first and line.strip()]
    for those in (written, [number for number in written if number == 1 or not lines[number - 2].strip()]):
        opened = [ours[number] for number in those if number in ours and ours[number].name]
        if len(those) > 3 and len(opened) >= _ROW * len(those):
            told = [here for here in opened if len(here.text.split()) > 2 or is_sentence(here.text)]
            named = {here.name for here in told if not is_label(here.name)}
            return frozenset(named - unlike(opened, dense=True))
    return frozenset()


def _orders(lines: Sequence[str], found: Mapping[int, Opening], about: Collection[int], above: str) -> Orders:
    """The order of day and month in stamps, and in lines that are only a date, by the day told above all."""
    told = (here.stamp for here in found.values() if here.stamp)
    short = (
        line
        for number, line in enumerate(lines, 1)
        if 5 < len(line) < _DATE_ALONE and not (number in found or number in about) and NUMERIC.search(line)
    )
    alone = (line for line in short if to_iso(line.strip(DECORATION)))
    return Orders.of(dict.fromkeys((*alone, *told)), above)


def _below(lines: Sequence[str], number: int, name: str) -> tuple[str, int]:
    """The time that stands below a speaker, before any text, and the last line that tells of the turn.

    Such lines are also the model, and the name once more.
    """
    stamp, last = "", 0
    for at in range(number, min(number + 6, len(lines))):
        line = _TIME_TAG.sub(r"\1", lines[at].strip())
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


def _opens(here: Opening, chosen: Style) -> bool:
    if here.style == "stamped" and (chosen.style == "stamped" or not chosen.pair):
        return chosen.style == "stamped" or here.name in chosen.names
    return here.style == chosen.style and here.name in chosen.names


def _chosen(found: Mapping[int, Opening], written: Sequence[int]) -> Style:
    """The style that explains most of the file.

    Where an assistant speaks, that is the one that sets its lines off most of those that start as early: an
    answer has labels in bold, but no label has answers below it. Else the one that opens most turns.
    """
    ours: dict[str, dict[int, Opening]] = {}
    for number, here in found.items():
        ours.setdefault(here.style, {})[number] = here
    styles = [_candidate(style, ours[style], written) for style in STYLES if style in ours]
    styles = [known for known in styles if known.opened]
    pairs = [known for known in styles if known.pair]
    if pairs:
        most = max(known.share for known in pairs)
        early = max(
            (known for known in pairs if known.share >= _NEAR * most), key=lambda known: len(known.opened)
        )
        return next(known for known in pairs if known.share >= _NEAR * most or _outweighs(known, early))
    return max(styles, key=lambda known: (known.one_side, known.weight), default=Style())


def _outweighs(known: Style, early: Style) -> bool:
    """Whether a bolder style opens as many turns as an earlier one, which is what a page says above them."""
    return known.share >= HALF * early.share and len(known.opened) >= len(early.opened)


def _candidate(style: str, ours: Mapping[int, Opening], written: Sequence[int]) -> Style:
    names = speakers(list(ours.values()), style)
    opened = tuple(number for number, here in ours.items() if here.name in names)
    after = sum(1 for number in written if opened and number >= opened[0])
    headed = len(names) == 1 and style in HEADINGS and is_sure(next(iter(names)))
    said = style == "said" and "You" not in names
    told = said or any(_has_clock(ours[number].stamp) or ours[number].pictured for number in opened)
    one_side = headed and (len(opened) > 2 or told)
    with_one = _is_with_one([ours[number].name for number in opened])
    return Style(style, names, opened, after / len(written) if written else 0.0, one_side, with_one)


def _is_with_one(named: Sequence[str]) -> bool:
    """Whether an assistant and one person speak, neither much more often than the other."""
    counts = Counter(named)
    assistants = sum(role(name) == "assistant" and is_sure(name) for name in counts)
    balanced = max(counts.values(), default=0) <= _MORE * min(counts.values(), default=0)
    return len(counts) == 2 and assistants == 1 and not all(map(role, counts)) and balanced


def _has_clock(stamp: str) -> bool:
    return "T" in to_iso(stamp) or bool(clock(stamp))


def _apart(
    lines: Sequence[str], opened: Sequence[int], found: Mapping[int, Opening]
) -> dict[int, tuple[int, str]]:
    """The line that is a turn's time and no more, and that time, by turn, where most turns have one.

    It stands above all turns, or at the end of all.
    """
    if all(found[number].stamp for number in opened):
        return {}
    times = list[tuple[int, str]]()
    for begin, end in pairwise((0, *opened, len(lines) + 1)):
        last = next((n for n in range(end - 1, begin, -1) if goes_on(lines[n - 1])), 0)
        stamp = lines[last - 1].strip().strip(DECORATION) if last else ""
        times.append((last, stamp if _has_clock(stamp) else ""))
    above = {n: time for n, time in zip(opened, times) if "T" in to_iso(time[1]) and not found[n].stamp}
    below = {n: time for n, time in zip(opened, times[1:]) if time[1] and not found[n].stamp}
    most = max(above, below, key=len)
    return most if len(most) > max(1, HALF * len(opened)) else {}


def _outside_code(lines: Sequence[str]) -> Iterator[int]:
    """The numbers of the lines outside fenced code and front matter. A fence that never ends is none."""
    fences = dict(_fences(lines))
    number = 1 + front_matter(lines)
    while number <= len(lines):
        if number in fences:
            number = fences[number]
        else:
            yield number
        number += 1


def front_matter(lines: Sequence[str]) -> int:
    """The last line of the properties that a file begins with, 0 if it has none."""
    if lines[0].rstrip() != "---" or not _PROPERTY.match(lines[1] if len(lines) > 1 else ""):
        return 0
    return next((number for number, line in enumerate(lines[1:_LONG_MATTER], 2) if line.rstrip() in _ENDS), 0)


def _fences(lines: Sequence[str]) -> Iterator[tuple[int, int]]:
    """The first and the last line of each fenced block; those that open with a language nest."""
    open_: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        found = _FENCE.match(line) if "`" in line[:6] or "~" in line[:6] else None
        if not found:
            continue
        fence, info = found["fence"], (found["info"] or "").strip()
        if open_ and not info and fence.startswith(open_[-1][1]):
            first, _ = open_.pop()
            yield first, number
        elif not open_ or info:
            open_.append((number, fence))


def goes_on(line: str) -> bool:
    """Whether a line is more than blank or a rule."""
    return bool(line.strip()) and not _RULE.match(line)


def session(
    line: str, alone: bool = True, orders: Orders = _NO_ORDERS, before: str = ""
) -> tuple[str, str] | None:
    """The session and the date that a line by itself starts, or None for any other line.

    A date without a year has that of the day `before` it.

    Such a line is set off: by a heading, rules or bold marks, or by blank lines (`alone`). "Day 1: Lisbon" in
    an answer is none, so only `Session` and its like count by number alone, the rest need a date.
    """
    if not line or len(line) > LONGEST or not (alone or line[0] in _SETTING_OFF):
        return None
    body = line.strip().strip(DECORATION)
    set_off = _SET_OFF.match(line) is not None
    if not (set_off or alone) or not 3 < len(body) <= 90 or not any(map(str.isdigit, body)):
        return None
    day_first = orders.day_first(line)
    if found := _SESSION.match(body):
        date = find_date(found["rest"], day_first=day_first)
        bare = not found["rest"].strip(DECORATION + ":,.") or bool(to_iso(found["rest"].strip(":, ")))
        if (found["numbered"] or date) and (set_off or bare):
            return found["name"], date
    if body.isdigit():
        return None
    if day := to_iso(body, day_first=day_first)[:10]:
        return day, day
    if before and _YEARLESS_ALONE.fullmatch(body) and (day := yearless(body, before)):
        return day, day
    if TITLE.match(line):
        first = _AFTER_DATE.split(body, maxsplit=1)[0]
        day = to_iso(first, day_first=day_first) or to_iso(body[:10])
    else:  # `**3 May 2024**, in the car`; Zulip's `#boats > oars May 3, 2024`
        first = body.partition("**")[0] if line[:2] == "**" else " ".join(body.split()[-3:])
        day = to_iso(first, day_first=day_first) if line[0] == "#" or (alone and line[:2] == "**") else ""
    return (body, day[:10]) if day and not (first.isdigit() or body[:10].isdigit()) else None


def _buttons(
    lines: Sequence[str], found: Mapping[int, Opening], opened: Sequence[int], about: Collection[int]
) -> set[int]:
    """The lines that most turns end with, as of a page's buttons; what else a turn says is left to it."""
    turns = list[list[int]]()
    for begin, end in pairwise((*opened, len(lines) + 1)):
        told = (n for n in range(begin + 1, end) if n not in about and goes_on(lines[n - 1]))
        below = [n for n in told if not session(lines[n - 1])]
        turns.append(below[not found[begin].text :])
    left = set[int]()
    for depth in range(1, _BUTTONS):
        last = [turn[-depth] for turn in turns if len(turn) >= depth]
        ends = {number: _DIGITS.sub("0", lines[number - 1].strip()) for number in last}
        alike, many = Counter(ends.values()).most_common(1)[0] if ends else ("", 0)
        if many < max(3, _LIKELY * len(turns)) or not (left or any(map(str.isalpha, alike))):
            break
        left.update(number for number, line in ends.items() if line == alike)
    return left


def _pages(lines: Sequence[str], opened: Collection[int]) -> set[int]:
    """The lines with numbers of pages, and those that stand above or below all of them alike."""
    written = [number for number, line in enumerate(lines, 1) if line.strip()]
    numbered = ((place, _PAGE.fullmatch(lines[n - 1][:LONGEST].strip())) for place, n in enumerate(written))
    found = {place: page for place, page in numbered if page and not to_iso(page[0].strip(DECORATION))}
    rising = all(int(one["page"]) < int(other["page"]) for one, other in pairwise(found.values()))
    if len(found) < 2 or not rising or len({page["all"] for page in found.values()}) > 1:
        return set()
    left = {written[place] for place in found}
    counts = Counter(lines[number - 1].strip() for number in written)
    recur = {place for place, number in enumerate(written) if counts[lines[number - 1].strip()] > 1}
    for step in (-1, 1):
        here = recur.intersection(place + step for place in found)
        while here:
            left.update(written[place] for place in here)
            here = recur.intersection(place + step for place in here)
    return left.difference(opened)
