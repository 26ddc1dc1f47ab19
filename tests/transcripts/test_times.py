"""Times as chats write them, in figures and in the words of many languages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from smartsearch.text import times
from smartsearch.text.longtimes import time_of
from smartsearch.text.times import clock, day_of_name, find_date, instant, is_day_first
from smartsearch.transcripts import to_iso
from smartsearch.transcripts.corpus import read_one


@pytest.mark.parametrize(
    ("written", "iso"),
    [
        ("1:56 pm on 8 May, 2023", "2023-05-08T13:56:00"),
        ("12:24 am on 24 August, 2023", "2023-08-24T00:24:00"),
        ("2023/05/20 (Sat) 02:21", "2023-05-20T02:21:00"),
        ("2023-05-08T13:56:00", "2023-05-08T13:56:00"),
        ("2023-05-08T13:56:07.123Z", "2023-05-08T13:56:07+00:00"),
        ("2025-02-11T18:03:41.120934Z", "2025-02-11T18:03:41+00:00"),
        ("2025-03-02T07:30:00.000000+05:30", "2025-03-02T07:30:00+05:30"),
        ("٢٠٢٥-02-03T07:30:00Z", "2025-02-03T07:30:00+00:00"),
        ("2023-05-08 13:56:07 +0200", "2023-05-08T13:56:07+02:00"),
        ("2023-05-08", "2023-05-08"),
        (1683554160, "2023-05-08T13:56:00+00:00"),
        (1683554160.25, "2023-05-08T13:56:00+00:00"),
        (1683554160123, "2023-05-08T13:56:00+00:00"),
        ("1683554160", "2023-05-08T13:56:00+00:00"),
        ("[2023-05-08 13:56]", "2023-05-08T13:56:00"),
        ("[08/05/2023, 13:56:01]", "2023-05-08T13:56:01"),
        ("[8 May 2023, 1:56 PM]", "2023-05-08T13:56:00"),
        ("May 8th, 2023 at 1:56 p.m.", "2023-05-08T13:56:00"),
        ("Mon May 8 2023", "2023-05-08"),
        ("March-15-2024", "2024-03-15"),
        ("31.12.23", "2023-12-31"),
        ("12/31/23", "2023-12-31"),
    ],
)
def test_a_written_time_becomes_iso(written: object, iso: str) -> None:
    assert to_iso(written) == iso


@given(st.from_regex(times._OURS, fullmatch=True))
@example("2023-05-08T13:56:00+02:00")
@example("2023-02-28T23:59:59")
def test_a_time_that_is_iso_already_is_what_reading_it_would_give(written: str) -> None:
    assert to_iso(written) == written == times._text_to_iso(written, True)
    assert not times.is_ambiguous(written)
    assert times._NUMERIC.search(written) is None


NO_TIMES: list[object] = [
    *("", "hello", "13:56", "2023-13-01", "30 Feb 2023", "99/99/2023", "on 8 May 2023 we met", "x" * 10_000),
    *("2025-02-30T07:30:00Z", "2025-02-03T24:30:00Z"),
    *(
        "2023-05-08T10:00:00+99:00",
        "2023-05-08 10:00 +2460",
    ),  # --since compares by the offset: it must be one
    *(None, True, [], {}, 7, -1, float("nan"), float("inf"), 10**400),
]


@pytest.mark.parametrize("written", NO_TIMES)
def test_what_is_no_time_is_empty_and_never_raises(written: object) -> None:
    assert to_iso(written) == ""


def test_day_first_is_a_matter_of_the_file() -> None:
    assert to_iso("8/5/23") == "2023-05-08"
    assert to_iso("8/5/23", day_first=False) == "2023-08-05"


@pytest.mark.parametrize(
    ("stamps", "day_first"),
    [
        ([], True),
        (["8/5/23"], True),
        (["8/5/23", "5/12/23"], True),
        (["8/5/23", "5/13/23"], False),
        (["5/13/23", "13/5/23"], True),
        (["2023-05-13 10:00"], True),
    ],
)
def test_a_file_is_day_first_unless_a_stamp_forces_the_other(stamps: list[str], day_first: bool) -> None:
    assert is_day_first(stamps) is day_first


def test_a_clock_alone_is_no_date_and_a_date_is_found_inside_a_line() -> None:
    assert clock("1:56 PM") == "13:56:00"
    assert clock("25:00") == ""
    assert clock("see you at 18:40 there") == ""
    assert find_date("(2023-05-08) at Maya's") == "2023-05-08"
    assert find_date("no date") == ""


def test_instants_are_in_the_order_of_time_whatever_their_offset_and_fraction() -> None:
    stamps = ("2024-05-11T18:01:00+02:00", "2024-05-11T16:01:00.5Z", "2024-05-11T16:01:01", "1715443262")
    found = [instant(stamp) for stamp in stamps]
    assert found == [1715443260, 1715443260.5, 1715443261, 1715443262]
    assert instant("0001-01-01T00:00:00+14:00") is not None
    assert instant("soon") is None


@pytest.mark.parametrize(
    ("name", "day"),
    [
        ("2026-04-02", "2026-04-02"),
        ("standup-2026-04-02", "2026-04-02"),
        ("20260402_notes", "2026-04-02"),
        ("GMT20260402-150000_Recording", "2026-04-02"),
        ("2026.04.02 call", "2026-04-02"),
        ("standup_2_April_2026", "2026-04-02"),
        ("April 2, 2026", "2026-04-02"),
        ("2026-04-02 to 2026-04-05", ""),  # which of them?
        ("chat-backup-20260402", ""),
        ("2026-02-30", ""),
        ("02-04-2026", ""),  # day or month first?
        ("120260402", ""),
        ("notes", ""),
    ],
)
def test_the_day_in_the_name_of_a_file(name: str, day: str) -> None:
    assert day_of_name(name) == day


AFTERNOON = """
terça-feira, 6 de fevereiro de 2024 às 14:16:40 UTC
Dienstag, 6. Februar 2024 um 14:16:40 UTC
mardi 6 février 2024 à 14:16:40 UTC
martes, 6 de febrero de 2024, 2:16:40 p. m. UTC
martedì 6 febbraio 2024 alle ore 14:16:40 UTC
dinsdag 6 februari 2024 om 14:16:40 UTC
wtorek, 6 lutego 2024 14:16:40 UTC
tisdag 6 februari 2024 kl. 14:16:40 UTC
tirsdag den 6. februar 2024 kl. 14.16.40 UTC
tiistai 6. helmikuuta 2024 klo 14.16.40 UTC
вторник, 6 февраля 2024 г. в 14:16:40 UTC
вівторок, 6 лютого 2024 р. о 14:16:40 UTC
úterý 6. února 2024 v 14:16:40 UTC
2024. február 6., kedd 14:16:40 UTC
marți, 6 februarie 2024 la 14:16:40 UTC
Τρίτη 6 Φεβρουαρίου 2024 στις 2:16:40 μ.μ. UTC
6 Şubat 2024 Salı 14:16:40 UTC
Selasa, 6 Februari 2024 pukul 14.16.40 UTC
Thứ Ba, 6 tháng 2, 2024 lúc 14:16:40 UTC
2024年2月6日火曜日 14:16:40 UTC
2024年2月6日星期二 UTC 14:16:40
2024년 2월 6일 화요일 오후 2시 16분 40초 UTC
الثلاثاء، 6 فبراير 2024 في 2:16:40 م UTC
יום שלישי, 6 בפברואר 2024 בשעה 14:16:40 UTC
วันอังคารที่ 6 กุมภาพันธ์ 2567 เวลา 14:16:40 UTC
"""


def test_the_same_moment_in_many_languages() -> None:
    lines = AFTERNOON.strip().split("\n")
    assert {line: time_of(line) for line in lines} == dict.fromkeys(lines, "2024-02-06T14:16:40+00:00")


@pytest.mark.parametrize(
    ("written", "time"),
    [
        ("3. října 2023 v 9:05:01 GMT+2", "2023-10-03T09:05:01+02:00"),
        ("11 listopada 2024 14:16", "2024-11-11T14:16:00"),
        ("le 3 août 2023", "2023-08-03"),
        ("5. marts 2024 kl. 00.16", "2024-03-05T00:16:00"),
        ("6 Φεβρουαρίου 2024 12:16 π.μ.", "2024-02-06T00:16:00"),
        ("2 years ago", ""),
        ("vor 3 Tagen", ""),
        ("31 de fevereiro de 2024", ""),
        ("yesterday at 14:16", ""),
        (1707228000, "2024-02-06T14:00:00+00:00"),
        (None, ""),
    ],
)
def test_a_time_in_words(written: object, time: str) -> None:
    assert time_of(written) == time


STAMPS = (
    *("2024-02-15 18:0N", "2024-02-15T18:0N:00", "2024-02-15T18:0N:00Z", "2024-02-15T18:0N:00+01:00"),
    *("15/02/2024, 18:0N", "15/02/2024 18:0N:11", "2/15/2024, 6:0N PM", "2/15/24, 6:0N PM"),
    *("February 15, 2024 6:0N PM", "February 15, 2024 at 6:0N PM", "Feb 15, 2024, 6:0N PM"),
    *("15 February 2024 18:0N", "15 Feb 2024, 18:0N", "Thursday, February 15, 2024 6:0N PM"),
    *("Thu, 15 Feb 2024 18:0N", "February 15th, 2024 6:0N PM", "Thu Feb 15 18:0N:00 2024"),
    *("15.02.2024, 18:0N", "15.02.24 18:0N", "15. Februar 2024 um 18:0N Uhr"),
    *("Donnerstag, 15. Februar 2024, 18:0N", "Do., 15.02.2024 18:0N", "15/02/2024 18:0N"),
    *("15 février 2024 à 18:0N", "15 février 2024 18h0N", "jeudi 15 février 2024 à 18:0N"),
    *("15/2/2024, 18:0N", "15 de febrero de 2024 18:0N", "15/2/2024, 6:0N p. m."),
    *("15 de fevereiro de 2024 às 18:0N", "15 de fev. de 2024 18:0N", "15 febbraio 2024 18:0N"),
    *("15 febbraio 2024 alle ore 18:0N", "15-02-2024 18:0N", "15 februari 2024 18:0N"),
    *("15 feb 2024 om 18:0N", "2024-02-15 kl. 18:0N", "15 februari 2024 kl. 18:0N"),
    *("15. februar 2024 kl. 18.0N", "15.02.2024 18.0N", "15. feb. 2024, 18:0N", "15.2.2024 klo 18.0N"),
    *("15.2.2024 18.0N", "15. helmikuuta 2024 klo 18.0N", "15 lutego 2024 18:0N"),
    *("15 lut 2024 o 18:0N", "15. 2. 2024 18:0N", "15.2.2024 18:0N", "15. února 2024 v 18:0N"),
    *("15. februára 2024 18:0N", "2024. 02. 15. 18:0N", "2024. február 15., 18:0N"),
    *("15 februarie 2024, 18:0N", "15.02.2024 18:0N", "15 Şubat 2024 18:0N", "15/2/24, 6:0N μ.μ."),
    *("15 февраля 2024 г. в 18:0N", "15 фев. 2024 г., 18:0N", "15 лютого 2024 р. о 18:0N"),
    *("15.02.2024 г., 18:0N", "2024年2月15日 18:0N", "2024/02/15 18:0N", "2024/02/15 午後6:0N"),
    *(
        "2024年2月15日(木) 18:0N",
        "2024年2月15日 下午6:0N",
        "2024年2月15日 星期四 18:0N",
        "2024/2/15 周四 18:0N",
    ),
    *("2024년 2월 15일 오후 6:0N", "2024. 2. 15. 오후 6:0N", "18:0N 15/02/2024", "15 Februari 2024 18.0N"),
    *("15/2/2024 18:0N", "15\u200f/2\u200f/2024 6:0N م", "2024/2/15، 18:0N", "15.2.2024, 18:0N"),
    *("15/2/2024, 6:0N pm", "18:0N, 15 Feb 2024", "02-15-2024 18:0N", "2024.02.15 18:0N"),
    *("02/15/2024 06:0N:30 PM", "2/15/2024 6:0N p.m.", "2024-02-15 18:0N UTC", "15-Feb-2024 18:0N"),
    *("15/02/2024 18h0N",),
)
HEADS = (
    "[{T}] {n}: {t}",
    "{T} - {n}: {t}",
    "{T} {n}: {t}",
    "{n}, [{T}]\n{t}\n",
    "{n} {T}\n{t}\n",
    "{n}\n{T}\n{t}\n",
)


@pytest.mark.parametrize("stamp", STAMPS)
def test_the_stamps_of_many_countries_are_read_in_every_head(stamp: str, tmp_path: Path) -> None:
    texts = (
        "is the lamp lit?",
        "Since noon, I think.",
        "I can see it",
        "Good, then we go.",
        "Wait for me",
        "Fine",
    )
    wrong = list[str]()
    for head in HEADS:
        said = [
            head.format(T=stamp.replace("N", str(n)), n=("Maya Reis", "Jonas Berg")[n % 2], t=text)
            for n, text in enumerate(texts)
        ]
        (tmp_path / "talk.txt").write_text("\n".join(said) + "\n", encoding="utf-8")
        turns = read_one(str(tmp_path / "talk.txt"))[0].turns
        found = [(turn.speaker, turn.time[:16]) for turn in turns if turn.speaker]
        if found != [(("Maya Reis", "Jonas Berg")[n % 2], f"2024-02-15T18:0{n}") for n in range(len(texts))]:
            wrong.append(head)
    assert not wrong
