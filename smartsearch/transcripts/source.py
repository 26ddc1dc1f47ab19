"""One decoded file as detectors and readers see it: its text, its lines, its JSON. Opens nothing itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice, pairwise
from pathlib import Path, PurePath
from typing import TypeVar

from smartsearch.text.times import day_of_name
from smartsearch.transcripts.archive import plain_name
from smartsearch.transcripts.formats.jsontext import Documents, Item, documents

T = TypeVar("T")
_NUMBER = re.compile(r"\s{0,80}(\d{1,6})(?:\s?[.:)|]?\s+|$)")
_TURNED = re.compile(r"(?<=\d)\u200f(?=[/.-])")
_BOLD = re.compile(r"^<(b|strong)>([^<>]{1,80})</\1>", re.I)
_ABOVE = 4
"""Lines that may stand above those with numbers: a page's head."""
_NEARLY = 0.8
"""Share of lines with a number before them, where they are numbered, and of numbers that follow another."""


def _alone(_: str) -> str | None:
    """There is nothing beside standard input."""
    return None


@dataclass(frozen=True)
class Source:
    """A file's text under the path the user typed (`-` for standard input).

    `beside` gives the text of another file, named from this one's folder (`../users.json`), or None where
    there is none: a reader that asks must say so with `Format.alone`.
    """

    path: str
    text: str
    beside: Callable[[str], str | None] = field(default=_alone, compare=False, repr=False)

    @cached_property
    def suffix(self) -> str:
        """The file's suffix in lower case, with its dot."""
        return PurePath(plain_name(self.path)).suffix.lower()

    @cached_property
    def stem(self) -> str:
        """The file's name without suffix: the conversation's name where a format has none of its own."""
        return "" if self.path == "-" else PurePath(plain_name(self.path)).stem

    @cached_property
    def day(self) -> str:
        """The day in the file's name, for turns without a date of their own: `2026-04-02`, or ""."""
        return day_of_name(self.stem)

    @property
    def folder(self) -> str:
        """The name of the folder, or archive, that the file lies in; "" of standard input."""
        return "" if self.path == "-" else Path(self.path).absolute().parent.name

    @cached_property
    def lines(self) -> list[str]:
        """Lines as an editor counts them: `\\n`, `\\r\\n` and a lone `\\r` end one, nothing else does."""
        return self.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")

    @cached_property
    def bare(self) -> list[str]:
        """The lines without what begins all of them: blanks, `>`, numbers; bold tags there are stars."""
        marked = "\n\ufeff" in self.text  # before every line, as EVE Online writes them
        lines = [line.lstrip("\ufeff") for line in self.lines] if marked else self.lines
        if "\u200f" in self.text:  # between the numbers of Arabic dates
            lines = [_TURNED.sub("", line) if "\u200f" in line else line for line in lines]
        lines = _unnumbered(_flush(lines))
        tagged = sum(bool(_BOLD.match(line)) for line in lines[:500])
        if tagged < max(2, sum(1 for line in lines[:500] if line.strip()) / 10):
            return lines
        return [_BOLD.sub(r"**\2**", line) for line in lines]

    @property
    def is_xml(self) -> bool:
        """Whether the file declares itself as XML."""
        return self.text[:200].lstrip("\ufeff \r\n").startswith("<?xml")

    @cached_property
    def json(self) -> Documents:
        """The file's JSON documents, none for plain text. Raises FormatError `invalid_json`."""
        return documents(self.text, self.suffix)

    def items(self) -> Iterator[Item]:
        """The JSON records: the elements of a list, or the document itself, each with its place."""
        for document in self.json.items:
            yield from document.elements() if isinstance(document.value, list) else [document]

    def first_line(self) -> str:
        """The first line that is not blank, of the file's beginning."""
        return next((line for line in self.lines[:500] if line.strip()), "")

    def opened(self, opening: Callable[[str], T | None]) -> Iterator[tuple[Item, T, list[str]]]:
        """Each message of a text: its place, what `opening` makes of its first line, and the lines below.

        Lines before the first message are left out.
        """
        number, here, below = 0, None, list[str]()
        for at, line in enumerate(self.lines, 1):
            found = opening(line)
            if found is None:
                below.append(line)
                continue
            if here is not None:
                yield Item(None, number), here, below
            number, here, below = at, found, []
        if here is not None:
            yield Item(None, number), here, below

    def head(self, count: int = 5) -> list[object]:
        """The values of the first few records: enough for a detector, and one bad record does not hide it."""
        return [item.value for item, _ in zip(self.items(), range(count), strict=False)]


def _flush(lines: list[str]) -> list[str]:
    """Lines without the blanks and marks of quotation that all of them begin with."""
    if not next((line for line in lines if line.strip()), "").startswith((" ", "\t", ">")):
        return lines
    depth = min((len(line) - len(line.lstrip(" \t>")) for line in lines if line.strip()), default=0)
    return [line[depth:] for line in lines] if depth else lines


def _unnumbered(lines: list[str]) -> list[str]:
    """Lines without the numbers before them, where nearly all have one and these count up.

    A number out of the row is what was said: `30 people`.
    """
    begun = islice(filter(str.strip, lines), _ABOVE)
    if not any(map(_NUMBER.match, begun)):
        return lines
    found = [(at, number) for at, line in enumerate(lines) if (number := _NUMBER.match(line))]
    counted = [int(number[1]) for _, number in found]
    rising = sum(later == one + 1 for one, later in pairwise(counted))
    written = sum(1 for line in lines if line.strip())
    if len(counted) < max(3, _NEARLY * written) or rising < _NEARLY * (len(counted) - 1):
        return lines
    bare = list(lines)
    around = zip([counted[0] - 1, *counted], counted, [*counted[1:], 0], strict=False)
    for (at, number), (before, one, after) in zip(found, around, strict=True):
        if one - 1 == before or one + 1 == after or before < one < after:
            bare[at] = lines[at][number.end() :]
    return bare
