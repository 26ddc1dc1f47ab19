"""The same secret again, where nothing around it gives it away: in another turn, in the question, in a path.

Wherever its characters stand, in a longer word and in an address too, whatever the case. A secret that is a
short word, a year or a name of a program's is looked for nowhere else: to mask every "sun" would tell the
password, not hide it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from urllib.parse import quote

from smartsearch.text.redact.names import PASSWORD, TOKEN
from smartsearch.text.redact.page import FILL, Page, Rule, Rules, Secret, Span, tree

LONGEST = 256
"""Characters of a secret by which it is known again; of a longer one the first, with what goes on behind."""
SPOKEN = 8
"""Letters that a plain word has at least to be looked for, and then only where it stood alone."""
ANYWHERE = 6
"""Characters of a secret that is found in a longer word too."""
_START = 4

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^;,&\"'<>(){}\[\]|\\]+")
_NAME = re.compile(f"{PASSWORD}|{TOKEN}")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_SIGN = re.compile(r"[A-Za-z0-9][@#$%^&*!+~?][A-Za-z0-9]")
_CALL = re.compile(r"[A-Za-z_][\[(]")
_REST = re.compile(r"[^\s\"'<>,;]*")


def repeats(secrets: Iterable[Secret]) -> Rules | None:
    """Rules that find `secrets` again, one per kind; None if all look like ordinary words."""
    by_kind: dict[str, dict[str, dict[int, set[str]]]] = {}
    for secret in dict.fromkeys(secrets):
        for text in _known_by(secret):
            lengths = by_kind.setdefault(secret.kind, {}).setdefault(text[:_START], {})
            lengths.setdefault(len(text), set()).add(text)
    return Rules(*(Rule(kind, _Again(known)) for kind, known in by_kind.items())) if by_kind else None


def _known_by(secret: Secret) -> Iterator[str]:
    """The texts by which a secret is known again: its lines, and the first part of what is not one word.

    Also as an address and as a page would write them.
    """
    for line in secret.value.replace(FILL, " ").split("\n"):
        part = _PART.search(line)
        for text in dict.fromkeys([line, part[0] if part else line]):
            words = list(_WORD.finditer(text))
            core = text[words[0].start() : words[-1].end()] if words else ""
            if _telling(core, len(words), secret):
                for spelling in (core, quote(core, safe=""), escape(core)):
                    yield spelling.casefold()[:LONGEST]


def _telling(core: str, words: int, secret: Secret) -> bool:
    """Whether a text is no ordinary word, number or year."""
    if len(core) < _START or _NAME.search(core.lower()) or _CALL.search(core):
        return False
    if core.isdigit():
        return not _YEAR.fullmatch(core)
    if any(c.isdigit() for c in core) or _SIGN.search(core):
        return True
    if words > 1:
        return secret.kind == "passphrase"
    return secret.alone and len(core) >= SPOKEN and core.isalpha() and core[1:].islower()


class _Again:
    """Finds known secrets: where one could begin, each length of a secret is looked up."""

    def __init__(self, known: Mapping[str, Mapping[int, set[str]]]) -> None:
        self._known = {start: sorted(lengths.items(), reverse=True) for start, lengths in known.items()}
        starts = tree(list(known))
        self._start = re.compile(f"(?={starts})")

    def __call__(self, page: Page) -> Iterator[Span]:
        low = page.text.casefold()
        if len(low) != len(page.text):
            low = page.low
        at = 0
        for found in self._start.finditer(low):
            start = found.start()
            if start < at:
                continue
            for length, texts in self._known[low[start : start + _START]]:
                text = low[start : start + length]
                if text in texts and _apart(low, start, start + length):
                    at = start + length
                    if length == LONGEST and (rest := _REST.match(low, at)):
                        at = rest.end()
                    yield start, at
                    break


def _apart(text: str, start: int, end: int) -> bool:
    """Whether the text stands alone: in no longer number and, if it is short, in no longer word."""
    before, behind = text[max(start - 1, 0) : start], text[end : end + 1]
    if text[start:end].isdigit():
        return not (before.isdigit() or behind.isdigit())
    return end - start >= ANYWHERE or not (before.isalnum() or behind.isalnum())
