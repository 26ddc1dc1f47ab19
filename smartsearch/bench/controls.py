"""The paper's negative controls: lemma expansion in retrieval, maximal marginal relevance in ranking."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from smartsearch.bench.types import Indices
from smartsearch.rank.bm25 import lemma
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Query, Term, fold

_LEMMAS: WeakKeyDictionary[Haystack, dict[str, list[str]]] = WeakKeyDictionary()


def with_lemmas(query: Query, haystack: Haystack) -> Query:
    """Morphology expansion: each one-word term also as the corpus words of its lemma, same kind and weight.

    A form that contains the term or a shorter form is left out: substring match finds its turns already, and
    a turn should not count one word twice. Raises SmartsearchError where `simplemma` is missing.
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
    """The words of a corpus by lemma, made once per haystack."""
    table = _LEMMAS.get(haystack)
    if table is None:
        table = {}
        for word in haystack.words() or ():
            table.setdefault(lemma(word), []).append(word)
        _LEMMAS[haystack] = table
    return table


def mmr(
    order: Indices,
    relevance: NDArray[np.floating],
    vectors: NDArray[np.float32],
    *,
    trade_off: float = 0.7,
    depth: int = 100,
) -> Indices:
    """Maximal marginal relevance (Carbonell and Goldstein 1998) over the first `depth` turns of `order`.

    The rest follows as it was. Each step takes the turn with the highest
    `trade_off * relevance - (1 - trade_off) * similarity`, where similarity is the largest cosine with a turn
    taken before; ties go to the turn that stood first. `relevance`, finite and aligned with `order`, is
    scaled to 0..1 within the head; `vectors`, shape (turns, d), holds the unit vector of every turn of the
    corpus.
    """
    head = order[:depth]
    if not len(head):
        return order
    scores = np.asarray(relevance[: len(head)], dtype=np.float64)
    spread = scores.max() - scores.min()
    gain = trade_off * ((scores - scores.min()) / spread if spread else np.zeros(len(head)))
    near = vectors[head]
    cosines = (1.0 - trade_off) * np.asarray(near @ near.T, dtype=np.float64)
    taken = [int(np.argmax(gain))]
    closest = cosines[taken[0]].copy()
    gain[taken[0]] = -np.inf
    for _ in range(len(head) - 1):
        best = int(np.argmax(gain - closest))
        taken.append(best)
        gain[best] = -np.inf
        np.maximum(closest, cosines[best], out=closest)
    return np.concatenate([head[taken], order[len(head) :]])
