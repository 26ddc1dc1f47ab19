"""Chats to groups: no right turn among the wrong ones; names, dates, context and cropping."""

import random
from dataclasses import replace

from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.groups import Mix, make_groups, render_group, terse
from smartsearch.training.overlap import Overlap, crop, words
from smartsearch.training.wrong import wrong_turns
from smartsearch.types import Turn

PLAIN = Mix(dated=1.0, context=1.0, lower=0.0, terse=0.0, when=0.0, mine=0.0)
ASKED = Labelled("What did Anna say?", (5, 7), related=frozenset((3,)))
CHAT = Chat(
    "x",
    "c",
    tuple(
        Turn(f"Anna says fact {i} to Bert", "Anna" if i % 2 else "Bert", "2024-03-05", session="s")
        for i in range(12)
    ),
    (ASKED,),
)


def wrong(chat: Chat, count: int, seed: int) -> list[int]:
    asked = chat.questions[0]
    overlap = Overlap([turn.spoken for turn in chat.turns])
    return wrong_turns(chat, asked, asked.gold[0], overlap, count, random.Random(seed))


def test_no_wrong_turn_is_right_or_related() -> None:
    for seed in range(20):
        found = wrong(CHAT, 7, seed)
        assert len(found) == len(set(found)) == 7
        assert not {3, 5, 7} & set(found)


def test_a_related_turn_that_asks_above_the_right_one_is_wrong() -> None:
    turns = list(CHAT.turns)
    turns[3] = Turn("What did Anna say yesterday?", "Bert")
    assert all(3 in wrong(replace(CHAT, turns=tuple(turns)), 7, seed) for seed in range(20))
    late = Labelled("What did Anna say?", (1,), related=frozenset((3,)))
    assert all(3 not in wrong(replace(CHAT, turns=tuple(turns), questions=(late,)), 7, n) for n in range(20))


def test_a_turn_with_the_right_text_is_never_wrong() -> None:
    turns = (*CHAT.turns[:6], Turn("ANNA says fact 5 to Bert", "Bert"), *CHAT.turns[7:])
    assert 6 not in wrong(replace(CHAT, turns=turns, questions=(Labelled("What?", (5,)),)), 11, 2)


def test_where_turns_repeat_no_wrong_one_overlaps_more_than_the_right_one() -> None:
    turns = [Turn("I took the ferry"), Turn("Did you take the red ferry to Oslo, the red Oslo ferry?")]
    turns += [Turn(f"Nothing much {i}") for i in range(9)]
    chat = Chat("x", "c", tuple(turns), (Labelled("red ferry to Oslo", (0,)),), repeats=True)
    assert 1 not in wrong(chat, 7, 3)


def test_names_change_together_in_speaker_text_context_and_question() -> None:
    chat = replace(CHAT, names=("Anna", "Bert"), rename=1.0)
    group = render_group(chat, ASKED, [5, 0, 2, 4, 6], PLAIN, random.Random(4))
    new = group.question.split()[2]
    assert new not in ("Anna", "Bert")
    assert group.right.startswith(f"[5 March 2024] {new}: {new} says fact 5 to ")
    assert "Anna" not in " ".join([group.question, *group.texts])


def test_dates_and_context_are_shown_to_all_texts_of_a_group_or_to_none() -> None:
    for seed in range(30):
        group = render_group(CHAT, ASKED, [5, 1, 2, 4], Mix(), random.Random(seed))
        assert len({text.startswith("[") for text in group.texts}) == 1
        assert len({" | " in text for text in group.texts}) == 1


def test_further_turns_before_stand_behind_a_mark_within_a_session() -> None:
    turns = tuple(Turn(text) for text in ("one", "two", "three"))
    group = render_group(Chat("x", "c", turns), Labelled("q?", (2,)), [2, 1], PLAIN, random.Random(0))
    assert group.texts == ["three | two | one", "two | one"]
    turns = (Turn("one", session="a"), Turn("two", session="b"), Turn("three", session="b"))
    group = render_group(Chat("x", "c", turns), Labelled("q?", (1,)), [1, 2], PLAIN, random.Random(0))
    assert group.texts == ["two", "three | two"], "only within its session"


def test_each_right_turn_of_a_list_has_a_group_against_wrong_ones_only() -> None:
    asked = Labelled("What did Anna say?", (1, 3, 5, 7, 9), "list", complete=True)
    groups = list(make_groups(CHAT, [asked], replace(PLAIN, context=0.0), random.Random(8)))
    assert {int(group.right.split("fact ")[1].split()[0]) for group in groups} == {1, 3, 5, 7, 9}
    assert all(len(group.wrong) >= 4 for group in groups)
    shown = " ".join(text for group in groups for text in group.wrong)
    assert not [fact for fact in (1, 3, 5, 7, 9) if f"fact {fact} " in shown]


def test_crop_keeps_the_sentences_that_share_most() -> None:
    text = "It rains a lot here. The red boat left at noon. Nobody was there at all."
    assert crop(text, words("red boat"), 6) == "The red boat left at noon."
    assert crop(text, set(), 100) == text


def test_a_question_gets_the_date_of_its_turn_where_there_is_one() -> None:
    mix = replace(PLAIN, when=1.0)
    for time, dates in (
        ("2024-03-05T10:00", {"in March", "in March 2024", "on 5 March 2024", "on March 5, 2024"}),
        ("10:00", {""}),
    ):
        chat = replace(CHAT, turns=tuple(replace(turn, time=time) for turn in CHAT.turns))
        asked = {render_group(chat, ASKED, [5, 1], mix, random.Random(n)).question for n in range(40)}
        assert asked == {f"What did Anna say {date}".strip() + "?" for date in dates}


def test_a_terse_question_keeps_its_content_words_in_order() -> None:
    group = render_group(CHAT, ASKED, [5, 1], replace(PLAIN, terse=1.0), random.Random(1))
    assert group.question == "anna say"
    assert terse("Why so?") == "Why so?"
