"""Entities by rule: patterns over tokens as spaCy's entity ruler has them, as far as ours use them.

A pattern is a list of tests, one per token: LOWER, TEXT (or ORTH) and POS against a string, a list (IN,
NOT_IN) or an expression (REGEX), LIKE_NUM, and OP "?" for a token that may be absent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from smartsearch.text.tagging.words import KEPT, Word

Entity = tuple[int, int, str]
"""First token, the one behind the last, label."""
_Test = Callable[[Word], bool]
_FIELDS: dict[str, Callable[[Word], str]] = {
    "LOWER": lambda word: word.lower,
    "TEXT": lambda word: word.text,
    "ORTH": lambda word: word.text,
}


class Rules:
    """The patterns of one file."""

    def __init__(self, path: Path, key: Callable[[str], int]) -> None:
        self._rules: list[tuple[str, int, list[int], list[frozenset[str] | None]]] = []
        self._tests: list[_Test] = []
        self._numbers: dict[str, int] = {}
        self._of_word: dict[str, list[int]] = {}
        self._of_any: list[int] = []
        self._met: dict[Word, tuple[frozenset[int], list[int]]] = {}
        self._openers: dict[int, list[int]] = {}
        for line in path.read_text(encoding="utf-8").splitlines():
            rule = json.loads(line)
            for tokens in _variants(rule["pattern"]):
                tests = [self._test(token) for token in tokens]
                tags = [_tags(token.get("POS")) for token in tokens]
                self._openers.setdefault(tests[0], []).append(len(self._rules))
                self._rules.append((rule["label"], key(rule["label"]), tests, tags))
        self._labels = {number: label for label, number, _, _ in self._rules}

    def _test(self, asked: dict[str, Any]) -> int:
        """The number of a test of a word; the same one for the same demands."""
        asked = {field: wanted for field, wanted in asked.items() if field not in ("OP", "POS")}
        written = repr(sorted(asked.items()))
        number = self._numbers.get(written)
        if number is None:
            number = self._numbers[written] = len(self._tests)
            self._tests.append(_all([_demand(field, wanted) for field, wanted in asked.items()]))
            named = next((_named(wanted) for field, wanted in asked.items() if field in _FIELDS), ())
            for word in {word.lower() for word in named}:
                self._of_word.setdefault(word, []).append(number)
            if not named:
                self._of_any.append(number)
        return number

    def _meets(self, word: Word) -> tuple[frozenset[int], list[int]]:
        """The tests that a word passes, and the patterns that may begin with it."""
        known = self._met.get(word)
        if known is None:
            if len(self._met) >= KEPT:
                self._met.clear()
            some = (*self._of_word.get(word.lower, ()), *self._of_any)
            met = frozenset(number for number in some if self._tests[number](word))
            begins = [rule for test in sorted(met & self._openers.keys()) for rule in self._openers[test]]
            known = self._met[word] = (met, begins)
        return known

    def __call__(self, words: Sequence[Word], tags: Sequence[str], there: Sequence[Entity]) -> list[Entity]:
        """What is there with what the patterns find beside it, the longest first, in order of place."""
        meets = [self._meets(word) for word in words]
        found = [
            (number, start, start + len(tests))
            for start, (_, begins) in enumerate(meets)
            for _, number, tests, wanted in (self._rules[rule] for rule in begins)
            if start + len(tests) <= len(words)
            and all(test in meets[start + i][0] for i, test in enumerate(tests))
            and all(tag is None or tags[start + i] in tag for i, tag in enumerate(wanted))
        ]
        if not found:
            return list(there)
        # spaCy sorts a set of these very triples: of two labels for one span the first of the set wins
        found.sort(key=lambda one: one[2])
        unordered = set(found)
        taken = {i for start, end, _ in there for i in range(start, end)}
        ours: set[int] = set()
        entities = list(there)
        for number, start, end in sorted(unordered, key=lambda one: (one[2] - one[1], -one[1]), reverse=True):
            if taken.isdisjoint(range(start, end)) and start not in ours and end - 1 not in ours:
                entities.append((start, end, self._labels[number]))
                ours.update(range(start, end))
        return sorted(entities)


def _variants(tokens: Sequence[dict[str, Any]]) -> list[list[dict[str, Any]]]:
    """The pattern with and without each of its tokens that may be absent."""
    made: list[list[dict[str, Any]]] = [[]]
    for token in tokens:
        made = [[*one, token] for one in made] + (made if token.get("OP") == "?" else [])
    return made


def _named(wanted: Any) -> Sequence[str]:
    """The words that alone can pass a test; none where it names none."""
    return [wanted] if isinstance(wanted, str) else list(wanted.get("IN", ()))


def _tags(wanted: Any) -> frozenset[str] | None:
    if wanted is None:
        return None
    return frozenset([wanted] if isinstance(wanted, str) else wanted["IN"])


def _all(demands: Sequence[_Test]) -> _Test:
    return demands[0] if len(demands) == 1 else lambda word: all(demand(word) for demand in demands)


def _demand(field: str, wanted: Any) -> _Test:
    if field == "LIKE_NUM":
        return lambda word: word.like_num == wanted
    get = _FIELDS[field]
    if isinstance(wanted, str):
        return lambda word: get(word) == wanted
    ((kind, value),) = wanted.items()
    if kind == "REGEX":
        search = re.compile(value).search
        return lambda word: bool(search(get(word)))
    values: Collection[str] = frozenset(value)
    return (lambda word: get(word) in values) if kind == "IN" else (lambda word: get(word) not in values)
