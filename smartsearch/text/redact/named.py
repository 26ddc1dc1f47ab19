"""Secrets by their name: what a name is, what joins it to a value, and the value (values.py).

Names are patterns of bounded length, joints are matched right behind a name alone, and of a value no more is
looked at than its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from smartsearch.text.redact.page import FILL, Page, Span
from smartsearch.text.redact.values import Value, Values

JUDGED = 200
"""Characters of a value by which it is judged."""

Judge = Callable[[str, bool], bool]
"""Whether a value can be a secret, judged by its beginning and whether it is quoted."""

CODE = re.compile(
    r"[A-Za-z_]\w{0,60}(?:\.\w{1,60}){1,6}[(\[]"  # data.get('x')
    r"|[a-z]{1,40}(?:_[a-z]{1,40}){1,6}\("  # check_hash(x)
    r"|(?:return|raise|throw|if|for|self|print|pass|continue|break|None|True|False|null|undefined|str|string"
    r"|bool|int|bytes|void)(?![A-Za-z0-9])[^A-Za-z0-9]{0,20}\Z"
    r"|(?:YES|NO)\)"
    r"|(?i:base|sha|md|utf|aes|argon|pbkdf|rsa)-?[0-9]{1,5}[^A-Za-z0-9]{0,20}\Z"
)
"""What stands behind `password =` in a program and is no password."""


def anything(_value: str, _quoted: bool) -> bool:
    """True: any value will do."""
    return True


def mixed(value: str, quoted: bool) -> bool:
    """Whether it is no plain word: four characters or more with a digit or sign inside, or in quotes."""
    return len(value) >= 4 and not _VARIABLE.match(value) and (quoted or _odd(value))


def lettered(value: str, quoted: bool) -> bool:
    """Whether it is neither a word nor a number: five characters or more, letters with digits or signs."""
    return len(value) >= 5 and mixed(value, quoted) and _odd(value) and any(c.isalpha() for c in value)


def strong(value: str, quoted: bool) -> bool:
    """Whether it is most likely a password: six characters or more, letters and digits, no path, no date."""
    return (
        len(value) >= 6
        and lettered(value, quoted)
        and _digit(value)
        and bool(_STRONG.match(value))
        and not CODE.match(value)
    )


def listed(value: str, quoted: bool) -> bool:
    """Whether it is a key in quotes, and one word."""
    return quoted and keyed(value, quoted) and bool(_STRONG.match(value))


def odd(value: str, quoted: bool) -> bool:
    """Whether it is no identifier: in quotes, or with a digit or a sign."""
    return quoted or _odd(value)


def enclosed(_value: str, quoted: bool) -> bool:
    """Whether it is in quotes."""
    return quoted


def keylike(value: str, _quoted: bool) -> bool:
    """Whether it could be a key: six characters or more with a digit, or very long."""
    return len(value) >= 16 or (len(value) >= 6 and _digit(value))


def keyed(value: str, quoted: bool) -> bool:
    """Whether it could be a key among words: then it needs a digit."""
    return keylike(value, quoted) and _digit(value)


def drawn(value: str, _quoted: bool) -> bool:
    """Whether it looks random: in a run letters and digits change three times, or the case changes often."""
    run = _RUN.match(value)
    if run is None or not _digit(run[0]):
        return False
    kinds = [c.isdigit() + 2 * c.isupper() for c in run[0] if c.isalnum()]
    changes = sum(one != other for one, other in pairwise(kinds))
    digits = sum((one == 1) != (other == 1) for one, other in pairwise(kinds))
    return digits > 2 or (len(kinds) > 11 and changes > max(5, 0.42 * len(kinds)))


def words(value: str, _quoted: bool) -> bool:
    """Whether it is eleven or more words in small letters."""
    return bool(_WORDS.match(value))


def listing(value: str, _quoted: bool) -> bool:
    """Whether it stands on several lines."""
    return "\n" in value


def _digit(value: str) -> bool:
    return any(c.isdigit() for c in value)


def _odd(value: str) -> bool:
    return _digit(value) or bool(_SIGN.search(value))


_VARIABLE = re.compile(r"\$[A-Z_][A-Z0-9_]{0,60}\Z|\$?\{[^{}]{0,60}\}|%[sr]\Z|<[^<>]{1,60}>\Z")
"""Placeholders for a secret in a program or a text."""
_STRONG = re.compile(r"[\w@#$%^&*!+=~?-]+[.,;:!?)\]*]{0,3}\Z")
_RUN = re.compile(r"(?![0-9]{4}-[0-9]{2}-)(?:base64:|s%3a)?[A-Za-z0-9_+=%-]{10,}")
_MORE = re.compile(r"(?:[,;]|[^,;](?: ?[,/]| (?:and|or|to|und|oder|\?\?|\|\|)(?= ))) {1,4}")
"""What stands between two values of a list; it begins with the last character of the first."""
_WORDS = re.compile(r"(?:[a-z]{3,8}[ ,]{1,3}){10,23}[a-z]{3,8}(?![A-Za-z])")
_SIGN = re.compile(r"[A-Za-z0-9][@#$%^&*!+=~?][A-Za-z0-9]")


@dataclass(frozen=True)
class Joint:
    """What may stand between a name and its value, which values then are believed, and how they are read."""

    pattern: re.Pattern[str]
    judge: Judge
    reading: Callable[[Values, int], Value | None] = Values.told


def joint(pattern: str, judge: Judge, reading: Callable[[Values, int], Value | None] = Values.told) -> Joint:
    """A joint, its pattern compiled."""
    return Joint(re.compile(pattern), judge, reading)


Fits = Callable[[str, int, int], bool] | None


def named(name: str, *joints: Joint, fits: Fits = None) -> Callable[[Page], Iterator[Span]]:
    """The values behind a name; of the joints the first that leads to a value that is believed.

    Names and joints are looked for in lower case; `fits` can refuse a name.
    """
    names = re.compile(name)

    def find(page: Page) -> Iterator[Span]:
        values = [Values(page.text) for _ in joints]
        at = 0
        for found in names.finditer(page.low):
            if found.start() < at or not (fits is None or fits(page.text, *found.span())):
                continue
            for one, read in zip(joints, values, strict=True):
                joined = one.pattern.match(page.low, found.end())
                value = one.reading(read, joined.end()) if joined else None
                if value is None:
                    continue
                if page.text[value.start] == FILL:  # by another rule, or before
                    break
                if _believed(page.text, value, one.judge):
                    at = value.behind
                    yield value.start, value.end
                    while more := _MORE.match(page.low, at - 1):
                        value = read.told(more.end())
                        if value is None or not _believed(page.text, value, strong):
                            break
                        at = value.behind
                        yield value.start, value.end
                    break

    return find


def _believed(text: str, value: Value, judge: Judge) -> bool:
    """Whether a value can be a secret, and is no program."""
    if not value.quoted and CODE.match(text, value.start, value.end):
        return False
    told = text[value.start : min(value.end, value.start + JUDGED)].replace(FILL, "")
    return bool(told) and judge(told, value.quoted)
