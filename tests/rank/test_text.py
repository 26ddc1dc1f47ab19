"""The text the scorers read: date as people say it, the turn first, then the end of the turn before."""

import numpy as np
import pytest

from smartsearch.rank.scorer import Scorer
from smartsearch.rank.text import (
    CONTEXT_CHARACTERS,
    PLAIN,
    SHORT,
    SHOWN,
    Shown,
    asks,
    puts,
    scored_text,
    scored_texts,
    spoken_date,
)
from smartsearch.types import Corpus, Turn


@pytest.mark.parametrize(
    ("time", "said"),
    [("2023-05-08T13:56:00", "8 May 2023"), ("2024-12-31", "31 December 2024"), ("", ""), ("soon", ""),
     ("2023-13-01", "")],
)  # fmt: skip
def test_dates_read_as_people_say_them(time, said):
    assert spoken_date(time) == said


def test_a_short_turn_is_shown_with_several_before_and_a_long_one_with_one():
    burst = [Turn("or three", "Ben"), Turn("hm", "Ben"), Turn("Any pets?", "Ann"), Turn("hi", "Ann")]
    told = "Ben: two | Ben: or three | Ben: hm | Ann: Any pets? | Ann: hi"
    assert scored_text(Turn("two", "Ben"), burst) == told
    long = Turn("two " * 60, "Ben")
    assert scored_text(long, [Turn("word " * 30 + "pets?", "Ann"), *burst]).count(" | ") == 1
    assert len(scored_text(Turn("two"), [Turn("word " * 30)] * 4)) < SHORT + 20
    context = scored_text(Turn("Yes."), [Turn("word " * 100 + "pets?", "Ann")]).split(" | ")[1]
    assert context.startswith("Ann: ...word")
    assert context.endswith("pets?"), "of a long turn before only the end"
    assert len(context) <= CONTEXT_CHARACTERS + len("Ann: ...")


@pytest.mark.parametrize(("before", "shown"), [(0, "c"), (1, "c | b"), (4, "c | b | a")])
def test_a_scorer_sees_as_many_turns_before_as_it_was_trained_with(before, shown):
    corpus = Corpus((Turn("a"), Turn("b"), Turn("c")))
    scorer = Scorer(lambda question, texts: np.zeros(0), before)
    assert scored_texts(corpus, [2], scorer.seeing(SHOWN)) == [shown]
    assert scored_texts(corpus, [2], scorer.seeing(PLAIN)) == ["c"]


@pytest.mark.parametrize(
    ("show", "said"),
    [
        (PLAIN, "Ben: Yes, two. (image: a cat)"),
        (SHOWN, "[8 May 2023] Ben: Yes, two. (image: a cat) | Ann: Any pets?"),
        (Shown(before=0), "[8 May 2023] Ben: Yes, two. (image: a cat)"),
        (Shown(date=False), "Ben: Yes, two. (image: a cat) | Ann: Any pets?"),
    ],
)
def test_the_turn_comes_first_and_date_and_turn_before_can_be_left_out(show, said):
    turns = (Turn("Any pets?", "Ann", "2023-05-08"), Turn("Yes, two.", "Ben", "2023-05-08", "a cat"))
    assert scored_texts(Corpus(turns), [1], show) == [said]


def test_context_never_comes_from_another_session_or_file():
    turns = (
        Turn("a", session="1"),
        Turn("b", session="1"),
        Turn("c", session="2"),
        Turn("d", path="x", session="2"),
    )
    corpus = Corpus(turns)
    assert corpus.previous == (-1, 0, -1, -1)
    assert scored_texts(corpus, [1, 2]) == ["b | a", "c"]


@pytest.mark.parametrize(
    ("text", "question"), [("why?", True), ('"Why?!" 🙂', True), ("Why? Oh.", False), ("", False)]
)
def test_a_question_ends_with_its_mark(text, question):
    assert asks(Turn(text)) == question


@pytest.mark.parametrize(
    ("text", "put"),
    [
        *(("Where is it?", True), ("does she do house calls", True), ("who's driving", True)),
        *(("hey, which van do we take", True), ("so when are we leaving", True), ("what a day", False)),
        *(("how much was the repair", True), ("Jorg, is the key there", True), ("can you bring it", True)),
        *(("when I was there it was cold", False), ("which is what they said", False), ("", False)),
        *(("did it yesterday", False), ("how lovely is that!", False), ("was the best day ever", False)),
        ("where did we put the " + "very " * 10 + "old key", False),
    ],
)
def test_a_short_turn_that_begins_as_a_question_asks_without_its_mark(text, put):
    assert puts(Turn(text)) is put
