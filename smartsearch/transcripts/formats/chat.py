"""Text and Markdown chats: turns opened by `Name: text`, stamped, bold or under headings, and sessions.

`speakers.py` says which lines open a turn, `chat_layout.py` in which of their styles a file is: the one that
explains most of it. Lines that open nothing in it, and all of fenced code and front matter, continue the turn
before. A line that is only a date (`--- 8 May 2023 ---`, `# 2023-05-08`) or names a numbered session
(`## Session 2`) starts a session and dates the turns below it that have no date of their own; so does a
heading that begins with a date (`## 2023-05-08: the boat`). In a chat with an assistant, whose answers have
such headings too, only one right above a turn does.

A turn's time may stand on a line below its speaker (`_Timestamp: 2023-05-08 13:56_`) or, in the whole file,
above. Left out, as nobody said it: that line, a `Model: name` there, and the rule (`---`) between turns.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from smartsearch.text.stamps import Timeline, day_above, place, seconds
from smartsearch.text.times import learnt_halves, to_iso
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats import prose
from smartsearch.transcripts.formats.chat_layout import (
    DECORATION,
    HALF,
    LONGEST,
    TITLE,
    Layout,
    Style,
    by_head,
    front_matter,
    goes_on,
    layout_of,
    session,
)
from smartsearch.transcripts.formats.heads import Head, are_places, infer, is_filled_in
from smartsearch.transcripts.formats.speakers import (
    Opening,
    is_label,
    is_sentence,
    is_sure,
    looks_like_name,
    role,
)
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

_DETECT_LINES = 500  # a chat shows itself early; the whole file is parsed only once it is known to be one
_DENSE = 0.25  # share of lines that open turns in a chat whose turns are a few lines long
_PREAMBLE = 5  # a chat of long turns still starts with one: lines of title and introduction allowed before
_ALL = 0.9  # share of lines that one person speaks in a chat of nobody else
_FEW = 6  # people who may speak once or twice each; more such names are labels
_MANY = 20  # turns of questions and answers that are a talk's, not a page's
_LOGGED = re.compile(
    r"(?:[-*#=]{1,4} |Session )(?:\w{1,20} ){0,3}?(?:opened|closed|changed|start|time|close|logging(?:"
    r" at)?|began|ended)(?: \([^()]{1,80}\))?:?\s{1,4}(?P<when>\S.{0,80})",
    re.I,
)
"""What programs write between turns: a date that holds for those below it."""
_NOTE = re.compile(
    r".{1,80} (?:started|stopped) transcription|Transcribed by https?://otter\.ai/?|Meeting ended"
    r" after .{1,40}"
    r"|(?:\d{1,2}h ?)?\d{1,3}m(?: ?\d{1,2}s)?|\d{1,2}s|.{1,200}-Meeting Recording"
    r"|This editable transcript was computer generated.{0,200}|(?P<ended>.{1,80}\d:\d\d.{0,30}👋)"
)
"""What programs say of a recording between turns."""
_REACTED = re.compile(r":[\w+-]{1,40}:|[^\w\s]{1,8}")
_BELOW = re.compile(
    r"\d{1,3} \w{1,12} reactions?\.|\d{1,3} repl(?:y|ies)|Last re(?:ply .{1,40}|ad)|Edited|New|NEW"
    r"|View thread|[Hh]as context menu|Type a message|Message [#@].{1,60}"
)
"""What windows that were copied show below a message; a reaction has how many there are below it."""
_BORDER = re.compile(r"={20,}$|={3,40} (?P<title>[^\n=]{1,100}) ={3,40}$")
_DATED = re.compile(r"(?=.{0,30}\d{4}).{0,30}\d:\d\d")
"""A stamp that has a year and a clock."""
_SURELY = 0.85  # share of labels that are followed by the one that mostly follows: fields of records


def detect(source: Source) -> bool:
    """Whether the file's beginning is turns of people or roles, and not a document with labels."""
    if source.json.items:
        return False
    begun = front_matter(source.bare)
    lines = source.bare[begun : begun + _DETECT_LINES]
    return _is_talk(lines) or _told_below(lines) > 0


def _is_talk(lines: Sequence[str]) -> bool:
    return head_of(lines) is not None or _is_chat(layout_of(lines), lines)


