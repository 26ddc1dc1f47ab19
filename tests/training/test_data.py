"""Sources to groups: the right turn, no right turn among the wrong ones, names, dates and the hold-out."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest

from smartsearch.training import data
from smartsearch.training.chats import Chat, Labelled
from smartsearch.training.data import (
    Mix,
    build,
    cap,
    first_person,
    held_out,
    make_groups,
    make_trials,
    read_groups,
    render_group,
)
from smartsearch.training.overlap import Overlap, crop, words
from smartsearch.training.sources_chat import read_chats
from smartsearch.training.sources_wiki import read_wiki
from smartsearch.training.sources_written import FOLDER, read_written
from smartsearch.training.wrong import wrong_turns
from smartsearch.types import Turn

PLAIN = Mix(dated=1.0, context=1.0, lower=0.0, when=0.0, mine=0.0)


def _chats(sources: Path) -> dict[str, Chat]:
    rng = random.Random(1)
    return {chat.source: chat for chat in (*read_chats(sources, rng), *read_wiki(sources, rng))}


@pytest.mark.parametrize(
    ("source", "question", "right"),
    [
        ("friendsqa", "What did Ada buy?", "I bought a red kite yesterday."),
        ("qmsum", "What did Design say about the remote?", "The remote must be yellow and rubber."),
        ("realmem", "User moved to Lyon in May.", "I moved to Lyon in May and I need a bakery."),
        ("lifebench", "What is the puppy of Lin Zhao called?", "The puppy is called Biscuit."),
        ("topical_chat", "Does Agent2 have any pets?", "Yes, two parrots who sing all day."),
        ("qed", "when did the bridge open", "The bridge opened in 1901."),
        ("nq_oracle", "who built the mill", "It was built by Ida Brook."),
        ("nqg", "How high is test tower 3?", "The test tower number 3 is 3 metres high."),
    ],
)
def test_each_source_gives_its_question_and_right_turn(
    sources: Path, source: str, question: str, right: str
) -> None:
    chat = _chats(sources)[source]
    asked = {
        text: chat.turns[one.gold[0]].text
        for one in chat.questions
        for text in (one.question, one.answer if one.kind == "memory" else one.question)
    }
    assert asked[question] == right


def test_a_speaker_named_inside_the_message_is_the_speaker(sources: Path) -> None:
    assert {turn.speaker for turn in _chats(sources)["lifebench"].turns} == {"Lin Zhao", "Mei"}


def test_natural_questions_of_two_sources_are_asked_once(sources: Path) -> None:
    questions = [one.question for chat in read_wiki(sources, random.Random(1)) for one in chat.questions]
    assert questions.count("when did the bridge open") <= 2
    assert questions.count("who built the mill") == 1


def _chat(size: int = 12, **fields: object) -> Chat:
    turns = tuple(
        Turn(f"Anna says fact {i} to Bert", "Anna" if i % 2 else "Bert", "2024-03-05", session="s")
        for i in range(size)
    )
    return Chat("x", "c", turns, (Labelled("What did Anna say?", (5, 7), related=frozenset((3,))),), **fields)  # type: ignore[arg-type]


def test_no_wrong_turn_is_right_or_related() -> None:
    chat = _chat()
    overlap = Overlap([turn.spoken for turn in chat.turns])
    for seed in range(20):
        wrong = wrong_turns(chat, chat.questions[0], 5, overlap, 7, random.Random(seed))
        assert len(wrong) == len(set(wrong)) == 7
        assert not {3, 5, 7} & set(wrong)


def test_a_turn_with_the_right_text_is_never_wrong() -> None:
    chat = _chat()
    turns = (*chat.turns[:6], Turn("ANNA says fact 5 to Bert", "Bert"), *chat.turns[7:])
    chat = Chat("x", "c", turns, (Labelled("What did Anna say?", (5,)),))
    overlap = Overlap([turn.spoken for turn in chat.turns])
    assert 6 not in wrong_turns(chat, chat.questions[0], 5, overlap, 11, random.Random(2))


def test_where_turns_repeat_no_wrong_one_overlaps_more_than_the_right_one() -> None:
    turns = [Turn("I took the ferry"), Turn("Did you take the red ferry to Oslo, the red Oslo ferry?")]
    turns += [Turn(f"Nothing much {i}") for i in range(9)]
    chat = Chat("x", "c", tuple(turns), (Labelled("red ferry to Oslo", (0,)),), repeats=True)
    overlap = Overlap([turn.spoken for turn in chat.turns])
    assert 1 not in wrong_turns(chat, chat.questions[0], 0, overlap, 7, random.Random(3))


def test_names_change_together_in_speaker_text_context_and_question() -> None:
    chat = _chat(names=("Anna", "Bert"), rename=1.0)
    group = render_group(chat, chat.questions[0], [5, 0, 2, 4, 6], PLAIN, random.Random(4))
    new = group.question.split()[2]
    assert new not in ("Anna", "Bert")
    assert group.right.startswith(f"[5 March 2024] {new}: {new} says fact 5 to ")
    assert "Anna" not in " ".join([group.question, group.right, *group.wrong])


def test_dates_and_context_are_shown_to_all_texts_of_a_group_or_to_none() -> None:
    chat = _chat()
    for seed in range(30):
        group = render_group(chat, chat.questions[0], [5, 1, 2, 4], Mix(), random.Random(seed))
        texts = [group.right, *group.wrong]
        assert len({text.startswith("[") for text in texts}) == 1
        assert len({" | " in text for text in texts}) == 1


def test_the_turn_before_is_context_only_within_its_session() -> None:
    turns = (Turn("one", session="a"), Turn("two", session="b"), Turn("three", session="b"))
    group = render_group(Chat("x", "c", turns), Labelled("q?", (1,)), [1, 2], PLAIN, random.Random(0))
    assert (group.right, group.wrong) == ("two", ["three | two"])


def test_right_turns_of_a_list_share_a_group_where_asked_to() -> None:
    chat = _chat()
    asked = Labelled("What did Anna say?", (1, 3, 5, 7, 9), "list", complete=True)

    def facts(texts: list[str]) -> set[int]:
        return {int(text.split("fact ")[1].split()[0]) for text in texts}

    for together, sizes in ((1, [1, 1, 1, 1, 1]), (3, [3, 2])):
        mix = replace(PLAIN, context=0.0, together=together)
        groups = list(make_groups(chat, [asked], mix, random.Random(8)))
        assert [1 + len(group.also) for group in groups] == sizes
        assert facts([text for group in groups for text in (group.right, *group.also)]) == {1, 3, 5, 7, 9}
        assert not facts([text for group in groups for text in group.wrong]) & {1, 3, 5, 7, 9}


def test_a_question_about_the_user_can_be_asked_by_the_user() -> None:
    assert first_person("What does User plan for User's cat?") == "What do I plan for my cat?"


def test_crop_keeps_the_sentences_that_share_most() -> None:
    text = "It rains a lot here. The red boat left at noon. Nobody was there at all."
    assert crop(text, words("red boat"), 6) == "The red boat left at noon."
    assert crop(text, set(), 100) == text


def test_cap_keeps_at_most_so_many_of_a_kind() -> None:
    chat = Chat("x", "c", (), tuple(Labelled(str(i), (0,)) for i in range(9)))
    assert len(cap([chat], {("x", "question"): 4}, random.Random(0))[0]) == 4


def test_trials_of_a_short_chat_borrow_turns() -> None:
    other = Chat("x", "d", tuple(Turn(f"Something else {i}") for i in range(30)))
    trials = make_trials([_chat(), other], 5, 25, random.Random(0))
    assert len(trials) == 1
    assert len(trials[0].wrong) == 22  # all but the two right ones and the related one


def test_build_holds_whole_chats_out_and_repeats_itself(
    sources: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    some = [read_written(path).chat for path in sorted(FOLDER.glob("[ab][23]_*.txt"))]
    monkeypatch.setattr(data, "written_chats", lambda: some)
    first, second = tmp_path / "one", tmp_path / "two"
    assert build(sources, first, 7) == build(sources, second, 7)
    assert (first / "groups.jsonl").read_bytes() == (second / "groups.jsonl").read_bytes()
    trained = {(group.source, group.chat) for group in read_groups(first / "groups.jsonl")}
    tried = {(group.source, group.chat) for group in read_groups(first / "trials.jsonl")}
    assert trained
    assert not trained & tried
    assert all(group.right not in group.wrong for group in read_groups(first / "groups.jsonl"))
    assert {chat for source, chat in tried if source == "written"} == {c.id for c in some if c.id[1] == "3"}


def test_hold_out_follows_the_chat_id() -> None:
    chats = [Chat("topical_chat", str(i), ()) for i in range(400)]
    share = sum(held_out(chat, 0.1) for chat in chats) / 400
    assert 0.05 < share < 0.16
    assert held_out(Chat("lifebench", "yinhao", ()), 0.0)


def test_groups_have_at_least_four_wrong_texts(sources: Path) -> None:
    rng = random.Random(5)
    for chat in _chats(sources).values():
        for group in make_groups(chat, chat.questions, Mix(), rng):
            assert len(group.wrong) >= 4
