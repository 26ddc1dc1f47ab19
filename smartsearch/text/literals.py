"""What is typed to be found as it stands: quoted phrases, codes, paths, addresses and numbers.

No tagger decides over them, and spaCy's tokens inside them are no terms of their own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

PHRASE, CODE, NUMBER, COMPOUND = "PHRASE", "CODE", "NUMBER", "COMPOUND"
LONG = 7
"""Digits of a number that may be grouped in any way, as telephone numbers are."""

_QUOTED = re.compile(r'(?<!\w)"(?=\S)([^"]*[^"\s])"(?!\w)|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»')
_GROUPED = re.compile(r"(?<![\w.])\+?\(?\d[\d ().-]{5,30}\d(?!\.*\w)")
_TOKEN = re.compile(r"\S+")
_AROUND = "?!,;()[]{}<>\"'“”‘’„«»…*`$€£%"
_INNER = re.compile(r"[^\W_][-_.#/:@]+[^\W_]|^[#@~/._]+[^\W_]|^[A-Za-z](?:\+\+|#)$")
_COMPOUND = re.compile(r"[^\W\d_]+(?:[-/][^\W\d_]+)+")
_SHORTENED = frozenset(("e.g", "i.e", "a.m", "p.m"))
_THOUSANDS = re.compile(r"\d{4,6}|\d{1,3}(?:[,. '’]\d{3})+")
_ORDINAL = re.compile(r"\d{1,2}(?:st|nd|rd|th)", re.IGNORECASE)
_BETWEEN = r"[\s().,/-]{0,2}"


@dataclass(frozen=True)
class Literal:
    """A part of the question: `text` as it is looked for, its kind, and where it begins and ends."""

    text: str
    kind: str
    start: int
    end: int


def literals(question: str) -> list[Literal]:
    """The parts of the question that are terms whatever the tagger says, in order.

    A quoted phrase is one; of the rest each token with a digit or with one of `-_.#/:@` inside, and each
    number of at least 7 digits in groups.
    """
    found = [Literal(m[m.lastindex or 0].strip(), PHRASE, *m.span()) for m in _QUOTED.finditer(question)]
    found = [one for one in found if any(c.isalnum() for c in one.text)]
    rest = _blanked(question, found)
    groups = (Literal(m.group().strip(), NUMBER, *m.span()) for m in _GROUPED.finditer(rest))
    found += [one for one in groups if " " in one.text and len(digits(one.text)) >= LONG]
    found += _tokens(_blanked(rest, found))
    return sorted(found, key=lambda one: one.start)


def _blanked(text: str, parts: list[Literal]) -> str:
    for one in parts:
        text = f"{text[: one.start]}{' ' * (one.end - one.start)}{text[one.end :]}"
    return text


def _tokens(text: str) -> Iterator[Literal]:
    for match in _TOKEN.finditer(text):
        token = re.sub(r"['’]s$", "", match.group().strip(_AROUND).rstrip(".:-").strip(_AROUND))
        kind = kind_of(token)
        if kind and len(token) > 1 and token.casefold() not in _SHORTENED:
            start = match.start() + match.group().index(token)
            yield Literal(token, kind, start, start + len(token))


def kind_of(token: str) -> str:
    """CODE, NUMBER or COMPOUND (words with hyphens or slashes), or nothing for a plain word."""
    if _COMPOUND.fullmatch(token):
        return COMPOUND
    if _ORDINAL.fullmatch(token):
        return NUMBER
    if any(c.isdecimal() for c in token):
        return CODE if any(c.isalpha() for c in token) or _INNER.search(token.replace(".", "")) else NUMBER
    return CODE if _INNER.search(token) else ""


def digits(text: str) -> str:
    """Its digits alone."""
    return "".join(c for c in text if c.isdecimal())


@lru_cache(maxsize=256)
def loosely(needle: str) -> str:
    """A pattern for a number however it is grouped, or nothing where `needle` is no such number.

    `14th` is found as `14` too, as most dates have it.
    From 7 digits on anything may stand between them (`07700 900418`), below only what parts thousands.
    """
    number = digits(needle)
    if _ORDINAL.fullmatch(needle):
        return rf"(?<!\w)(?<!\d[.,]){number}(?:st|nd|rd|th)?(?!\w)"
    if len(number) >= LONG and not set(needle) - set("0123456789+ ().,-/\u00a0"):
        return _BETWEEN.join(number)
    if _THOUSANDS.fullmatch(needle):
        first = len(number) % 3 or 3
        return r"[,. '’]?".join([number[:first], *re.findall("...", number[first:])])
    return ""


def spellings(needle: str) -> list[str]:
    """A number as it is most often written, for those who can look for plain text alone."""
    number = digits(needle)
    written = [number, f"{int(number):,}"] if loosely(needle) else []
    return list(dict.fromkeys((needle, *written)))


@lru_cache(maxsize=256)
def whole(needle: str) -> re.Pattern[str]:
    """`needle`, folded, as whole words; a number not within another (`3.5` not in `13.5`, `3.55`)."""
    found = loosely(needle) or re.escape(needle.strip())
    edges = (r"(?<!\d[.,])", r"(?![.,]\d)") if needle[:1].isdecimal() else ("", "")
    return re.compile(rf"(?<!\w){edges[0]}{found}(?!\w){edges[1]}")
