"""Substring match of terms against turns: recall first, precision is left to ranking (paper 3.3).

A term matches where its case-folded surface form stands anywhere in `speaker: text caption`. No
lemmas, no index. The folded turns are one string, so that a term is one scan at memory speed.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from heapq import nsmallest

from smartsearch.retrieve.fields import KINDS, Field, title
from smartsearch.text.literals import NUMBER, loosely
from smartsearch.transcripts.filters import speaks
from smartsearch.types import Candidate, Corpus, Term, Turn, fold

SEPARATOR = "\x00"  # stands in no term, so no match crosses from one turn into the next

WIDENED = frozenset(("HOP", "PRF", "CLUE"))
"""Kinds of terms that were not typed: the hops found them, or a memory drafted them."""
FIRST = 1024.0
"""What a term's weight is multiplied by to stand before all that the hops can add."""

Found = dict[int, dict[str, Term]]
"""Turn index to the terms in it, by folded text: the state that the hops add to."""


class Search:
    """One question's steps over a haystack.

    `counts` has how many turns may hold a term, by its folded text, where those found do not tell;
    `knows_all` is true where all turns are looked at.
    """

    counts: Mapping[str, int] = {}
    knows_all = True

    def __init__(self, haystack: Haystack) -> None:
        self._haystack = haystack
        self._fields: list[Field] = []

    def __call__(self, terms: Iterable[Term], *, mode: str = "or", word_boundary: bool = False) -> Found:
        """Turns that contain any (`or`) or every (`and`) term, with the terms each contains."""
        wanted = list(terms)
        found = grep(self._haystack, wanted, word_boundary=word_boundary)
        if mode == "and":
            self.counts = Counter(key for inside in found.values() for key in inside)
            found = _with_all(found, wanted)
        if self._fields:
            turns = self._haystack.corpus.turns
            return {index: inside | having(self._fields, turns[index]) for index, inside in found.items()}
        return found

    def beside(self, fields: Sequence[Field]) -> Found:
        """Turns that have any of the fields, with all of those so far; later steps look for them too."""
        self._fields += fields
        turns = self._haystack.corpus.turns
        some = [index for index in self._haystack.indices if having(fields, turns[index])]
        return {index: having(self._fields, turns[index]) for index in some}

    def likeliest(self) -> Found:
        """Turns that rankers should read beside those found: none here, where all that match were found."""
        return {}

    def unread(self, found: Found) -> int:  # noqa: ARG002 - a larger haystack heeds it
        """How many turns beside those found may hold a term and were not looked at: none here."""
        return 0


def boundary(needle: str) -> re.Pattern[str]:
    """`needle`, folded, as whole words."""
    return re.compile(rf"(?<!\w){re.escape(needle.strip())}(?!\w)")


def pattern(needle: str, *, word_boundary: bool = False, number: bool = False) -> re.Pattern[str] | None:
    """How to look for `needle`, folded, where it is not enough that its characters stand in the text.

    A `number` is found however it is grouped.
    """
    if word_boundary:
        return boundary(needle)
    found = loosely(needle) if number else ""
    return re.compile(found) if found else None


def folded(turn: Turn) -> str:
    """What terms are looked for in: the turn as it was spoken, folded."""
    return fold(turn.spoken).replace(SEPARATOR, " ")


def looked_for(text: str) -> str:
    """What `folded` turns have that contain `text`."""
    return fold(text).replace(SEPARATOR, " ").strip()


def having(fields: Iterable[Field], turn: Turn) -> dict[str, Term]:
    """The fields that `turn` has, as terms by their folded text."""
    return {fold(field.term.text): field.term for field in fields if field.holds(turn)}


class Haystack:
    """A corpus made ready for grep: the folded text of the turns that may be found and where each begins.

    `kept` are the indices of these turns, ascending, None for all; the others serve as context. `warnings`
    tell the user about that choice.
    """

    def __init__(
        self, corpus: Corpus, kept: Sequence[int] | None = None, warnings: tuple[str, ...] = ()
    ) -> None:
        self.corpus, self.warnings = corpus, warnings
        self.indices: Sequence[int] = range(len(corpus.turns)) if kept is None else kept
        turns = corpus.turns if kept is None else [corpus.turns[index] for index in kept]
        texts = list(map(folded, turns))
        self.text = SEPARATOR.join(texts)
        self.starts: list[int] = []
        position = 0
        for text in texts:
            self.starts.append(position)
            position += len(text) + 1
        names = {fold(turn.speaker) for turn in corpus.turns}
        self.speakers = frozenset(word for name in names for word in (name, *name.split()))
        self._words: dict[str, None] | None = None

    def __len__(self) -> int:
        return len(self.starts)

    def turns_with(self, text: str, *, word_boundary: bool = False, number: bool = False) -> list[int]:
        """Indices of the turns that contain `text`, ascending, each once."""
        needle = looked_for(text)
        if not needle:
            return []
        holds = pattern(needle, word_boundary=word_boundary, number=number)
        if holds:
            places = {self._turn_at(m.start()) for m in holds.finditer(self.text)}
            return [self.indices[turn] for turn in sorted(places)]
        found = []
        at = self.text.find(needle)
        while at >= 0:
            turn = self._turn_at(at)
            found.append(self.indices[turn])
            if turn + 1 == len(self.starts):
                break
            at = self.text.find(needle, self.starts[turn + 1])
        return found

    def following(self, index: int) -> int:
        """The turn after in its session, if it may be found, or -1."""
        after = self.corpus.following(index)
        at = bisect_left(self.indices, after)
        return after if at < len(self.indices) and self.indices[at] == after else -1

    def has(self, text: str) -> bool:
        """Whether any turn contains `text`."""
        return bool(self.turns_with(text))

    def left_out(self, text: str) -> list[Turn]:
        """Turns that contain `text` among those that the filters leave out."""
        return [self.corpus.turns[index] for index in self._others.turns_with(text)]

    @cached_property
    def _others(self) -> Haystack:
        """The turns that the filters leave out."""
        kept = set(self.indices)
        return Haystack(self.corpus, [n for n in range(len(self.corpus.turns)) if n not in kept])

    def searching(self, most: int, typed: bool = False) -> Search:  # noqa: ARG002 - a larger haystack heeds both
        """The steps of one question."""
        return Search(self)

    def names(self) -> list[str]:
        """Who speaks, in the turns left out too."""
        return list(dict.fromkeys(turn.speaker for turn in self.corpus.turns))

    def has_speaker(self, name: str) -> bool:
        """Whether anybody of that name speaks, in the turns left out too."""
        return any(speaks(name, speaker) for speaker in self.names())

    @cached_property
    def titles(self) -> frozenset[str]:
        """What the conversations are called, folded."""
        return frozenset(filter(None, map(title, self.corpus.turns)))

    @cached_property
    def has_times(self) -> bool:
        """Whether any turn that may be found has a time."""
        return any(self.corpus.turns[index].time for index in self.indices)

    def words(self) -> dict[str, None] | None:
        """The distinct words, sorted: what a term without a hit is matched to. None where unknown."""
        if self._words is None:
            self._words = dict.fromkeys(sorted(set(re.findall(r"\w{3,}", self.text))))
        return self._words

    def _turn_at(self, position: int) -> int:
        return bisect_right(self.starts, position) - 1