def is_stamped(source: Source) -> bool:
    """Whether the turns of a file have times, and are most of it: what a page of anything else has not."""
    head = head_of(source.bare) if source.text.strip() else None
    layout = by_head(source.bare, head) if head else layout_of(source.bare[: 2 * _DETECT_LINES])
    return head.has_time if head else layout.style == "stamped" and _is_chat(layout, source.bare)


def head_of(lines: Sequence[str]) -> Head | None:
    """The head that is inferred from a file's beginning, None where one of the styles explains more of it."""
    begun = front_matter(lines)
    lines = lines[begun : begun + _DETECT_LINES]
    found = infer(lines)
    if found is None:
        return None
    styled = layout_of(lines)
    named = sum(bool(styled.found[number].name) for number in styled.opened)
    told = found.head.has_time
    if styled.chosen.pair or (named >= len(found.opened) + told and _is_chat(styled, lines)):
        return None
    layout = by_head(lines, found.head)
    said = [here.name for here in found.opened.values()]
    if not found.head.has_time and _is_document(layout, lines, said, recurs=True):
        return None
    return found.head


_TRANSCRIPT = re.compile(
    r"\W{0,6}(?:[^\n:]{0,80}[\s–—-]\s?)?(?:transcripts?|transcription|transkript(?:ion)?|transcripci[oó]n"
    r"|transcri[cç][aã]o|trascrizione|afschrift|verbatim|gesprächsverlauf|запись разговора|стенограмма"
    r"|文字起こし|逐字稿)\W{0,4}|#{1,4} (?:interview|entretien|entrevista|intervista|wywiad|интервью)\s{0,4}",
    re.I,
)
"""What stands between the summary of a meeting and what was said."""


def _told_below(lines: Sequence[str]) -> int:
    """How many lines stand above a transcript that a document announces, 0 where it is all talk, or none."""
    titles = [n for n, line in enumerate(lines[:_DETECT_LINES], 1) if _TRANSCRIPT.fullmatch(line[:LONGEST])]
    for begun in titles if titles and not _is_talk(lines) else ():
        below = lines[begun : begun + _DETECT_LINES]
        if any(map(str.strip, below)) and _is_talk(below):
            return begun
    return 0


def _is_chat(layout: Layout, lines: Sequence[str]) -> bool:
    opened = [layout.found[number] for number in layout.opened]
    named = [here.name for here in opened if here.name]
    if not named or is_filled_in(opened):
        return False
    if layout.chosen.pair:
        return _is_dialogue(layout.chosen, lines)
    written = [number for number, line in enumerate(lines, 1) if line.strip()]
    if len(set(named)) < 2 and layout.style != "stamped":
        one_side = layout.chosen.share >= HALF and layout.chosen.one_side
        return one_side or 1 < len(named) >= _ALL * len(written)
    recurs = len(set(named)) < len(named) or any(is_sure(name) for name in named)
    if not recurs and 2 * len(named) <= len(opened) >= _FEW:
        return False  # a programme, or what is said by nobody
    if layout.style != "stamped" and _is_document(layout, lines, named, recurs):
        return False
    dense = len(opened) >= _DENSE * len(written)
    return dense or (recurs and written.index(layout.opened[0]) <= _PREAMBLE)


def _is_dialogue(chosen: Style, lines: Sequence[str]) -> bool:
    """Whether turns of both sides are most of the file, not an example in it.

    Words that are titles too have to begin it, or to be many.
    """
    before = sum(1 for line in lines[: chosen.opened[0] - 1] if line.strip())
    if len(chosen.opened) < _MANY and not any(map(is_sure, chosen.names)) and _are_asked(chosen, lines):
        return False
    begun = any(map(is_sure, chosen.names)) or before <= 2 * _PREAMBLE or len(chosen.opened) >= _MANY
    return begun and chosen.share > HALF


def _are_asked(chosen: Style, lines: Sequence[str]) -> bool:
    """Whether blank lines part questions, each with its answer right below, as on a page of them."""
    asked, answered = chosen.opened[::2], chosen.opened[1::2]
    apart = all(not lines[number - 2].strip() for number in asked[1:])
    return apart and all(lines[number - 2].rstrip().endswith("?") for number in answered)


