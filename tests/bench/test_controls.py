"""Lemmas of questions, by hand."""

from __future__ import annotations

import sys

import pytest

from smartsearch.bench import lemmas
from smartsearch.bench.controls import with_lemmas
from smartsearch.errors import SmartsearchError
from smartsearch.retrieve.grep import Haystack
from smartsearch.types import Query, Term
from tests.conftest import haystack


def expanded(query, hay):
    return [(t.text, t.kind, t.weight) for t in with_lemmas(Query("?", query), hay).terms]


def test_a_term_gains_the_words_of_its_lemma():
    hay = haystack("Mara: the children ran and swam", "Ilya: she runs", "Ilya: a running child")
    assert expanded((Term("ran", "VERB", 1.0), Term("child", "NOUN", 2.0)), hay) == [
        ("ran", "VERB", 1.0),
        ("runs", "VERB", 1.0),
        ("running", "VERB", 1.0),
        ("child", "NOUN", 2.0),
    ]


def test_a_phrase_and_a_form_that_is_a_term_already_are_not_expanded():
    hay = haystack("Mara: she runs", "Ilya: they ran")
    run = (Term("ran", "VERB", 1.0), Term("runs", "NOUN", 2.0), Term("ran far", "ENT", 3.0))
    assert [text for text, _, _ in expanded(run, hay)] == ["ran", "runs", "ran far"]


def test_an_added_form_tells_the_questions_word():
    hay = haystack("Mara: they went away")
    assert with_lemmas(Query("?", (Term("go", "VERB", 1.0),)), hay).terms[1].source == "go"


def test_a_haystacks_words_are_lemmatised_once():
    class Counting(Haystack):
        asked = 0

        def words(self):
            self.asked += 1
            return super().words()

    hay = Counting(haystack("Mara: they went away").corpus)
    for _ in range(3):
        with_lemmas(Query("?", (Term("go", "VERB", 1.0),)), hay)
    assert hay.asked == 1


def test_without_simplemma_the_error_tells_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "simplemma", None)
    lemmas.lemma.cache_clear()
    with pytest.raises(SmartsearchError) as caught:
        with_lemmas(Query("?", (Term("go", "VERB", 1.0),)), haystack("Mara: they went away"))
    assert (caught.value.kind, caught.value.hint) == ("package", "pip install 'smartsearch[bench]'")