def grep(
    haystack: Haystack, terms: Iterable[Term], *, mode: str = "or", word_boundary: bool = False
) -> Found:
    """Turns that contain any (`or`) or every (`and`) term, with the terms each contains."""
    found: Found = {}
    wanted = list(terms)
    for term in wanted:
        key = fold(term.text)
        number = term.kind == NUMBER
        for index in haystack.turns_with(term.text, word_boundary=word_boundary, number=number):
            found.setdefault(index, {})[key] = term
    return _with_all(found, wanted) if mode == "and" else found


def _with_all(found: Found, terms: Iterable[Term]) -> Found:
    every = {fold(term.text) for term in terms}
    return {index: inside for index, inside in found.items() if inside.keys() >= every}


def merge(into: Found, new: Mapping[int, Mapping[str, Term]]) -> int:
    """Add `new` to `into`, the highest weight seen winning. Returns how many turns are new."""
    fresh = 0
    for index, terms in new.items():
        fresh += index not in into
        held = into.setdefault(index, {})
        for key, term in terms.items():
            if key not in held or term.weight > held[key].weight:
                held[key] = term
    return fresh


def counted(terms: Mapping[str, Term]) -> tuple[Term, ...]:
    """The terms of one turn that count, by hop: a matched phrase absorbs the terms that are words of it.

    The phrase then weighs as much as the heaviest of them, and is as early.
    """
    inside = {key: _phrase_around(key, terms) for key in terms}
    kept = {key: term for key, term in terms.items() if inside[key] is None}
    for key, phrase in inside.items():
        if phrase is not None:
            whole, part = kept[phrase], terms[key]
            kept[phrase] = replace(whole, weight=max(whole.weight, part.weight), hop=min(whole.hop, part.hop))
    return tuple(sorted(kept.values(), key=lambda term: term.hop))


def _phrase_around(key: str, terms: Mapping[str, Term]) -> str | None:
    """The longest other term in which `key` stands as whole words. A field is no word."""
    if terms[key].kind in KINDS:
        return None
    around = (other for other, term in terms.items() if is_word_of(key, other) and term.kind not in KINDS)
    return max(around, key=len, default=None)


def is_word_of(key: str, phrase: str) -> bool:
    """Whether the term `phrase` holds the shorter `key` as whole words, and so absorbs it."""
    return len(phrase) > len(key) and key in phrase and boundary(key).search(phrase) is not None


def place_weight(term: Term, typed: bool) -> float:
    """A term's weight in the order of turns; with `typed` the question's own terms outweigh those of hops."""
    return term.weight * (FIRST if typed and term.kind not in WIDENED else 1.0)


def by_match_weight(found: Mapping[int, Mapping[str, Term]], typed: bool = False) -> list[Candidate]:
    """Candidates by match weight, with `typed` by the question's own terms first; ties in corpus order."""
    weighed = sorted(_weighed(found, typed), key=lambda facts: (-facts[1], facts[0]))
    return [Candidate(index, terms, sum(t.weight for t in terms), hop) for index, _, terms, hop in weighed]


def heaviest(found: Mapping[int, Mapping[str, Term]], most: int, typed: bool = False) -> list[int]:
    """The first `most` turns of `by_match_weight`."""
    weights = ((-weight, index) for index, weight, _, _ in _weighed(found, typed))
    return [index for _, index in nsmallest(most, weights)]


def _weighed(
    found: Mapping[int, Mapping[str, Term]], typed: bool
) -> Iterator[tuple[int, float, tuple[Term, ...], int]]:
    """Each turn with what puts it in order, its terms that count and the earliest hop.

    Thousands of turns share the few sets of terms that there are.
    """
    known: dict[tuple[int, ...], tuple[float, tuple[Term, ...], int]] = {}
    for index, terms in found.items():
        key = tuple(map(id, terms.values()))
        facts = known.get(key)
        if facts is None:
            kept = counted(terms)
            weight = sum(place_weight(t, typed) for t in kept)
            facts = known[key] = weight, kept, min((t.hop for t in kept), default=0)
        yield index, *facts
