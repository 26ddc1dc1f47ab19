"""A text to words as spaCy's tokenizer has them, with what its network and our terms ask of a word.

The algorithm is spaCy's (`spacy/tokenizer.pyx`, 3.8): a text parts at its white space; of each part prefixes
and suffixes are taken until none is left or an exception remains; the rest parts at infixes unless it is a
URL; last, exceptions that affixes tore apart are put together.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

KEPT = 16_384
"""Words, and parts of texts, whose analysis is kept: about a kilobyte each with its vector."""
_PARTS = re.compile(r"\s+|\S+")
_MASK = 2**64 - 1
_MULTIPLIER = 0xC6A4A7935BD1E995
_LONG = 100
"""A word of so many characters has no shape but LONG."""
_TAIL = 32
"""Every suffix but a row of dots fits into so many characters."""
_RUN = 4
"""Characters of one kind in a row that a shape keeps."""


class Word:
    """A word as it is written, with those attributes that are the same in every text."""

    __slots__ = ("is_alpha", "is_punct", "is_space", "is_stop", "keys", "like_num", "lower", "number", "text")

    def __init__(self, text: str, norm: str, number: int, english: English) -> None:
        self.text, self.number = text, number
        self.lower = text.lower()
        self.is_alpha, self.is_space = text.isalpha(), text.isspace()
        self.is_punct = all(unicodedata.category(c)[0] == "P" for c in text)
        self.is_stop = self.lower in english.stops
        self.like_num = _like_number(text, english.numbers)
        norm = norm or english.norms.get(text, self.lower)
        self.keys = tuple(english.key(part) for part in (norm, text[0], text[-3:], _shape(text)))


class English:
    """The tables of spaCy's English, as `recipe` exported them."""

    def __init__(self, tables: dict[str, Any]) -> None:
        self.norms: dict[str, str] = tables["norms"]
        self.stops, self.numbers = frozenset(tables["stops"]), frozenset(tables["numbers"])
        self.key = lru_cache(KEPT)(lambda text: tables["symbols"].get(text) or hashed(text))


class Affixes(dict[str, re.Pattern[str]]):
    """The patterns that split what stands between white space, compiled at first use.

    A `prefix` is taken from the front, a `suffix` from the end; the rest parts at each `infix`, but a `url`.
    """

    def __init__(self, patterns: dict[str, str]) -> None:
        self._patterns = patterns

    def __missing__(self, kind: str) -> re.Pattern[str]:
        compiled = self[kind] = re.compile(self._patterns[kind])
        return compiled


