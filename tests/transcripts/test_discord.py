"""DiscordChatExporter's JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from smartsearch.transcripts import read
from smartsearch.types import Corpus, Turn
from tests.transcripts.build import corpus

SAMPLE = next((Path(__file__).parent / "samples" / "discord").iterdir())
MOSS = {"id": "301", "name": "moss_vale", "nickname": "Moss"}


def message(number: int = 1, **more: Any) -> dict[str, Any]:
    return {
        "id": str(number),
        "type": "Default",
        "timestamp": "2024-05-11T18:01:00.5+02:00",
        "content": "hi",
        "author": MOSS,
        **more,
    }


def channel(folder: Path, *messages: Any, guild: str = "Rocks", **more: Any) -> Corpus:
    value = {"guild": {"id": "8", "name": guild}, "channel": {"id": "9", "name": "weekend", **more}}
    return corpus(folder, "weekend.json", {**value, "messages": list(messages)})


def test_a_turn_keeps_id_time_and_place(tmp_path: Path) -> None:
    found = channel(tmp_path, message(1238883568189440000))
    assert found.turns == (
        Turn(
            text="hi",
            speaker="Moss",
            time="2024-05-11T18:01:00+02:00",
            path=str(tmp_path / "weekend.json"),
            pointer="/messages/0",
            conversation="weekend",
            turn="1238883568189440000",
            title="Rocks / weekend",
        ),
    )


def test_the_sample() -> None:
    assert [(turn.speaker, turn.text, turn.caption) for turn in read([str(SAMPLE)]).turns] == [
        ("Moss", "Who is driving to the crag on Saturday? 🚗", ""),
        ("Petra 🧗", "I am, two seats free. Leaving from the mill at 07:30", ""),
        ("Moss", "", "[image topo.png]"),
        ("Moss", "@Petra 🧗 the blue line is 6b :chalk:", ""),
        ("Rota", "", "[embed Weather for Saturday Dry until 15:00, then showers Wind 12 km/h from the west]"),
        ("Petra 🧗", "", "[sticker happy goat]"),
        ("Moss", "The hut is closed from June to August", "[forwarded]"),
        ("Petra 🧗", "ロープは私が持っていきます (I bring the rope, 60 m)", ""),
    ]


def test_an_export_in_reverse_is_turned_round(tmp_path: Path) -> None:
    found = channel(tmp_path, *(message(n, content=str(n)) for n in (30, 20, 10)))
    assert [(turn.text, turn.pointer) for turn in found.turns] == [
        ("10", "/messages/2"),
        ("20", "/messages/1"),
        ("30", "/messages/0"),
    ]


def test_a_direct_message_has_no_guild_in_its_title(tmp_path: Path) -> None:
    (turn,) = channel(tmp_path, message(), guild="Direct Messages", type="DirectTextChat").turns
    assert (turn.conversation, turn.title) == ("weekend", "")


@pytest.mark.parametrize("author", [{"id": "301", "name": "moss_vale"}, {"id": "301"}, None])
def test_a_speaker_is_a_nickname_or_a_name_or_an_id(tmp_path: Path, author: Any) -> None:
    (turn,) = channel(tmp_path, message(author=author)).turns
    assert turn.speaker == {2: "moss_vale", 1: "301", 0: ""}[len(author or {})]


@pytest.mark.parametrize("kind", ["GuildMemberJoin", "ChannelPinnedMessage", "Call", "8"])
def test_notices_are_left_out(tmp_path: Path, kind: str) -> None:
    assert [turn.text for turn in channel(tmp_path, message(), message(2, type=kind)).turns] == ["hi"]


@pytest.mark.parametrize("kind", ["Reply", "20", "ThreadStarterMessage"])
def test_replies_commands_and_what_comes_after_are_kept(tmp_path: Path, kind: str) -> None:
    assert len(channel(tmp_path, message(type=kind)).turns) == 1


def test_a_forwarded_message_comes_with_its_files(tmp_path: Path) -> None:
    forwarded = {"content": "the bill", "attachments": [{"fileName": "bill.pdf"}]}
    (turn,) = channel(tmp_path, message(content="see", forwardedMessage=forwarded)).turns
    assert (turn.text, turn.caption) == ("see\nthe bill", "[forwarded] [file bill.pdf]")


def test_a_message_with_nothing_in_it_is_counted(tmp_path: Path) -> None:
    assert (
        channel(tmp_path, message(), message(2, content=""))
        .warnings[0]
        .endswith("1 turn without text left out")
    )
