"""Text and Markdown chats, line by line."""

from __future__ import annotations

from pathlib import Path

import pytest

from smartsearch.types import Turn
from tests.transcripts.build import corpus, said

TWO = [("Maya", "hi"), ("Jonas", "hello")]


@pytest.mark.parametrize(
    "text",
    [
        "Maya: hi\nJonas: hello\n",
        "Maya: hi\r\nJonas: hello\r\n",
        "\n\nMaya:   hi\n\nJonas:\nhello\n\n",
        "[2023-05-08 13:56] Maya: hi\n[2023-05-08 13:57] Jonas: hello",
        "[13:56] Maya: hi\n[13:57] Jonas: hello",
        "(13:56) Maya: hi\n(13:57) Jonas: hello",
        "13:56 Maya: hi\n13:57 Jonas: hello",
        "08/05/2023, 13:56 - Maya: hi\n08/05/2023, 13:57 - Jonas: hello",
        "8 May 2023, 1:56 PM - Maya: hi\n8 May 2023, 1:57 PM - Jonas: hello",
        "2023-05-08T13:56:00Z | Maya: hi\n2023-05-08T13:57:00Z | Jonas: hello",
        "Maya [13:56]: hi\nJonas [13:57]: hello",
        "- [13:56] Maya: hi\n- [13:57] Jonas: hello",
        "**Maya:** hi\n\n**Jonas:** hello\n",
        "**Maya**: hi\n**Jonas**: hello",
        "- **Maya:** hi\n- **Jonas:** hello",
        "**Maya** (13:56): hi\n**Jonas** (13:57): hello",
        "**[13:56] Maya:** hi\n**[13:57] Jonas:** hello",
        "**Maya:** hi\n[13:57] **Jonas:** hello",
        "## Maya\nhi\n## Jonas\n\nhello\n\n## Maya\n\n## Jonas",
        "### Maya (2023-05-08 13:56)\nhi\n### Jonas — 13:57\nhello\n### Maya, 13:58\n### Jonas",
    ],
)
def test_the_same_chat_in_many_styles(tmp_path: Path, text: str) -> None:
    assert said(corpus(tmp_path, "chat.md", text)) == TWO


def test_a_turn_runs_on_until_the_next_and_knows_its_first_line(tmp_path: Path) -> None:
    text = "Maya: two things\n- milk\n\n- bread\nNote: no nuts\nJonas: ok\n"
    maya, jonas = corpus(tmp_path, "flat.txt", text).turns
    assert (maya.text, maya.line) == ("two things\n- milk\n\n- bread\nNote: no nuts", 1)
    assert (jonas.line, jonas.conversation, jonas.path) == (6, "flat", str(tmp_path / "flat.txt"))


def test_date_lines_start_sessions_and_date_the_turns_below(tmp_path: Path) -> None:
    text = (
        "# The flat\n\n--- 8 May 2023 ---\n[18:40] Maya: hi\nJonas: hello\n[18:42] Jonas: hello\n\n"
        "## Session 2 (2023-05-09)\n[09:00] Maya: up?\n\n10 May 2023\n\n[10:00] Jonas: yes\n"
    )
    read = corpus(tmp_path, "chat.md", text)
    assert [(turn.session, turn.time, turn.line) for turn in read.turns] == [
        ("2023-05-08", "2023-05-08T18:40:00", 4),
        ("2023-05-08", "2023-05-08T18:42:00", 6),
        ("Session 2", "2023-05-09T09:00:00", 9),
        ("2023-05-10", "2023-05-10T10:00:00", 13),
    ]
    assert {turn.conversation for turn in read.turns} == {"The flat"}


def test_turns_without_a_stamp_take_the_date_of_their_session(tmp_path: Path) -> None:
    text = "# 2023-05-08\n\n**Maya:** hi\n\n# 2023-05-09\n\n**Jonas:** hello\n"
    assert [turn.time for turn in corpus(tmp_path, "chat.md", text).turns] == ["2023-05-08", "2023-05-09"]


def test_one_forcing_stamp_decides_for_the_file(tmp_path: Path) -> None:
    text = "5/8/23, 1:56 PM - Maya: hi\n5/13/23, 1:57 PM - Jonas: hello\n"
    times = [turn.time for turn in corpus(tmp_path, "chat.txt", text).turns]
    assert times == ["2023-05-08T13:56:00", "2023-05-13T13:57:00"]


def test_a_stamped_line_without_a_name_is_a_turn_without_a_speaker(tmp_path: Path) -> None:
    text = "[13:56] Maya: hi\n[13:57] Jonas joined the group\n[13:58] Note: be kind\n"
    assert said(corpus(tmp_path, "chat.txt", text)) == [
        ("Maya", "hi"),
        ("", "Jonas joined the group"),
        ("", "Note: be kind"),
    ]


def test_a_chat_with_an_assistant_keeps_its_markdown(tmp_path: Path) -> None:
    answer = "### Day 1: Lisbon\n\n**Cost:** 10\n\n**Cost:** 20\n\n```\nUser: x\n```\n\nEnjoy"
    text = f"# ChatGPT\n\n## User\n\nPlan it\n\n## Assistant\n\n{answer}\n\n## User\n\nThanks\n"
    read = corpus(tmp_path, "chat.md", text)
    assert said(read) == [("User", "Plan it"), ("Assistant", answer), ("User", "Thanks")]
    assert [turn.role for turn in read.turns] == ["user", "assistant", "user"]


def test_code_in_a_turn_opens_none(tmp_path: Path) -> None:
    text = "Maya: run this\n```\nJonas: 1\nMaya: 2\n```\nJonas: ok\nMaya: fine\n"
    assert [turn.line for turn in corpus(tmp_path, "chat.txt", text).turns] == [1, 6, 7]


def test_what_stands_before_the_first_turn_is_not_lost(tmp_path: Path) -> None:
    text = "# Trip\n\nWritten in Porto.\n## Who\n\nMaya: hi\nJonas: hello\n"
    first = corpus(tmp_path, "chat.md", text).turns[0]
    said_first = "Written in Porto.\n## Who"
    assert first == Turn(said_first, path=str(tmp_path / "chat.md"), line=3, conversation="Trip")


def test_a_speaker_who_says_nothing_is_counted(tmp_path: Path) -> None:
    read = corpus(tmp_path, "chat.txt", "Maya: hi\nJonas:\nMaya: hello?\n")
    assert len(read.turns) == 2
    assert read.warnings[0].endswith("1 turn without text left out")


@pytest.mark.parametrize(
    "text",
    [
        "It was late. Maya: who is there?\n\nNobody spoke.\n",
        "Note: buy milk\nNote: buy bread\nTODO: sleep\n",
        "Title: A day\nAuthor: M. Ray\nVersion: 2\n",
        "Colour: red\nSize: big\nWeight: 2\nShape: 3\nOwner: Maya\n",
        "# A guide\n\n## Usage\n\nRun it.\n\n## Usage\n\nAgain.\n",
        "see http://example.org\nhttps://example.org\n10:30 sharp\n",
        "[1] A footnote\n[2] Another\n",
        "Maya said it.\n" * 20 + "Maya: hi\nMaya: ho\n",
    ],
)
def test_what_only_looks_like_a_chat_is_prose(tmp_path: Path, text: str) -> None:
    read = corpus(tmp_path, "notes.md", text)
    assert {turn.speaker for turn in read.turns} == {""}
    assert "read as prose" in read.warnings[0]