class Tokenizer:
    """Parts texts into words, and remembers both."""

    def __init__(self, tables: dict[str, Any]) -> None:
        self._english = English(tables)
        self.key = self._english.key
        self._exceptions: dict[str, list[list[str]]] = tables["exceptions"]
        self._torn: dict[str, list[list[str]]] = {}
        for pieces in tables["torn"]:
            self._torn.setdefault(pieces[0], []).append(pieces)
        self._unusual = re.compile(tables["unusual"])
        self._usual, self._any = Affixes(tables["patterns"]["usual"]), Affixes(tables["patterns"]["any"])
        self.forget()

    def forget(self) -> None:
        """Begin anew: the words' numbers count from nought."""
        self.words: list[Word] = []
        self._known: dict[tuple[str, str], Word] = {}
        self._parted: dict[str, list[Word]] = {}

    def __call__(self, text: str) -> tuple[list[Word], list[bool]]:
        """The words of the text, each with whether a single space follows it."""
        words: list[Word] = []
        spaced: list[bool] = []
        for part in _PARTS.findall(text):
            if words and part[0] == " ":  # the space after a word is not a word, further blanks are
                spaced[-1] = True
                part = part[1:]
            if part:
                found = self._parted.get(part) or self._part(part)
                words += found
                spaced += [False] * len(found)
        return self._mended(words, spaced)

    def _word(self, text: str, norm: str = "") -> Word:
        word = self._known.get((text, norm))
        if word is None:
            word = self._known[text, norm] = Word(text, norm, len(self.words), self._english)
            self.words.append(word)
        return word

    def _exception(self, text: str) -> list[Word] | None:
        pieces = self._exceptions.get(text)
        return [self._word(*piece) for piece in pieces] if pieces else None

    def _part(self, part: str) -> list[Word]:
        words = self._exception(part)
        if words is None:
            words = [self._word(part)] if _plain(part) else self._stripped(part)
        if len(self._parted) < KEPT:
            self._parted[part] = words
        return words

    def _stripped(self, rest: str) -> list[Word]:
        """The words of a part that is not an exception: prefixes, rest, suffixes."""
        affixes = self._any if self._unusual.search(rest) else self._usual
        before: list[Word] = []
        behind: list[Word] = []
        while rest and rest not in self._exceptions and not _plain(rest):
            found = affixes["prefix"].match(rest)  # each of its alternatives begins with ^
            first = found.end() - found.start() if found else 0
            if first and rest[first:] in self._exceptions:
                before.append(self._word(rest[:first]))
                rest = rest[first:]
                break
            found = _at_end(affixes["suffix"], rest[first:])
            last = found.end() - found.start() if found else 0
            if last and rest[:-last] in self._exceptions:
                behind.append(self._word(rest[-last:]))
                rest = rest[:-last]
                break
            if not first and not last:
                break
            if first:
                before.append(self._word(rest[:first]))
            if last:
                behind.append(self._word(rest[-last:]))
            rest = rest[first : len(rest) - last]
        return [*before, *self._inner(rest, affixes), *reversed(behind)]

    def _inner(self, rest: str, affixes: Affixes) -> list[Word]:
        if not rest:
            return []
        known = self._exception(rest)
        if known is not None:
            return known
        if _plain(rest) or affixes["url"].match(rest):
            return [self._word(rest)]
        words = []
        start = 0
        for found in affixes["infix"].finditer(rest):
            if found.start() == 0:
                continue
            words += [self._word(piece) for piece in (rest[start : found.start()], found[0]) if piece]
            start = found.end()
        return [*words, self._word(rest[start:])] if rest[start:] else words

    def _mended(self, words: list[Word], spaced: list[bool]) -> tuple[list[Word], list[bool]]:
        """With the exceptions whose pieces stand in a row put together, the longest first."""
        rows = [(i, i + len(row)) for i, row in self._rows(words)]
        if not rows:
            return words, spaced
        taken: set[int] = set()
        chosen = []
        for start, end in sorted(set(rows), key=lambda row: (row[0] - row[1], row[0])):
            if start not in taken and end - 1 not in taken:
                chosen.append((start, end))
            taken.update(range(start, end))
        for start, end in sorted(chosen, reverse=True):
            pairs = zip(words[start:end], spaced[start:end])
            text = "".join(word.text + " " * space for word, space in pairs).removesuffix(" ")
            found = self._exception(text)
            if found is not None:
                words[start:end] = found
                spaced[start:end] = [*[False] * (len(found) - 1), spaced[end - 1]]
        return words, spaced

    def _rows(self, words: Sequence[Word]) -> Iterator[tuple[int, list[str]]]:
        for i, word in enumerate(words):
            for row in self._torn.get(word.text, ()):
                if all(i + k < len(words) and words[i + k].text == row[k] for k in range(1, len(row))):
                    yield i, row


def _at_end(suffix: re.Pattern[str], text: str) -> re.Match[str] | None:
    """The suffix of a text, without looking through all of it for each: only a row of dots is longer."""
    at = max(0, len(text) - _TAIL)
    found = suffix.search(text, at)
    return suffix.search(text) if found and at and found.start() == at else found


def hashed(text: str) -> int:
    """MurmurHash64A with seed 1 of the text in UTF-8, spaCy's key of a string. 64 bits."""
    data = text.encode("utf-8", "surrogatepass")
    key = 1 ^ (len(data) * _MULTIPLIER & _MASK)
    whole = len(data) & ~7
    for at in range(0, whole, 8):
        block = int.from_bytes(data[at : at + 8], "little") * _MULTIPLIER & _MASK
        key = (key ^ ((block ^ block >> 47) * _MULTIPLIER & _MASK)) * _MULTIPLIER & _MASK
    if data[whole:]:
        key = (key ^ int.from_bytes(data[whole:], "little")) * _MULTIPLIER & _MASK
    key = (key ^ key >> 47) * _MULTIPLIER & _MASK
    return key ^ key >> 47


def _plain(text: str) -> bool:
    """Whether nothing parts it: letters alone, or ASCII digits alone."""
    return text.isalpha() or (text.isdigit() and text.isascii())


def _shape(text: str) -> str:
    """`Xxxx` for a name, `dd:dd` for a time: the kinds of its characters, at most four of a kind in a row."""
    if len(text) >= _LONG:
        return "LONG"
    kinds = [("X" if c.isupper() else "x") if c.isalpha() else "d" if c.isdigit() else c for c in text]
    return "".join(kind * min(_RUN, len(list(run))) for kind, run in groupby(kinds))


def _like_number(text: str, words: frozenset[str]) -> bool:
    """Whether it is written as a number, in digits or as a word."""
    bare = (text[1:] if text[0] in "+-±~" else text).replace(",", "").replace(".", "")
    over, slash, under = bare.partition("/")
    if bare.isdigit() or (slash and over.isdigit() and under.isdigit()):
        return True
    low = bare.lower()
    return low in words or (low.endswith(("st", "nd", "rd", "th")) and low[:-2].isdigit())