def _is_document(layout: Layout, lines: Sequence[str], named: Sequence[str], recurs: bool) -> bool:
    """Whether names are labels: of a form, a list, a README with its headings, or the fields of records."""
    counts = Counter(named)
    if len(counts) > max(_FEW, HALF * len(named)):
        return True
    texts = [layout.found[number].text for number in layout.opened]
    if not recurs and sum(not any(map(str.isalpha, text)) for text in texts if text) * 4 > 3 * len(named):
        return True  # telephones, prices
    labelled = [here.name for here in layout.found.values() if is_label(here.name)]
    others = len(set(labelled))
    begun = is_label(next(iter(layout.found.values())).name)
    if len(labelled) > len(named) - begun and (others > 2 or begun):
        return True  # fields of a form
    whole = len(named) >= _ALL * sum(bool(line.strip()) for line in lines)
    if not recurs and not whole and len(named) > 2 and 2 * sum(map(is_sentence, texts)) < len(texts):
        return True
    asked = whole and any("?" in text for text in texts)
    if not recurs and not asked and (len(named) > 3 or len(named) + others > 4):
        return True  # `Title: ...`, `Author: ...`: every name once
    top = (layout.found.get(number) for number in range(layout.opened[0], layout.opened[0] + _FEW))
    fields = {here.name for here in top if here and is_label(here.name)}
    if len(fields) >= _FEW / 2 and 4 * counts[named[0]] < len(named):
        return True  # fields of a form, among which nobody speaks; not a list in what the first speaker says
    values = [text for text in texts if len(text.split()) == 1]
    numbers = sum(any(map(str.isdigit, text)) for text in values)
    few = _FEW if any(map(looks_like_name, counts)) else _FEW / 2
    if len(values) * 4 >= 3 * len(named) and numbers * 3 >= len(named) > few:
        return True
    headed = _headings(layout, lines, named) > max(2, len(named) / 3)
    return headed or _is_alone(counts) or (_in_order(named) and _in_groups(layout))


def _is_alone(counts: Counter[str]) -> bool:
    """Whether an assistant speaks and nobody else does twice."""
    others = [count for name, count in counts.items() if role(name) != "assistant" or not is_sure(name)]
    return len(others) < len(counts) and max(others, default=0) < 2


def _headings(layout: Layout, lines: Sequence[str], named: Sequence[str]) -> int:
    """How many headings there are beside those that name speakers or sessions, where these stand under some
    below the first.
    """
    begun = layout.opened[0] - 1 if layout.style.startswith("#") else 0
    alone = [
        line for above, line in pairwise(("", *lines[begun:])) if TITLE.match(line) and not above.strip()
    ]
    own = len(named) if layout.style.startswith("#") else 0
    told = (line for line in alone if not session(line) and seconds(line.strip(DECORATION)) is None)
    return sum(1 for _ in told) - own


def _in_order(named: Sequence[str]) -> bool:
    """Whether three names and more come round in one order, as those of fields do."""
    counts, pairs = Counter(named), Counter(pairwise(named))
    first: dict[str, int] = {}
    for (name, _), count in pairs.items():
        first[name] = max(first.get(name, 0), count)
    often = [count for _, count in counts.most_common(3)]
    even = len(often) == 3 and 1 < often[2] >= HALF * often[0]
    return even and sum(first.values()) >= _SURELY * sum(pairs.values())


def _in_groups(layout: Layout) -> bool:
    """Whether the same names always stand right below another one, and the same never, as in records.

    More than three that stand as often as each other are fields anyhow.
    """
    starts = set(layout.opened)
    places = Counter((layout.found[number].name, number - 1 in starts) for number in layout.opened[1:])
    counts = Counter(layout.found[number].name for number in layout.opened)
    if len(counts) > 3 and len(set(counts.values())) == 1:
        return True
    most = {name: max(places[name, True], places[name, False]) for name, _ in places}
    below = {places[name, True] >= places[name, False] for name in most}
    return len(below) > 1 and sum(most.values()) >= _SURELY * sum(places.values())


