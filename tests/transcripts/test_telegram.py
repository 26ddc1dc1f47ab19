"""Telegram Desktop's result.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from smartsearch.types import Corpus, Turn
from tests.transcripts.build import corpus

SAMPLES = Path(__file__).parent / "samples" / "telegram"


def message(**more: Any) -> dict[str, Any]:
    return {
        **{"id": 7, "type": "message", "date": "2024-07-07T00:05:00", "date_unixtime": "1720303500"},
        **{"from": "Lena", "from_id": "user1", "text": "hi", **more},
    }


def chat(folder: Path, *messages: Any, **more: Any) -> Corpus:
    value = {"name": "Allotment", "type": "private_group", "id": 4001, "messages": list(messages), **more}
    return corpus(folder, "result.json", value)


def only(folder: Path, **more: Any) -> Turn:
    (turn,) = chat(folder, message(**more)).turns
    return turn


def test_a_turn_keeps_id_time_and_place(tmp_path: Path) -> None:
    assert only(tmp_path) == Turn(
        text="hi",
        speaker="Lena",
        time="2024-07-07T00:05:00+02:00",
        path=str(tmp_path / "result.json"),
        pointer="/messages/0",
        conversation="Allotment",
        turn="7",
    )


@pytest.mark.parametrize(
    ("date", "epoch", "time"),
    [
        ("2024-07-07T00:05:00", "1720303500", "2024-07-07T00:05:00+02:00"),
        ("2024-07-06T17:35:00", 1720303500, "2024-07-06T17:35:00-04:30"),
        ("2024-07-06T22:05:00", "1720303500", "2024-07-06T22:05:00+00:00"),
        ("2024-07-07T00:05:00", None, "2024-07-07T00:05:00"),
        ("2024-07-07T00:05:00", "0", "2024-07-07T00:05:00"),
        ("2024-09-07T00:05:00", "1720303500", "2024-07-06T22:05:00+00:00"),
        ("2024-07-07T00:06:01", "1720303500", "2024-07-06T22:05:00+00:00"),
        (None, "1720303500", "2024-07-06T22:05:00+00:00"),
        ("soon", "1720303500", "2024-07-06T22:05:00+00:00"),
        ("soon", None, ""),
    ],
)
def test_the_clock_is_local_and_the_epoch_beside_it_tells_the_offset(
    tmp_path: Path, date: Any, epoch: Any, time: str
) -> None:
    assert only(tmp_path, date=date, date_unixtime=epoch).time == time


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("plain", "plain"),
        (["a ", {"type": "bold", "text": "b"}, " c"], "a b c"),
        ([{"type": "text_link", "text": "here", "href": "https://a.example"}], "here (https://a.example)"),
        ([{"type": "link", "text": "https://a.example"}], "https://a.example"),
        ([{"type": "custom_emoji", "text": "🌱", "document_id": "1"}, 5, None, {"type": "x"}], "🌱"),
    ],
)
def test_a_text_is_a_string_or_parts(tmp_path: Path, text: Any, read_as: str) -> None:
    assert only(tmp_path, text=text).text == read_as


@pytest.mark.parametrize(
    ("more", "caption"),
    [
        ({"photo": "photos/photo_1.jpg"}, "[image photo_1.jpg]"),
        ({"photo": "(File not included. Change data exporting settings to download.)"}, "[image]"),
        ({"file": "files/plan.pdf", "mime_type": "application/pdf"}, "[file plan.pdf]"),
        ({"file": "(File exceeds maximum size. Change ...)", "file_name": "a.zip"}, "[file a.zip]"),
        ({"file": "x.webp", "media_type": "sticker", "sticker_emoji": "🥕"}, "[sticker 🥕]"),
        ({"file": "a.ogg", "media_type": "voice_message"}, "[audio a.ogg]"),
        ({"file": "round_video_messages/v.mp4", "media_type": "video_message"}, "[video v.mp4]"),
        (
            {"file": "a.mp3", "media_type": "audio_file", "performer": "Ana", "title": "Fado"},
            "[audio Ana - Fado]",
        ),
        (
            {"contact_information": {"first_name": "Ida", "last_name": "B", "phone_number": "+1"}},
            "[contact Ida B +1]",
        ),
        ({"place_name": "Mill", "address": "Lane 3"}, "[place Mill, Lane 3]"),
        ({"location_information": {"latitude": 52.5, "longitude": 13.25}}, "[location 52.5, 13.25]"),
        (
            {"poll": {"question": "Soup?", "answers": [{"text": "Yes"}, {"text": "No"}]}},
            "[poll Soup? Yes / No]",
        ),
        ({"poll": {"question": [{"type": "plain", "text": "Soup?"}], "answers": []}}, "[poll Soup?]"),
        ({"todo_list": {"title": "Shed", "items": [{"id": 1, "text": "paint"}]}}, "[list Shed paint]"),
        ({"forwarded_from": "Town News"}, "[forwarded from Town News]"),
        ({"game_title": "Snake", "game_description": "old"}, "[game Snake old]"),
    ],
)
def test_what_is_no_text_is_in_the_caption(tmp_path: Path, more: dict[str, Any], caption: str) -> None:
    assert only(tmp_path, **more).caption == caption


def test_service_messages_are_left_out_unless_they_say_something(tmp_path: Path) -> None:
    service = {"type": "service", "actor": "Lena", "action": "pin_message", "from": None}
    found = chat(tmp_path, message(**service, text=""), message(**service, text="from the shop"))
    assert [(turn.speaker, turn.text) for turn in found.turns] == [("Lena", "from the shop")]
    assert found.warnings == ()


def test_who_left_telegram_speaks_by_id(tmp_path: Path) -> None:
    assert only(tmp_path, **{"from": None, "from_id": "user9"}).speaker == "user9"


def test_an_account_has_its_chats_by_name_and_by_id_where_two_share_one() -> None:
    turns = read([str(SAMPLES / "DataExport_2024-07-08")]).turns
    assert [(turn.conversation, turn.title, turn.turn) for turn in turns] == [
        ("Dmitri", "", "21"),
        ("Dmitri", "", "22"),
        ("4002", "Book club", "31"),
        ("4003", "Book club", "41"),
        ("4003", "Book club", "42"),
        ("Saved Messages", "", "51"),
        ("Flat hunt", "", "61"),
    ]
    assert turns[-1].pointer == "/left_chats/list/0/messages/0"


def test_a_broken_chat_of_an_account_costs_itself_alone(tmp_path: Path) -> None:
    good = {"name": "A", "type": "personal_chat", "id": 1, "messages": [message()]}
    found = corpus(tmp_path, "result.json", {"chats": {"list": [good, {"name": "B"}, 5]}})
    assert len(found.turns) == 1
    assert [s.reason for s in found.skipped] == [
        "at /chats/list/1: no chat with `messages` here",
        "at /chats/list/2: no chat with `messages` here",
    ]


def test_control_characters_as_telegram_writes_them_do_not_cost_the_file(tmp_path: Path) -> None:
    written = (
        '{"name": "A", "type": "personal_chat", "id": 1, "messages": [{"id": 1, "type": "message", '
        '"date": "2024-07-07T00:05:00", "from": "Lena", "text": "tab\\x0Bnext \\\\x41 done"}]}'
    )
    (turn,) = corpus(tmp_path, "result.json", written).turns
    assert turn.text == "tab\x0bnext \\x41 done"


def test_a_chat_merged_from_two_exports_is_in_order_again(tmp_path: Path) -> None:
    later = message(id=2, date_unixtime="1720303560", text="later")
    found = chat(
        tmp_path, later, message(id=1, text="first"), message(id=3, date_unixtime="1720303620", text="last")
    )
    assert [turn.turn for turn in found.turns] == ["1", "2", "3"]
