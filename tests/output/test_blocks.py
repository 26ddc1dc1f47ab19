"""Which hits share a block, what stands around them, and what a long turn is folded to."""

import pytest

from smartsearch.output.blocks import Block, blocks, folded, short
from smartsearch.output.plain import wrapped
from smartsearch.transcripts.nearby import nearby
from smartsearch.types import Corpus, Hit, Scores, Term, Turn

SAID = ["Shall we?", "Yes, on Monday then", "Good to hear it, really", "One more thing for you", "Swam", "Ok"]
TALK = Corpus(tuple(Turn(t, path="a", line=n, session="1" if n < 5 else "2") for n, t in enumerate(SAID)))


def shown(*found: int, around: int = 1, whole: bool = False) -> list[Block]:
    hits = [Hit(n, TALK.turns[at], Scores(), index=at) for n, at in enumerate(found, 1)]
    return blocks(hits, nearby(TALK, hits, around, around) if around else (), whole=whole)


@pytest.mark.parametrize(
    ("found", "turns"),
    [
        ((2,), [[2, 3]]),
        ((1,), [[0, 1, 2]]),  # the turn before asks
        ((4,), [[3, 4]]),  # one word is hard to understand by itself
        ((0,), [[0, 1]]),
        ((3, 0), [[3, 4], [0, 1]]),
        ((0, 2), [[0, 1, 2, 3]]),
        ((3, 2), [[2, 3, 4]]),
        ((5, 4), [[5], [3, 4]]),  # another session
        ((0, 1, 2, 3, 4), [[0, 1, 2, 3, 4]]),
    ],
)
def test_hits_and_what_makes_them_readable(found: tuple[int, ...], turns: list[list[int]]):
    made = shown(*found)
    assert [list(block.turns) for block in made] == turns
    assert sorted(index for block in made for index in block.hits) == sorted(found)
    assert made[0].best.index == found[0]


def test_context_that_was_asked_for_is_shown_whole_and_none_where_none_is_wanted():
    assert [list(block.turns) for block in shown(2, around=2, whole=True)] == [[0, 1, 2, 3, 4]]
    assert [list(block.turns) for block in shown(0, 2, around=0)] == [[0], [2]]


def test_a_block_of_many_hits_ends():
    talk = Corpus(tuple(Turn(f"line {n} of a long talk, with words", path="a", line=n) for n in range(20)))
    hits = [Hit(n, turn, Scores(), index=n) for n, turn in enumerate(talk.turns)]
    made = blocks(hits, nearby(talk, hits, 1, 1))
    assert max(len(block.turns) for block in made) <= 8
    assert sorted(index for block in made for index in block.hits) == list(range(20))


def test_what_says_the_same_is_shown_once_and_counted():
    same = [Turn(text, "Ann", path="a", line=n) for n, text in enumerate(("Swam 30", "swam  30", "ran"))]
    hits = [Hit(n, turn, Scores(), index=9 * n) for n, turn in enumerate(same)]
    assert [(block.best.turn.text, block.times) for block in blocks(hits)] == [("Swam 30", 2), ("ran", 1)]


def test_hits_without_a_place_in_the_corpus_stand_alone():
    hits = [Hit(n, Turn(text, path="a"), Scores()) for n, text in enumerate("ab")]
    assert [len(block.turns) for block in blocks(hits)] == [1, 1]


TEXT = "It began early. The dog ran. " + "Nothing much. " * 20 + "A red kite and a dog. " + "Idle talk. " * 20


@pytest.mark.parametrize(
    ("terms", "begins"),
    [
        ([], "It began early."),
        ([Term("dog", "NOUN", 2.0)], "It began early."),
        ([Term("dog", "NOUN", 2.0), Term("kite", "NOUN", 2.0)], "… A red kite and a dog."),
        ([Term("dog", "NOUN", 2.0), Term("kite", "HOP", 2.5, 2)], "… A red kite and a dog."),
        ([Term("early", "NOUN", 2.0), Term("kite", "HOP", 2.5, 2)], "It began early."),
    ],
)
def test_a_long_text_is_folded_to_the_part_that_holds_most_of_the_question(terms: list[Term], begins: str):
    part = folded(TEXT, terms, 80)
    assert part.startswith(begins)
    assert part.endswith("…")
    assert len(part) <= 83


def test_a_folded_text_ends_with_a_sentence_or_at_a_word_where_it_can():
    cause = (
        "The nightly import failed. The lock was held by the database, so the job gave up. "
        + "Then rain. " * 9
    )
    part = folded(cause, [Term("database", "NOUN", 2.0)], 100)
    assert "so the job gave up." in part
    assert part.endswith("Then rain. …")
    long = "The lock was held by the old database and " + "so on and so forth, " * 20
    assert folded(long, [], 60) == "The lock was held by the old database and so on and so…"


def test_a_row_is_wrapped_at_its_cells():
    lines = wrapped(["embedded", "", "parser", "a" * 12, "ok"], 20)
    assert lines == ["embedded  parser", "    aaaaaaaaaaaa  ok"]
    assert wrapped(["a" * 30, "b"], 20) == ["a" * 30, "    b"]


def test_what_fits_is_not_folded_and_a_path_keeps_its_end():
    assert folded("a\nb", [], 3) == "a b"
    assert short("chats/2024/family.txt:12", 14) == "…family.txt:12"
    assert short("a.txt:1", 7) == "a.txt:1"
