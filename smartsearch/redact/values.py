"""Where a value ends that stands behind a name: at its closing quote, at a blank, at a tag.

Places are asked for in ascending order, and no stretch of a text is looked at twice for the same sign: whatever
somebody repeats, the work grows with the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_BLANK = re.compile(r"\s")
_OPENING = re.compile(r"(\\{0,8})(\"\"\"|'''|[\"'`])")
_CLOSINGS = {"“": "”", "„": "“", "«": "»", "‘": "’", "‚": "‘", "「": "」", "『": "』", "‹": "›"}


BETWEEN = 80
"""Characters behind a value in which its closing tag is looked for."""


@dataclass(frozen=True)
class Value:
    """A value from `start` to `end`, and whether it is in quotes; `behind` them nothing of it follows."""

    start: int
    end: int
    behind: int
    quoted: bool = False


class Values:
    """The values of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._known: dict[str, tuple[int, int]] = {}

    def told(self, at: int) -> Value | None:
        """What begins at `at`: in quotes, of any kind and however escaped, or up to a blank."""
        opening = _OPENING.match(self._text, at)
        escape, quote = opening.groups() if opening else ("", _CLOSINGS.get(self._text[at : at + 1], ""))
        first = opening.end() if opening else at + 1
        end = self._closing(first, escape, quote) if quote else None
        if end is None:
            behind = self.blank(at)
            return Value(at, behind, behind) if behind > at else None
        last = end - self._slashes(end, len(escape))
        return Value(first, last, end + len(quote), quoted=True) if last > first else None

    def line(self, at: int) -> Value | None:
        """As `told`, but what is in no quotes ends with the line."""
        value = self.told(at)
        if value is None or value.quoted:
            return value
        end = self._sign("\n", at)
        return Value(at, end, end)

    def element(self, at: int) -> Value | None:
        """What stands before a closing tag on this line, or on the next; none where there is no such tag."""
        end = min(self._sign("<", at), self._sign("\n", at))
        tag = self._text[end : end + BETWEEN].lstrip()
        return Value(at, end, end) if end > at and tag.startswith("</") else None

    def blank(self, at: int) -> int:
        """The first blank at or behind `at`."""

        def search() -> int:
            found = _BLANK.search(self._text, at)
            return found.start() if found else len(self._text)

        return self._remembered(" ", at, search)

    def _closing(self, at: int, escape: str, quote: str) -> int | None:
        """Where the closing quote stands, that of a line in this line; none where it is not closed."""
        end = self._remembered(escape + quote, at, lambda: self._unescaped(at, len(escape), quote))
        open_ended = end == len(self._text) or (len(quote) == 1 and end > self._sign("\n", at))
        return None if open_ended else end

    def _unescaped(self, at: int, depth: int, quote: str) -> int:
        """The first quote that no backslash takes away; in escaped quotes, with no more than the opening has."""
        found = self._text.find(quote, at)
        while found >= 0:
            slashes = self._slashes(found, found - at)
            if slashes <= depth if depth else slashes % 2 == 0:
                return found
            found = self._text.find(quote, found + 1)
        return len(self._text)

    def _slashes(self, at: int, most: int) -> int:
        """How many backslashes stand before `at`, `most` at most."""
        first = at
        while first > at - most and self._text[first - 1] == "\\":
            first -= 1
        return at - first

    def _sign(self, sign: str, at: int) -> int:
        def search() -> int:
            found = self._text.find(sign, at)
            return found if found >= 0 else len(self._text)

        return self._remembered(sign, at, search)

    def _remembered(self, sign: str, at: int, search: Callable[[], int]) -> int:
        """What `search` finds from `at`, if it is not what it found from before: the same up to there."""
        since, found = self._known.get(sign, (0, -1))
        if not since <= at <= found:
            found = search()
            self._known[sign] = (at, found)
        return found
