"""Subtitles and the transcripts of meetings: WebVTT (Teams, Zoom, YouTube), SubRip `.srt`, Meet's `.sbv`, and
SubStation Alpha, `.ass`.

A cue's speaker is its `<v Maya Reis>`, else a name before a colon, `Maya Reis: text`, that recurs or looks
like one. Cues of one speaker that follow one another, or that name none, are one turn up to the end of a
sentence, or for a minute. `NOTE`, `STYLE` and `REGION` blocks are left out, and so are lines that a rolling
caption repeats.

Subtitles have no date but that of the file's name; `turn` holds the place in the recording, `00:12:31`.

Sources: W3C WebVTT, section 3.1 and 3.4; Teams' `<v Name>` and Zoom's `Name: text` as read by the parsers of
danyelf/parse-vtt and jtkristoff/icann.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

from smartsearch.text.htmltext import unescaped
from smartsearch.transcripts.faults import FormatError
from smartsearch.transcripts.format import Record
from smartsearch.transcripts.formats.chat_layout import by_head
from smartsearch.transcripts.formats.heads import infer
from smartsearch.transcripts.formats.jsontext import Item
from smartsearch.transcripts.formats.speakers import Opening, is_label, looks_like_name, unlike
from smartsearch.transcripts.formats.speech import Said, placed
from smartsearch.transcripts.source import Source

_DETECT_LINES = 60
_MOST, _WORDS = 0.9, 6  # share of cues that begin with a name where all do, and the words of one

_BEGINNERS = frozenset(
    ("the", "a", "an", "and", "but", "so", "i", "you", "he", "she", "it", "we", "they", "this", "that")
)
"""Words that sentences begin with, as names never do."""
_FEW = 8  # cues that show whether they begin alike
_DIGITS = "0123456789"
_TIMING = re.compile(
    r"\s{0,8}(?:(?P<hours>\d{1,4}):)?(?P<minutes>\d{1,2}):(?P<seconds>\d{2})(?:[.,](?P<fraction>\d{1,3}))?"
    r"\s{0,8}-->\s{0,8}(?:\d{1,4}:)?\d{1,2}:\d{2}(?:[.,]\d{1,3})?(?:\s|$)"
)
_SBV = re.compile(
    r"(?P<hours>\d{1,4}):(?P<minutes>\d{2}):(?P<seconds>\d{2})\.(?P<fraction>\d{3}),\d{1,4}:\d{2}:\d{2}\.\d{3}\s{0,4}$"
)
_BEGINNING = 200  # cues in which it shows whether each names who speaks
_ALPHA = "[Script Info]"
_BEGINS = re.compile(r"\s*(?P<hours>\d{1,4}):(?P<minutes>\d\d):(?P<seconds>\d\d)[.,](?P<fraction>\d{1,3})")
_ASIDE = re.compile(r"(?:NOTE|STYLE|REGION|whisper_print_timings:)(?:\s|$)")
_SOUNDS = "music|applause|laugh|cheer|silence|inaudible|crosstalk|noise|sigh|cough|foreign|speaking|♪"
_SOUND = re.compile(_SOUNDS, re.I)
_VOICE = re.compile(
    r"(?:<v(?:\.[^\s<>]{1,80})?\s{1,8}"
    rf"|^<(?!(?i:[bcisuvp]|rt|br|em|ruby|lang|font|span|strong)\b|(?i:{_SOUNDS}))(?=[^\W\da-z]))"
    r"(?P<name>[^<>\n/]{1,100})>"
)
"""Who speaks: `<v Maya Reis>`, and at a line's begin what is written as a tag and is none, `<Maya Reis>`."""
_TAG = re.compile(r"</?(?:[^\W\d]|\d\d:)[^<>\n]{0,200}>|</?>")  # `a <3 b -> c` is none
_NAMED = re.compile(
    r"(?:[-–—] ?|>> ?)?(?:(?P<name>(?![【「])[^:：\n<>\[\]{}()]{1,60}(?:\([^()\n]{1,30}\))?)"
    r"(?::(?: |$|(?=[^\W\d]{2}))|：\s?)"
    r"|[\[({【「](?P<within>[^:\n<>\[\]{}()【】]{1,60})[\])}】」](?:\s?[:：]|\s[-–—](?=\s))?(?:\s|$|(?<=[】」：])))"
)
_TURNED = re.compile(r"(?:[-–—] |>>)\s{0,4}(?=\S)")
"""What begins a line of another speaker, who is not named."""
_WEBEX = re.compile(r"\d{1,6} \"(?P<name>[^\"\n]{1,80})\"(?: \(\d{1,20}\))?\s*$")
_INLINE = re.compile(
    r"\[?(?P<at>(?:\d{1,3}:)?\d{1,2}:\d\d[.,]\d{1,3}\s?-->\s?(?:\d{1,3}:)?\d{1,2}:\d\d[.,]\d{1,3})\]?\s{1,8}(?P<text>(?!(?:[a-z]{1,20}:\S{1,40}\s{0,4}){1,8}$)\S.*)$"
)