def told(source: Source) -> str:
    """The head that was inferred, and of how many lines it is; "" where the turns are in one of the
    styles."""
    head = head_of(source.bare[: 2 * _DETECT_LINES])
    if head is None:
        return ""
    layout = by_head(source.bare, head)
    turns = sum(layout.found[number].name != "" for number in layout.opened)
    written = sum(1 for line in source.bare if line.strip())
    return (
        f"head {head.shown}, {turns:,} turns"
        if head.above
        else f"head {head.shown}, {turns:,} of {written:,} lines"
    )


def read(source: Source, stated: Head | None = None) -> Iterator[Record]:
    """Turns in file order, by the head that a user `stated` or by what is found.

    Text before the first turn is a turn without a speaker; a title names the chat. What stands above a
    transcript in a document is prose.
    """
    if above := 0 if stated else _told_below(source.bare[: 2 * _DETECT_LINES]):
        yield from prose.read(replace(source, text="\n".join(source.lines[:above])))
        source = replace(source, text="\n" * above + "\n".join(source.lines[above:]))
    head = stated or head_of(source.bare[: 2 * _DETECT_LINES])
    layout = (
        by_head(source.bare, head, stated=stated is not None) if head else layout_of(source.bare, known=True)
    )
    if stated and not layout.opened:
        raise FormatError(
            f"no line begins with the head that was stated: {stated.shown}", kind="unknown_head"
        )
    stamps = [here.stamp for here in layout.found.values() if here.stamp]
    timed = Timeline(layout.orders, learnt_halves(stamps), source.day, rolls=True)
    places = head is not None and are_places(head, stamps) and not _is_dated(source.bare, layout)
    state = _State(source, layout, timed, places)
    starts = set(layout.opened)
    is_recorded, is_document = state.places, source.suffix == ".docx"
    if not timed.day:
        timed.on(day_above(source.bare[: layout.opened[0] - 1] if layout.opened else []))
    alone = True  # the line stands at the start or after a blank one
    for number, line in enumerate(source.bare, 1):
        if number in layout.about:
            pass
        elif number in starts:
            yield from state.close()
            state.open(number, layout.found[number])
        elif (begun := session(line, alone or number + 1 in starts, layout.orders, timed.day)) and (
            not layout.chosen.pair or _is_above(number, source.bare, starts)
        ):
            yield from state.close()
            state.session = begun[0]
            timed.on(begun[1] or timed.day)
        elif (
            not state.started
            and len(line) < LONGEST
            and (day := to_iso(line.strip())[:10])
            and not line.strip().isdigit()
        ):
            timed.on(day)
        elif stamps and line[:1] in "-*#=S" and (logged := _LOGGED.fullmatch(line[:LONGEST])):
            yield from state.close()
            timed.on(to_iso(logged["when"])[:10] or timed.day)
        elif head and (border := _BORDER.match(line)):
            yield from state.close()
            state.lines, state.line = ([line], number) if border["title"] else ([], 0)
        elif (
            is_recorded and (state.title or not is_document) and (note := _NOTE.fullmatch(line.strip()[:300]))
        ):
            if note["ended"]:
                break
        elif (
            not stamps
            and (line[:1].isdigit() or line[:1] == "#")
            and (at := seconds(line.lstrip("# "))) is not None
        ):
            yield from state.close()
            state.mark, is_recorded = place(at), True
        elif not (state.started or state.title or state.line) and (
            TITLE.match(line) or (is_document and line.strip())
        ):
            state.title = line.strip(DECORATION)
        else:
            threaded = line[:1] == "|" and head is not None and head.written[0] == ">"
            state.lines.append(line.lstrip("| ") if threaded else line)
            state.line = state.line or (number if line.strip() else 0)
        alone = not line.strip()
    yield from state.close()
    if state.unread:
        yield FormatError(f"times that cannot be read, such as {state.unread!r}", kind="notice")
    if not layout.chosen.pair and (
        doubtful := _doubtful(layout, sure=head is not None and ":" not in head.written)
    ):
        yield FormatError(doubtful, kind="notice")


