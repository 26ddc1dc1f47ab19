"""Where a value ends that stands behind a name: at its closing quote, at a blank, at a tag.

No stretch of a text is looked through twice for the same sign: whatever somebody repeats, the work grows with
the length of the text alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

_BLANK = re.compile(r"\s")
_OPENING = re.compile(r"(\\{0,8})(\"\"\"|'''|[\"'`])")
_CLOSINGS = {"“": "”", "„": "“", "«": "»", "‘": "’", "‚": "‘", "「": "」", "『": "』", "‹": "›"}

_PHRASE = re.compile(  # words, numbered or not, on lines that hold nothing else
    r"[^A-Za-z]{0,12}([a-z]{3,8}(?:[^A-Za-z]{1,16}[a-z]{3,8}){2,32})(?![A-Za-z])(?=[^A-Za-z\n]{0,4}(?![^\n]))"
)
_LETTERS = re.compile(r"[a-z]+")
_LENGTHS = (12, 15, 18, 21, 24)
"""Words of a recovery phrase (BIP 39)."""
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

    def phrase(self, at: int) -> Value | None:
        """As `line`, but a list of words, one per line or numbered, ends with its last word.

        Lines go on until there are as many words as such phrases have.
        """
        told, words = self.line(at), _PHRASE.match(self._text, at)
        if words is None:
            return told
        end, count = words.start(1), 0
        for line in words[1].splitlines(keepends=True):
            end, count = end + len(line), count + len(_LETTERS.findall(line))
            if count in _LENGTHS:
                break
        if told is not None and end <= told.end:
            return told
        end = words.start(1) + len(self._text[words.start(1) : end].rstrip(" \t\n-*•0123456789.):"))
        return Value(words.start(1), end, end)

    def element(self, at: int) -> Value | None:
        """The text before a closing tag on this line or the next, if there is one."""
        end = min(self._sign("<", at), self._sign("\n", at))
        tag = self._text[end : end + BETWEEN].lstrip()
        return Value(at, end, end) if end > at and tag.startswith("</") else None

    def blank(self, at: int) -> int:
        """The first blank at or behind `at`."""
        return self._first(" ", at, self._blank)

    def _closing(self, at: int, escape: str, quote: str) -> int | None:
        """Where the closing quote stands, that of a line in this line; none where it is not closed."""
        end = self._first(escape + quote, at, lambda at, to: self._unescaped(at, to, len(escape), quote))
        open_ended = end == len(self._text) or (len(quote) == 1 and end > self._sign("\n", at))
        return None if open_ended else end

    def _sign(self, sign: str, at: int) -> int:
        return self._first(sign, at, lambda at, to: self._text.find(sign, at, to))

    def _blank(self, at: int, to: int) -> int:
        found = _BLANK.search(self._text, at, to)
        return found.start() if found else -1

    def _unescaped(self, at: int, to: int, depth: int, quote: str) -> int:
        """The first quote that no backslash takes away; among escaped ones, with no more than the opening."""
        found = self._text.find(quote, at, to + len(quote) - 1)
        while found >= 0:
            slashes = self._slashes(found, found - at)
            if slashes <= depth if depth else slashes % 2 == 0:
                return found
            found = self._text.find(quote, found + 1, to + len(quote) - 1)
        return -1

    def _slashes(self, at: int, most: int) -> int:
        """How many backslashes stand before `at`, `most` at most."""
        first = at
        while first > at - most and self._text[first - 1] == "\\":
            first -= 1
        return at - first

    def _first(self, sign: str, at: int, search: Callable[[int, int], int]) -> int:
        """The first place from `at` on that `search` finds, or the end of the text.

        What was looked through before is not again: for a place a little further back only what lies between.
        """
        since, known = self._known.get(sign, (0, -1))
        if since <= at <= known:
            return known
        found = search(at, since if at < since else len(self._text))
        if found < 0:
            found = known if at < since else len(self._text)
        self._known[sign] = (at, found)
        return found
