"""What was typed, word for word, before what only means the same (docs/decisions/0016)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from smartsearch.rank.cascade import Ranking
from smartsearch.retrieve.grep import folded, looked_for, pattern
from smartsearch.text.literals import CODE, NUMBER, PHRASE, digits, whole
from smartsearch.types import Corpus, Query, Term, Turn, fold

WHOLE, INSIDE = 2, 1
"""How a turn holds a term: as whole words, or within longer ones."""
RARE, PLACE = 2, 20
"""A word of the question that at most so many turns hold lifts them to this rank at least."""
RARE_LITERAL, PLACE_LITERAL = 10, 3
"""The same for a code, a long number or a quoted phrase."""
TERSE = 4
"""Words of a question that may stand in a turn just as they were typed."""
YEAR = 4
"""Digits of a number that is as common as a word."""
VERB, AROUND = "VERB", '?"“”„«» '


def typed_first(
    ranking: Ranking, query: Query, corpus: Corpus, counts: Mapping[str, int], mended: Sequence[Term]
) -> Ranking:
    """`ranking` with the turns that hold what was typed lifted, and pinned: no score cuts them off.

    A literal question behaves as grep does: turns that hold all of it as whole words come first, then those
    that hold it within longer words, each in the rankers' order. Where it is codes, numbers and quoted
    phrases, and a turn holds them all, no other is an answer. Of another question the turns that hold a rare
    term are lifted. `counts` says how many turns hold a term, `mended` what typing errors stand for.
    """
    if query.literal:
        return _as_it_stands(_as_grep(ranking, query, corpus, mended), query, corpus)
    places = _places(ranking, query, corpus, counts)
    order = sorted(range(len(ranking.candidates)), key=lambda n: (min(n, places.get(n, n)), n not in places))
    lifted = ranking.reordered(order, pinned=places)
    return _as_it_stands(lifted, query, corpus) if len(query.text.split()) <= TERSE else lifted


def _as_it_stands(ranking: Ranking, query: Query, corpus: Corpus) -> Ranking:
    """The turns that hold the whole question as it was typed come first."""
    asked = whole(looked_for(query.text.strip(AROUND)))
    holds = [asked.search(folded(corpus.turns[c.index])) is not None for c in ranking.candidates]
    pinned = [n for n, held in enumerate(holds) if held]
    return ranking.reordered([*pinned, *(n for n, held in enumerate(holds) if not held)], pinned=pinned)


def _as_grep(ranking: Ranking, query: Query, corpus: Corpus, mended: Sequence[Term]) -> Ranking:
    grades = [_grades(corpus.turns[c.index], query, mended) for c in ranking.candidates]
    order = sorted(range(len(grades)), key=lambda n: (-min(grades[n]), -sum(grades[n])))
    every = [n for n in order if min(grades[n])]
    if every and all(term.kind in (CODE, NUMBER, PHRASE) for term in query.terms):
        order = every
    best = every or [n for n in order if sum(grades[n]) == max(map(sum, grades)) > 0]
    return ranking.reordered(order, pinned=best)


def _grades(turn: Turn, query: Query, mended: Sequence[Term]) -> list[int]:
    """How the turn holds each term, or what the term was mended to; 0 where it does not."""
    text = folded(turn)
    found = []
    for term in query.terms:
        stand_ins = [other for other in mended if other.source == term.text]
        found.append(max(_grade(one, text) for one in (stand_ins or [term])))
    return found


def _grade(term: Term, text: str) -> int:
    needle = looked_for(term.text)
    holds = pattern(needle, number=term.kind == NUMBER)
    if not (holds.search(text) if holds else needle in text):
        return 0
    return WHOLE if whole(needle).search(text) else INSIDE


def _places(ranking: Ranking, query: Query, corpus: Corpus, counts: Mapping[str, int]) -> dict[int, int]:
    """Where the turns with a rare term should stand at least, by their position; from 0."""
    wanted: list[tuple[int, Term]] = []
    for term in query.terms:
        literal = term.kind in (CODE, PHRASE) or (term.kind == NUMBER and len(digits(term.text)) > YEAR)
        most, place = (RARE_LITERAL, PLACE_LITERAL) if literal else (RARE, PLACE)
        if 0 < counts.get(fold(term.text), 0) <= most and term.kind != VERB:
            wanted.append((place - 1, term))
    places: dict[int, int] = {}
    for n, candidate in enumerate(ranking.candidates if wanted else ()):
        text = folded(corpus.turns[candidate.index]) if candidate.terms else ""
        near = [place for place, term in wanted if _grade(term, text) == WHOLE]
        if near:
            places[n] = min(near)
    return places
