"""Substring match, match weight and absorption against the naive way and by hand."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.retrieve.grep import Haystack, by_match_weight, counted, grep, heaviest, merge
from smartsearch.types import Corpus, Term, Turn, fold
from tests.conftest import haystack

DOG, FLUTE = Term("dog", "NOUN", 2.0), Term("flute", "NOUN", 2.0)
NEW_YORK, YORK = Term("New York", "ENT", 4.0), Term("York", "PROPN", 4.0)


def test_a_term_matches_inside_a_word_and_word_boundary_does_not():
    hay = haystack("Mara: my dogma", "Ilya: a dog", "Mara: cat")
    assert hay.turns_with("dog") == [0, 1]
    assert hay.turns_with("dog", word_boundary=True) == [1]


def test_the_speaker_and_the_caption_are_searched():
    turn = Turn("look", speaker="Mara", caption="a clay flute")
    hay = Haystack(Corpus((turn,)))
    assert hay.turns_with("mara") == [0]
    assert hay.turns_with("FLUTE") == [0]


def test_no_match_crosses_from_one_turn_into_the_next():
    hay = Haystack(Corpus((Turn("a do"), Turn("g b"), Turn("do\x00g"))))
    assert hay.turns_with("dog") == []
    assert hay.turns_with("do\x00g") == [2]  # a NUL is a space on both sides


def test_or_takes_any_term_and_and_takes_all():
    hay = haystack("Mara: dog", "Mara: flute and dog", "Mara: rain")
    assert sorted(grep(hay, [DOG, FLUTE])) == [0, 1]
    assert sorted(grep(hay, [DOG, FLUTE], mode="and")) == [1]


@pytest.mark.parametrize(
    ("lines", "terms", "weights"),
    [
        (["dog dog dog flute", "dog flute"], [DOG, FLUTE], {0: 4.0, 1: 4.0}),  # each once in a turn
        (["to New York", "the Duke of York"], [NEW_YORK, YORK], {0: 4.0, 1: 4.0}),  # absorbs its words
        (["dog", "flute", "flute dog"], [DOG, FLUTE], {2: 4.0, 0: 2.0, 1: 2.0}),  # ties in corpus order
        (["dog"] * 50, [DOG], dict.fromkeys(range(50), 2.0)),
    ],
)
def test_candidates_come_by_weight(lines, terms, weights):
    found = grep(haystack(*(f"Mara: {line}" for line in lines)), terms)
    assert [(one.index, one.weight) for one in by_match_weight(found)] == list(weights.items())
    if NEW_YORK in terms:
        assert [term.text for term in counted(found[0])] == ["New York"]


def test_a_phrase_takes_the_weight_and_hop_of_a_heavier_word_in_it():
    found = {"petra": Term("Petra", "PROPN", 4.0, 1), "petra novak": Term("Petra Novak", "HOP", 2.5, 2)}
    (only,) = counted(found)
    assert (only.text, only.weight, only.hop) == ("Petra Novak", 4.0, 1)


def test_words_are_found_in_a_phrase_behind_hyphens_and_apostrophes_too():
    keys = ("jean-luc picard", "jean", "luc", "picard", "card", "new york city", "york city")
    found = {key: Term(key, "ENT", 1.0) for key in keys}
    assert [t.text for t in counted(found)] == ["jean-luc picard", "card", "new york city"]


def test_the_highest_weight_of_a_term_wins_across_hops():
    found = grep(haystack("Mara: dog"), [DOG])
    assert merge(found, {0: {"dog": Term("dog", "HOP", 2.5, 2)}}) == 0
    assert by_match_weight(found)[0].weight == 2.5
    assert merge(found, {0: {"dog": Term("dog", "PRF", 0.5, 3)}, 4: {"dog": DOG}}) == 1
    assert by_match_weight(found)[0].weight == 2.5


@given(
    st.lists(st.text(alphabet="aßDé İx\x00\n", max_size=8), max_size=8),
    st.text(alphabet="asdé İx", min_size=1, max_size=3),
)
def test_grep_finds_what_the_naive_way_finds(texts, needle):
    hay = Haystack(Corpus(tuple(Turn(text) for text in texts)))
    wanted = fold(needle).strip()
    naive = [i for i, t in enumerate(texts) if wanted and wanted in fold(t).replace("\x00", " ")]
    assert hay.turns_with(needle) == naive


def test_the_heaviest_are_the_first_by_match_weight():
    rng = random.Random(3)
    weights = {"a b": 2.0, "a": 1.0, "c": 1.0, "d": 0.5}
    terms = [Term(word, "NOUN", weight) for word, weight in weights.items()]
    found = {
        index: {term.text: term for term in rng.sample(terms, rng.randint(0, 4))}
        for index in rng.sample(range(500), 200)
    }
    for most in (0, 1, 20, 500):
        assert heaviest(found, most) == [c.index for c in by_match_weight(found)[:most]]


def test_the_questions_own_words_come_before_what_hops_found():
    flute = Term("flute", "NOUN", 2.0)
    hops = {name: Term(name, "HOP", 2.5, 2) for name in ("ann", "ben", "cid")}
    found = {0: {"dog": DOG, **hops}, 1: {"dog": DOG, "flute": flute}, 2: dict(hops)}
    assert [c.index for c in by_match_weight(found)] == [0, 2, 1]  # the paper's plain sum
    own = by_match_weight(found, typed=True)
    assert [c.index for c in own] == heaviest(found, 3, typed=True) == [1, 0, 2]
    assert [c.weight for c in own] == [4.0, 9.5, 7.5]


def test_the_turn_after_is_of_the_same_session_and_may_be_found():
    turns = (Turn("a", session="1"), Turn("b", session="1"), Turn("c", session="2"), Turn("d", session="2"))
    assert [Haystack(Corpus(turns)).following(n) for n in range(4)] == [1, -1, 3, -1]
    assert [Haystack(Corpus(turns), [0, 2, 3]).following(n) for n in (0, 2)] == [-1, 3]
