"""Signal: its own export, signal-export's data.json and sigtop's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from smartsearch.types import Corpus, Turn
from tests.transcripts.build import corpus, lines, put, said

SAMPLES = Path(__file__).parent / "samples"
AT = "1739206800000"
FRAMES = [
    {"version": "1", "backupTimeMs": AT},
    {"account": {"givenName": "Noor", "familyName": ""}},
    {"recipient": {"id": "1", "self": {}}},
    {"recipient": {"id": "2", "contact": {"aci": "QQ==", "e164": "4670", "profileGivenName": "Sam"}}},
    {"chat": {"id": "5", "recipientId": "2"}},
]


def item(chat: str = "5", author: str = "2", **more: Any) -> dict[str, Any]:
    said = {} if more else {"standardMessage": {"text": {"body": "hi"}}}
    return {"chatItem": {"chatId": chat, "authorId": author, "dateSent": AT, "incoming": {}, **said, **more}}


def export(folder: Path, *frames: Any) -> Corpus:
    return corpus(folder, "main.jsonl", lines(*FRAMES, *frames))


def test_a_turn_of_signal_keeps_id_time_and_line(tmp_path: Path) -> None:
    assert export(tmp_path, item()).turns == (
        Turn(
            text="hi",
            speaker="Sam",
            time="2025-02-10T17:00:00+00:00",
            path=str(tmp_path / "main.jsonl"),
            line=6,
            conversation="Sam",
            turn=AT,
        ),
    )


def test_signals_chats_come_one_after_the_other() -> None:
    found = read([str(SAMPLES / "signal")])
    assert [(t.conversation, t.speaker, t.text, t.caption) for t in found.turns] == [
        ("Sammy", "Noor Haddad", "Did the vet call about Biscuit?", ""),
        ("Sammy", "Sammy", "Yes, the blood test is fine 🐕", ""),
        ("Sammy", "Sammy", "", "[sticker 🦴]"),
        ("Sammy", "Noor Haddad", "Then we pick up the pills on Friday", ""),
        ("Choir 🎶", "Ютта", "Rehearsal moves to Thursday, @Sammy can you tell the tenors?", ""),
        ("Choir 🎶", "Sammy", "", "[file alto-part.pdf]"),
        ("Choir 🎶", "Noor Haddad", "", "[poll Concert dress? Black / Blue]"),
    ]


@pytest.mark.parametrize(
    ("contact", "name"),
    [
        ({"nickname": {"given": "Sammy"}, "systemGivenName": "Sam", "profileGivenName": "S"}, "Sammy"),
        ({"systemGivenName": "Sam", "systemFamilyName": "Wirth", "profileGivenName": "S"}, "Sam Wirth"),
        ({"username": "sam.7", "e164": "4670"}, "sam.7"),
        ({"e164": 4670}, "+4670"),
        ({"aci": "QQ=="}, "9"),
    ],
)
def test_people_have_the_name_that_the_exporter_gave_them(tmp_path: Path, contact: Any, name: str) -> None:
    (turn,) = export(tmp_path, {"recipient": {"id": "9", "contact": contact}}, item(author="9")).turns
    assert turn.speaker == name


def test_two_chats_of_one_name_are_told_apart_by_number(tmp_path: Path) -> None:
    other = [
        {"recipient": {"id": 3, "contact": {"profileGivenName": "Sam"}}},
        {"chat": {"id": 6, "recipientId": 3}},
        item(chat=6, author=3),
    ]
    found = export(tmp_path, item(), *other)
    assert [(turn.conversation, turn.title) for turn in found.turns] == [("5", "Sam"), ("6", "Sam")]


@pytest.mark.parametrize(
    ("more", "text", "caption"),
    [
        ({"directStoryReplyMessage": {"textReply": {"text": {"body": "lovely"}}}}, "lovely", ""),
        ({"directStoryReplyMessage": {"emoji": "😍"}}, "😍", ""),
        (
            {"contactMessage": {"contact": {"name": {"givenName": "Ida", "familyName": "B"}}}},
            "",
            "[contact Ida B]",
        ),
        ({"viewOnceMessage": {"attachment": {"pointer": {"contentType": "image/jpeg"}}}}, "", "[image]"),
        ({"paymentNotification": {"amountMob": "1.5", "note": "soup"}}, "", "[payment 1.5 soup]"),
        (
            {"standardMessage": {"text": {"body": "see"}, "linkPreview": [{"url": "x", "title": "Tides"}]}},
            "see",
            "[link Tides]",
        ),
    ],
)
def test_kinds_of_signals_messages(tmp_path: Path, more: dict[str, Any], text: str, caption: str) -> None:
    (turn,) = export(tmp_path, item(**more)).turns
    assert (turn.text, turn.caption) == (text, caption)


def test_a_frame_of_the_wrong_type_is_reported_with_its_line(tmp_path: Path) -> None:
    found = export(tmp_path, {"chatItem": 5}, item(), {"recipient": []})
    assert len(found.turns) == 1
    assert [entry.reason for entry in found.skipped] == [
        "line 6: `chatItem` is a number, not an object",
        "line 8: `recipient` is a list, not an object",
    ]


def test_signal_export_names_the_chat_by_its_folder() -> None:
    found = read([str(SAMPLES / "signal-export")])
    assert {turn.conversation for turn in found.turns} == {"Odile"}
    assert said(found) == [
        ("Odile", "Are the hives ready for the heather?"),
        ("Me", "Three of five. The queen in the white one is new 👑"),
        ("Odile", ""),
        ("Odile", "مرحبا, my cousin brings the trailer"),
        ("Me", "At six then"),
        ("Odile", ""),
        ("Me", "Bring the smoker, mine leaks"),
    ]
    assert [turn.caption for turn in found.turns if turn.caption] == ["[image frame.jpg]", "[sticker 🐝]"]
    assert [turn.line for turn in found.turns] == [1, 2, 3, 4, 5, 6, 9]


def test_sigtop_names_the_other_by_the_file() -> None:
    found = read([str(SAMPLES / "sigtop")])
    assert said(found) == [
        ("Greta Holm", "The lock on the cellar is broken again"),
        ("Me", "I have a spare one, 40 mm"),
        ("Greta Holm", ""),
        ("Me", "Ich bringe @Anselm mit 🔧"),
        ("Greta Holm", ""),
        ("Me", "Saturday at ten, 地下室"),
    ]
    assert [turn.turn for turn in found.turns] == ["m0", "m1", "m2", "m3", "m6", "m7"]


def kept(number: int, **more: Any) -> dict[str, Any]:
    own = {"id": f"m{number}", "conversationId": "c", "type": "incoming", "sent_at": int(AT) + number}
    return {**own, "received_at": int(AT) + number, **more}


def test_members_of_a_group_of_sigtop_speak_by_number(tmp_path: Path) -> None:
    group = [
        kept(1, body="a", source="+1"),
        kept(2, body="b", source="+2"),
        kept(3, body="c", type="outgoing"),
    ]
    found = corpus(tmp_path, "Choir.json", group)
    assert said(found) == [("+1", "a"), ("+2", "b"), ("Me", "c")]


def test_a_sigtop_export_that_holds_no_text_says_so_and_what_to_do(tmp_path: Path) -> None:
    hollow = {
        "recipients": [],
        "sendStateByConversationId": {},
        "unidentifiedDeliveries": [],
        "hasAttachments": 0,
    }
    put(tmp_path, "good.txt", "Maya: hello\nJonas: hi\n")
    put(tmp_path, "Greta.json", [hollow, hollow])
    found = read([str(tmp_path)])
    (skipped,) = found.skipped
    assert "sigtop export-messages -f text" in skipped.reason
    assert found.warnings[0].endswith("2 turns without text left out")