class _Cue(NamedTuple):
    """What is shown at once: from when on (seconds), on which lines, by whom as its id tells, and
    whether a turn."""

    start: float
    number: int
    lines: tuple[str, ...]
    speaker: str = ""
    whole: bool = False


def detect(source: Source) -> bool:
    """Whether the file begins as WebVTT does, or with a cue: its time, or a number and its time."""
    lines = [line for line in source.lines[:_DETECT_LINES] if line.strip()]
    if lines and lines[0].strip("\ufeff ") == _ALPHA:
        return True
    if lines and re.match(r"\ufeff?WEBVTT(?:\s|$)", lines[0]):
        return True
    if sum(bool(_INLINE.match(line)) for line in lines) > max(3, len(lines) / 4):
        return True  # of a terminal, below what a program says of itself
    for line in lines[:2]:
        if _timing(line) or _INLINE.match(line):
            return True
        if not line.strip().isdecimal():
            return False
    return False


def read(source: Source) -> Iterator[Record]:
    """Turns in file order."""
    alpha = source.first_line().strip("\ufeff ") == _ALPHA
    cues, title = list((_alpha if alpha else _cues)(source.lines)), _title(source)
    names, told = _names(cues), False
    for turn in placed(source, _said(_headed(cues, names), names), title):
        told = told or turn.speaker != ""
        yield turn
    if not told and (odd := _alike(cues)):
        yield FormatError(f"nobody is named, though cues begin with the same words: {odd}", kind="notice")


def _alike(cues: list[_Cue]) -> str:
    """The words that cues begin with most, where a few begin them all as names do; or ""."""
    begun = Counter(_plain(cue.lines[0]).partition(" ")[0] for cue in cues)
    often = [word for word, _ in begun.most_common(3) if any(map(str.isalpha, word))]
    words = [word.casefold() for word in often if word.isalpha()]  # names are marked, or few begin them all
    if len(begun) > _FEW or (words and (len(begun) > 3 or not _BEGINNERS.isdisjoint(words))):
        return ""
    return ", ".join(often) if _FEW <= len(cues) >= 3 * len(begun) else ""


def _headed(cues: list[_Cue], names: frozenset[str]) -> list[_Cue]:
    """The cues, each with who speaks by the head that is inferred from them all, where `names` say little."""
    begun = [_plain(cue.lines[0]) for cue in cues]
    known = sum(bool((found := _NAMED.match(line)) and _name_in(found, names)) for line in begun)
    if 4 * known >= len(cues) or any(map(_voiced, cues)):
        return cues
    inferred = infer(begun[:_BEGINNING])
    if not inferred or inferred.head.above or inferred.head.has_time:
        return cues
    people, told = by_head(begun, inferred.head).chosen.names, list[_Cue]()
    for cue in cues:
        for n, line in enumerate(cue.lines):
            here, _ = inferred.head.at([_plain(line)], 1) or (None, 0)
            if here and here.name in people:
                told.append(
                    cue._replace(
                        number=cue.number + n,
                        speaker=here.name,
                        lines=(here.text,),
                    )
                )
            elif n:
                told[-1] = told[-1]._replace(lines=(*told[-1].lines, line))
            else:
                told.append(cue)
    return told


def _said(cues: list[_Cue], names: frozenset[str]) -> Iterator[Said]:
    """What is said in the cues; where only who begins is marked, by chevrons or a name, one goes on up to the
    next."""
    marked = sum(_plain(line).startswith(">>") for cue in cues for line in cue.lines) * 4 >= len(cues)
    marked = marked or _named_once(cues, names)
    last = ""
    for cue in cues:
        for part in _parts(cue, names, last):
            yield part
            last = part.speaker if marked else ""


