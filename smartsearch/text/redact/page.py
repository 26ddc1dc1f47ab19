"""A text as the rules of masking see it, and the text again with marks for what they found.

Rules look at a plain copy: no invisible characters, no escape sequences, wide letters as narrow ones. What is
found is filled with a character of its own there, as long as it was, so that every place stays where it is.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

MARK = re.compile(r"\[redacted: ([a-z -]{1,40})\]")
"""What stands in the place of a secret, with its kind."""

FILL = "\ue000"
"""What stands in the plain copy for what is masked: no letter, no blank, and no character of a text."""

_UNSEEN = re.compile(
    "`{3}(?:(?:te?xt|plain(?:text)?)(?=\\s))?|"
    "\x1b\\[[0-9;:?]{0,40}[@-~]|[\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\U000e0000-\U000e0fff]"
)
"""What a reader of a name does not see: fences, colours, and characters that Unicode has displays ignore."""

_SOMETHING = re.compile(
    r"[0-9:=<>\"`|\t@#$%^&*+~_\\\[{}\x1b-]|[^\x00-\x7f]|[^A-Za-z]'|[!?][A-Za-z]|[A-Z]{16}"
    r"|hrase|nemonic|(?:eed|in|ode) is"
)
"""Signs without which no rule finds anything: most texts have none."""

Span = tuple[int, int]
Spot = tuple[Any, ...]
"""A place, its kind and what stands there."""


class _Narrow(dict[int, str]):
    """Each character as the one it stands for, if that is one: wide and styled letters, digits, blanks."""

    def __missing__(self, point: int) -> str:
        character = chr(point)
        self[point] = plain = "?" if character == FILL else _narrowed(character)
        return plain


def _narrowed(character: str) -> str:
    if character.isdecimal():
        return str(unicodedata.decimal(character))
    if character == "\u0130":  # the one letter that is two in lower case
        return "I"
    same = unicodedata.normalize("NFKC", character)
    return same if len(same) == 1 else character


_NARROW = _Narrow()


@dataclass
class Page:
    """A plain copy of a text, also in lower case, with what was masked so far filled in both."""

    text: str
    low: str = ""
    spots: list[tuple[int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.low = self.text.lower()

    def open(self, at: int) -> bool:
        """Whether nothing was masked there so far."""
        return self.text[at] != FILL

    def fill(self, kind: str, found: Sequence[Span]) -> None:
        """Note and fill `found`, in order; no kind is what was masked before."""
        self.spots += ((start, end, kind) for start, end in found)
        self.text, self.low = _filled(self.text, found, FILL), _filled(self.low, found, FILL)


def _filled(text: str, found: Sequence[Spot], character: str = "") -> str:
    """`text` with a character, or none, for each character of the places `found`."""
    parts, at = [], 0
    for start, end, *_ in found:
        parts += [text[at:start], character * (end - start)]
        at = end
    return "".join([*parts, text[at:]])


@dataclass(frozen=True)
class Rule:
    """A kind of secret and where it stands on a page, first to last, no two places touching.

    `hints`: a text has at least one of them, in lower case, or the rule finds nothing; most texts have none.
    """

    kind: str
    find: Callable[[Page], Iterator[Span]]
    hints: tuple[str, ...] = ()


class Rules:
    """Rules in order. Which of them could find something is asked of all their hints at once."""

    def __init__(self, *rules: Rule) -> None:
        hints = {hint for rule in rules for hint in rule.hints}
        self._hint = re.compile(tree(hints)) if hints else None
        self._rules = [(rule, re.compile(tree(rule.hints)) if rule.hints else None) for rule in rules]
        self._always = [(rule, hint) for rule, hint in self._rules if hint is None]

    def found(self, page: Page) -> None:
        """Fill what the rules find."""
        hinted = self._hint is not None and self._hint.search(page.low)
        for rule, hint in self._rules if hinted else self._always:
            if hint is None or hint.search(page.low):
                found = list(rule.find(page))
                if found:
                    page.fill(rule.kind, found)


def tree(words: Iterable[str]) -> str:
    """A pattern that matches any of `words`, as a tree of characters: several times faster than `a|b|c`."""
    by_first: dict[str, list[str]] = {}
    for word in words:
        if not word:
            return ""
        by_first.setdefault(word[0], []).append(word[1:])
    return f"(?:{'|'.join(re.escape(first) + tree(rest) for first, rest in sorted(by_first.items()))})"


@dataclass(frozen=True)
class Secret:
    """What was masked. `alone`: nothing follows it on its line."""

    kind: str
    value: str
    alone: bool


_BROKEN = re.compile(  # the second line is one word with a digit, as in a key that was too long
    r"(?<=[A-Za-z0-9_+/=.-]{4})\\?\r?\n[ \t>|]{0,40}"
    r"(?=[A-Za-z_+/=.-]{0,200}[0-9])(?=[A-Za-z0-9_+/=.-]{8,}[ \t\\\"']{0,4}(?![^\r\n]))"
)


def masked(
    text: str, rules: Rules, broken: Rules | None = None, *, again: bool = False
) -> tuple[str, list[Secret]]:
    """Replace each secret in `text` by `[redacted: kind]`; also return them. What is masked already stays.

    `broken` finds secrets that a line end interrupts. With `again` a text is searched even if nothing in it
    looks like a secret, for rules that look for secrets found elsewhere.
    """
    if not (again or _SOMETHING.search(text)):
        return text, []
    plain = text if text.isascii() else text.translate(_NARROW)
    hidden = (
        [found.span() for found in _UNSEEN.finditer(plain)]
        if plain is not text or "\x1b" in text or "```" in text
        else []
    )
    spots = _spots(plain, hidden, rules)
    if broken is not None and "\n" in plain and (breaks := [b.span() for b in _BROKEN.finditer(plain)]):
        joined = _spots(plain, _outermost([(*span, "-") for span in hidden + breaks]), broken)
        spots += [spot for spot in joined if any(spot[0] < start < spot[1] for start, _ in breaks)]
    spots = _outermost(spots)
    parts, at = [], 0
    for start, end, kind, _ in spots:
        parts += [text[at:start], f"[redacted: {kind}]"]
        at = end
    secrets = [Secret(kind, value, _ends(plain, end)) for _, end, kind, value in spots]
    return "".join([*parts, text[at:]]), secrets


def _spots(plain: str, hidden: Sequence[Spot], rules: Rules) -> list[Spot]:
    """Apply `rules` to the text without its hidden spots; the places and texts of what they find."""
    page = Page(_filled(plain, hidden) if hidden else plain)
    whole = page.text
    if "[redacted: " in whole:
        page.fill("", [found.span() for found in MARK.finditer(whole)])
    rules.found(page)
    if not page.spots:
        return []
    gone = {at for start, end, *_ in hidden for at in range(start, end)}
    places = [at for at in range(len(plain)) if at not in gone] if gone else range(len(plain))
    return [
        (places[start], places[end - 1] + 1, kind, whole[start:end])
        for start, end, kind in _outermost(page.spots)
        if kind
    ]


def _outermost(spots: Iterable[Spot]) -> list[Spot]:
    """The spots in order, without those inside others."""
    kept: list[Spot] = []
    for start, end, *more in sorted(spots, key=lambda spot: (spot[0], -spot[1])):
        if not kept or end > kept[-1][1]:
            kept.append((max(start, kept[-1][1]) if kept else start, end, *more))
    return kept


def _ends(text: str, at: int) -> bool:
    """Whether no word follows within a few characters on this line."""
    return not any(c.isalnum() for c in text[at : at + 8].split("\n", 1)[0])
