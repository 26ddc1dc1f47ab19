"""Of a long turn the part that answers: whole sentences, in order, and what is left out is marked."""

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from smartsearch.config import Config
from smartsearch.rank.excerpts import GAP, LONG, SIZES, excerpted
from smartsearch.rank.truncate import Tokenizer, truncate
from smartsearch.types import Hit, Scores, Turn

FILLER = "We talked about the weather and the price of bread for a while. "
ANSWER = "The spare key lies under the blue flowerpot."
QUESTION = "Where does the spare key lie?"
LETTERS = Tokenizer("letters", lambda text: sum(c.isalpha() for c in text))


def told(text, size=SIZES[0], **values):
    return excerpted(QUESTION, Turn(text, "Mara", "2024-05-08", **values), size)


def cut(hits, **settings):
    kept, budget = truncate(hits, Config(**settings), LETTERS, excerpt=partial(excerpted, QUESTION))
    return kept, budget


def test_a_turn_of_so_many_words_or_of_which_little_would_be_left_out_is_whole():
    turn = Turn("word " * LONG)
    assert turn.words == LONG
    assert excerpted("word", turn, SIZES[-1]) is turn
    text = FILLER * 10 + ANSWER
    assert told(text).text == text
    assert GAP in told(text, SIZES[1]).text


@pytest.mark.parametrize("question", ["JWT", "what does JWT mean", "Ann E42"])
def test_a_short_word_that_is_looked_for_is_shown(question):
    turn = Turn(FILLER * 30 + "Ann says the JWT of E42 means little. " + FILLER * 30)
    assert "JWT of E42" in excerpted(question, turn, SIZES[-1]).text


@pytest.mark.parametrize("size", SIZES)
def test_the_part_that_answers_stays_with_whole_sentences(size):
    short = told(FILLER * 30 + ANSWER + " " + FILLER * 30, size)
    assert ANSWER in short.text
    assert short.text.startswith(f"{GAP} We") or short.text.startswith("We")
    assert all(part.endswith(".") for part in short.text.split(f" {GAP}") if part)
    assert short.text.endswith(f". {GAP}")


def test_smaller_sizes_are_shorter_and_the_rest_of_a_turn_stays():
    text = FILLER * 30 + ANSWER + " " + FILLER * 30
    words = [told(text, size, caption="a cat", path="a.txt", line=3).words for size in SIZES]
    assert words == sorted(words, reverse=True)
    assert len(set(words)) == len(SIZES)
    short = told(text, caption="a cat", path="a.txt", line=3)
    assert (short.caption, short.path, short.line, short.speaker) == ("a cat", "a.txt", 3, "Mara")


def test_lines_stay_lines_where_nothing_is_left_out_between():
    text = "\n".join([f"- item {n} is here" for n in range(100)] + ["- the spare key", "- does lie"])
    assert "\n- the spare key\n- does lie" in told(text).text


@given(st.lists(st.sampled_from(("dog ", "end. ", "line\n", "x=" * 200, "五月", "key ")), max_size=400))
def test_an_excerpt_holds_only_what_was_said(parts):
    turn = Turn("".join(parts))
    for size in SIZES:
        short = excerpted("the key", turn, size)
        assert len(short.text) <= len(turn.text)
        assert all(part.strip() in turn.text for part in short.text.split(GAP))


LONGEST = Turn(FILLER * 30 + ANSWER + " " + FILLER * 30, "Mara", path="a.txt", line=3)


def test_the_budget_counts_the_excerpt_and_the_turn_stays_whole():
    found = [Hit(n, LONGEST, Scores(1.0, 0.9), index=n) for n in (1, 2)]
    kept, budget = cut(found)
    assert [hit.turn for hit in kept] == [LONGEST, LONGEST]
    assert budget.used_words == sum(hit.shown.words for hit in kept) < LONGEST.words
    assert not budget.cut_text


def test_excerpts_are_as_long_as_lets_the_first_hits_fit():
    found = [Hit(n, LONGEST, Scores(1.0, 0.9), index=n) for n in range(1, 30)]
    wide, narrow = (cut(found, budget=words)[0] for words in (4000, 700))
    assert wide[0].shown.words > narrow[0].shown.words
    assert len(narrow) == 14
    assert cut(found, budget=700, limit=3)[0][0].shown == wide[0].shown


def test_a_best_turn_longer_than_the_budget_is_cut_and_kept_first():
    short = Hit(2, Turn("w", "S"), Scores(1, 0.9))
    kept, budget = cut([Hit(1, LONGEST, Scores(1, 0.9)), short], budget=9)
    assert [hit.rank for hit in kept] == [1]
    assert kept[0].turn.words <= 9
    assert budget.cut_text


def test_of_a_best_turn_that_hardly_fits_the_sentence_that_answers_stays():
    kept, budget = cut([Hit(1, LONGEST, Scores(1, 0.9))], budget=24)
    assert "spare key lies under" in kept[0].shown.text
    assert kept[0].turn == LONGEST
    assert not budget.cut_text


def test_a_long_turn_is_masked_before_it_is_cut():
    secret = f"password: {'Blau-42-' * 3}"
    text = f"{FILLER * 20}{secret} {ANSWER} {FILLER * 20}"
    kept, _ = cut([Hit(1, Turn(text), Scores(1, 0.9))], redact=True)
    assert "Blau" not in kept[0].shown.text
    assert ANSWER in kept[0].shown.text


ASKS = Turn("It rained all day here. " * 4 + "Where does the spare key lie?", "Ilya", line=1)
SAYS = Turn("Under the blue flowerpot.", "Mara", line=2)


def asked(reply=SAYS, others=()):
    return [Hit(1, ASKS, Scores(1, 0.9), index=0, reply=Hit(0, reply, Scores(), index=1)), *others]


def test_a_reply_is_counted_with_its_question_and_is_no_second_hit():
    kept, budget = cut(asked())
    assert budget.used_words == ASKS.words + SAYS.words
    assert kept[0].reply.turn == SAYS
    both = asked(others=[Hit(2, SAYS, Scores(1, 0.8), index=1)])
    kept, budget = cut(both)
    assert [(hit.rank, hit.reply) for hit in kept] == [(1, None), (2, None)]
    assert budget.used_words == ASKS.words + SAYS.words
    kept, budget = cut(both, limit=1)
    assert (kept[0].reply.turn, budget.used_words) == (SAYS, ASKS.words + SAYS.words)
    (question,) = asked()
    kept, budget = cut([Hit(1, SAYS, Scores(1, 0.9), index=1), replace(question, rank=2)])
    assert [hit.reply for hit in kept] == [None, None], "one that ranks higher is not counted again"
    assert budget.used_words == ASKS.words + SAYS.words


def test_where_there_is_little_room_the_question_gives_way_to_its_answer():
    kept, _ = cut(asked(), budget=14)
    assert kept[0].shown.text == f"{GAP} Where does the spare key lie?"
    assert kept[0].reply.shown == SAYS
    assert kept[0].turn == ASKS
    kept, budget = cut(asked(Turn("Under the flowerpot, " * 20, "Mara")), budget=14)
    assert kept[0].reply.shown.rendered.startswith("Mara: Under the flowerpot, Under")
    assert budget.cut_text  # of the reply alone
    assert cut(asked(), budget=4)[0][0].reply is None
    kept, _ = cut(asked(others=[Hit(2, SAYS, Scores(1, 0.8), index=1)]), budget=6)
    assert [(hit.rank, hit.turn) for hit in kept] == [(2, SAYS)], "only the answer fits"
