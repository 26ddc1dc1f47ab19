"""How much of a file its turns explain: what of its lines or strings became somebody's words. Asks no reader.

A line of text is explained where half its words stand in the turn that begins at it or above it, unless it
begins with a time and yet goes on with another's turn; a string of JSON where they stand in a turn of its
record, or it names a chat or a person. Only what has several words counts. Evenly spaced samples are enough:
the cost does not grow with the file.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from smartsearch.transcripts.formats.jsontext import escaped
from smartsearch.transcripts.source import Source
from smartsearch.types import Turn

LOW = 0.25
"""Share below which something is amiss: good files explain more, joins and prompts left out."""
MANY = 8
"""Lines or strings that have to be left out for that: a file of three lines says nothing."""
LOOKED = 400
GLANCED = 48
"""Lines or strings looked at for the share itself, and to see that it is not low."""
_LETTERS = re.compile(r"[^\W\d_]{2}")
_LETTER, _DIGITS = re.compile(r"[^\W\d_]+"), re.compile(r"\d+")
_UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0e7f]{3}")  # Japanese, Chinese, Thai
_SEVERAL = 4  # words: fewer are names, kinds and dates
_COMPARED = 40
_AROUND = 3  # turns that may stand in one record
_INSIDE = 8  # objects and lists in one object that are looked into in any case
_NAMES = 200
_DEEPEST = 40
_GOLDEN = 0.618033988749895
_SHOWN = 80  # characters of what was left out


@dataclass(frozen=True)
class Explained:
    """Of `looked` lines or strings `held` are explained; the first other stands at `place`. `told` is
    what was inferred."""

    looked: int
    held: int
    place: str = ""
    begins: str = ""
    told: str = ""

    @property
    def share(self) -> float:
        """From 0 to 1; 1 where there was nothing to look at."""
        return self.held / self.looked if self.looked else 1.0

    @property
    def is_low(self) -> bool:
        """Whether so much is not explained that the file was hardly read as it should be."""
        return self.share < LOW and self.looked - self.held >= MANY


def explained(source: Source, turns: Sequence[Turn], count: int = LOOKED) -> Explained:
    """What of a file stands in its turns (those of this file), by `count` lines or strings."""
    looked = held = 0
    missing = ("", "")
    for place, written, found in (_strings_of if source.json.items else _lines_of)(source, turns, count):
        words = _words(written)
        if len(words) < _SEVERAL:
            continue
        looked += 1
        if any(2 * sum(word in said for word in words) >= len(words) for said in found):
            held += 1
        elif not missing[0]:
            missing = place, " ".join(written[: 4 * _SHOWN].split())[:_SHOWN]
    return Explained(looked, held, *missing)


_CLOCK = re.compile(r"\d:\d\d")
_SAID = re.compile(r"(\W{0,2}[^\W\d_][^:\n]{1,40}): \S")
_DRESSED = re.compile(r"[<\[*_#\s]{0,6}([^:\n<>\[\]*_]{1,40}?)[>\]*_]{0,4}\s?(?::[*_]{0,2}(?:\s|$)|(?<=>)\s)")


def swallowed(source: Source, turns: Sequence[Turn], place: Callable[[int], int] = int) -> str:
    """What to tell of lines that begin as turns do, by their time or the name of who speaks elsewhere, and
    yet stand in the words of another turn; "" for none. `place` gives the number that a line is told by.
    """
    turns = sorted((turn for turn in turns if turn.line), key=lambda turn: turn.line)
    if source.json.items or not turns:
        return ""
    lines, names = source.lines, {turn.speaker for turn in turns if not turn.role} - {""}
    begun = [turns[at] for at in _spaced(len(turns), GLANCED)]
    counts = Counter(_begun(lines, turn) for turn in begun)
    usual = {shape for shape, count in counts.items() if "0:0" in shape and 4 * count >= len(begun)}
    found, begins = list[int](), next((turn.line for turn in turns if turn.speaker), 0)
    for n, turn in enumerate(turns, 1):
        if "\n" not in turn.text or turn.line < begins or "```" in turn.text:
            continue
        end = turns[n].line if n < len(turns) else len(lines) + 1
        said = set(map(str.strip, turn.text.split("\n")[1:]))
        for number in range(turn.line + 1, end):
            line = lines[number - 1][:120].strip()
            dressed = _DRESSED.match(line) if ":" in line or ">" in line else None
            odd = (dressed and dressed[1] in names) or (usual and _shape(line) in usual)
            if odd and lines[number - 1].strip() in said:
                found.append(number)
    if not found:
        return _spoken_within(turns)
    many = "lines begin as turns do, and are" if len(found) > 1 else "line begins as turns do, and is"
    shown = " ".join(lines[found[0] - 1].split())[:_SHOWN]
    return f"{len(found):,} {many} taken for words of the one above, first line {place(found[0])}: {shown}"


def _begun(lines: Sequence[str], turn: Turn) -> str:
    """The shape of the time that a turn's first line begins with, or the next one; none of its words."""
    above = (line.strip() for line in lines[turn.line - 1 : turn.line + 1])
    return next((shape for line in above if line not in turn.text and (shape := _shape(line))), "")


