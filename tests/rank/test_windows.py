"""Long turns are read in windows: cut at sentence ends, none too long, and the best one counts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import Shown, scored_text, scored_texts
from smartsearch.rank.windows import (
    READ_WINDOWS,
    WHOLE_PIECES,
    WINDOW_PIECES,
    all_windows,
    pieces,
    scored_windows,
    turn_scores,
    windows,
)
from smartsearch.types import Corpus, Turn

FILLER = "We talked about the weather and the price of bread for a while. "
ANSWER = "The spare key lies under the blue flowerpot."


def words_of(texts, head=""):
    return " ".join(text.removeprefix(head) for text in texts).split()


@pytest.mark.parametrize(
    ("text", "count"),  # letters by seven, digits by three, signs alone: flowerp ots, 12 , 345 = x
    [("Mara: hi", 3), ("flowerpots", 2), ("12,345 = x", 5), ("五月", 2), (" \n ", 0)],
)
def test_pieces_are_about_as_many_as_tokens(text, count):
    assert pieces(text) == count


def test_a_turn_that_fits_is_the_text_it_always_was():
    before = (Turn("Any plans?", "Ilya"),)
    for text in ("", "Yes.", "word " * 100, "two  spaces\nand a line"):
        turn = Turn(text, "Mara", "2024-05-08", caption="a cat")
        assert windows(turn, before) == (scored_text(turn, before),)


def test_the_limit_counts_the_head_and_the_turn_but_not_the_context():
    """`Mara: ` is 2 pieces: 130 more fit, whatever was said before."""
    before = (Turn("Any plans for the long weekend? " * 3, "Ilya"),)
    assert windows(Turn("dog " * 130, "Mara"), before) == (scored_text(Turn("dog " * 130, "Mara"), before),)
    assert len(windows(Turn("dog " * 131, "Mara"), before)) == 2
    assert WHOLE_PIECES == 132


def test_windows_end_with_sentences_and_together_say_all():
    turn = Turn(FILLER * 40 + ANSWER, "Mara", "2024-05-08")
    texts = windows(turn)
    head = "[8 May 2024] Mara: "
    assert len(texts) > 4
    assert all(text.startswith(head) and text.endswith(".") for text in texts)
    assert words_of(texts, head) == turn.text.split()
    assert texts[-1].endswith(ANSWER)
    items = Turn("\n".join(f"- item {n} of the list without a full stop" for n in range(40)))
    assert all(text.startswith("- item") for text in windows(items)), "lines end windows too"


def test_a_sentence_that_is_longer_is_cut_between_words_and_a_word_inside():
    turn = Turn("dog " * 500, "Mara")
    assert words_of(windows(turn), "Mara: ") == ["dog"] * 500
    code = "x=" * 600
    assert "".join(words_of(windows(Turn(code)))) == code


def test_the_turn_before_is_in_the_first_window_and_the_caption_in_the_last():
    turn = Turn(FILLER * 20, "Mara", caption="a blue flowerpot")
    texts = windows(turn, (Turn("Where is the key?", "Ilya"),))
    assert texts[0].endswith(" | Ilya: Where is the key?")
    assert ["|" in text for text in texts] == [True] + [False] * (len(texts) - 1)
    assert ["flowerpot" in text for text in texts] == [False] * (len(texts) - 1) + [True]


PARTS = ("dog ", "flowerpots ", "end. ", "line\n", "x=", "12.345", "五月", "naïve ", "- ")


@given(
    st.lists(st.sampled_from(PARTS), min_size=60, max_size=600).map("".join),
    st.sampled_from(["", "Mara", "Dr. Ilya Petrovich"]),
    st.text(st.sampled_from("ab .?"), max_size=300),
)
def test_no_window_is_too_long_and_nothing_is_lost(text, speaker, before):
    turn = Turn(text, speaker, "2024-05-08")
    previous = (Turn(before, "Ilya"),)
    texts = windows(turn, previous)
    if len(texts) > 1:
        assert max(map(pieces, texts)) <= WINDOW_PIECES
        head = f"[8 May 2024] {speaker}: " if speaker else "[8 May 2024] "
        said = "".join(text.removeprefix(head).partition(" | ")[0] for text in texts)
        assert "".join(said.split()) == "".join(text.split())


def chat(*texts):
    return Corpus(tuple(Turn(text, "Mara", session="s") for text in texts))


def test_of_many_windows_those_that_share_most_words_are_read():
    corpus = chat(FILLER * 30 + ANSWER + FILLER * 30, "Fine.", "dog " * 30_000)
    long, short, book = scored_windows("Where did Mara put the spare key?", corpus, [0, 1, 2])
    assert len(windows(corpus.turns[0])) > READ_WINDOWS
    assert len(long) == len(book) == READ_WINDOWS
    assert ANSWER in long[0]
    assert short == scored_texts(corpus, [1])


def test_without_a_shared_word_the_first_windows_are_read_or_the_whole_turn_where_that_is_asked_for():
    corpus = chat("Any pets?", FILLER * 40)
    assert scored_windows("Who?", corpus, [1]) == [list(all_windows(corpus, [1])[0][:READ_WINDOWS])]
    assert scored_windows("dog", corpus, [1], Shown(windows=False)) == [scored_texts(corpus, [1])]
    assert len(windows(corpus.turns[1])) > 1
    (shown,), (hidden,) = all_windows(corpus, [1]), all_windows(corpus, [1], Shown(before=0))
    assert shown[0].endswith("| Mara: Any pets?"), "the session is their context"
    assert not any("pets" in text for text in hidden)


def test_a_turn_scores_what_its_best_window_does(monkeypatch):
    monkeypatch.setattr("smartsearch.rank.windows.READ_WINDOWS", 99)
    keys = Scorer(lambda question, texts: np.array([float(text.count("key")) for text in texts]))
    corpus = chat(FILLER * 30 + ANSWER + FILLER * 30, "key key", FILLER * 30)
    assert turn_scores("q", corpus, [0, 1, 2], keys, Shown(before=0)).tolist() == [1.0, 2.0, 0.0]
    assert turn_scores("q", corpus, [], keys).shape == (0,)
