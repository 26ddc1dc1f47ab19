"""A question of the chat and its reply together."""

from __future__ import annotations

import pytest

from smartsearch.rank.cascade import Ranking
from smartsearch.rank.replies import SHORT, with_replies
from smartsearch.rank.text import asks
from smartsearch.types import Candidate, Corpus, Scores, Turn

ASKED, SAID = Turn("How much is that a year?", "Ann"), Turn("Forty four thousand", "Ben")


def ordered(turns, ranked):
    ranking = Ranking(tuple(Candidate(i, (), 0.0, 1) for i in ranked), (Scores(),) * len(ranked), {})
    done = with_replies(ranking, Corpus(tuple(turns)))
    return [c.index for c in done.candidates], done.pinned


def test_a_reply_stands_right_after_its_question_and_is_pinned():
    assert ordered([ASKED, SAID, Turn("rain"), Turn("sun")], [2, 0, 3, 1]) == ([2, 0, 1, 3], {1})


@pytest.mark.parametrize(
    "turns",
    [
        [Turn("It is much."), SAID, Turn("rain")],
        [ASKED, Turn("word " * (SHORT + 1)), Turn("rain")],
        [ASKED, Turn("Why?"), Turn("rain")],
        [ASKED, Turn("Forty", session="another"), Turn("rain")],
    ],
    ids=["no question", "a long reply", "a question back", "another session"],
)
def test_other_turns_stay_where_they_are(turns):
    assert ordered(turns, [0, 2, 1]) == ([0, 2, 1], frozenset())


@pytest.mark.parametrize(
    ("text", "question"), [("why?", True), ('"Why?!" 🙂', True), ("Why? Oh.", False), ("", False)]
)
def test_a_question_ends_with_its_mark(text, question):
    assert asks(Turn(text)) == question