def _spoken_within(turns: Sequence[Turn]) -> str:
    """What to tell of texts that begin with few names and a colon, as if others spoke; "" for none."""
    from smartsearch.transcripts.formats.speakers import looks_like_name

    few = [turns[at] for at in _spaced(len(turns), LOOKED)]
    said = (told[1] for turn in few if turn.speaker and not turn.role and (told := _SAID.match(turn.text)))
    begun = Counter(name for name in said if " " in name and looks_like_name(name.lstrip("★✿❀☆ ")))
    if begun.total() < max(MANY, 0.6 * len(few)) or 2 * len(begun) > begun.total():
        return ""
    names = ", ".join(name for name, _ in begun.most_common(3))
    return f"most texts begin with a name and a colon ({names}): others may have spoken than who is told"


@cache
def _timed() -> re.Pattern[str]:
    """A time at a line's begin; made when it is asked for, as its pattern takes long."""
    from smartsearch.text.stamps import STAMP

    return re.compile(rf"([\[(<]{{0,2}}\s?)({STAMP})(\W{{0,6}})", re.I)


def _shape(line: str) -> str:
    """How the time is written that a line begins with: `[0/0/0, 0:0:0 a`; "" where it begins with none."""
    found = _timed().match(line[:80]) if _CLOCK.search(line, 0, 40) else None
    return found[1] + _LETTER.sub("a", _DIGITS.sub("0", found[2])) + found[3] if found else ""


def _words(written: str) -> list[str]:
    """Of what begins a line or a string, what people would call words: no addresses, paths, ids or dates."""
    begins = written[:1_000]
    parts = (part.strip(".,!?;:()[]{}\"'*_`") for part in begins.split()[:_COMPARED])
    words = [part for part in parts if _LETTERS.search(part) and "/" not in part and len(part) < 30]
    return words if len(words) >= _SEVERAL else _UNSPACED.findall(begins)


def _said(turn: Turn) -> str:
    return f"{turn.text} {turn.caption} {turn.speaker} {turn.title} {turn.conversation} {turn.session}"


def _lines_of(source: Source, turns: Sequence[Turn], count: int) -> Iterator[tuple[str, str, list[str]]]:
    """Lines of a text with their places, and what their turn and the next say."""
    turns = sorted(turns, key=lambda turn: turn.line)  # some files begin with the last
    for at in _spaced(len(source.lines), count):
        line = source.lines[at]
        if line.strip():
            last = bisect_right(turns, at + 1, key=lambda turn: turn.line)
            found = turns[max(0, last - 1) : last + 1]
            if found and found[0].line == at + 1:
                said = [line]  # a turn begins here
            else:
                said = [] if _is_stamped(line) else [_said(turn) for turn in found]
            yield f"line {at + 1}", line, said


def _is_stamped(line: str) -> bool:
    from smartsearch.transcripts.formats.speakers import opening

    begun = opening(line[:200])
    return begun is not None and begun.style == "stamped"


def _strings_of(source: Source, turns: Sequence[Turn], count: int) -> Iterator[tuple[str, str, list[str]]]:
    """Strings of JSON with their places, and what the turns of their record say, and the names of all."""
    first: dict[tuple[int, str], int] = {}
    for n, turn in enumerate(turns):
        first.setdefault((turn.line, turn.pointer), n)
    names = " ".join([*{turn.title for turn in turns}, *{turn.speaker for turn in turns}][:_NAMES])
    items = source.json.items
    chosen = _spaced(len(items), count)
    for n in chosen:
        value, line, pointer = items[n]
        for place, written in _strings(value, pointer, count // len(chosen)):
            at = next((first[line, above] for above in _above(place) if (line, above) in first), None)
            near = turns[at : at + _AROUND] if at is not None else ()
            yield f"line {line}" if line else f"at {place}", written, [*map(_said, near), names]


def _above(pointer: str) -> Iterator[str]:
    """A pointer and those of what it stands in, the nearest first."""
    while pointer:
        yield pointer
        pointer = pointer.rpartition("/")[0]
    yield ""


def _strings(value: Any, pointer: str, count: int) -> Iterator[tuple[str, str]]:
    """Strings in a value with their places: all in an object, but of long lists evenly spaced elements."""
    if isinstance(value, str):
        yield pointer, value
        return
    if pointer.count("/") > _DEEPEST:
        return
    held: list[tuple[Any, Any]] = []
    if isinstance(value, list):
        held = [(n, value[n]) for n in _spaced(len(value), max(count, 1))]
    elif isinstance(value, dict):
        inside = [(key, one) for key, one in value.items() if isinstance(one, dict | list)]
        held = [inside[n] for n in _spaced(len(inside), max(count, _INSIDE))]
        held += [(key, one) for key, one in value.items() if isinstance(one, str)]
    for key, one in held:
        yield from _strings(one, f"{pointer}/{escaped(str(key))}", count // len(held))


def _spaced(length: int, count: int) -> list[int]:
    """At most so many places, all over a length but at no steady step: what recurs is not always met."""
    return (
        list(range(length))
        if length <= count
        else sorted(int(n * _GOLDEN % 1 * length) for n in range(count))
    )
