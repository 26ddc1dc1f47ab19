"""Element's JSON export of a room."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from smartsearch.types import Corpus, Turn
from tests.transcripts.build import corpus, said

SAMPLE = next((Path(__file__).parent / "samples" / "matrix").iterdir())


def event(number: int = 1, body: str = "hi", **more: Any) -> dict[str, Any]:
    content = {"msgtype": "m.text", "body": body, **more.pop("content", {})}
    return {
        **{"type": "m.room.message", "event_id": f"$e{number}", "sender": "@ana:hearth.example"},
        **{"origin_server_ts": 1725256860000 + number, "content": content, **more},
    }


def room(folder: Path, *events: Any) -> Corpus:
    return corpus(
        folder, "kiln.json", {"room_name": "Kiln", "exported_by": "oskar", "messages": list(events)}
    )


def texts(found: Corpus) -> list[str]:
    return [turn.text for turn in found.turns]


def test_a_turn_keeps_id_time_and_place(tmp_path: Path) -> None:
    assert room(tmp_path, event()).turns == (
        Turn(
            text="hi",
            speaker="ana",
            time="2024-09-02T06:01:00+00:00",
            path=str(tmp_path / "kiln.json"),
            pointer="/messages/0",
            conversation="Kiln",
            turn="$e1",
        ),
    )


def test_the_sample() -> None:
    found = read([str(SAMPLE)])
    assert said(found) == [
        ("Ana Kovač", "The kiln reaches 1240 °C on Tuesday 🔥"),
        ("oskar", "Can I add six mugs?"),
        ("Ana Kovač", "Yes, shelf three"),
        ("oskar", ""),
        ("oskar", "The price list for clay"),
        ("mei", "打开了窑门 (opens the kiln door)"),
        ("Ana Kovač", ""),
        ("oskar", "Friday suits me"),
    ]
    assert [turn.caption for turn in found.turns if turn.caption] == [
        *("[image glaze-test.jpg]", "[file clay-prices.pdf]", "[poll Open studio on Friday / Sunday]"),
    ]
    assert found.warnings[0].endswith("1 turn without text left out")


def test_a_name_holds_for_the_whole_room_wherever_it_is_said(tmp_path: Path) -> None:
    member = {
        "type": "m.room.member",
        "state_key": "@ana:hearth.example",
        "content": {"displayname": "Ana K"},
    }
    found = room(tmp_path, event(), {**event(2), **member})
    assert said(found) == [("Ana K", "hi")]


def test_the_last_edit_counts_in_whatever_order_they_stand(tmp_path: Path) -> None:
    def edit(number: int, body: str) -> dict[str, Any]:
        relation = {"rel_type": "m.replace", "event_id": "$e1"}
        return event(number, f"* {body}", content={"m.new_content": {"body": body}, "m.relates_to": relation})

    assert texts(room(tmp_path, event(), edit(2, "once"), edit(3, "twice"))) == ["twice"]
    assert texts(room(tmp_path, edit(3, "twice"), edit(2, "once"), event())) == ["twice"]


def test_an_edit_of_what_is_not_in_the_file_stands_for_it(tmp_path: Path) -> None:
    relation = {"rel_type": "m.replace", "event_id": "$gone"}
    edit = event(2, "* new", content={"m.new_content": {"body": "new"}, "m.relates_to": relation})
    assert texts(room(tmp_path, edit)) == ["new"]


def test_an_edit_that_the_server_bundled_counts(tmp_path: Path) -> None:
    bundled = {"m.relations": {"m.replace": {"content": {"m.new_content": {"body": "mended"}}}}}
    assert texts(room(tmp_path, event(unsigned=bundled))) == ["mended"]


@pytest.mark.parametrize("unsigned", [{"redacted_because": {}}, {"redacted_by": "$e9"}])
def test_redacted_messages_are_left_out_without_a_word(tmp_path: Path, unsigned: Any) -> None:
    found = room(tmp_path, event(), event(2, "gone", unsigned=unsigned))
    assert (texts(found), found.warnings) == (["hi"], ())


@pytest.mark.parametrize(
    ("body", "read_as"),
    [
        ("> <@o:h> one\n> two\n\nyes", "yes"),
        ("> * <@o:h> waves\n\nhello", "hello"),
        ("> a quote of a book\n\nyes", "> a quote of a book\n\nyes"),
    ],
)
def test_the_quote_of_what_is_replied_to_is_cut_off(tmp_path: Path, body: str, read_as: str) -> None:
    reply = {"m.relates_to": {"m.in_reply_to": {"event_id": "$e0"}}}
    assert texts(room(tmp_path, event(1, body, content=reply))) == [read_as]
    assert texts(room(tmp_path, event(1, body))) == [body]


def test_a_thread_is_a_session_with_the_message_that_opened_it(tmp_path: Path) -> None:
    reply = event(2, "re", content={"m.relates_to": {"rel_type": "m.thread", "event_id": "$e1"}})
    assert [turn.session for turn in room(tmp_path, event(), reply, event(3)).turns] == ["$e1", "$e1", ""]


@pytest.mark.parametrize(
    ("more", "text", "caption"),
    [
        ({"content": {"msgtype": "m.image", "body": "a.png"}}, "", "[image a.png]"),
        ({"content": {"msgtype": "m.video", "body": "look!", "filename": "v.mp4"}}, "look!", "[video v.mp4]"),
        ({"content": {"msgtype": "m.file", "body": "a.flac"}}, "", "[audio a.flac]"),
        ({"content": {"msgtype": "m.location", "body": "K", "geo_uri": "geo:1"}}, "", "[location K geo:1]"),
        ({"type": "m.sticker", "content": {"body": "goat"}}, "", "[sticker goat]"),
        ({"content": {"msgtype": "m.notice", "body": "firing done"}}, "firing done", ""),
        (
            {"type": "m.poll.start", "content": {"m.poll": {
                "question": {"m.text": [{"body": "When?"}]},
                "answers": [{"m.text": [{"body": "Now"}]}, {"m.text": [{"body": "Later"}]}]}}},
            "", "[poll When? Now / Later]",
        ),
    ],
)  # fmt: skip
def test_kinds_of_messages(tmp_path: Path, more: dict[str, Any], text: str, caption: str) -> None:
    (turn,) = room(tmp_path, event(**more)).turns
    assert (turn.text, turn.caption) == (text, caption)


def test_what_could_not_be_decrypted_is_counted(tmp_path: Path) -> None:
    bad = event(2, "** Unable to decrypt **", content={"msgtype": "m.bad.encrypted"})
    found = room(tmp_path, event(), bad, {**event(3), "type": "m.room.encrypted"})
    assert texts(found) == ["hi"]
    assert found.warnings[0].endswith("2 turns without text left out")


def test_state_of_the_room_is_no_turn(tmp_path: Path) -> None:
    found = room(tmp_path, event(), {**event(2), "type": "m.room.topic", "content": {"topic": "clay"}})
    assert (texts(found), found.warnings) == (["hi"], ())
