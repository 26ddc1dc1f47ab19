import re

import pytest

from smartsearch.output.marking import MOST, START, found, marked, pieces
from smartsearch.types import Term
from tests.counting import steps

DOG, BIG_DOG = Term("dog", "NOUN", 2.0), Term("big dog", "ENT", 3.0, 2)


def test_terms_are_marked_by_hop_whatever_their_case_the_longest_first():
    assert marked("A Big Dog, a dog", [DOG, BIG_DOG]) == (
        'A <mark class="h2" title="hop 2, ENT, weight 3.00">Big Dog</mark>, '
        'a <mark class="h1" title="hop 1, NOUN, weight 2.00">dog</mark>'
    )


@pytest.mark.parametrize("word", ["<b>", "&amp;", "a.c", "(", "[", "\\", '"', "'"])
def test_terms_that_look_like_markup_or_patterns_are_words(word: str):
    said = marked(f"x{word}y abc", [Term(word, "TOKEN", 1.0)])
    assert re.fullmatch(r'x<mark class="h1" title="[^"]*">[^<]*</mark>y abc', said)


def test_a_term_whose_case_folds_oddly_is_still_a_term():
    assert "<mark" in marked("İstanbul and istanbul", [Term("istanbul", "PROPN", 3.0)])


def test_a_text_that_fits_is_whole_and_a_long_one_its_start_and_what_is_around_its_terms():
    assert pieces(7500, [], []) == [(0, 7500)]
    assert pieces(7501, [], []) == [(0, START)]
    assert pieces(50_000, [(40_000, 40_003)], ["dog"]) == [(0, START), (39_700, 40_303)]


def test_each_term_comes_once_before_any_comes_twice():
    early = [(n, n + 3) for n in range(2000, 9000, 700)]
    spans = [*early, (90_000, 90_003)]
    chosen = pieces(100_000, spans, [*["a"] * len(early), "b"])
    assert chosen[-1] == (89_700, 90_303)
    assert sum(end - begin for begin, end in chosen) <= MOST


def test_a_megabyte_is_cut_soon_and_says_by_how_much():
    text = f"{'x' * 500_000} dog {'<' * 500_000}"
    assert steps(marked, text, [DOG]) < 2_000
    said = marked(text, [DOG])
    assert "dog</mark>" in said
    assert len(said) < 6 * MOST
    gone = sum(int(n.replace(",", "")) for n in re.findall(r"… ([\d,]+) characters left out", said))
    assert gone == len(text) - START - 603


def test_a_text_of_nothing_but_terms_ends():
    assert len(found("dog " * 300_000, [DOG])) == 5000
    assert marked("dog " * 300_000, [DOG]).count("<mark") <= MOST / 4