def _named_once(cues: list[_Cue], names: frozenset[str]) -> bool:
    """Whether the first cue and others name who speaks, and never the same twice in a row: many by numbers or
    tags as programs do, or a few people, each more than once, as in a talk that somebody wrote down."""
    cues = cues[:_BEGINNING]
    told = [next((part.speaker for part in _parts(cue, names, "")), "") for cue in cues]
    named = list(filter(None, told))
    many = 3 < len(named) < len(told) <= 3 * len(named)
    tagged = all(_voiced(cue) for cue, name in zip(cues, told, strict=True) if name)
    sure = many and (tagged or all(name[-1] in _DIGITS for name in named))
    people = Counter(name for name in named if not name.isupper())
    sure = sure or (3 < len(named) == people.total() < len(told) and 2 * len(people) <= len(named))
    begun = sure and (told[0] != "" or _voiced(cues[0]))
    return begun and all(one != other for one, other in pairwise(named))


def _cues(lines: list[str]) -> Iterator[_Cue]:
    """The cues in file order: what stands between a timing and an empty line or the next timing.

    What stands behind the empty line without a timing of its own is the cue's too: an empty line was in it.
    """
    start, first, texts = -1.0, 0, list[str]()
    previous = ""  # the last line of the cue before, which a rolling caption shows again
    loose = aside = False  # behind a cue's empty line; in a block that is nobody's words, or a torn cue
    speaker, inline = "", None  # of the cue that is read: its name, and the words beside its time
    people = _people(lines)
    for number, line in enumerate([*lines, ""], 1):
        beside = _INLINE.match(line) if "-->" in line else None
        timing = _TIMING.match(beside["at"]) if beside else _timing(line)
        if timing or not line:
            if timing and texts and (loose or (len(texts) > 1 and texts[-1].strip().isdecimal())):
                texts.pop()  # the name or number of the cue that begins here
            if texts and not (loose and len(texts) == 1 and texts[0].strip().isdecimal()):
                yield _Cue(start, first, tuple(texts), speaker, whole=inline is not None)
                previous = _plain(texts[-1])
            if timing:
                above = lines[number - 2] if number > 1 else ""
                start, named = _seconds(timing), _WEBEX.match(above)
                speaker = named["name"] if named else above if above in people else ""
                speaker = speaker.strip()
                inline = beside
            first, texts, loose, aside = 0, [], not timing, False
            if beside:
                first, texts = number, [beside["text"]]
        elif start >= 0 and line.strip() and (texts or "<v" in line or _plain(line) != previous):
            if loose and (_ASIDE.match(line) if not texts else "-->" in line):
                aside, texts = True, []
            if not aside:
                first = first or number
                texts.append(line)


def _alpha(lines: list[str]) -> Iterator[_Cue]:
    """The cues of SubStation Alpha: a line each, whose columns the last `Format:` before it names."""
    columns: list[str] = []
    for number, line in enumerate(lines, 1):
        kind, _, rest = line.partition(":")
        if kind == "Format":
            columns = [name.strip() for name in rest.split(",")]
        elif kind == "Dialogue" and columns[-1:] == ["Text"]:
            told = dict(zip(columns, rest.split(",", len(columns) - 1), strict=False))
            begins = _BEGINS.match(told.get("Start", ""))
            texts = [text for text in told.get("Text", "").split("\\N") if text.strip()]
            if begins and texts:
                yield _Cue(_seconds(begins), number, tuple(texts), told.get("Name", "").strip())


def _people(lines: list[str]) -> frozenset[str]:
    """The names that stand where cues have their ids, each above several."""
    ids = Counter(
        one
        for before, one, line in zip(["", *lines], lines, lines[1:])
        if "-->" in line and not before.strip()
    )
    often = sum(
        count for one, count in ids.items() if count > 1 and looks_like_name(one.rstrip(f" {_DIGITS}"))
    )
    return frozenset(ids) if 2 * often > sum(ids.values()) else frozenset()


def _timing(line: str) -> re.Match[str] | None:
    """The time of a cue, of either kind."""
    if "-->" in line:
        return _TIMING.match(line)
    return _SBV.match(line) if line[:1].isdigit() else None


def _seconds(found: re.Match[str]) -> float:
    whole = int(found["hours"] or 0) * 3600 + int(found["minutes"]) * 60 + int(found["seconds"])
    return whole + float(f"0.{found['fraction'] or 0}")


