"""Real people's chats: whole persons held out, replies by links, questions by the places of messages."""

import json
import random
from dataclasses import replace
from pathlib import Path

import pytest

from recipe import sources_real
from recipe.data import held_out
from recipe.sources_real import asked, chitchat, irc, read_real

SAID = (
    *("Do you have any pets?", "Yes, two parrots who sing all day.", ""),
    "I moved to Lyon in May last year.",
)


def talk(name: str, start: str, *senders: str) -> dict[str, object]:
    messages = [
        {"sender": senders[n % len(senders)], "time": f"{start}T10:0{n}:00Z", "text": text}
        for n, text in enumerate(SAID)
    ]
    return {"id": name, "start": start, "messages": messages}


@pytest.fixture
def train(tmp_path: Path) -> Path:
    talks = [talk("late", "2018-05-02", "aa", "bb"), talk("early", "2018-05-01", "bb", "cc")]
    (tmp_path / "chitchat").mkdir()
    lines = "".join(json.dumps(one) + "\n" for one in talks)
    (tmp_path / "chitchat" / "conversations.jsonl").write_text(lines, encoding="utf-8")
    (tmp_path / "irc" / "train").mkdir(parents=True)
    channel = tmp_path / "irc" / "train" / "2004-12-25.train-c.ascii.txt"
    channel.write_text(
        "=== bo has joined #boats\n[03:21] <ada> bo: how do I varnish an oak mast?\n"
        "[03:22] <eve> good morning everybody out there\n[03:23] <bo> sand it, then three thin coats\n"
    )
    channel.with_name(channel.name.replace("ascii", "annotation")).write_text("1 1 -\n1 3 -\n2 2 -\n")
    return tmp_path


@pytest.fixture
def written(train: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts these in the place of the written questions."""

    def put(*records: dict[str, object]) -> None:
        path = train / "asked.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        monkeypatch.setattr(sources_real, "ASKED", path)

    return put


def test_one_person_s_conversations_are_one_chat_in_order_of_time(train: Path):
    (chat,) = chitchat(train / "chitchat", random.Random(1))
    assert (chat.id, chat.names) == ("Pbb-0", ("Pbb", "Pcc", "Paa"))
    assert list(dict.fromkeys(turn.session for turn in chat.turns)) == ["early", "late"]
    assert len(chat.turns) == 6  # without the empty ones
    questions = {one.question: chat.turns[one.gold[0]].speaker for one in chat.questions}
    assert questions["Does Pcc have any pets?"] == "Pcc"


def test_a_linked_reply_answers_across_what_others_say(train: Path):
    (chat,) = irc(train / "irc")
    (one,) = chat.questions
    assert (one.question, one.kind) == ("how do I varnish an oak mast?", "reply")
    assert [chat.turns[i].text for i in one.gold] == ["sand it, then three thin coats"]
    assert one.related == {0, 2}
    assert chat.turns[0].time == "2004-12-25T03:21"


def test_written_questions_name_messages_by_their_place(train: Path, written):
    question = {"question": "Pbb home?", "kind": "single", "gold": [2], "related": [0]}
    written({"person": "bb", "sessions": ["early", "late"], "turns": 5, "questions": [question]})
    (chat,) = asked(train)
    (one,) = chat.questions
    assert (chat.turns[one.gold[0]].text, one.complete) == (SAID[3], True)
    assert len(chat.turns) == 5
    same = {held_out(found) for found in read_real(train, random.Random(1)) if found.source != "irc"}
    assert len(same) == 1  # a person's stretches are all on one side


def test_questions_over_another_source_name_a_chat_and_its_first_turn(train: Path, written):
    place = {"source": "irc", "chat": "train-2004-12-25.train-c.ascii", "first": 1, "turns": 2}
    one = {"question": "how many coats?", "kind": "reply", "gold": [1], "related": []}
    gone = {**place, "source": "realmem", "chat": "nobody"}
    written(*({**at, "questions": [one]} for at in (place, gone)))
    (chat,) = asked(train)
    assert (chat.source, chat.turns[1].text) == ("asked irc", "sand it, then three thin coats")
    assert not held_out(chat)
    assert held_out(replace(chat, id=chat.id.replace("train-2", "dev-2")))


def test_of_the_written_questions_those_of_the_first_stretches_can_be_taken(train: Path, written):
    one = {"turns": 3, "questions": [{"question": "Who?", "kind": "single", "gold": [0], "related": []}]}
    written({"person": "bb", "sessions": ["early"], **one}, {"person": "aa", "sessions": ["late"], **one})

    def people(*stretches: int) -> list[str]:
        return [chat.id for chat in read_real(train, random.Random(1), *stretches) if chat.source == "asked"]

    assert people() == [*people(1), *(chat.id for chat in asked(train, 1))] == ["Pbb-asked", "Paa-asked"]


def test_a_conversation_is_held_out_with_the_person_that_it_is_asked_of(train: Path, written):
    written({"person": "aa", "sessions": ["late"]})
    chats = {chat.id: chat for chat in chitchat(train / "chitchat", random.Random(1))}
    sessions = {name: chat.turns[0].session for name, chat in chats.items()}
    assert sessions == {"Paa-0": "late", "Pbb-0": "early"}


def test_the_shipped_questions_are_whole():
    records = [json.loads(line) for line in sources_real.ASKED.read_text(encoding="utf-8").splitlines()]
    questions = [one for record in records for one in record["questions"]]
    assert len(questions) > 1000
    for record in records:
        for one in record["questions"]:
            assert one["gold"]
            assert not set(one["gold"]) & set(one["related"])
            assert max(*one["gold"], *one["related"], 0) < record["turns"]