def _doubtful(layout: Layout, *, sure: bool) -> str:
    """What to tell of lines that begin as turns do, with a name that is no speaker's, or a label that recurs
    as often as they do; and, but where marks make it `sure`, of words that say one thing among handles.
    """
    names: dict[str, int] = {}
    for number, here in layout.found.items():
        if here.style == layout.style and here.name and here.name not in layout.chosen.names:
            names.setdefault(here.name, number)
    counts = Counter(here.name for here in layout.found.values() if here.style == layout.style)
    often = max((counts[name] for name in layout.chosen.names), default=0)
    likely = looks_like_name if layout.style == "plain" else _is_no_label
    told = [name for name in names if likely(name) or (4 <= counts[name] >= often / 4 and name.isupper())]
    said = "taken for words of a turn, not for speakers"
    if not told and layout.style == "plain" and not sure:
        once = {here.name: number for number, here in layout.found.items() if counts[here.name] == 1}
        told = [name for name in once if name in layout.chosen.names and name.islower() and name.isalpha()]
        names, said = once, "taken for speakers, who say one thing"
    doubtful = [f"{name!r} in line {names[name]}" for name in told]
    more = f" and {len(doubtful) - 3} more" if len(doubtful) > 3 else ""
    return f"{said}: {', '.join(doubtful[:3])}{more}" if doubtful else ""


def _is_no_label(name: str) -> bool:
    return not is_label(name) and not any(map(str.isdigit, name))


def _is_dated(lines: Sequence[str], layout: Layout) -> bool:
    """Whether a line between turns, or the last one above them, tells the day, as in no recording."""
    if not layout.opened:
        return False
    first = layout.opened[0]
    above = [line for line in lines[:first][-_DETECT_LINES:-1] if line.strip()][-1:]
    below = lines[first : first + _DETECT_LINES]
    return any((begun := session(line)) is not None and begun[1] for line in (*above, *below))


def _is_above(number: int, lines: Sequence[str], starts: set[int]) -> bool:
    """Whether a turn starts right below a line: in a chat with an assistant a session does so only there."""
    below = next((n for n in range(number + 1, len(lines) + 1) if goes_on(lines[n - 1])), 0)
    return below in starts


@dataclass
class _State:
    """The turn being read and what the lines above it said of session, date and title."""

    source: Source
    layout: Layout
    timed: Timeline
    places: bool = False
    mark: str = ""
    title: str = ""
    session: str = ""
    started: bool = False
    line: int = 0
    opened: Opening | None = None
    lines: list[str] = field(default_factory=list)
    unread: str = ""

    def open(self, number: int, opened: Opening) -> None:
        self.line, self.opened, self.started = number, opened, True
        self.lines = [opened.text]

    def _below(self) -> int:
        """How many of the last lines are no words of the turn."""
        above, last = "".join(self.lines[-2:-1]).strip(), self.lines[-1].strip()
        if not goes_on(last):
            return 1
        if not (self.opened and self.opened.stamp):
            return 0
        counted = last.isdecimal() and (_REACTED.fullmatch(above) or _BELOW.fullmatch(above))
        below = 2 if counted else int(_BELOW.fullmatch(last) is not None)
        return below if any(map(str.strip, self.lines[:-below])) else 0

    def close(self) -> Iterator[Record]:
        """The turn read so far, if any, and a clean slate for the next."""
        while len(self.lines) > (self.opened is not None) and (below := self._below()):
            del self.lines[-below:]
        text = "\n".join(line.rstrip() for line in self.lines).strip()
        opened, line = self.opened, self.line
        if opened and opened.stamp:
            text = text.removesuffix(" (edited)")
        self.opened, self.line, self.lines = None, 0, []
        if not text:
            if opened:
                yield FormatError("a speaker without text", line=line, kind="no_text")
            return
        stamp = opened.stamp if opened else ""
        name = opened.name if opened and opened.name in self.layout.chosen.names else ""
        if opened and opened.name and not name:  # a label under a stamp is part of what was said
            text = f"{opened.name}: {text}"
        time = self.timed.day if self.places or not stamp else self.timed.at(stamp)
        if stamp and not self.places and "T" not in time and _DATED.search(stamp):
            self.unread = self.unread or stamp
        yield Turn(
            text=text,
            speaker=name,
            time=time,
            turn=place(seconds(stamp) or 0) if self.places and stamp else self.mark,
            role=role(name),
            path=self.source.path,
            line=line,
            conversation=self.title or self.source.stem,
            session=self.session,
        )
