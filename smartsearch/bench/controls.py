"""The paper's negative control of retrieval: lemma expansion (seeds 1.2, 1.3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from weakref import WeakKeyDictionary

from smartsearch.bench.lemmas import lemma
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Query, Term, fold

_LEMMAS: WeakKeyDictionary[Haystack, dict[str, list[str]]] = WeakKeyDictionary()


def with_lemmas(query: Query, haystack: Haystack) -> Query:
    """Morphology expansion: each one-word term also as the corpus words of its lemma, same kind and weight.

    A form in which the term or a shorter form stands is left out: substring match finds its turns already,
    and a turn should not count one word twice. Raises SmartsearchError where `simplemma` is missing.
    """
    by_lemma = _by_lemma(haystack)
    known = {fold(term.text) for term in query.terms}
    terms: list[Term] = []
    for term in query.terms:
        terms.append(term)
        if not any(c.isspace() for c in term.text):
            family = by_lemma.get(lemma(fold(term.text)), [])
            for word in _not_found_yet(fold(term.text), family):
                if word not in known:
                    known.add(word)
                    terms.append(replace(term, text=word, source=term.text))
    return replace(query, terms=tuple(terms))


def _not_found_yet(word: str, family: list[str]) -> Iterator[str]:
    """The words of `family` that contain neither `word` nor one given before, shortest first."""
    found = [word]
    for other in sorted(family, key=lambda w: (len(w), w)):
        if not any(form in other for form in found):
            found.append(other)
            yield other


def _by_lemma(haystack: Haystack) -> dict[str, list[str]]:
    """The words of a corpus by lemma, made once a haystack."""
    table = _LEMMAS.get(haystack)
    if table is None:
        table = {}
        for word in haystack.words() or ():
            table.setdefault(lemma(word), []).append(word)
        _LEMMAS[haystack] = table
    return table
