"""Secrets by their name: what a name is, what joins it to a value, and the value (values.py).

Names are patterns of bounded length, joints are matched right behind a name alone, and of a value no more is
looked at than its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from smartsearch.text.redact.judges import CODE, Judge
from smartsearch.text.redact.page import FILL, Page, Span
from smartsearch.text.redact.values import Value, Values

JUDGED = 200
"""Characters of a value by which it is judged."""


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

    Names and joints are looked for in lower case; what is no name for all that, `fits` tells.
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
                    break

    return find


def _believed(text: str, value: Value, judge: Judge) -> bool:
    """Whether a value can be a secret, and is no program."""
    if not value.quoted and CODE.match(text, value.start, value.end):
        return False
    told = text[value.start : min(value.end, value.start + JUDGED)].replace(FILL, "")
    return bool(told) and judge(told, value.quoted)
