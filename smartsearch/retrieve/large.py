"""Grep over more transcripts than one wants to parse: bytes first, and only the best turns for real.

`Lines` say which of theirs can contain a term. What a line could weigh at most is summed up for
all of them; the best are parsed and weighed exactly, more of them until no other line can be among the first
`most`. Answers are those of `Haystack`, but for what docs/decisions/0011 names: turns beyond `most` are
counted and not listed, words without a hit are not matched to near ones, and faults in lines that were
not parsed stay unseen.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from smartsearch.errors import InputError
from smartsearch.retrieve.fields import SPEAKER, Field
from smartsearch.retrieve.grep import (
    Found,
    Haystack,
    Search,
    counted,
    folded,
    having,
    is_word_of,
    looked_for,
    pattern,
    place_weight,
)
from smartsearch.retrieve.likely import AFTER, BEFORE, rarity
from smartsearch.text.literals import NUMBER, spellings
from smartsearch.transcripts.corpus import Lines
from smartsearch.transcripts.filters import Filters, Sieve, facts, speaks
from smartsearch.types import Corpus, Skipped, Term, Turn, fold

HELD_TURNS = 1 << 16
"""So many parsed turns are kept; at one more all are dropped."""
SURE = 64
"""The order of so many first turns is exact, ties included: as many as are shown, or feed a hop."""
LIGHTEST = 1e-3
"""Every term weighs at least this; a smaller sum is a rounding error."""
FURTHEST = 16
"""How many times `most` turns are parsed at most before the rest is taken to weigh less."""

Places = NDArray[np.int64]
NO_TURN = Turn("")
T = TypeVar("T")


class LargeHaystack(Haystack):
    """Parts in corpus order, a parsed haystack or unparsed lines each, as one.

    With filters only the turns that pass are found. Raises InputError for a name that no turn has, and
    NotByLine for a line that needs others to be understood: then `Library.reading` reads all.
    """

    def __init__(
        self,
        parts: Sequence[Haystack | Lines],
        skipped: tuple[Skipped, ...] = (),
        warnings: tuple[str, ...] = (),
        filters: Filters | None = None,
    ) -> None:
        self._parts = tuple(parts)
        self._bases = np.cumsum([0, *(len(part) for part in self._parts)])
        turns = Lazy(int(self._bases[-1]), partial(_turn, self._parts, self._bases, {}))
        self.corpus = LargeCorpus(turns, skipped, warnings)
        self.indices: Sequence[int] = range(len(self.corpus.turns))
        self.warnings: tuple[str, ...] = ()
        self._kept: NDArray[np.bool_] | None = None
        if filters and filters.given:
            self._kept, self.warnings = _sifted(self._parts, filters)
            self.indices = np.flatnonzero(self._kept).tolist()
        lines = [part for part in parts if not isinstance(part, Haystack)]
        named = {word for part in lines for name in part.speakers for word in (name, *name.split())}
        known = {word for part in parts if isinstance(part, Haystack) for word in part.speakers}
        self.speakers = frozenset(named | known)

    def __len__(self) -> int:
        return len(self.indices)

    def turns_with(self, text: str, *, word_boundary: bool = False, number: bool = False) -> list[int]:
        """Indices of the turns that contain `text`, ascending, each once; all that may are parsed."""
        needle = looked_for(text)
        holds = pattern(needle, word_boundary=word_boundary, number=number)
        places = self.places(text, number=number).tolist()
        return [i for i in places if self._contains(i, needle, holds)]

    def has(self, text: str) -> bool:
        """Whether any turn contains `text`."""
        return any(self._contains(i, looked_for(text), None) for i in self.places(text).tolist())

    def left_out(self, text: str) -> list[Turn]:
        """Turns that contain `text` among those that the filters leave out."""
        if self._kept is None:
            return []
        places = self._places(text)
        others = places[~self._kept[places]].tolist()
        return [self.corpus.turns[i] for i in others if self._contains(i, looked_for(text), None)]

    def words(self) -> None:
        """Not known: it would mean reading everything."""

    def searching(self, most: int, typed: bool = False) -> Search:
        """A search whose terms add up from call to call; it finds the `most` first of `by_match_weight`."""
        return _Sum(self, most, typed)

    def places(self, text: str, *, number: bool = False) -> Places:
        """Indices of the turns that may contain `text`, ascending: all that do, and few others.

        Of a `number` those that have it as it is most often written.
        """
        written = spellings(looked_for(text)) if number else [text]
        places = (
            self._places(text)
            if len(written) == 1
            else np.unique(np.concatenate([*map(self._places, written)]))
        )
        return places if self._kept is None else places[self._kept[places]]

    def names(self) -> list[str]:
        """Who speaks, as far as is known without reading everything."""
        parsed = [name for part in self._parts if isinstance(part, Haystack) for name in part.names()]
        lines = [part for part in self._parts if not isinstance(part, Haystack)]
        return list(dict.fromkeys([*parsed, *(name for part in lines for name in sorted(part.speakers))]))

    def has_speaker(self, name: str) -> bool:
        """Whether anybody speaks whose name is written so, in the turns left out too."""
        return any(speaks(name, self.corpus.turns[i].speaker) for i in self._places(name).tolist())

    @cached_property
    def titles(self) -> frozenset[str]:
        """What the conversations are called, as far as is known without reading everything."""
        return frozenset().union(*(part.titles for part in self._parts if isinstance(part, Haystack)))

    def _places(self, text: str) -> Places:
        """As `places`, among all turns."""
        found = [np.zeros(0, np.int64)]
        for part, base in zip(self._parts, self._bases) if looked_for(text) else ():
            inside = part.turns_with(text) if isinstance(part, Haystack) else part.with_word(text)
            found.append(np.asarray(inside, dtype=np.int64) + base)
        return np.concatenate(found)

    def _contains(self, index: int, needle: str, holds: re.Pattern[str] | None) -> bool:
        spoken = folded(self.corpus.turns[index])
        return holds.search(spoken) is not None if holds else needle in spoken


def _sifted(parts: Sequence[Haystack | Lines], filters: Filters) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    """Which of the turns pass the filters, and what there is to say of it.

    Where a speaker is asked for, only lines that can hold the name are read. If no turn of them passes, all
    lines are read, so that the error or the warning is about every turn.
    """
    if filters.only_speaker:
        with suppress(InputError):
            kept, said = _passing(parts, filters, all_lines=False)
            if kept.any():
                return kept, said
    return _passing(parts, filters, all_lines=True)


def _passing(
    parts: Sequence[Haystack | Lines], filters: Filters, *, all_lines: bool
) -> tuple[NDArray[np.bool_], tuple[str, ...]]:
    sieve, kept = Sieve(filters), []
    for part in parts:
        passed = np.zeros(len(part), dtype=np.bool_)
        if isinstance(part, Haystack):
            passed[:] = [sieve(facts(turn)) for turn in part.corpus.turns]
        else:
            places = np.arange(len(part))
            if not all_lines:
                places = np.unique(np.concatenate([part.with_word(name) for name in filters.only_speaker]))
            found = [known is not None and sieve(known) for known in part.facts(places)]
            passed[places] = found
        kept.append(passed)
    return np.concatenate(kept) if kept else np.zeros(0, np.bool_), sieve.warnings()


class Lazy(Sequence[T]):
    """Items that are made when they are asked for."""

    def __init__(self, length: int, make: Callable[[int], T]) -> None:
        self._length, self._make = length, make

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: Any) -> Any:
        """The item, or items, at `index`."""
        if isinstance(index, slice):
            return tuple(self._make(i) for i in range(*index.indices(self._length)))
        if not 0 <= index < self._length:
            raise IndexError(index)
        return self._make(index)


@dataclass(frozen=True)
class LargeCorpus(Corpus):
    """A corpus whose turns are read when they are asked for; a line without a turn is an empty one."""

    @cached_property
    def previous(self) -> Sequence[int]:
        """As in `Corpus`, found out one by one."""
        return Lazy(len(self.turns), partial(_before, self.turns))

    def following(self, index: int) -> int:
        """As in `Corpus`; lines without a turn are passed over."""
        after = index + 1
        while 0 < after < len(self.turns) and self.turns[after] is NO_TURN:
            after += 1
        return after if 0 < after < len(self.turns) and self.previous[after] == index else -1


def _turn(parts: Sequence[Haystack | Lines], bases: Places, held: dict[int, Turn], index: int) -> Turn:
    found = held.get(index)
    if found is None:
        at = int(np.searchsorted(bases, index, side="right")) - 1
        part, place = parts[at], index - int(bases[at])
        found = (part.corpus.turns[place] if isinstance(part, Haystack) else part.turn(place)) or NO_TURN
        if len(held) >= HELD_TURNS:
            held.clear()
        held[index] = found
    return found


def _before(turns: Sequence[Turn], index: int) -> int:
    before = index - 1
    while before >= 0 and turns[before] is NO_TURN:
        before -= 1
    same = before >= 0 and turns[before].place == turns[index].place
    return before if same else -1


class _Sum(Search):
    """One question's terms so far, and what every line could weigh with them."""

    _haystack: LargeHaystack
    knows_all = False

    def __init__(self, haystack: LargeHaystack, most: int, typed: bool) -> None:
        super().__init__(haystack)
        self.counts: dict[str, int] = {}
        self._most, self._typed = most, typed
        self._patterns: dict[str, re.Pattern[str]] = {}
        turns = len(haystack.corpus.turns)
        self._read = np.zeros(turns, dtype=np.bool_)
        self._places: dict[str, Places] = {}
        self._terms: dict[str, Term] = {}
        self._speakers: list[tuple[Field, Places]] = []
        self._unsummed = 0.0  # what fields may add to a line's weight
        self._weights = np.zeros(turns, dtype=np.float32)
        self._all: Places | None = None

    def __call__(self, terms: Iterable[Term], *, mode: str = "or", word_boundary: bool = False) -> Found:
        """The heaviest turns by all terms so far, with those that each contains."""
        wanted = list(terms)
        new = {fold(term.text) for term in wanted} - self._terms.keys()
        for term in wanted:
            key = fold(term.text)
            held = self._terms.get(key)
            weight = place_weight(term, self._typed)
            more = weight - (place_weight(held, self._typed) if held else 0.0)
            if not held or term.weight > held.weight:
                self._terms[key] = term
                if key not in self._places:
                    self._places[key] = self._haystack.places(term.text, number=term.kind == NUMBER)
                    self.counts[key] = len(self._places[key])
                places = self._places[key]
                self._weights[places] += np.float32(more if held else max(weight, 0.0))
                if mode == "and":
                    self._all = places if self._all is None else np.intersect1d(self._all, places)
        for key, term in self._terms.items():
            holds = pattern(key, word_boundary=word_boundary, number=term.kind == NUMBER)
            if holds:
                self._patterns[key] = holds
        found = self._heaviest(every=mode == "and")
        self._refute(new - set().union(*found.values()))
        return found

    def beside(self, fields: Sequence[Field]) -> Found:
        """As `__call__` with these fields added: a date weighs where a term found a line, and finds none.

        How many turns have it is judged by those that are read.
        """
        self._fields += fields
        for field in fields:
            if field.name:
                places = self._haystack.places(field.name)
                self._speakers.append((field, places))
                self._weights[places] += np.float32(place_weight(field.term, self._typed))
            else:
                self._unsummed += place_weight(field.term, self._typed)
        found = self._heaviest(every=self._all is not None)
        for field in fields:
            key = fold(field.term.text)
            having = sum(key in some for some in found.values())
            share = len(self._weights) * having // max(1, len(found))
            self.counts[key] = max(self.counts.get(key, 0), share, min(having, 1))
        return found

    def likeliest(self) -> Found:
        """The turns that could weigh most with their terms' rarity and their neighbours, and these beside.

        Twice as many as wanted: a neighbour may turn out to be of another session.
        """
        if self._all is not None:
            return {}
        own = np.zeros(len(self._weights) + 2, dtype=np.float32)
        inner = own[1:-1]
        for key, places in self._places.items():
            around = [other for other in self._terms if is_word_of(key, other)]
            within = [term.weight for other, term in self._terms.items() if is_word_of(other, key)]
            alone = (
                places[~np.isin(places, np.concatenate([self._places[o] for o in around]))]
                if around
                else places
            )
            weight = max(self._terms[key].weight, *within, 0.0)
            inner[alone] += np.float32(weight * rarity(len(self._weights), len(places)))
        for field, places in self._speakers:
            inner[places] += np.float32(field.term.weight * rarity(len(self._weights), len(places)))
        likely = np.flatnonzero(inner)
        with_near = own[likely + 1] + BEFORE * own[likely] + AFTER * own[likely + 2]
        best = likely[_largest(with_near, 2 * self._most)]
        near = (best[:, None] + np.array([-1, 0, 1])).ravel()
        near = np.unique(near[(near >= 0) & (near < len(inner))])
        return self._looked_at(near[inner[near] > 0])

    def unread(self, found: Found) -> int:
        """How many turns beside those found may hold a term and were not looked at; few of them hold none."""
        held = self._weights != 0 if self._all is None else _mask(self._all, len(self._weights))
        left = held & ~self._read
        left[list(found)] = False
        return int(np.count_nonzero(left))

    def _refute(self, doubtful: Set[str]) -> None:
        """Take back the lines of those terms that none of them holds: `c` is on many, and `c++` on none."""
        for key in doubtful & self._places.keys():
            places = self._places[key]
            if len(places) and not self._anywhere(key, places):
                self.counts[key], self._places[key] = 0, places[:0]
                self._weights[places] -= np.float32(max(place_weight(self._terms[key], self._typed), 0.0))
                self._weights[np.abs(self._weights) < LIGHTEST] = 0.0
                self._all = self._all if self._all is None else self._all[:0]

    def _anywhere(self, key: str, places: Places) -> bool:
        turns = self._haystack.corpus.turns
        return any(self._holds(key, folded(turns[index])) for index in places.tolist())

    def _looked_at(self, places: Places) -> Found:
        """The turns at `places` that contain a term."""
        self._read[places] = True
        inside = ((index, self._inside(index)) for index in places.tolist())
        return {index: some for index, some in inside if some}

    def _heaviest(self, *, every: bool) -> Found:
        likely = np.flatnonzero(self._weights) if self._all is None else self._all
        order = likely[_largest(self._weights[likely], FURTHEST * self._most)]
        found: Found = {}
        read = 0
        for want in (2**n * self._most for n in range(1, FURTHEST.bit_length())):
            looked = self._looked_at(order[read:want])
            found |= {i: some for i, some in looked.items() if not every or some.keys() >= self._terms.keys()}
            read = min(want, len(order))
            if read == len(order) or self._settled(found, int(order[read])):
                break
        return found

    def _settled(self, found: Found, following: int) -> bool:
        """Whether the first `most` turns found weigh at least what any other line can, `following` at most.

        And whether the very first come before it by their place in the corpus too, where they weigh the same.
        """
        bound = float(self._weights[following]) + self._unsummed
        sums = (
            (i, sum(place_weight(t, self._typed) for t in counted(inside))) for i, inside in found.items()
        )
        first = sorted((-weight, index) for index, weight in sums)[: self._most]
        sure = first[: min(SURE, self._most)]
        return len(first) == self._most and -first[-1][0] >= bound and sure[-1] < (-bound, following)

    def _inside(self, index: int) -> dict[str, Term]:
        """The terms in a turn; a turn without any but a date has none."""
        turn = self._haystack.corpus.turns[index]
        spoken, known = folded(turn), self._terms.items()
        inside = {key: term for key, term in known if self._holds(key, spoken)}
        beside = having(self._fields, turn) if self._fields else {}
        return inside | beside if inside or any(term.kind == SPEAKER for term in beside.values()) else {}

    def _holds(self, key: str, spoken: str) -> bool:
        holds = self._patterns.get(key)
        return holds.search(spoken) is not None if holds else bool(key.strip()) and key.strip() in spoken


def _largest(values: NDArray[np.float32], most: int) -> Places:
    """Places of the `most` largest values, largest first; of equal ones the first."""
    if len(values) > 4 * most:
        least = np.partition(values, len(values) - most)[len(values) - most]
        some = np.flatnonzero(values >= least)
        return some[np.argsort(-values[some], kind="stable")][:most]
    return np.argsort(-values, kind="stable")[:most]


def _mask(places: Places, length: int) -> NDArray[np.bool_]:
    held = np.zeros(length, dtype=np.bool_)
    held[places] = True
    return held
