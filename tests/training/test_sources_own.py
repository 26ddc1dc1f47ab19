"""One's own transcripts: what is held out stays held out, and what is asked names the right person."""

from dataclasses import replace

import pytest

from smartsearch.errors import InputError
from smartsearch.training.sources_own import LEAST_HELD_OUT, check, read_own
from smartsearch.types import Turn

TOWNS = ("Lyon", "Porto", "Turin", "Ghent", "Cork", "Bergen", "Graz", "Split")
THINGS = ("kayak", "violin", "tent", "lamp", "sofa", "drone", "kettle", "ladder", "camera", "scooter")


def chats(sessions: int, first: int = 0, speaker: str = "Mara Quill", path: str = "chat.txt") -> list[Turn]:
    """Ten turns a session; every second one says what the speaker bought where: a question each."""
    turns = []
    for number in range(first, first + sessions):
        for n in range(5):
            said = f"I bought a {THINGS[n]} number {number} from a shop in {TOWNS[(number + n) % 8]}."
            turns.append(Turn(said, speaker, path=path, session=f"s{number}"))
            turns.append(Turn(f"Sounds heavy, {number} {n}.", "Ilya", path=path, session=f"s{number}"))
    return turns


def texts(chats_of_one_side) -> set[str]:
    return {turn.text for chat in chats_of_one_side for turn in chat.turns}


def test_no_held_out_turn_is_trained_on() -> None:
    own = read_own(chats(60))
    assert own.turns == 600
    assert len(texts(own.trained)) + len(texts(own.held_out)) == 600
    assert not texts(own.trained) & texts(own.held_out)
    assert 0.05 < len(texts(own.held_out)) / 600 < 0.3


def test_a_session_stays_on_its_side_when_the_folder_grows_or_moves() -> None:
    before = read_own(chats(120))
    after = read_own([*chats(40, first=200), *chats(120, path="moved/chat.txt")])
    assert texts(before.held_out) == texts(after.held_out) & texts(before.trained + before.held_out)


def test_each_question_is_of_the_turn_it_was_made_of() -> None:
    own = read_own(chats(30))
    for chat in (*own.trained, *own.held_out):
        for asked in chat.questions:
            turn = chat.turns[asked.gold[0]]
            assert turn.speaker == "Mara Quill"
            assert "Mara" in asked.question
            assert asked.answer.removeprefix("Mara bought a ").split(" from")[0] in turn.text


def test_a_user_is_asked_about_in_the_first_person_and_the_machine_never() -> None:
    turns = [
        replace(t, role="assistant", speaker="assistant") if t.speaker == "Ilya" else replace(t, role="user")
        for t in chats(30, speaker="user")
    ]
    own = read_own(turns)
    questions = [q for c in (*own.trained, *own.held_out) for q in c.questions]
    assert questions
    assert all(" I " in q.question and "User" not in q.question for q in questions)


def test_two_people_of_one_first_name_are_not_asked_about() -> None:
    turns = [replace(t, speaker=f"Mara {'Quill' if i % 4 else 'Reed'}") for i, t in enumerate(chats(30))]
    assert read_own(turns).questions == (0, 0)


def test_a_named_partner_keeps_what_is_theirs() -> None:
    turns = [
        Turn("I took my parents to my new house in Ghent.", "Emma"),
        Turn("I took my sister to my old office in Lyon.", "You"),
    ]
    own = read_own(turns)
    about = {q.gold[0]: q.question for c in (*own.trained, *own.held_out) for q in c.questions}
    assert "Emma take their parents to their new house" in about[0]
    assert "I take my sister to my old office" in about[1]


def test_a_question_of_two_turns_is_dropped() -> None:
    turns = [Turn("Lamps must be bright.", "Ilya"), Turn("I bought a lamp from a shop in Lyon.", "Mara")]
    one, other = ([*turns, Turn(end, "Ilya")] for end in ("Good.", "Fine."))
    both = [replace(turn, session=key) for key, said in (("a", one), ("b", other)) for turn in said]
    assert (read_own(one).turns, sum(read_own(one).questions)) == (3, 1)
    assert (read_own(both).turns, sum(read_own(both).questions)) == (6, 0)


def test_a_copy_of_a_chat_changes_nothing() -> None:
    once = read_own(chats(60))
    assert sum(once.questions) > 100
    assert read_own([*chats(60), *chats(60, path="copy.txt")]) == once


def test_a_turn_of_another_part_is_no_context() -> None:
    own = read_own([replace(turn, session="") for turn in chats(60)])
    for chat in own.trained:
        runs = [chat.turns[i].session for i in range(len(chat.turns))]
        assert all(runs.count(session) <= 30 for session in set(runs))


def test_too_little_says_how_much_there_is_and_what_is_needed() -> None:
    with pytest.raises(InputError, match=rf"20 turns gave .* 100 and {LEAST_HELD_OUT} are needed") as caught:
        check(read_own(chats(2)))
    assert caught.value.kind == "too_little"
    check(read_own(chats(120)))
