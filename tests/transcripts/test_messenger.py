"""Facebook Messenger's and Instagram's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from smartsearch.transcripts.formats.messenger import mended
from smartsearch.types import Corpus, Turn
from tests.transcripts.build import corpus, said

SAMPLES = Path(__file__).parent / "samples" / "messenger"


def message(minute: int = 0, **more: Any) -> dict[str, Any]:
    return {"sender_name": "Per", "timestamp_ms": 1730574000000 + 60000 * minute, "content": "hi", **more}


def thread(folder: Path, *messages: Any, **more: Any) -> Corpus:
    value = {"participants": [{"name": "Per"}], "title": "Per", "thread_path": "inbox/per_1", **more}
    return corpus(folder, "message_1.json", {**value, "messages": list(messages)})


def test_a_turn_keeps_time_and_place(tmp_path: Path) -> None:
    assert thread(tmp_path, message()).turns == (
        Turn(
            text="hi",
            speaker="Per",
            time="2024-11-02T19:00:00+00:00",
            path=str(tmp_path / "message_1.json"),
            pointer="/messages/0",
            conversation="Per",
        ),
    )


def test_the_sample_is_mended_and_earliest_first() -> None:
    found = read([str(SAMPLES / "inbox")])
    assert said(found)[:3] == [
        ("Júlia Rocha", "Do you still have the accordion? 🪗"),
        ("Per Åberg", "Yes, from grandpa. It needs new straps"),
        ("Júlia Rocha", "Наконец-то! I take it"),
    ]
    assert [turn.caption for turn in found.turns if turn.caption] == [
        *("[image strap.jpg]", "[link Waltz for bellows – naïve https://music.example/waltz]"),
        *("[sticker]", "[audio clip.mp4]"),
    ]
    assert {turn.conversation for turn in found.turns} == {"Júlia Rocha"}


def test_an_encrypted_chat_is_as_it_was_written() -> None:
    assert said(read([str(SAMPLES / "encrypted")])) == [
        ("Per Åberg", "The case is in the attic"),
        ("Júlia Rocha", "Straps arrived, größer als gedacht 😅"),
        ("Per Åberg", ""),
    ]


@pytest.mark.parametrize("text", ["plain", "é", "größer", "😅 ok", "Ж – naïve", "日本語", "a\u0301"])
def test_mending_undoes_the_damage_and_leaves_sound_text_alone(text: str) -> None:
    assert mended(text.encode().decode("latin-1")) == text
    assert mended(text) == text


def test_a_cut_character_does_not_keep_the_others_from_being_mended() -> None:
    assert mended("café and 😅".encode()[:-1].decode("latin-1")) == "café and \xf0\x9f\x98"


def test_messages_of_one_second_are_turned_round_with_the_rest(tmp_path: Path) -> None:
    found = thread(tmp_path, message(1, content="c"), message(0, content="b"), message(0, content="a"))
    assert [turn.text for turn in found.turns] == ["a", "b", "c"]


def test_calls_unsent_messages_and_who_came_are_left_out(tmp_path: Path) -> None:
    left = [{"call_duration": 0, "missed": True}, {"is_unsent": True}, {"type": "Subscribe", "users": []}]
    found = thread(tmp_path, message(), *(message(1, **more) for more in left))
    assert (len(found.turns), found.warnings) == (1, ())


def test_a_thread_without_a_title_has_the_name_of_its_folder(tmp_path: Path) -> None:
    (turn,) = thread(tmp_path, message(), title="").turns
    assert turn.conversation == "per_1"
