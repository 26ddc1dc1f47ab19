"""The same secret again, where nothing around it gives it away: in another turn, in the question.

By words and by what is written between them, whatever the case. A secret that is a short word, a year or a
name of a program's is looked for nowhere else: to mask every "sun" would tell the password, not hide it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from smartsearch.text.redact.names import PASSWORD, TOKEN
from smartsearch.text.redact.page import FILL, Page, Rule, Rules, Secret, Span

WORDS = 32
"""Words of a secret by which it is known again; of a longer one the first."""
SPOKEN = 8
"""Letters that a plain word has at least to be looked for, and then only where it stood alone."""

_WORD = re.compile(r"\w+")
_PART = re.compile(r"[^;,&\"'<>(){}\[\]|\\]+")
_NAME = re.compile(f"{PASSWORD}|{TOKEN}")
_YEAR = re.compile(r"(?:19|20)[0-9]{2}")
_SIGN = re.compile(r"[A-Za-z0-9][@#$%^&*!+~?][A-Za-z0-9]")
_CALL = re.compile(r"[A-Za-z_][\[(]")


def repeats(secrets: Iterable[Secret]) -> Rules | None:
    """Rules that find `secrets` again, one a kind; None where none can be told from ordinary words."""
    by_kind: dict[str, dict[str, dict[int, set[str]]]] = {}
    for secret in dict.fromkeys(secrets):
        for text in _known_by(secret):
            words = _WORD.findall(text)
            lengths = by_kind.setdefault(secret.kind, {}).setdefault(words[0], {})
            lengths.setdefault(len(words), set()).add(text)
    return Rules(*(Rule(kind, _Again(known)) for kind, known in by_kind.items())) if by_kind else None


def _known_by(secret: Secret) -> Iterator[str]:
    """The texts by which a secret is known again: its lines, and the first part of what is not one word."""
    for line in secret.value.replace(FILL, " ").split("\n"):
        part = _PART.search(line)
        for text in dict.fromkeys([line, part[0] if part else line]):
            words = list(_WORD.finditer(text))[:WORDS]
            core = text[words[0].start() : words[-1].end()] if words else ""
            if _telling(core, len(words), secret):
                yield core.casefold()


def _telling(core: str, words: int, secret: Secret) -> bool:
    """Whether a text is no ordinary word, number or year."""
    if len(core) < 4 or _NAME.search(core.lower()) or _CALL.search(core):
        return False
    if core.isdigit():
        return not _YEAR.fullmatch(core)
    if any(c.isdigit() for c in core) or _SIGN.search(core):
        return True
    if words > 1:
        return secret.kind == "passphrase" and words > 2
    return secret.alone and len(core) >= SPOKEN and core.isalpha() and core[1:].islower()


class _Again:
    """Finds known secrets: each word of a text is looked up once, each length of a secret tried there."""

    def __init__(self, known: Mapping[str, Mapping[int, set[str]]]) -> None:
        self._known = known

    def __call__(self, page: Page) -> Iterator[Span]:
        low = page.text.casefold()
        if len(low) != len(page.text):
            low = page.low
        words = [found.span() for found in _WORD.finditer(low)]
        at = 0
        for n, (start, end) in enumerate(words):
            lengths = self._known.get(low[start:end]) if start >= at else None
            for length in sorted(lengths or (), reverse=True):
                last = words[n + length - 1][1] if n + length <= len(words) else 0
                if last and lengths and low[start:last] in lengths[length]:
                    yield start, last
                    at = last
                    break
