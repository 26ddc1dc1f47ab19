"""Answers by their words, by hand."""

import math

import pytest

from smartsearch.bench.overlap import mean, overlap


@pytest.mark.parametrize(
    ("answer", "f1", "bleu1", "rouge_l", "exact", "contained"),
    [
        ("The brass band.", 1, 1, 1, 1, 1),
        ("She joined a brass band in May", 0.5, 2 / 6, 0.5, 0, 1),  # 2 of 6 and 2 of 2
        ("band, brass", 1, 1, 0.5, 0, 0),  # the same words the other way round
        ("brass brass", 0.5, 0.5, 0.5, 0, 0),  # a word counts once
        ("brass", 2 / 3, math.exp(-1), 2 / 3, 0, 0),  # too short by one
        ("a brassy bandstand", 0, 0, 0, 0, 0),
        ("", 0, 0, 0, 0, 0),
    ],
)
def test_by_hand_and_the_mean_leaves_out_what_was_not_answered(answer, f1, bleu1, rouge_l, exact, contained):
    values = {"f1": f1, "bleu1": bleu1, "rouge_l": rouge_l, "exact": exact, "contained": contained}
    assert overlap(answer, "a brass band") == pytest.approx(values)
    assert mean([overlap("brass", "brass"), None, overlap("tin", "brass")])["f1"] == 0.5
    assert mean([None])["exact"] is None
