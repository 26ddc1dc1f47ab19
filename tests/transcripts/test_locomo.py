"""LoCoMo's structure, with its ids, captions and places kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from smartsearch.types import Turn
from tests.transcripts.build import corpus, lines


def sample(**sessions: Any) -> dict[str, Any]:
    return {"sample_id": "conv-1", "conversation": {"speaker_a": "Ada", "speaker_b": "Ben", **sessions}}


def say(turn: str, speaker: str, text: str, **more: Any) -> dict[str, Any]:
    return {"dia_id": turn, "speaker": speaker, "text": text, **more}


def test_a_turn_keeps_ids_time_caption_and_place(tmp_path: Path) -> None:
    content = [
        sample(
            session_3=[say("D3:1", "Ada", "Look!", blip_caption="a red kite")],
            session_3_date_time="1:56 pm on 8 May, 2023",
        )
    ]
    read = corpus(tmp_path, "chat.json", content)
    assert read.turns == (
        Turn(
            text="Look!",
            speaker="Ada",
            time="2023-05-08T13:56:00",
            caption="a red kite",
            path=str(tmp_path / "chat.json"),
            pointer="/0/conversation/session_3/0",
            conversation="conv-1",
            session="session_3",
            turn="D3:1",
        ),
    )
    assert (read.skipped, read.warnings) == ((), ())


def test_sessions_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    content = sample(session_10=[say("D10:1", "Ada", "ten")], session_2=[say("D2:1", "Ben", "two")])
    assert [turn.turn for turn in corpus(tmp_path, "one.json", content).turns] == ["D2:1", "D10:1"]


def test_a_single_sample_has_no_index_in_its_pointer(tmp_path: Path) -> None:
    (turn,) = corpus(tmp_path, "one.json", sample(session_1=[say("D1:1", "Ada", "hi")])).turns
    assert (turn.pointer, turn.line, turn.time) == ("/conversation/session_1/0", 0, "")


def test_a_sample_a_line_has_lines(tmp_path: Path) -> None:
    content = lines(
        sample(session_1=[say("D1:1", "Ada", "hi")]), sample(session_1=[say("D1:1", "Ben", "yo")])
    )
    assert [turn.line for turn in corpus(tmp_path, "many.jsonl", content).turns] == [1, 2]


def test_a_record_that_does_not_fit_is_reported_with_its_place_and_the_rest_is_read(tmp_path: Path) -> None:
    content = [
        sample(session_1=[say("D1:1", "Ada", "good"), {"speaker": "Ben"}, 7], session_2="lost"),
        {"sample_id": "conv-2"},
    ]
    read = corpus(tmp_path, "chat.json", content)
    assert [turn.text for turn in read.turns] == ["good"]
    assert [s.kind for s in read.skipped] == ["bad_record"] * 4
    assert [s.reason.partition(":")[0] for s in read.skipped] == [
        "at /0/conversation/session_1/1",
        "at /0/conversation/session_1/2",
        "at /0/conversation/session_2",
        "at /1",
    ]


def test_an_empty_turn_is_left_out_but_one_of_a_picture_alone_is_not(tmp_path: Path) -> None:
    content = sample(session_1=[say("D1:1", "Ada", " "), say("D1:2", "Ben", "", blip_caption="a cat")])
    read = corpus(tmp_path, "chat.json", content)
    assert [turn.turn for turn in read.turns] == ["D1:2"]
    assert read.warnings == (f"{tmp_path / 'chat.json'}: 1 turn without text left out",)


def test_turns_that_share_an_id_are_all_kept(tmp_path: Path) -> None:
    content = sample(session_1=[say("D1:1", "Ada", "once"), say("D1:1", "Ben", "twice")])
    assert [turn.text for turn in corpus(tmp_path, "chat.json", content).turns] == ["once", "twice"]


def test_a_turn_without_a_speaker_is_read(tmp_path: Path) -> None:
    (turn,) = corpus(tmp_path, "chat.json", sample(session_1=[{"text": "who said this?"}])).turns
    assert (turn.speaker, turn.turn) == ("", "")


def test_realtalk_has_its_sessions_at_the_top_and_a_time_a_turn(tmp_path: Path) -> None:
    content = {
        "name": {"speaker_1": "Ada", "speaker_2": "Ben"},
        "session_1": [
            {"clean_text": "hi", "speaker": "Ada", "date_time": "29.12.2023, 00:51:12", "dia_id": "D1:1"},
            {"clean_text": "", "speaker": "Ben", "dia_id": "D1:2", "blip_caption": "a red kite"},
        ],
        "session_1_date_time": "29.12.2023, 00:50:00",
        "events_session_1": {"agent_a": []},
        "qa": [],
    }
    read = corpus(tmp_path, "Chat_1_Ada_Ben.json", content)
    first, second = read.turns
    assert first == Turn(
        text="hi",
        speaker="Ada",
        time="2023-12-29T00:51:12",
        path=str(tmp_path / "Chat_1_Ada_Ben.json"),
        pointer="/session_1/0",
        conversation="Chat_1_Ada_Ben",
        session="session_1",
        turn="D1:1",
    )
    assert (second.caption, second.time) == ("a red kite", "2023-12-29T00:50:00")
    assert (read.skipped, read.warnings) == ((), ())


def test_the_text_without_markup_is_the_one_that_counts(tmp_path: Path) -> None:
    turn = {"speaker": "Ada", "text": "hi [shares a.png]", "clean_text": "hi"}
    assert corpus(tmp_path, "agent_a.json", {"session_1": [turn]}).turns[0].text == "hi"