def _names(cues: list[_Cue]) -> frozenset[str]:
    """What stands before colons and is a speaker: a name that recurs, or one that looks like a person's."""
    heads = [
        (found, cue)
        for cue in cues
        if not _voiced(cue)
        for line in cue.lines
        if (found := _NAMED.match(_plain(line)))
    ]
    counts = Counter(found["name"].strip() for found, _ in heads if found["name"])
    ours = [
        Opening("", "", found["name"].strip(), found.string[found.end() :])
        for found, cue in heads
        if found["name"] and _begins(found, cue)
    ]
    begin = {here.name for here in ours}
    if max(counts.values(), default=0) < 2 and len(cues) > 2 and sum(map(looks_like_name, counts)) < 2:
        begin.clear()  # one word before a colon, as sentences have
    within = Counter(
        found["within"].strip()
        for found, cue in heads
        if found["within"] and (found.end() < len(found.string) or len(cue.lines) > 1)
    )
    within = Counter({name: n for name, n in within.items() if not _SOUND.match(name)})
    if len(within) < 2 or 2 * sum(within.values()) < len(cues):
        within.clear()  # what is heard, `[Music]`
    dense = len(ours) >= max(4, _MOST * len(cues))
    named = {
        name for name in begin if dense or looks_like_name(name.partition(" (")[0].rstrip(f"# {_DIGITS}"))
    }
    named |= {name for name, count in counts.items() if count > 1}
    numbered = {name.rstrip(_DIGITS) for name in named if name[-1] in _DIGITS}
    named |= {name for name in begin if name[-1] in _DIGITS and name.rstrip(_DIGITS) in numbered}
    return frozenset(
        name for name in (named - unlike(ours, dense=dense)) | within.keys() if not is_label(name)
    )


def _begins(found: re.Match[str], cue: _Cue) -> bool:
    """Whether a line of a cue may begin with another's name, which stands nowhere else: not below one that is
    a name and no more, and below a named one only by a capital, as `she said: no` has none.
    """
    first, name = _plain(cue.lines[0]), found["name"].strip()
    named = _NAMED.match(first)
    if found.string == first or not named:
        return True
    if named["within"] and named.end() == len(first):
        return name.isupper()  # below what is heard, `[CROWD GASPS]`
    return named.end() < len(first) and (name.isupper() or (name[:1].isupper() and looks_like_name(name)))


def _name_in(found: re.Match[str], names: frozenset[str]) -> str:
    """Whoever is named, perhaps with how they speak behind it: `AMES (shouting)`; "" for nobody."""
    name = (found["name"] or found["within"]).strip()
    return next((known for known in (name.partition(" (")[0], name) if known in names), "")


def _voiced(cue: _Cue) -> bool:
    """Whether a cue marks who speaks: what stands before a colon in it is what was said."""
    return cue.speaker != "" or any("<" in line and _VOICE.search(line) for line in cue.lines)


def _parts(cue: _Cue, names: frozenset[str], last: str) -> Iterator[Said]:
    """What a cue's speakers say; a line that names nobody goes on with the one above, or with who was `last`.

    One that begins with a dash or chevrons is another's.
    """
    voiced = _voiced(cue)
    names = frozenset() if voiced else names
    speaker, number, texts, whole = cue.speaker or last, cue.number, list[str](), cue.whole
    for at, line in enumerate(cue.lines, cue.number):
        pieces = _VOICE.split(line) if "<" in line else [line]
        for n, piece in enumerate(pieces):
            if n % 2:
                who, said = unescaped(piece).strip(" -"), ""
            else:
                said = _plain(piece)
                found = _NAMED.match(said)
                if n == 0 and found and (who := _name_in(found, names)):
                    said = said[found.end() :].strip()
                elif n == 0 and not voiced and (turned := _TURNED.match(said)):
                    who, said = "", said[turned.end() :]
                else:
                    texts += [said] if said else []
                    continue
            if texts:
                yield Said(Item(None, number), f" {' '.join(texts)}", speaker, cue.start, whole=whole)
            speaker, number, texts, whole = who, at, [said] if said else [], cue.whole or not who
    if texts:
        yield Said(Item(None, number), f" {' '.join(texts)}", speaker, cue.start, whole=whole)


def _plain(text: str) -> str:
    """A line without tags, cue settings of SubRip (`{\\an8}`) and escapes."""
    if text.isascii() and not ("<" in text or "{" in text or "&" in text):
        return text.strip()
    if "<" in text:
        text = _TAG.sub("", text)
    if "{\\" in text:
        text = re.sub(r"\{\\[^{}\n]{1,40}\}", "", text)
    return unescaped(text).replace("\u200e", "").replace("\u200f", "").strip()


def _title(source: Source) -> str:
    """What a WebVTT file calls itself, `WEBVTT - Weekly`, else the file's name without its suffixes."""
    first = source.lines[0] if source.lines else ""
    found = re.match(r"\ufeff?WEBVTT\s{1,8}-\s{1,8}(?P<title>.{1,200})$", first)
    return found["title"].strip() if found else source.stem.removesuffix(".transcript").removesuffix(".cc")
