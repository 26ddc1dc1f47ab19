"""IRC logs: dates from heads and names, midnight, and what is no message."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.transcripts.build import corpus, said

OPENED = "--- Log opened Mon May 08 13:50:01 2023\n"


@pytest.mark.parametrize(
    ("line", "speaker", "text"),
    [
        ("13:56 <maya> hi: <b>there</b>", "maya", "hi: <b>there</b>"),
        ("13:56 <@maya> hi", "maya", "hi"),
        ("13:56 < maya> hi", "maya", "hi"),
        ("13:56:01 <+maya> hi", "maya", "hi"),
        ("[13:56] <%maya> hi", "maya", "hi"),
        ("13:56  * maya waves at Ole", "maya", "waves at Ole"),
        ("[13:56:01] * maya[m] waves", "maya[m]", "waves"),
    ],
)
def test_messages_and_actions(tmp_path: Path, line: str, speaker: str, text: str) -> None:
    read = corpus(tmp_path, "x.log", f"{OPENED}13:55 <ole> one\n{line}\n")
    assert said(read) == [("ole", "one"), (speaker, text)]
    assert read.turns[1].time.startswith("2023-05-08T13:56:0")


@pytest.mark.parametrize(
    "line",
    [
        "13:56 -!- maya [~m@203.0.113.7] has joined #x",
        "13:56 -!- mode/#x [+o maya] by ole",
        "13:56 -ChanServ(s@services)- welcome",
        "[13:56:01] *** Joins: maya (~m@203.0.113.7)",
        "[13:56:01] *** maya sets mode: +o ole",
        "[13:56:01] -ole- a notice",
        "[13:56] * maya (~m@203.0.113.7) has joined #x",
        "[13:56] * maya (~m@203.0.113.7) Quit (bye)",
        "03[13:56] * Now talking in #x",
        "[13:56] * maya is now known as reis",
        "[13:56] * ole sets mode: +o maya",
        "[13:56] * ole was kicked by maya (enough)",
    ],
)
def test_events_are_left_out(tmp_path: Path, line: str) -> None:
    read = corpus(tmp_path, "x.log", f"{OPENED}13:55 <ole> one\n{line}\n13:57 <ole> two\n")
    assert said(read) == [("ole", "one"), ("ole", "two")]
    assert read.warnings == ()


def test_the_day_changes_by_a_line_or_by_the_clock(tmp_path: Path) -> None:
    text = (
        f"{OPENED}23:58 <maya> a\n00:01 <ole> b\n--- Day changed Wed May 10 2023\n00:02 <ole> c\n"
        "02:59 <ole> d\n02:01 <ole> e\n--- Log opened Fri Dec 29 09:00:00 2023\n08:00 <ole> f\n"
    )
    assert [turn.time[:10] for turn in corpus(tmp_path, "x.log", text).turns] == [
        *("2023-05-08", "2023-05-09", "2023-05-10", "2023-05-10"),
        "2023-05-10",  # an hour back is summer time that ends
        "2023-12-29",
    ]


@pytest.mark.parametrize(
    ("name", "conversation", "day"),
    [
        ("libera/#boat/2023-05-08.log", "#boat", "2023-05-08"),
        ("#boat_20230508.log", "#boat", "2023-05-08"),
        ("libera_#boat_20230508.log", "libera_#boat", "2023-05-08"),
        ("#boat.log", "#boat", ""),
        ("#boat-99999999.log", "#boat-99999999", ""),
    ],
)
def test_the_name_gives_channel_and_date(tmp_path: Path, name: str, conversation: str, day: str) -> None:
    read = corpus(tmp_path, name, "[13:56:01] <maya> a\n[13:57:00] <ole> b\n")
    assert {(turn.conversation, turn.time[:10]) for turn in read.turns} == {(conversation, day)}


def test_columns_of_weechat_need_names_that_recur(tmp_path: Path) -> None:
    lines = "".join(
        f"2023-05-08 13:56:0{n}\t{nick}\ttext {n}\n" for n, nick in enumerate(["maya", "@ole", "maya"])
    )
    assert said(corpus(tmp_path, "x.txt", lines)) == [
        ("maya", "text 0"),
        ("ole", "text 1"),
        ("maya", "text 2"),
    ]
    table = "2023-05-08 13:56:01\tred\tbig\n2023-05-08 13:56:02\tblue\tsmall\n"
    assert "read as prose" in corpus(tmp_path, "t.txt", table).warnings[0]


def test_a_wrapped_line_goes_on_and_impossible_clocks_have_no_time(tmp_path: Path) -> None:
    read = corpus(tmp_path, "x.log", f"{OPENED}13:56 <maya> one\n      two\n25:61 <ole> three\n")
    assert [(turn.text, turn.time) for turn in read.turns] == [
        ("one\ntwo", "2023-05-08T13:56:00"),
        ("three", ""),
    ]
