"""Oracle traces of a dataset: runs `oracle` with the parser, the names of turns and ColBERT behind it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from smartsearch.bench import oracle
from smartsearch.bench.oracle import OracleOptions
from smartsearch.bench.scoring import Haystacked, Scoring
from smartsearch.bench.types import Dataset
from smartsearch.rank.text import shown
from smartsearch.types import Turn

Nearest = Callable[[str], tuple[int, ...]]
"""The places of the turns nearest to a text, best first."""


def traces(
    dataset: Dataset,
    scoring: Scoring,
    ways: Sequence[OracleOptions],
    step: Callable[[], None] = lambda: None,
) -> list[dict[str, Any]]:
    """One summary per set of options, over whole turns."""
    found: list[list[oracle.OracleTrace]] = [[] for _ in ways]
    for group in dataset.groups():
        ready = Haystacked(group.corpus, shown(scoring.config))
        postings = oracle.Postings(ready.haystack)
        entities = _names(group.corpus.turns, scoring)
        nearest = _nearest(ready, scoring)
        for question in group.questions:
            terms = scoring.tools.parser.parse(question.text, scoring.config).terms
            semantic = None if nearest is None else _asking(nearest, question.text)
            for some, way in zip(found, ways, strict=True):
                one = oracle.trace(
                    terms, question.gold, postings, entities=entities, semantic=semantic, options=way
                )
                some.append(one)
            step()
    return [oracle.summary(some) for some in found]


def _names(turns: Sequence[Turn], scoring: Scoring) -> oracle.Entities:
    """The names in some turns, in order, each once."""

    @cache
    def inside(place: int) -> tuple[str, ...]:
        said = turns[place].said[: scoring.config.hop_characters or None]
        return tuple(scoring.tools.parser.entities([said]))

    return lambda places: list(dict.fromkeys(name for place in places for name in inside(place)))


def _nearest(ready: Haystacked, scoring: Scoring) -> Nearest | None:
    """ColBERT over all turns; None where the profile has none."""
    if "colbert" not in scoring.tools.scorers:
        return None
    return cache(lambda text: scoring.nearest(text, ready, OracleOptions().semantic_top))


def _asking(nearest: Nearest, question: str) -> oracle.Semantic:
    """The dense search for a question, or for some of its terms."""
    return lambda terms: list(nearest(" ".join(terms) or question))
