"""The work of masking grows with the length of a text and no faster, whatever somebody repeats."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest

from smartsearch.text.redact import (
    keys,
    named,
    names,
    numbers,
    page,
    redacted,
    redacted_turns,
    repeats,
    values,
)
from smartsearch.types import Turn

try:
    from re import _constants as constants  # type: ignore[attr-defined]
    from re import _parser as parser
except ImportError:  # Python 3.10
    import sre_constants as constants  # type: ignore[no-redef]
    import sre_parse as parser  # type: ignore[no-redef]

REPEATS = (constants.MAX_REPEAT, constants.MIN_REPEAT)


def searched() -> Iterator[re.Pattern[str]]:
    """Every pattern that is looked for anywhere in a text: those of modules, and those in rules."""
    for module in (keys, names, numbers, page, repeats):
        yield from (value for value in vars(module).values() if isinstance(value, re.Pattern))
    yield from keys._PATTERNS.values()
    for rule in (*keys.RULES, *keys.HEADERS, *keys.KEYS, *names.RULES, *names.TOKENS):
        yield from _within(rule.find)


def _within(find: object) -> Iterator[re.Pattern[str]]:
    cells = [cell.cell_contents for cell in getattr(find, "__closure__", None) or ()]
    yield from (cell for cell in cells if isinstance(cell, re.Pattern))


def endless(items: object, *, last: bool) -> Iterator[str]:
    """Repetitions without an end behind which a pattern goes on, and so may fail and begin anew."""
    parts = list(items)  # type: ignore[call-overload]
    for n, (kind, value) in enumerate(parts):
        end = last and n == len(parts) - 1
        if kind in REPEATS:
            _, most, inner = value
            if most == constants.MAXREPEAT and not (end and len(inner) == 1):
                yield str(inner)
            yield from endless(inner, last=False)
        elif kind is constants.SUBPATTERN:
            yield from endless(value[3], last=end)
        elif kind is constants.BRANCH:
            for branch in value[1]:
                yield from endless(branch, last=end)
        elif kind in (constants.ASSERT, constants.ASSERT_NOT):
            yield from endless(value[1], last=False)


def test_no_pattern_that_is_searched_for_repeats_without_end_but_as_its_last_part():
    patterns = list(searched())
    wrong = [
        p.pattern
        for p in patterns
        if p is not keys._PEM and list(endless(parser.parse(p.pattern, p.flags), last=True))
    ]
    assert len(patterns) > 60
    assert not wrong


def test_the_patterns_behind_a_name_repeat_blanks_alone_without_end():
    joints = [value for value in vars(names).values() if isinstance(value, tuple)]
    patterns = [joint.pattern for group in joints for joint in group if isinstance(joint, named.Joint)]
    assert len(patterns) > 10
    for pattern in patterns:
        for inner in endless(parser.parse(pattern.pattern, pattern.flags), last=False):
            assert "CATEGORY_NOT_SPACE" in inner, pattern.pattern
            assert "MAX_REPEAT" not in inner


UNITS = (
    "password",
    "password:",
    "password=a.b(",
    "token:",
    "token is ",
    "token=a.b(",
    "token='",
    'token=\\"',
    "token=\\\\",
    "password for password is ",
    "password (",
    "<password>",
    '<a name="password">',
    "<td>password</td><td>",
    '"password","value":',
    "pass: ",
    "sk-",
    "eyJ-",
    " eyJaaaaaaaa.",
    "SG.aaaaaaaaaaaaaaaa",
    "a.",
    "://:",
    "a://b:c",
    "1234 ",
    "4111-",
    "1",
    "123---",
    "DE89 ",
    "your code is ",
    "123456 is your ",
    "bearer ",
    "authorization: ",
    "cookie: a",
    "curl -u",
    "user identified by ",
    "-----BEGIN PRIVATE KEY-----",
    "'password: '",
    "passphrase: \n",
    "--password-",
    " ",
    "\x1b[1;",
    "é\u200b",
    "password: hunter2 ",
    "password: a1 b2 c3 d4\n",
)


@pytest.mark.parametrize("unit", UNITS)
def test_twenty_times_the_text_is_no_hundred_times_the_work(unit: str):
    def spent(characters: int) -> float:
        text = unit * (characters // len(unit))
        times = []
        for _ in range(3):
            start = time.process_time()
            redacted(text)
            times.append(time.process_time() - start)
        return min(times)

    assert spent(40_000) < 100 * max(spent(2_000), 0.001)  # quadratic: 400 times


def test_many_secrets_are_sought_in_many_turns_word_by_word():
    turns = [Turn(f"password: same{n} secret{n} words{n}\nsame{n + 1} secret{n} same{n}") for n in range(500)]
    looked = 0
    known = repeats._Again.__call__

    def counted(self, plain):
        nonlocal looked
        looked += 1
        return known(self, plain)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(repeats._Again, "__call__", counted)
        redacted_turns(turns)
    assert looked <= 2 * len(turns)


def test_a_value_is_looked_through_once_for_each_sign():
    text = "x" * 1000
    told = values.Values(text)
    looked: list[int] = []
    told._blank = lambda at, to: looked.append(to - at) or -1  # type: ignore[method-assign,func-returns-value]
    for at in (0, 10, 5, 700, 3, 900):
        assert told.blank(at) == 1000
    assert sum(looked) <= 1100
