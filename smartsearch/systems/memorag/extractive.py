"""The memory without a language model: statistics of who and what is named together, and salient sentences.

It is not MemoRAG's model, and answers say so. What it drafts are extracts: terms that come with those of the
question, and the sentences of the memory that are nearest to it.
"""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from smartsearch.config import Config
from smartsearch.systems.base import Progress
from smartsearch.systems.baselines import words
from smartsearch.systems.memorag.clues import Built, Clues
from smartsearch.systems.memorag.records import Records
from smartsearch.systems.qrmem.segments import segmented
from smartsearch.systems.xmemory.rule import MOST_STATEMENTS, keys
from smartsearch.text.parse import Parser
from smartsearch.types import Turn, fold

SENTENCES = 3
"""Sentences of the memory that become clues."""
ASSOCIATES = 4
"""Terms that are named with one of the question, at most."""
TOGETHER = 3
"""Units that name two terms together, at least: one turn alone makes two, itself and the next."""


@dataclass(frozen=True)
class Piece:
    """A segment as it is remembered: the terms of each turn, by their folded text, and its salient sentences,
    each with the index of its turn."""

    terms: tuple[dict[str, str], ...]
    sentences: tuple[tuple[int, str], ...]


class Extractive:
    """The pieces of some transcripts, in their order."""

    fidelity = "rule"
    about = "corpus statistics, not MemoRAG's model"

    def __init__(self, pieces: Sequence[Piece], built: Built, parser: Parser, config: Config) -> None:
        self.pieces, self.built = pieces, built
        self._parser, self._config = parser, config

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all that is held."""
        return hashlib.blake2b(repr(self.pieces).encode("utf-8", "replace"), digest_size=16).hexdigest()

    @cached_property
    def statistics(self) -> dict[str, float]:
        """How much it holds of each kind."""
        return {
            "turns": sum(len(piece.terms) for piece in self.pieces),
            "pieces": len(self.pieces),
            "sentences": len(self.sentences),
            "terms": len(self._units),
        }

    def outline(self) -> list[dict[str, Any]]:
        """The salient sentences, each with its turn."""
        return [
            {"level": "sentence", "text": text, "source": "rule", "turn": n} for n, text in self.sentences
        ]

    @cached_property
    def sentences(self) -> list[tuple[int, str]]:
        """All salient sentences with their turns."""
        return [one for piece in self.pieces for one in piece.sentences]

    @cached_property
    def _units(self) -> dict[str, list[int]]:
        """Where each term is named: the numbers of its units, a unit being a turn with the one before it."""
        units: dict[str, list[int]] = defaultdict(list)
        for number, unit in enumerate(self._each_unit()):
            for term in unit:
                units[term].append(number)
        return dict(units)

    @cached_property
    def _said(self) -> list[dict[str, str]]:
        """The terms of each unit, as they are written."""
        return list(self._each_unit())

    def _each_unit(self) -> Iterator[dict[str, str]]:
        for piece in self.pieces:
            before: dict[str, str] = {}
            for terms in piece.terms:
                yield before | terms
                before = terms

    @cached_property
    def _sentences_of(self) -> dict[str, list[int]]:
        """The places of the salient sentences that have a word."""
        places: dict[str, list[int]] = defaultdict(list)
        for place, (_, text) in enumerate(self.sentences):
            for word in set(words(fold(text))):
                places[word].append(place)
        return dict(places)

    def clues(self, question: str) -> Clues:
        """What is named together with the question's terms, and the sentences that have most of them."""
        asked = [fold(term.text) for term in self._parser.parse(question, self._config).terms]
        near = [f"{said}: {', '.join(found)}" for said in asked if (found := self._associates(said, asked))]
        return Clues("answers", (*self._nearest(asked), *near))

    def _associates(self, term: str, asked: Sequence[str]) -> list[str]:
        """The terms with the highest normalised pointwise mutual information with `term`."""
        units, total = self._units, max(len(self._said), 1)
        together = Counter(other for unit in units.get(term, ()) for other in self._said[unit])
        worth = {
            other: _npmi(count, len(units[term]), len(units[other]), total)
            for other, count in together.items()
            if count >= TOGETHER and other not in asked and other != term
        }
        best = sorted(
            (other for other in worth if worth[other] > 0), key=lambda other: (-worth[other], other)
        )
        return [self._written(term, other) for other in best[:ASSOCIATES]]

    def _written(self, term: str, other: str) -> str:
        return next(self._said[unit][other] for unit in self._units[term] if other in self._said[unit])

    def _nearest(self, asked: Sequence[str]) -> list[str]:
        """The salient sentences with the rarest of the question's words; the earliest of equals."""
        places = self._sentences_of
        worth: dict[int, float] = defaultdict(float)
        for word in dict.fromkeys(word for term in asked for word in words(term) if word in places):
            for place in places[word]:
                worth[place] += math.log(1 + len(self.sentences) / len(places[word]))
        best = sorted(worth, key=lambda place: (-worth[place], place))[:SENTENCES]
        return [self.sentences[place][1] for place in best]


def _npmi(together: int, one: int, other: int, total: int) -> float:
    """Normalised pointwise mutual information of two terms, -1 to 1, from the units that have them."""
    if together == total:
        return 0.0
    return math.log(together * total / (one * other)) / -math.log(together / total)


def made(
    turns: Sequence[Turn], path: Path | None, parser: Parser, config: Config, progress: Progress
) -> Extractive:
    """The memory of `turns`: what the file at `path` has of them, and what it lacks. Raises CacheError."""
    runs = [range(own[0], own[-1] + 1) for own in segmented(turns).turns]
    records = Records(path)
    names = keys(turns, runs)
    lacking = [n for n, key in enumerate(names) if records.get(key) is None]
    for done, n in enumerate(lacking):
        progress(done, len(lacking))
        records.put(names[n], _record(turns[runs[n].start : runs[n].stop], parser, config))
    if lacking:
        progress(len(lacking), len(lacking))
    built = Built(records.new, records.gone)
    records.save()
    pieces = [_piece(records.get(key), run.start) for key, run in zip(names, runs, strict=True)]
    return Extractive(pieces, built, parser, config)


def _record(turns: Sequence[Turn], parser: Parser, config: Config) -> dict[str, Any]:
    """A segment's terms, turn by turn, and the sentences that name most, up to a share of its words."""
    terms = []
    for turn in turns:
        named = [*parser.entities([turn.said]), *(noun for noun, _ in parser.nouns([turn.said]))]
        terms.append({fold(name): name for name in named})
    stated = [
        (n, " ".join(sentence.split()))
        for n, turn in enumerate(turns)
        for sentence in parser.statements(turn.said)[:MOST_STATEMENTS]
    ]
    names = {name for one in terms for name in one}
    weight = {text: sum(name in fold(text) for name in names) for _, text in stated}
    room = sum(turn.words for turn in turns) / config.memorag_ratio
    kept: list[tuple[int, str]] = []
    for n, text in sorted(stated, key=lambda one: (-weight[one[1]], one[0])):
        if not kept or room >= len(text.split()):
            kept.append((n, text))
            room -= len(text.split())
    return {"terms": terms, "sentences": sorted(kept)}


def _piece(record: Any, start: int) -> Piece:
    return Piece(tuple(record["terms"]), tuple((start + n, text) for n, text in record["sentences"]))
